//! The application's steps on one rank: begin, end, abandon (`docs/protocol.md`, section 7).

use super::ledger::{Stage, Subscription, is_standing};
use super::{Phase, PublisherMachine};
use crate::commands::{Begin, BeginWait, BegunStep, CommandError, StepBytes};
use crate::config::{CohortConfig, QueuePolicy};
use crate::effect::Effect;
use crate::few::Few;
use crate::fragment;
use crate::message::{ChangeId, MeasurePart, Message, ReadyReport, ScalarValue};
use crate::publisher::{change, membership, status, steering};
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Contribution, PutChanges, Rank, StepId, SubscriptionId};
use std::borrow::Borrow;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that the global scalars of one step may take together.
pub(crate) const LIMIT_SCALAR_BYTES: u64 = 4096;
/// Blocks of what a rank put that it remembers, to know it again in the next step.
const LIMIT_REMEMBERED_BLOCKS: usize = 1024;

/// What a subscription means for a step that wants to begin.
enum Verdict {
    Keep,
    Refuse,
    Wait {
        until: Moment,
        expires: bool,
    },
    /// Until the lead has decided a step: it may give up others then.
    AwaitDecision,
    /// Until this step is judged: it may be none that the subscription is about.
    AwaitJudgement(StepId),
}

impl PublisherMachine {
    /// Begins the next step, or says what it waits for.
    ///
    /// # Errors
    /// If the stream is closed or lost, or a step is open.
    pub fn begin_step(&mut self, now: Moment) -> Result<Begin, CommandError> {
        self.wire.enter(now);
        usable(self)?;
        if let Some(step) = self.ledger.open {
            return Err(CommandError::StepOpen(step));
        }
        if let Some(begun) = self.begin_freely(now) {
            return Ok(Begin::Started(begun));
        }
        if self.phase == Phase::Opening {
            return Ok(Begin::Wait { reason: BeginWait::Opening, until: self.cohort.deadline() });
        }
        let begin =
            |machine: &mut Self| skew_wait(machine).unwrap_or_else(|| begin_for_subscriptions(machine));
        let mut answer = steering::wait(self).unwrap_or_else(|| begin(self));
        if matches!(answer, Begin::Wait { reason: BeginWait::Skew { .. }, .. }) && self.report_ended() {
            // That step may be one that was not reported yet.
            answer = begin(self);
        }
        let waits = if let Begin::Wait { reason, .. } = &answer { Some(reason) } else { None };
        status::note_wait(self, waits);
        self.finish();
        Ok(answer)
    }

    /// The application does not wait for its next step any more: what observers are told.
    pub fn wait_no_more(&mut self) {
        self.waiting = None;
    }

    /// Sets the live bytes at which the next step has to wait. That is the configured bound, less what others of the
    /// process hold, as the coordinator knows it.
    pub fn set_room_bytes(&mut self, room_bytes: u64) {
        self.room_bytes = room_bytes;
    }

    /// What still holds up `sync`: lossless subscriptions, each with the steps of this rank that have ended and that it
    /// has not released. Steps that are not decided yet are among them.
    ///
    /// # Errors
    /// If the stream is closed or lost.
    pub fn unreleased(&self) -> Result<Vec<(SubscriptionId, Vec<StepId>)>, CommandError> {
        usable(self)?;
        Ok(self.ledger.unreleased())
    }

    /// Begins the next step if it begins freely. Most steps do, and nothing is waited for, refused or counted then.
    pub fn begin_freely(&mut self, now: Moment) -> Option<BegunStep> {
        if self.ledger.open.is_some() || (self.questions.is_waiting() && mutated!(self.wire, StatusHoldsStep))
        {
            return None;
        }
        let kept = self.kept_freely()?;
        self.wire.enter(now);
        let begun = start_step(self, kept, Vec::new());
        status::note_wait(self, None);
        self.finish();
        Some(begun)
    }

    /// Whether the next step begins at once and is kept for everybody who wants it, by what is known here already.
    pub fn begins_freely(&self) -> bool {
        self.kept_freely().is_some()
    }

