//! A subscriber rank as one that takes blocks: what fetches may ask of it.

use crate::data::taker::context::Subscription;
use crate::error::ReadError;
use crate::session::subscriber::SubscriberSession;
use fp_proto::bounds::LIMIT_CONTACTS;
use fp_proto::commands::CommandError;
use fp_proto::message::MemberId;
use fp_proto::subscriber::AttachmentId;
use fp_types::{Rank, Selection, StepId, SubscriptionId};
use std::time::Instant;

impl Subscription for SubscriberSession {
    fn learn_contacts(
        &self,
        (step, epoch): (StepId, Option<AttachmentId>),
        ranks: Vec<Rank>,
        deadline: Instant,
    ) -> Result<(), ReadError> {
        let unknown = self.owners.unknown(epoch, ranks);
        unknown
            .chunks(LIMIT_CONTACTS)
            .try_for_each(|part| ask_contacts(self, (step, epoch), part, deadline))?;
        match self.owners.unknown(epoch, unknown).first() {
            Some(&rank) => {
                let what = "nobody can say any more where it is: a rank on the way is lost".to_owned();
                Err(ReadError::Lost { stream: self.stream.clone(), step, rank, what })
            }
            None => Ok(()),
        }
    }

    fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        self.endpoint.inspect(|state| state.machine.membership())
    }

    /// The standing selection of a variable, if the options name one.
    fn standing(&self, variable: &str) -> Option<Selection> {
        let is_it = |name: &str| {
            name == variable || self.derived.find(name).is_some_and(|(asked, _)| asked.variable == variable)
        };
        let of_it = self.options.selections.iter().find(|(name, _)| is_it(name));
        of_it.map(|(_, selection)| selection.clone())
    }
}

/// Asks where these ranks are; it is known from then on, as long as the opening of the stream lasts.
fn ask_contacts(
    shared: &SubscriberSession,
    (step, epoch): (StepId, Option<AttachmentId>),
    ranks: &[Rank],
    deadline: Instant,
) -> Result<(), ReadError> {
    let started = Instant::now();
    let asked = shared.endpoint.drive(|state, now| {
        let of_epoch = state.machine.attachment() == epoch;
        let asked = of_epoch.then(|| state.machine.ask_contacts(now, ranks.to_vec()));
        asked.unwrap_or(Err(CommandError::NotAttached))
    });
    let stream = shared.stream.clone();
    let request = asked.map_err(|error| {
        let rank = ranks.first().copied().unwrap_or(Rank::LEAD);
        ReadError::Lost { stream: stream.clone(), step, rank, what: format!("where it is: {error}") }
    })?;
    let answer = shared.endpoint.wait(deadline, |_, _| match shared.owners.take_answer(request) {
        true => Ok(()),
        false => Err(None),
    });
    answer.ok_or_else(|| {
        let waits_for = format!("the publisher's answer where {} of its ranks are", ranks.len());
        ReadError::TimedOut { stream, step, waited: started.elapsed(), waits_for }
    })
}
