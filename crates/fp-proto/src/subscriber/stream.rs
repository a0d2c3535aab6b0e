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

    /// Steps that this rank itself must still release, taken or not.
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

/// As `SubscriberMachine::next_step`.
pub(crate) fn next_step(machine: &mut SubscriberMachine, now: Moment) -> Next {
    machine.enter(now);
    if let Some(assignment) = machine.stream.queue.pop_front() {
        machine.wire.mark(Transition::SubscriberStep);
        machine.stream.held.insert(assignment.step);
        return Next::Step(assignment);
    }
    match &machine.stream.ending {
        Some(ending) => Next::Ended(ending.clone()),
        None => Next::NotYet,
    }
}

/// As `SubscriberMachine::peek_step`.
pub(crate) fn peek_step(machine: &SubscriberMachine) -> Next {
    match (machine.stream.queue.front(), &machine.stream.ending) {
        (Some(assignment), _) => Next::Step(assignment.clone()),
        (None, Some(ending)) => Next::Ended(ending.clone()),
        (None, None) => Next::NotYet,
    }
}

/// As `SubscriberMachine::release`.
pub(crate) fn release(
    machine: &mut SubscriberMachine,
    now: Moment,
    step: StepId,
) -> Result<(), CommandError> {
    machine.enter(now);
    if !machine.stream.held.remove(&step) {
        return Err(CommandError::NotHeld(step));
    }
    release_own(machine, step);
    Ok(())
}

/// As `SubscriberMachine::reselect`.
pub(crate) fn reselect(
    machine: &mut SubscriberMachine,
    now: Moment,
    spec: SubscriptionSpec,
) -> Result<(), CommandError> {
    machine.enter(now);
    if machine.phase != Phase::Streaming {
        return Err(CommandError::NotAttached);
    }
    if !spec.is_reselection_of(&machine.config.spec) {
        return Err(CommandError::InvalidSpec);
    }
    machine.config.spec = spec.clone();
    machine.stream.is_reselected = true;
    if let Some(publisher) = machine.attachment.publisher {
        machine.wire.mark(Transition::SubscriberReselecting);
        machine.wire.send(machine.now, publisher, Message::Reselect { spec });
    }
    Ok(())
}

/// A step for this cohort.
pub(crate) fn assigned(machine: &mut SubscriberMachine, from: PeerId, assignment: Assignment) {
    let step = assignment.step;
    let falls = machine.stream.last.is_some_and(|last| step <= last) && !assignment.redelivered;
    if falls || machine.attachment.epoch().is_none() || machine.stream.pending.contains_key(&step) {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("Assign"));
        return;
    }
    machine.tell_children(&Message::Assign(assignment.clone()));
    let children = machine.cohort.children().map(|(rank, _)| rank).collect();
    machine.stream.pending.insert(step, Pending { own: true, children });
    machine.stream.last = machine.stream.last.max(Some(step));
    if machine.phase == Phase::Closing {
        release_own(machine, step);
    } else {
        machine.stream.queue.push_back(assignment);
    }
}

pub(crate) fn release_own(machine: &mut SubscriberMachine, step: StepId) {
    if let Some(pending) = machine.stream.pending.get_mut(&step) {
        pending.own = false;
    }
    merge_release(machine, step);
}

/// A child's subtree has released a step.
pub(crate) fn child_released(machine: &mut SubscriberMachine, from: PeerId, child: Rank, step: StepId) {
    #[cfg(feature = "mutations")]
    if machine.mutated(crate::mutation::Mutation::LostRelease) {
        return;
    }
    if machine.stream.behind.contains_key(&child) {
        return;
    }
    let Some(pending) = machine.stream.pending.get_mut(&step) else {
        if machine.phase != Phase::Ended {
            machine.misbehaved(from, Misbehaviour::OutOfOrder("Release"));
        }
        return;
    };
    pending.children.remove(&child);
    merge_release(machine, step);
}

/// A child has heard that an epoch is over.
pub(crate) fn child_heard_restart(machine: &mut SubscriberMachine, from: PeerId, child: Rank) {
    match machine.stream.behind.get_mut(&child) {
        Some(epochs) if *epochs > 1 => *epochs -= 1,
        Some(_) => drop(machine.stream.behind.remove(&child)),
        None => machine.misbehaved(from, Misbehaviour::OutOfOrder("RestartHeard")),
    }
}

/// Passes a release on when this rank and all below have released.
pub(crate) fn merge_release(machine: &mut SubscriberMachine, step: StepId) {
    let Some(pending) = machine.stream.pending.get(&step) else { return };
    #[cfg(feature = "mutations")]
    let early = machine.mutated(crate::mutation::Mutation::ReleaseBeforeChildren);
    #[cfg(not(feature = "mutations"))]
    let early = false;
    if pending.own || (!pending.children.is_empty() && !early) {
        return;
    }
    machine.stream.pending.remove(&step);
    machine.wire.mark(Transition::ReleaseMerged);
    let upwards = machine.attachment.publisher.or(machine.cohort.parent());
    let Some(peer) = upwards else { return };
    machine.wire.send(machine.now, peer, Message::Release { step });
}

/// Merges again what a lost or closed child no longer delays.
pub(crate) fn merge_all_releases(machine: &mut SubscriberMachine) {
    let steps: Vec<StepId> = machine.stream.pending.keys().copied().collect();
    steps.into_iter().for_each(|step| merge_release(machine, step));
}

/// The new selection holds from `first` on.
pub(crate) fn reselected(machine: &mut SubscriberMachine, first: StepId, spec: SubscriptionSpec) {
    machine.tell_children(&Message::Reselected { first, spec: spec.clone() });
    machine.wire.event(Event::Specified { first, spec });
    machine.wire.event(Event::Reselected { first });
}

/// Attached anew, the lead has asked for what it asked for last: the other ranks may not know of it yet.
pub(crate) fn specify_again(machine: &mut SubscriberMachine, first: StepId) {
    if machine.cohort.is_lead() && machine.stream.is_reselected {
        let spec = machine.config.spec.clone();
        reselected(machine, first, spec);
    }
}
