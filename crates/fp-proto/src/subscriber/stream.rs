//! Steps on a subscriber rank: assigned, taken, released (`docs/protocol.md`, section 8).

use super::{Phase, SubscriberMachine};
use crate::config::SubscriptionSpec;
use crate::effect::{Misbehaviour, PeerId};
use crate::event::Event;
use crate::few::{self, Few};
use crate::let_go::LetGo;
use crate::message::{Assignment, Message};
use crate::outcome::{EndReason, RefusalReason, StreamEnding};
use crate::status::report::StepCounts;
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Rank, StepId, StepMap};
use std::collections::{BTreeMap, VecDeque};

/// Who of this subtree still has a step.
struct Pending {
    own: bool,
    /// Rising.
    children: Few<Rank>,
    /// Whether a rank of this subtree took it. What none took is not released: the cohort leaves with it, and others of
    /// a work-sharing set may have it.
    taken: bool,
    let_go: LetGo,
}

impl Pending {
    /// Whether nobody of this subtree took it, or has it.
    fn is_nobodys(&self) -> bool {
        !self.own && self.children.is_empty() && !self.taken
    }
}

/// The stream as this rank sees it.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) queue: VecDeque<Assignment>,
    pending: StepMap<Pending>,
    /// Steps that this rank's application has taken and not released. Each with whether it goes back, if that was said.
    pub(crate) held: StepMap<Option<bool>>,
    last: Option<StepId>,
    /// The highest step that this rank's application has taken, in this epoch and in those whose numbers it goes on with.
    pub(crate) taken: Option<StepId>,
    /// The same as this epoch began: of these it takes none again.
    had: Option<StepId>,
    /// What the next step to be taken would have said was skipped before it, as its epoch ended: told with the first step
    /// of one that goes on.
    untold: u64,
    pub(crate) ending: Option<StreamEnding>,
    /// Children that have not heard yet that an epoch is over, and how often: what they release is of that epoch,
    /// whatever its number.
    pub(crate) behind: BTreeMap<Rank, u32>,
    /// Whether something else was asked for than at first: of that only the lead knows.
    pub(crate) is_reselected: bool,
    /// At the lead: the condition before the one that it asked for and that is not answered yet.
    pub(crate) condition_before: Option<Vec<u8>>,
    /// Since when the application asks for a step and none is here.
    pub(crate) waits_since: Option<Moment>,
}

impl Stream {
    /// A new attachment: steps may come.
    pub(crate) fn start(&mut self, continues: bool) {
        self.last = None;
        self.ending = None;
        self.taken = self.taken.filter(|_| continues);
        self.had = self.taken;
        self.untold = if continues { self.untold } else { 0 };
    }

    /// At the lead: the oldest step that was assigned and that not every rank has released, or the next one.
    pub(crate) fn oldest_missing(&self) -> Option<StepId> {
        let next = self.last.map(|last| StepId(last.0.saturating_add(1)));
        self.pending.keys().next().copied().or(next)
    }

    /// What of an assignment is new to this rank: nothing of a step that it took in an epoch before.
    fn news(&mut self, mut assignment: Assignment) -> Option<Assignment> {
        let between = match self.had {
            Some(had) => assignment.step.0.checked_sub(had.0.saturating_add(1))?,
            None => u64::MAX,
        };
        assignment.skipped = (assignment.skipped + std::mem::take(&mut self.untold)).min(between);
        Some(assignment)
    }

    /// What is held counts as not taken: it comes again where numbers go on.
    pub(crate) fn take_held_again(&mut self) {
        if let Some(oldest) = self.held.keys().next() {
            self.taken = oldest.0.checked_sub(1).map(StepId);
        }
    }

    /// Forgets the steps of an epoch that has ended, which these children are told now.
    pub(crate) fn reset(&mut self, keep_queue: bool, children: impl Iterator<Item = Rank>) {
        children.for_each(|child| *self.behind.entry(child).or_default() += 1);
        if !keep_queue {
            self.untold = self.queue.front().map_or(self.untold, |next| next.skipped);
            self.queue.clear();
        }
        self.pending.clear();
        self.held.clear();
    }

    pub(crate) fn end(&mut self, reason: EndReason, skipped: u64) -> Option<StreamEnding> {
        if self.ending.is_some() {
            return None;
        }
        let skipped = skipped + std::mem::take(&mut self.untold);
        self.ending = Some(StreamEnding { reason, last: self.last, skipped });
        self.ending.clone()
    }

    /// This rank takes no more and lets go of all steps, taken or not: these are waited for by nobody here. What it holds
    /// it may go on looking at. A held step of which nothing was said is given back or not as `unsaid` has it.
    pub(crate) fn give_up(&mut self, unsaid: bool) -> Vec<StepId> {
        self.queue.clear();
        let held = std::mem::take(&mut self.held);
        let own = self.pending.iter_mut().filter(|(_, pending)| pending.own);
        own.map(|(&step, pending)| {
            pending.own = false;
            if let Some(said) = held.get(&step) {
                pending.taken = true;
                pending.let_go.merge(LetGo { retire: true, given_back: said.unwrap_or(unsaid) });
            }
            step
        })
        .collect()
    }

    /// The steps of this rank, as observers are told.
    pub(crate) fn counts(&self) -> StepCounts {
        StepCounts {
            next: self.last.map_or(StepId(0), |last| StepId(last.0 + 1)),
            live: self.pending.len() as u32,
            queued: self.queue.len() as u32,
            held: self.held.len() as u32,
            ..StepCounts::default()
        }
    }