    /// For whom the next step is kept one by one, if it begins freely.
    fn kept_freely(&self) -> Option<Few<SubscriptionId>> {
        let (ledger, step) = (&self.ledger, self.ledger.next);
        let full = ledger.live_bytes() >= self.room_bytes;
        let is_free = self.phase == Phase::Streaming
            && self.steering.is_free(step)
            && self.changes.held_by().is_none()
            && ledger.undecided() < self.config.skew_steps.max(1) as usize
            && ledger.awaited_by_watches(full).is_none()
            && !(full && ledger.has_watches());
        if !is_free {
            return None;
        }
        let (first_of_all, mut kept) = (self.first_step(), Few::new());
        for &id in ledger.looked_at() {
            let Some(known) = ledger.get(id).filter(|known| known.wants(step)) else { continue };
            if full || ledger.live_len(known) >= known.spec.limit_steps as usize {
                return None;
            }
            // As all watches have it; and only the very first step is precious.
            if !known.has_joined() && (id != super::PRECIOUS || step == first_of_all) {
                kept.push(id);
            }
        }
        Some(kept)
    }

    /// Whether a variable of the open step is stored for somebody.
    pub fn keeps(&self, step: StepId, variable: &str) -> bool {
        self.ledger.keeps(step, variable)
    }

    /// Ends the open step: it is reported to the cohort. Values are those of global scalars; `len_bytes` is what
    /// this rank stored for it, in memory and elsewhere.
    ///
    /// # Errors
    /// If the step is not open, the stream is lost, or the scalars are too large. Also if the blocks are too many, or
    /// one is none of its variable's.
    pub fn end_step(
        &mut self,
        now: Moment,
        step: StepId,
        contribution: impl Borrow<Contribution>,
        values: Vec<ScalarValue>,
        len_bytes: impl Into<StepBytes>,
    ) -> Result<(), CommandError> {
        self.wire.enter(now);
        let len_bytes = len_bytes.into();
        check_open(self, step)?;
        let values_bytes = check_scalars(step, &values)?;
        let put = changes_of(self, step, contribution.borrow(), values_bytes)?;
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            (local.len_bytes, local.put) = (len_bytes.memory, Some(put));
            (local.report.values, local.report.len_bytes) = (values, len_bytes.all());
        }
        let full = self.ledger.live_bytes() >= self.room_bytes;
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            (local.full, local.report.full) = (full, full);
        }
        leave_step(self, step);
        Ok(())
    }

    /// Says what this rank measured of the open step, as `BegunStep::measures` asked: of each of them a part, or why there
    /// is none. Of what this rank put nothing of there is nothing to say.
    ///
    /// # Errors
    /// If the step is not open or the stream is lost.
    pub fn measured(&mut self, step: StepId, mut parts: Vec<MeasurePart>) -> Result<(), CommandError> {
        check_open(self, step)?;
        parts.sort_unstable_by(|one, other| one.measure.cmp(&other.measure));
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            local.report.parts = parts;
        }
        Ok(())
    }

    /// This rank does not take a request that it saw at the open step. What is not declined counts as taken when the step
    /// is left.
    ///
    /// # Errors
    /// If the step is not open, the stream is lost, or the request is none of this step.
    pub fn decline(&mut self, step: StepId, change: ChangeId, reason: String) -> Result<(), CommandError> {
        check_open(self, step)?;
        let is_seen = steering::decline(self, change, reason);
        if is_seen { Ok(()) } else { Err(CommandError::StepNotOpen(step)) }
    }

    /// Gives the open step up: nobody gets it.
    ///
    /// # Errors
    /// If the step is not open or the stream is lost.
    pub fn abandon_step(&mut self, now: Moment, step: StepId) -> Result<(), CommandError> {
        self.wire.enter(now);
        check_open(self, step)?;
        self.wire.mark(Transition::StepAbandoned);
        let rank = self.config.cohort.rank;
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            local.report.abandoned = Some(rank);
        }
        leave_step(self, step);
        Ok(())
    }
}

fn usable(machine: &PublisherMachine) -> Result<(), CommandError> {
    match machine.phase {
        Phase::Opening | Phase::Streaming => Ok(()),
        Phase::Lost { rank, reason, .. } => Err(CommandError::Lost { rank, reason }),
        Phase::Draining | Phase::Closed => Err(CommandError::Closed),
    }
}

