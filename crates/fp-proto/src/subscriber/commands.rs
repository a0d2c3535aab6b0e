//! What a subscriber rank's application asks of its machine.

use super::{Phase, SubscriberMachine};
use crate::bounds::LIMIT_CONTACTS;
use crate::commands::{CommandError, Next};
use crate::config::{CohortConfig, SubscriptionSpec};
use crate::event::OpenFailure;
use crate::let_go::LetGo;
use crate::message::{Message, ResolveQuery};
use crate::outcome::LossReason;
use crate::steering::{self, Urgency};
use crate::subscriber::contacts::{Asker, put_contact_questions};
use crate::subscriber::{drain, questions, stream};
use crate::time::Moment;
use crate::transition::Transition;
use crate::tree;
use crate::wire::mutated;
use fp_types::{AttributeValue, Rank, StepId, TableId};

impl SubscriberMachine {
    /// The next step for the application, in order.
    pub fn next_step(&mut self, now: Moment) -> Next {
        self.wire.enter(now);
        let Some(assignment) = self.stream.queue.pop_front() else {
            self.stream.waits_since.get_or_insert(self.wire.now);
            return self.peek_step();
        };
        self.stream.waits_since = None;
        self.wire.mark(Transition::SubscriberStep);
        self.stream.held.insert(assignment.step, None);
        self.stream.taken = self.stream.taken.max(Some(assignment.step));
        Next::Step(assignment)
    }

    /// The step that [`Self::next_step`] will give, if it is here; or how the stream ended.
    pub fn peek_step(&self) -> Next {
        match (self.stream.queue.front(), &self.stream.ending) {
            (Some(assignment), _) => Next::Step(assignment.clone()),
            (None, Some(ending)) => Next::Ended(ending.clone()),
            (None, None) => Next::NotYet,
        }
    }

    /// The application needs a step no more.
    ///
    /// # Errors
    /// If the step is not held.
    pub fn release(&mut self, now: Moment, step: StepId) -> Result<(), CommandError> {
        self.wire.enter(now);
        if self.stream.held.remove(&step).is_none() {
            return Err(CommandError::NotHeld(step));
        }
        stream::release_own(self, step, LetGo::default());
        Ok(())
    }

    /// The application did not finish a step. A member of the work-sharing set gets it again, be it this one, when all
    /// ranks of the cohort have let go of it.
    ///
    /// # Errors
    /// If the step is not held, or nothing is given again: then it stays held.
    pub fn give_back(&mut self, now: Moment, step: StepId) -> Result<(), CommandError> {
        self.wire.enter(now);
        if !self.config.spec.redelivers() {
            return Err(CommandError::NotRedelivered);
        }
        if self.stream.held.remove(&step).is_none() {
            return Err(CommandError::NotHeld(step));
        }
        self.wire.mark(Transition::SubscriberGivesBack);
        stream::release_own(self, step, LetGo { given_back: true, ..LetGo::default() });
        Ok(())
    }

    /// The application said what becomes of a step that it still looks at: it goes back, or is done. So it is let go, should
    /// this rank close first.
    ///
    /// # Errors
    /// If the step is not held, or nothing is given again.
    pub fn set_verdict(&mut self, step: StepId, given_back: bool) -> Result<(), CommandError> {
        if given_back && !self.config.spec.redelivers() {
            return Err(CommandError::NotRedelivered);
        }
        let said = self.stream.held.get_mut(&step).ok_or(CommandError::NotHeld(step))?;
        if !mutated!(self.wire, VerdictForgotten) {
            *said = Some(given_back);
        }
        Ok(())
    }

    /// Asks for other variables, or to have other things derived, for the whole cohort; only the lead's request is
    /// sent. A lead may also ask for another condition. Until that is answered, nothing else can be asked for: by
    /// `Event::Reselected`, `Event::ConditionRefused`, or the end of the attachment. Then the one before is asked for again.
    ///
    /// # Errors
    /// If the stream is not attached, more than that would change, or a condition is not answered yet.
    pub fn reselect(&mut self, now: Moment, spec: SubscriptionSpec) -> Result<(), CommandError> {
        self.wire.enter(now);
        if self.phase != Phase::Streaming {
            return Err(CommandError::NotAttached);
        }
        if !spec.is_reselection_of(&self.config.spec) {
            return Err(CommandError::InvalidSpec);
        }
        if self.stream.condition_before.is_some() {
            return Err(CommandError::ConditionUnanswered);
        }
        if spec.when != self.config.spec.when {
            self.attachment.publisher.ok_or(CommandError::InvalidSpec)?;
            self.stream.condition_before = self.config.spec.when.clone();
        }
        self.config.spec = spec.clone();
        self.stream.is_reselected = true;
        if let Some(publisher) = self.attachment.publisher {
            self.wire.mark(Transition::SubscriberReselecting);
            self.wire.send(publisher, Message::Reselect { spec: Box::new(spec) });
        }
        Ok(())
    }

