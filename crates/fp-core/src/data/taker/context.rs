//! What the fetches of one subscriber rank work with: its links, its counters, and what it may ask of its subscription.

use crate::coordinator::dial::Dial;
use crate::data::taker::owner_directory::OwnerDirectory;
use crate::data::taker::owner_wait::Patience;
use crate::error::ReadError;
use crate::value::counters::Counters;
use crate::value::interrupt::Interrupt;
use crate::value::limit::Limit;
use fp_proto::message::MemberId;
use fp_proto::subscriber::AttachmentId;
use fp_transport::{Contact, Link, Purpose};
use fp_types::{Rank, Selection, StepId, SubscriptionId};
use std::time::{Duration, Instant};

/// How soon an owner is dialled again that had no room.
const AGAIN: Duration = Duration::from_millis(20);

/// What a fetch asks of the subscription that it fetches for.
pub(crate) trait Subscription: Sync {
    /// Asks where these ranks are, as far as this rank does not know it.
    fn learn_contacts(
        &self,
        step: (StepId, Option<AttachmentId>),
        ranks: Vec<Rank>,
        deadline: Instant,
    ) -> Result<(), ReadError>;
    /// The subscription and its member, while it is attached.
    fn membership(&self) -> Option<(SubscriptionId, MemberId)>;
    /// The standing selection of a variable, if the options name one.
    fn standing(&self, variable: &str) -> Option<Selection>;
}

/// A subscriber rank that takes blocks of a step from their owners.
#[derive(Clone, Copy)]
pub(crate) struct Taker<'s> {
    pub(crate) stream: &'s str,
    pub(crate) step: StepId,
    /// Steps of different epochs have the same numbers.
    pub(crate) epoch: Option<AttachmentId>,
    pub(crate) owners: &'s OwnerDirectory,
    pub(crate) counters: &'s Counters,
    pub(crate) subscription: &'s dyn Subscription,
    pub(crate) dial: &'s Dial,
    /// How long a link looks again and again before it sleeps.
    pub(crate) busy_poll: Duration,
    /// Asked while bytes are awaited: whether the call is to end.
    pub(crate) interrupt: Option<&'s Interrupt>,
}

impl<'s> Taker<'s> {
    /// How long the bytes of an owner are waited for.
    pub(crate) fn patience(self, rank: Rank, limit: Limit<'s>) -> Patience<'s> {
        let interrupt = self.interrupt;
        Patience { owners: self.owners, rank, epoch: self.epoch, limit, interrupt }
    }

    /// An owner broke the protocol.
    pub(crate) fn misbehaved(self, rank: Rank, what: String) -> ReadError {
        ReadError::PeerMisbehaved { stream: self.stream.to_owned(), step: self.step, rank, what }
    }

    /// Dials an owner on this thread; the error says in words why there is no link.
    pub(crate) fn dial(&self, contact: &str, deadline: Instant) -> Result<Link, String> {
        let contact: Contact =
            contact.parse().map_err(|error: fp_transport::ContactError| error.to_string())?;
        if Instant::now() >= deadline {
            return Err(format!("the deadline was over before {contact} was dialled"));
        }
        let patience = deadline.min(Instant::now() + self.dial.timeout);
        let mut link = loop {
            match self.dial.link(&contact, Purpose::Data, None, patience) {
                Ok(link) => break link,
                Err(error) if error.is_busy() && Instant::now() + AGAIN < patience => {
                    std::thread::sleep(AGAIN)
                }
                Err(error) => return Err(error.to_string()),
            }
        };
        link.set_busy_poll(self.busy_poll);
        Ok(link)
    }
}