fn skew_wait(machine: &mut PublisherMachine) -> Option<Begin> {
    let asked = machine.questions.is_waiting() && mutated!(machine.wire, StatusHoldsStep);
    let in_time = machine.ledger.undecided() < machine.config.skew_steps.max(1) as usize;
    if (in_time && !asked) || mutated!(machine.wire, SkewUnbounded) {
        return None;
    }
    machine.wire.mark(Transition::BeginWaitsForSkew);
    let step = machine.ledger.oldest_undecided()?;
    Some(wait_for_decision(machine, step))
}

fn wait_for_decision(machine: &PublisherMachine, step: StepId) -> Begin {
    let lagging = machine.lagging.filter(|&(late, _)| late >= step).map(|(_, rank)| rank);
    Begin::Wait { reason: BeginWait::Skew { step, lagging }, until: None }
}

fn begin_for_subscriptions(machine: &mut PublisherMachine) -> Begin {
    let step = machine.ledger.next;
    let unbounded = mutated!(machine.wire, WaitUncapped);
    let limit_wait = if unbounded { Duration::MAX } else { machine.config.limit_wait };
    let waits = Waits { now: machine.wire.now, silence: machine.config.cohort.silence, limit_wait };
    let first_of_all = machine.first_step();
    let full = machine.ledger.live_bytes() >= machine.room_bytes;
    let (mut first_wait, mut awaited) = (None, None);
    let (mut kept, mut not_kept, mut undecided) = (Few::new(), Vec::new(), Vec::new());
    let blamed = mutated!(machine.wire, UnjudgedBlamed);
    for at in 0..machine.ledger.looked_at().len() {
        let id = machine.ledger.looked_at()[at];
        let Some(known) = machine.ledger.get(id) else { continue };
        if !known.wants(step) || (id == super::PRECIOUS && step != first_of_all) {
            continue;
        }
        if known.has_joined() && mutated!(machine.wire, BusyWatchForgotten) {
            continue;
        }
        let is_conditional = known.spec.when.is_some() && !blamed;
        let unjudged = if is_conditional { machine.ledger.oldest_unjudged(known) } else { None };
        let has = Has { steps: machine.ledger.live_len(known), full, unjudged };
        let Some(subscription) = machine.ledger.waited_for(id) else { continue };
        match judge(&waits, id, subscription, has) {
            // As all watches have it.
            Verdict::Keep if subscription.has_joined() => {}
            Verdict::Keep => kept.push(id),
            Verdict::Refuse => not_kept.push(id),
            // The others are judged too: they hold it up as long as this one does.
            Verdict::Wait { until, expires } => drop(first_wait.get_or_insert((id, until, expires))),
            Verdict::AwaitJudgement(step) => drop(awaited.get_or_insert(step)),
            Verdict::AwaitDecision => undecided.push(id),
        }
    }
    awaited = awaited.or_else(|| machine.ledger.awaited_by_watches(full));
    if !undecided.is_empty() {
        match machine.ledger.undecided_full() {
            Some(step) => awaited = Some(step),
            None => {
                not_kept.append(&mut undecided);
                not_kept.sort_unstable();
            }
        }
    }
    if let Some((id, until, expires)) = first_wait {
        return wait_for(machine, id, until, expires);
    }
    if let Some(step) = awaited {
        return wait_for_decision(machine, step);
    }
    if !not_kept.is_empty() {
        machine.wire.mark(Transition::StepNotKept);
    }
    Begin::Started(start_step(machine, kept, not_kept))
}

fn start_step(
    machine: &mut PublisherMachine,
    kept: Few<SubscriptionId>,
    not_kept: Vec<SubscriptionId>,
) -> BegunStep {
    let watched = machine.ledger.watched();
    let unwanted = kept.is_empty() && watched.is_none();
    machine.wire.mark(if unwanted { Transition::StepBegunUnwanted } else { Transition::StepBegunKept });
    let watches = watched.as_ref().map_or_else(Default::default, |watched| watched.ids.clone());
    let unjudged = machine.ledger.unjudged(&kept);
    let requests = machine.ledger.requests(&kept, watched.as_deref());
    let measures = machine.ledger.measures(&unjudged, watched.as_deref());
    let keepers = (Few::from_slice(&kept), watched);
    let step = machine.ledger.begin(machine.wire.now, keepers, not_kept, machine.changes.pending());
    let steering = machine.steering.begin(step);
    BegunStep { step, kept, watches, unjudged, requests, measures, steering }
}