    pub(crate) fn forget_child(&mut self, child: Rank) {
        for (_, pending) in self.pending.iter_mut() {
            few::take_out(&mut pending.children, &child);
        }
    }
}

/// A step for this cohort.
pub(crate) fn assigned(machine: &mut SubscriberMachine, from: PeerId, assignment: Assignment) {
    let step = assignment.step;
    let falls = machine.stream.last.is_some_and(|last| step <= last) && !assignment.redelivered;
    // A subtree that has left said nothing of a step that others of the cohort gave back.
    let is_pending = machine.stream.pending.get(&step).is_some_and(|pending| !pending.is_nobodys());
    if falls || machine.attachment.epoch.is_none() || is_pending {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("Assign"));
        return;
    }
    machine.cohort.tell_children(&mut machine.wire, || assignment.clone().into_message());
    // Those that have left hear of it all the same, and let go of it at once.
    let children = machine.cohort.children().map(|(rank, _)| rank);
    let awaited: Few<Rank> = few::gather(children.filter(|rank| !machine.left.contains(rank)));
    machine.stream.last = machine.stream.last.max(Some(step));
    let news = match mutated!(machine.wire, ResumeTakesAgain) {
        true => Some(assignment),
        false => machine.stream.news(assignment),
    };
    // What this rank took in an epoch before is as good as taken now. Once it closes it says nothing more.
    let is_open = machine.phase != Phase::Closing;
    let taken = (news.is_none() && is_open) || mutated!(machine.wire, LeaveDiscards);
    let queued = news.filter(|_| is_open);
    let pending = Pending { own: queued.is_some(), children: awaited, taken, let_go: LetGo::default() };
    machine.stream.pending.insert(step, pending);
    match queued {
        Some(assignment) => machine.stream.queue.push_back(assignment),
        None => merge_release(machine, step),
    }
}

pub(crate) fn release_own(machine: &mut SubscriberMachine, step: StepId, let_go: LetGo) {
    if let Some(pending) = machine.stream.pending.get_mut(&step) {
        pending.own = false;
        pending.taken = true;
        pending.let_go.merge(let_go);
    }
    merge_release(machine, step);
}

/// A child's subtree has released a step.
pub(crate) fn child_released(
    machine: &mut SubscriberMachine,
    from: PeerId,
    child: Rank,
    (step, let_go): (StepId, LetGo),
) {
    if machine.stream.behind.contains_key(&child) || mutated!(machine.wire, LostRelease) {
        return;
    }
    let Some(pending) = machine.stream.pending.get_mut(&step) else {
        if machine.phase != Phase::Ended {
            machine.misbehaved(from, Misbehaviour::OutOfOrder("Release"));
        }
        return;
    };
    few::take_out(&mut pending.children, &child);
    pending.taken = true;
    let heeded = !mutated!(machine.wire, GiveBackUnmerged);
    pending.let_go.merge(LetGo { given_back: let_go.given_back && heeded, ..let_go });
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
    let early = mutated!(machine.wire, ReleaseBeforeChildren);
    if pending.own || (!pending.children.is_empty() && !early) {
        return;
    }
    let LetGo { retire, given_back } = pending.let_go;
    let retire = retire && !mutated!(machine.wire, CloseWithoutRetire);
    // The lead of this cohort speaks for it: what it asked for at first says whether anything is given again.
    let given_back = given_back && machine.config.spec.redelivers();
    if !pending.taken {
        return;
    }
    machine.stream.pending.remove(&step);
    machine.wire.mark(Transition::ReleaseMerged);
    let upwards = machine.attachment.publisher.or(machine.cohort.parent());
    let Some(peer) = upwards else { return };
    machine.wire.send(peer, Message::Release { step, retire, given_back });
}

/// Merges again what a lost or closed child no longer delays.
pub(crate) fn merge_all_releases(machine: &mut SubscriberMachine) {
    let steps: Vec<StepId> = machine.stream.pending.keys().copied().collect();
    steps.into_iter().for_each(|step| merge_release(machine, step));
}

/// The new selection holds from `first` on.
pub(crate) fn reselected(machine: &mut SubscriberMachine, first: StepId, spec: Box<SubscriptionSpec>) {
    let news = || Message::Reselected { first, spec: spec.clone() };
    machine.cohort.tell_children(&mut machine.wire, news);
    if spec.when == machine.config.spec.when {
        machine.stream.condition_before = None;
    }
    machine.wire.event(Event::Specified { first, spec });
    machine.wire.event(Event::Reselected { first });
}

/// The publisher does not judge by the condition that was asked for last: the one before holds on.
pub(crate) fn condition_refused(machine: &mut SubscriberMachine, from: PeerId, reason: RefusalReason) {
    if machine.stream.condition_before.is_none() {
        return machine.misbehaved(from, Misbehaviour::OutOfOrder("Refused"));
    }
    keep_condition(machine);
    machine.wire.event(Event::ConditionRefused { reason });
}

/// What was asked for last and not answered is asked for no more.
pub(crate) fn keep_condition(machine: &mut SubscriberMachine) {
    if let Some(before) = machine.stream.condition_before.take() {
        machine.config.spec.when = Some(before);
    }
}

/// Attached anew, the lead has asked for what it asked for last: the other ranks may not know of it yet.
pub(crate) fn specify_again(machine: &mut SubscriberMachine, first: StepId) {
    if machine.cohort.is_lead() && machine.stream.is_reselected {
        let spec = Box::new(machine.config.spec.clone());
        reselected(machine, first, spec);
    }
}
