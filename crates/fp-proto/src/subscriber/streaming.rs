//! Steps on a subscriber rank: assigned, taken, released (`docs/protocol.md`, section 8).

use super::{Phase, SubscriberMachine};
use crate::commands::{CommandError, Next};
use crate::config::SubscriptionSpec;
use crate::effect::{Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::{Assignment, Message};
use crate::outcome::{EndReason, StreamEnding};
use crate::time::Moment;
use crate::transition::Transition;
use fp_types::{Rank, StepId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Who of this subtree still has a step.
struct Pending {
    own: bool,
    children: BTreeSet<Rank>,
}

/// The stream as this rank sees it.
#[derive(Default)]
pub(crate) struct Stream {
    queue: VecDeque<Assignment>,
    pending: BTreeMap<StepId, Pending>,
    /// Steps that this rank's application has taken and not released.
    held: BTreeSet<StepId>,
    last: Option<StepId>,
    ending: Option<StreamEnding>,
    /// Children that have not heard yet that an epoch is over, and how often: what they release is of that epoch,
    /// whatever its number.
    pub(crate) behind: BTreeMap<Rank, u32>,
    /// Whether something else was asked for than at first: of that only the lead knows.
    is_reselected: bool,
}

impl Stream {
    /// A new attachment: steps may come from `first` on.
    pub(crate) fn start(&mut self, first: StepId) {
        let _ = first;
        self.last = None;
        self.ending = None;
    }

    /// Forgets the steps of an epoch that has ended, which these children are told now.
    pub(crate) fn reset(&mut self, keep_queue: bool, children: impl Iterator<Item = Rank>) {
        children.for_each(|child| *self.behind.entry(child).or_default() += 1);
        if !keep_queue {
            self.queue.clear();
        }
        self.pending.clear();
        self.held.clear();
    }

    pub(crate) fn end(&mut self, reason: EndReason) -> Option<StreamEnding> {
        if self.ending.is_some() {
            return None;
        }
        self.ending = Some(StreamEnding { reason, last: self.last });
        self.ending.clone()
    }

    /// Steps of which this rank's own release is still due, taken or not.
    pub(crate) fn own_steps(&mut self) -> Vec<StepId> {
        self.queue.clear();
        self.held.clear();
        self.pending.iter().filter(|(_, pending)| pending.own).map(|(&step, _)| step).collect()
    }

    pub(crate) fn forget_child(&mut self, child: Rank) {
        for pending in self.pending.values_mut() {
            pending.children.remove(&child);
        }
    }
}

impl SubscriberMachine {
    /// The next step for the application, in order.
    pub fn next_step(&mut self, now: Moment) -> Next {
        self.enter(now);
        if let Some(assignment) = self.stream.queue.pop_front() {
            self.wire.mark(Transition::SubscriberStep);
            self.stream.held.insert(assignment.step);
            return Next::Step(assignment);
        }
        match &self.stream.ending {
            Some(ending) => Next::Ended(ending.clone()),
            None => Next::NotYet,
        }
    }

    /// The step that [`Self::next_step`] will give, if it is here; or how the stream ended.
    pub fn peek_step(&self) -> Next {
        match (self.stream.queue.front(), &self.stream.ending) {
            (Some(assignment), _) => Next::Step(assignment.clone()),
            (None, Some(ending)) => Next::Ended(ending.clone()),
            (None, None) => Next::NotYet,
        }
    }

    /// A step for this cohort.
    pub(crate) fn assigned(&mut self, from: PeerId, assignment: Assignment) {
        let step = assignment.step;
        let falls = self.stream.last.is_some_and(|last| step <= last) && !assignment.redelivered;
        if falls || self.attachment.epoch().is_none() || self.stream.pending.contains_key(&step) {
            self.misbehaved(from, Misbehaviour::OutOfOrder("Assign"));
            return;
        }
        self.tell_children(&Message::Assign(assignment.clone()));
        let children = self.cohort.children().map(|(rank, _)| rank).collect();
        self.stream.pending.insert(step, Pending { own: true, children });
        self.stream.last = self.stream.last.max(Some(step));
        if self.phase == Phase::Closing {
            self.release_own(step);
        } else {
            self.stream.queue.push_back(assignment);
        }
    }

    /// The application needs a step no more.
    ///
    /// # Errors
    /// If the step is not held.
    pub fn release(&mut self, now: Moment, step: StepId) -> Result<(), CommandError> {
        self.enter(now);
        if !self.stream.held.remove(&step) {
            return Err(CommandError::NotHeld(step));
        }
        self.release_own(step);
        Ok(())
    }

    pub(crate) fn release_own(&mut self, step: StepId) {
        if let Some(pending) = self.stream.pending.get_mut(&step) {
            pending.own = false;
        }
        self.merge_release(step);
    }

    /// A child's subtree has released a step.
    pub(crate) fn child_released(&mut self, from: PeerId, child: Rank, step: StepId) {
        #[cfg(feature = "mutations")]
        if self.mutated(crate::mutation::Mutation::LostRelease) {
            return;
        }
        if self.stream.behind.contains_key(&child) {
            return;
        }
        let Some(pending) = self.stream.pending.get_mut(&step) else {
            if self.phase != Phase::Ended {
                self.misbehaved(from, Misbehaviour::OutOfOrder("Release"));
            }
            return;
        };
        pending.children.remove(&child);
        self.merge_release(step);
    }

    /// A child has heard that an epoch is over.
    pub(crate) fn child_heard_restart(&mut self, from: PeerId, child: Rank) {
        match self.stream.behind.get_mut(&child) {
            Some(epochs) if *epochs > 1 => *epochs -= 1,
            Some(_) => drop(self.stream.behind.remove(&child)),
            None => self.misbehaved(from, Misbehaviour::OutOfOrder("RestartHeard")),
        }
    }

    /// Passes a release on when this rank and all below have released.
    pub(crate) fn merge_release(&mut self, step: StepId) {
        let Some(pending) = self.stream.pending.get(&step) else { return };
        #[cfg(feature = "mutations")]
        let early = self.mutated(crate::mutation::Mutation::ReleaseBeforeChildren);
        #[cfg(not(feature = "mutations"))]
        let early = false;
        if pending.own || (!pending.children.is_empty() && !early) {
            return;
        }
        self.stream.pending.remove(&step);
        self.wire.mark(Transition::ReleaseMerged);
        let upwards = self.attachment.publisher.or(self.cohort.parent());
        let Some(peer) = upwards else { return };
        self.wire.send(self.now, peer, Message::Release { step });
    }

    /// Merges again what a lost or closed child no longer delays.
    pub(crate) fn merge_all_releases(&mut self) {
        let steps: Vec<StepId> = self.stream.pending.keys().copied().collect();
        steps.into_iter().for_each(|step| self.merge_release(step));
    }

    /// Asks for other variables, or to have other things derived, for the whole cohort; only the lead's request is sent.
    ///
    /// # Errors
    /// If the stream is not attached, or more than that would change.
    pub fn reselect(&mut self, now: Moment, spec: SubscriptionSpec) -> Result<(), CommandError> {
        self.enter(now);
        if self.phase != Phase::Streaming {
            return Err(CommandError::NotAttached);
        }
        if !spec.is_reselection_of(&self.config.spec) {
            return Err(CommandError::InvalidSpec);
        }
        self.config.spec = spec.clone();
        self.stream.is_reselected = true;
        if let Some(publisher) = self.attachment.publisher {
            self.wire.mark(Transition::SubscriberReselecting);
            self.wire.send(self.now, publisher, Message::Reselect { spec });
        }
        Ok(())
    }

    /// The new selection holds from `first` on.
    pub(crate) fn reselected(&mut self, first: StepId, spec: SubscriptionSpec) {
        self.tell_children(&Message::Reselected { first, spec: spec.clone() });
        self.wire.event(Event::Specified { first, spec });
        self.wire.event(Event::Reselected { first });
    }

    /// Attached anew, the lead has asked for what it asked for last: the other ranks may not know of it yet.
    pub(crate) fn specify_again(&mut self, first: StepId) {
        if self.cohort.is_lead() && self.stream.is_reselected {
            self.reselected(first, self.config.spec.clone());
        }
    }
}