fn wait_for(machine: &mut PublisherMachine, id: SubscriptionId, until: Moment, expires: bool) -> Begin {
    machine.wire.mark(Transition::BeginWaitsForSubscription);
    let live_bytes = machine.ledger.live_bytes();
    let live = machine.ledger.get(id).map_or(0, |known| machine.ledger.live_len(known));
    let live_steps = u32::try_from(live).unwrap_or(u32::MAX);
    let Some(subscription) = machine.ledger.waited_for(id) else {
        return Begin::Wait { reason: BeginWait::Opening, until: Some(until) };
    };
    let reason = BeginWait::Subscription { subscription: id, live_steps, live_bytes };
    if machine.wire.now < until || !expires {
        return Begin::Wait { reason, until: Some(until) };
    }
    if !subscription.expire_sent {
        subscription.expire_sent = true;
        let now = machine.wire.now;
        let waited = subscription.waited + now.since(subscription.waiting_since.unwrap_or(now));
        ask_to_expel(machine, id, waited);
    }
    Begin::Wait { reason, until: Some(machine.wire.now.after(machine.config.cohort.silence)) }
}

fn ask_to_expel(machine: &mut PublisherMachine, id: SubscriptionId, waited: Duration) {
    machine.wire.mark(Transition::WaitExpired);
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    let rank = machine.config.cohort.rank;
    expire(machine, id, rank, waited_ms);
}

/// `Expire` of this rank or of one below: the lead acts, others pass it on.
pub(crate) fn expire(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    rank: Rank,
    waited_ms: u64,
) {
    if machine.lead.is_some() {
        membership::expel(machine, subscription, rank, waited_ms);
    } else {
        machine.cohort.tell_parent(&mut machine.wire, Message::Expire { subscription, rank, waited_ms });
    }
}

/// What was put, as it is reported; known already where the step before had the same.
fn changes_of(
    machine: &mut PublisherMachine,
    step: StepId,
    contribution: &Contribution,
    values_bytes: usize,
) -> Result<Arc<PutChanges>, CommandError> {
    if let Some((_, changes)) = machine.last_put.as_ref().filter(|(known, _)| known == contribution) {
        return Ok(changes.clone());
    }
    let CohortConfig { rank, long_bytes, .. } = machine.config.cohort;
    let changes = PutChanges::of(rank, contribution)
        .map_err(|error| CommandError::Contribution { step, error: Box::new(error) })?;
    let changes = Arc::new(checked(step, changes, long_bytes.saturating_sub(values_bytes))?);
    let blocks: usize = contribution.variables.iter().map(|put| put.blocks.len()).sum();
    machine.last_put = (blocks <= LIMIT_REMEMBERED_BLOCKS).then(|| (contribution.clone(), changes.clone()));
    Ok(changes)
}

fn check_open(machine: &PublisherMachine, step: StepId) -> Result<(), CommandError> {
    if let Phase::Lost { rank, reason, .. } = machine.phase {
        return Err(CommandError::Lost { rank, reason });
    }
    if machine.ledger.open != Some(step) {
        return Err(CommandError::StepNotOpen(step));
    }
    Ok(())
}

fn leave_step(machine: &mut PublisherMachine, step: StepId) {
    machine.ledger.open = None;
    if let Some(local) = machine.ledger.steps.get_mut(&step) {
        local.stage = Stage::Ended;
    }
    if mutated!(machine.wire, FreedBeforeJudged) {
        change::let_go_watched(machine, step, false);
    }
    free_if_unneeded(machine, step);
    steering::step_left(machine);
    machine.unreported = true;
}

/// Nothing more is to be said of a step, and nobody needs it. `is_retired` says who may look at it all the same.
pub(crate) fn settle(
    machine: &mut PublisherMachine,
    step: StepId,
    is_retired: impl Fn(SubscriptionId) -> bool,
) {
    machine.ledger.settle(step);
    for subscription in machine.ledger.keepers(step) {
        change::let_go_all(machine, subscription, &[step], is_retired(subscription));
    }
    if let Some(watch) = machine.ledger.watch_of(step) {
        change::let_go_watched(machine, step, is_retired(watch));
    }
    free_if_unneeded(machine, step);
}