    /// Asks something of the simulation; answered by `Event::Steered` with the number given here. If the stream ends, or the
    /// publisher is looked for again, before that comes, nobody knows whether it was applied.
    ///
    /// # Errors
    /// If the stream is not attached, this rank is not the lead of its cohort, or the value is none that travels.
    pub fn steer(
        &mut self,
        now: Moment,
        name: &str,
        value: AttributeValue,
        urgency: Urgency,
    ) -> Result<u64, CommandError> {
        self.wire.enter(now);
        let (Phase::Streaming, Some(publisher)) = (&self.phase, self.attachment.publisher) else {
            return Err(CommandError::NotAttached);
        };
        if !steering::is_within_bounds(name, &value) {
            return Err(CommandError::InvalidValue);
        }
        let id = self.steered;
        self.steered += 1;
        self.wire.mark(Transition::SubscriberSteers);
        self.wire.send(publisher, Message::Steer { id, name: name.to_owned(), value, urgency });
        Ok(id)
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
        self.wire.enter(now);
        self.check_attached()?;
        let request = questions::next_request(self);
        self.resolving.open.insert(request);
        questions::put_question(self, Message::Resolve { request, table, queries });
        Ok(request)
    }

    /// The publisher rank that answers this rank's questions.
    pub fn answering_rank(&self) -> Rank {
        let CohortConfig { rank, fan_out, .. } = self.config.cohort;
        let mut way = std::iter::successors(Some(rank), |&rank| tree::parent(rank, fan_out));
        let asker = way.find(|rank| rank.0 < self.attachment.askers).unwrap_or(Rank::LEAD);
        Rank(asker.0 % self.attachment.answerers.max(1))
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
    /// [`LIMIT_CONTACTS`].
    pub fn ask_contacts(&mut self, now: Moment, mut ranks: Vec<Rank>) -> Result<u64, CommandError> {
        self.wire.enter(now);
        self.check_attached()?;
        ranks.sort();
        ranks.dedup();
        let size = self.attachment.publisher_size;
        let in_bounds = ranks.last().is_some_and(|last| last.0 < size) && ranks.len() <= LIMIT_CONTACTS;
        if !in_bounds {
            return Err(CommandError::InvalidRanks { ranks: ranks.len(), size });
        }
        let request = self.contacts.pass(Asker::Application, None, ranks);
        put_contact_questions(self);
        Ok(request)
    }

    /// The application wants no more: everything it holds is released, to be retired, as it may go on looking at it. What
    /// no rank of the cohort has taken goes back as the cohort leaves.
    /// `Event::Closed` tells when the handle may go.
    pub fn close(&mut self, now: Moment) {
        self.wire.enter(now);
        if matches!(self.phase, Phase::Closing | Phase::Closed) {
            return;
        }
        self.wire.mark(Transition::SubscriberClosing);
        if self.phase == Phase::Assembling {
            self.cohort.abort();
            let rank = self.config.cohort.rank;
            self.open_failed(OpenFailure::RankLost { rank, reason: LossReason::Disconnected });
            return;
        }
        self.phase = Phase::Closing;
        self.phase_since = self.wire.now;
        self.close_give_up = Some(self.wire.now.after(self.config.cohort.close_timeout));
        for step in self.stream.give_up(self.config.gives_back_held) {
            if mutated!(self.wire, LeaveDiscards) {
                stream::release_own(self, step, LetGo::default());
            }
            stream::merge_release(self, step);
        }
        drain::consider_leaving(self);
    }

    fn check_attached(&self) -> Result<(), CommandError> {
        let is_attached = matches!(self.phase, Phase::Streaming | Phase::Ended);
        is_attached.then_some(()).ok_or(CommandError::NotAttached)
    }
}
