//! What a subscriber rank's application asks of its machine.

use super::SubscriberMachine;
use crate::commands::{CommandError, Next};
use crate::config::SubscriptionSpec;
use crate::message::ResolveQuery;
use crate::subscriber::{contacts, drain, questions, stream};
use crate::time::Moment;
use fp_types::{Rank, StepId, TableId};

impl SubscriberMachine {
    /// The next step for the application, in order.
    pub fn next_step(&mut self, now: Moment) -> Next {
        stream::next_step(self, now)
    }

    /// The step that [`Self::next_step`] will give, if it is here; or how the stream ended.
    pub fn peek_step(&self) -> Next {
        stream::peek_step(self)
    }

    /// The application needs a step no more.
    ///
    /// # Errors
    /// If the step is not held.
    pub fn release(&mut self, now: Moment, step: StepId) -> Result<(), CommandError> {
        stream::release(self, now, step)
    }

    /// Asks for other variables, or to have other things derived, for the whole cohort; only the lead's request is
    /// sent.
    ///
    /// # Errors
    /// If the stream is not attached, or more than that would change.
    pub fn reselect(&mut self, now: Moment, spec: SubscriptionSpec) -> Result<(), CommandError> {
        stream::reselect(self, now, spec)
    }

    /// Asks which blocks these selections touch; answered by `Event::Resolved` with the number given here.
    ///
    /// # Errors
    /// If the stream is not attached.
    pub fn resolve(
        &mut self,
        now: Moment,
        table: TableId,
        queries: Vec<ResolveQuery>,
    ) -> Result<u64, CommandError> {
        questions::resolve(self, now, table, queries)
    }

    /// The publisher rank that answers this rank's questions.
    pub fn answering_rank(&self) -> Rank {
        questions::answering_rank(self)
    }

    /// How many ranks the publisher has; 0 before the first attachment.
    pub fn publisher_size(&self) -> u32 {
        self.attachment.publisher_size
    }

    /// Asks where these publisher ranks are; answered by `Event::Contacts` with the number given here, in one or more
    /// parts.
    ///
    /// # Errors
    /// If the stream is not attached, or if these are no ranks of the publisher, or none, or more than
    /// [`LIMIT_CONTACTS`](crate::bounds::LIMIT_CONTACTS).
    pub fn ask_contacts(&mut self, now: Moment, ranks: Vec<Rank>) -> Result<u64, CommandError> {
        contacts::ask_contacts(self, now, ranks)
    }

    /// The application wants no more: everything it holds is released. `Event::Closed` tells when the handle
    /// may go.
    pub fn close(&mut self, now: Moment) {
        drain::close(self, now)
    }
}