pub(crate) fn free_if_unneeded(machine: &mut PublisherMachine, step: StepId) {
    if let Some(freed) = machine.ledger.review(step) {
        step_freed(machine, freed);
    }
}

pub(crate) fn step_freed(machine: &mut PublisherMachine, freed: super::ledger::Freed) {
    let retire = freed.retire && !mutated!(machine.wire, FreeWithoutRetire);
    machine.wire.mark(if retire { Transition::StepRetired } else { Transition::StepFreed });
    machine.wire.push(Effect::Free { step: freed.step, retire });
}

/// The bytes of the scalars.
fn check_scalars(step: StepId, values: &[ScalarValue]) -> Result<usize, CommandError> {
    let len_bytes: u64 = values.iter().map(|value| (value.name.len() + value.bytes.len()) as u64).sum();
    if len_bytes > LIMIT_SCALAR_BYTES {
        return Err(CommandError::ScalarsTooLarge { step, len_bytes, limit_bytes: LIMIT_SCALAR_BYTES });
    }
    Ok(len_bytes as usize)
}

/// What can be reported in one message.
fn checked(step: StepId, changed: PutChanges, long_bytes: usize) -> Result<PutChanges, CommandError> {
    let report = ReadyReport { changed, ..ReadyReport::default() };
    let Some(len_bytes) = fragment::too_long(&report, long_bytes) else { return Ok(report.changed) };
    let (blocks, limit_bytes) = (report.changed.block_count(), long_bytes as u64);
    Err(CommandError::TooManyBlocks { step, blocks, len_bytes, limit_bytes })
}

/// How long `begin_step` may wait.
struct Waits {
    now: Moment,
    silence: Duration,
    limit_wait: Duration,
}

/// What a subscription has as a step wants to begin.
struct Has {
    /// Its live steps.
    steps: usize,
    /// Whether the rank has no room in bytes.
    full: bool,
    /// The oldest of those that it may never get.
    unjudged: Option<StepId>,
}

fn judge(waits: &Waits, id: SubscriptionId, subscription: &mut Subscription, has: Has) -> Verdict {
    let Waits { now, silence, limit_wait } = *waits;
    let Has { steps, full, unjudged } = has;
    let at_steps = steps >= subscription.spec.limit_steps as usize;
    let at_bytes = full && steps > 0;
    let wait = |subscription: &mut Subscription, longest: Duration, expires: bool| {
        let since = *subscription.waiting_since.get_or_insert(now);
        let most = limit_wait.saturating_sub(subscription.waited);
        Verdict::Wait { until: since.after(longest.min(most)), expires }
    };
    if is_standing(id) {
        return if full { Verdict::Refuse } else { Verdict::Keep };
    }
    match subscription.spec.policy {
        _ if !at_steps && !at_bytes => Verdict::Keep,
        // A newcomer is not to blame for what is kept before its first step is agreed: that news comes by itself.
        QueuePolicy::EveryStep { .. } | QueuePolicy::EveryKth { .. } if subscription.first.is_none() => {
            Verdict::Wait { until: now.after(silence), expires: false }
        }
        // Nor is one for steps of which it does not know, and that it may never get.
        QueuePolicy::EveryStep { max_wait } | QueuePolicy::EveryKth { max_wait, .. } => match unjudged {
            Some(step) => Verdict::AwaitJudgement(step),
            None => wait(subscription, max_wait, true),
        },
        QueuePolicy::WaitAtMost { wait: longest } => match wait(subscription, longest, false) {
            Verdict::Wait { until, .. } if now >= until => Verdict::Refuse,
            #[rustfmt::skip]
            verdict @ (Verdict::Keep | Verdict::Refuse | Verdict::Wait { .. } | Verdict::AwaitDecision
            | Verdict::AwaitJudgement(_)) => verdict,
        },
        QueuePolicy::DropNewest => Verdict::Refuse,
        QueuePolicy::DropOldest | QueuePolicy::LatestOnly if at_bytes => Verdict::AwaitDecision,
        QueuePolicy::DropOldest | QueuePolicy::LatestOnly => Verdict::Keep,
    }
}
