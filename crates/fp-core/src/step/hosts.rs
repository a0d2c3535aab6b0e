//! On which hosts the ranks of the publisher run.

use crate::data::taker::context::Subscription as _;
use crate::error::ReadError;
use crate::step::held::HeldStep;
use fp_transport::{Contact, HostId};
use fp_types::Rank;

/// The host of each rank of the publisher, by rank; zero where its contact does not say it.
pub(crate) fn publisher_hosts(held: &HeldStep) -> Result<Vec<HostId>, ReadError> {
    let size = held.shared.endpoint.inspect(|state| {
        let of_epoch = held.epoch.is_some() && state.machine.attachment() == held.epoch;
        of_epoch.then(|| state.machine.publisher_size())
    });
    let Some(size) = size else {
        let (stream, step, rank) = (held.stream().to_owned(), held.step(), Rank::LEAD);
        let what = "that opening of the stream is over".to_owned();
        return Err(ReadError::Lost { stream, step, rank, what });
    };
    let ranks = || (0..size).map(Rank);
    held.shared.learn_contacts((held.step(), held.epoch), ranks().collect(), held.deadline())?;
    let host = |rank| {
        let contact = held.shared.owners.contact(rank, held.epoch)?;
        contact.0.parse::<Contact>().ok().map(|contact| contact.host)
    };
    Ok(ranks().map(|rank| host(rank).unwrap_or_default()).collect())
}
