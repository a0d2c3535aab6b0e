//! The application's steps on one rank: begin, end, abandon (`docs/protocol.md`, section 7).

use super::ledger::{Stage, Subscription, is_standing};
use super::{Phase, PublisherMachine};
use crate::commands::{Begin, BeginWait, BegunStep, CommandError};
use crate::config::{CohortConfig, QueuePolicy};
use crate::effect::Effect;
use crate::fragment;
use crate::message::{Message, ReadyReport, ScalarValue};
use crate::time::Moment;
use crate::transition::Transition;
use fp_types::{Contribution, PutChanges, Rank, StepId, SubscriptionId};
use std::collections::BTreeSet;
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
    Wait { until: Moment, expires: bool },
}

impl PublisherMachine {
    /// Begins the next step, or says what it waits for.
    ///
    /// # Errors
    /// If the stream is closed or lost, or a step is open.
    pub fn begin_step(&mut self, now: Moment) -> Result<Begin, CommandError> {
        self.enter(now);
        self.usable()?;
        if let Some(step) = self.ledger.open {
            return Err(CommandError::StepOpen(step));
        }
        if self.phase == Phase::Opening {
            return Ok(Begin::Wait { reason: BeginWait::Opening, until: self.cohort.deadline() });
        }
        if let Some(wait) = self.skew_wait() {
            return Ok(wait);
        }
        let answer = self.begin_for_subscriptions();
        self.finish();
        Ok(answer)
    }

    fn usable(&self) -> Result<(), CommandError> {
        match self.phase {
            Phase::Opening | Phase::Streaming => Ok(()),
            Phase::Lost { rank, reason, .. } => Err(CommandError::Lost { rank, reason }),
            Phase::Draining | Phase::Closed => Err(CommandError::Closed),
        }
    }

    fn skew_wait(&mut self) -> Option<Begin> {
        #[cfg(feature = "mutations")]
        if self.mutated(crate::mutation::Mutation::SkewUnbounded) {
            return None;
        }
        if self.ledger.undecided() < self.config.skew_steps.max(1) as usize {
            return None;
        }
        self.wire.mark(Transition::BeginWaitsForSkew);
        let step = self.ledger.oldest_undecided()?;
        let lagging = self.lagging.filter(|&(late, _)| late >= step).map(|(_, rank)| rank);
        Some(Begin::Wait { reason: BeginWait::Skew { step, lagging }, until: None })
    }

    /// Sets the live bytes at which the next step has to wait: the configured bound, less what others of the process
    /// hold, as the driver knows it.
    pub fn set_room_bytes(&mut self, room_bytes: u64) {
        self.room_bytes = room_bytes;
    }

    /// Whether the next step begins at once and is kept for everybody who wants it, by what is known here already.
    pub fn begins_freely(&self) -> bool {
        let (step, full) = (self.ledger.next, self.ledger.live_bytes() >= self.room_bytes);
        let is_free = |known: &Subscription| {
            !known.wants(step) || (!full && known.live.len() < known.spec.limit_steps as usize)
        };
        self.phase == Phase::Streaming
            && self.ledger.undecided() < self.config.skew_steps.max(1) as usize
            && self.ledger.subscriptions.values().all(is_free)
    }

    fn begin_for_subscriptions(&mut self) -> Begin {
        let step = self.ledger.next;
        let silence = self.config.cohort.silence;
        let full = self.ledger.live_bytes() >= self.room_bytes;
        let mut kept = BTreeSet::new();
        let mut not_kept = Vec::new();
        let ids: Vec<SubscriptionId> = self.ledger.subscriptions.keys().copied().collect();
        for id in ids {
            let Some(subscription) = self.ledger.subscriptions.get_mut(&id) else { continue };
            if !subscription.wants(step) || (id == super::PRECIOUS && step != StepId(0)) {
                continue;
            }
            match judge(self.now, id, subscription, full, silence) {
                Verdict::Keep => drop(kept.insert(id)),
                Verdict::Refuse => not_kept.push(id),
                Verdict::Wait { until, expires } => return self.wait_for(id, until, expires),
            }
        }
        if !not_kept.is_empty() {
            self.wire.mark(Transition::StepNotKept);
        }
        Begin::Started(self.start_step(kept, not_kept))
    }

    fn start_step(&mut self, kept: BTreeSet<SubscriptionId>, not_kept: Vec<SubscriptionId>) -> BegunStep {
        self.ledger.subscriptions.values_mut().for_each(|subscription| subscription.waiting_since = None);
        let unwanted = kept.is_empty();
        self.wire.mark(if unwanted { Transition::StepBegunUnwanted } else { Transition::StepBegunKept });
        let list = kept.iter().copied().collect();
        let derivations = self.ledger.derivations(&kept);
        let step = self.ledger.begin(kept, not_kept, self.changes.pending());
        BegunStep { step, kept: list, derivations }
    }

    fn wait_for(&mut self, id: SubscriptionId, until: Moment, expires: bool) -> Begin {
        self.wire.mark(Transition::BeginWaitsForSubscription);
        let live_bytes = self.ledger.live_bytes();
        let Some(subscription) = self.ledger.subscriptions.get_mut(&id) else {
            return Begin::Wait { reason: BeginWait::Opening, until: Some(until) };
        };
        let live_steps = u32::try_from(subscription.live.len()).unwrap_or(u32::MAX);
        let reason = BeginWait::Subscription { subscription: id, live_steps, live_bytes };
        if self.now < until || !expires {
            return Begin::Wait { reason, until: Some(until) };
        }
        if !subscription.expire_sent {
            subscription.expire_sent = true;
            let waited = self.now.since(subscription.waiting_since.unwrap_or(self.now));
            self.ask_to_expel(id, waited);
        }
        Begin::Wait { reason, until: Some(self.now.after(self.config.cohort.silence)) }
    }

    fn ask_to_expel(&mut self, id: SubscriptionId, waited: Duration) {
        self.wire.mark(Transition::WaitExpired);
        let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.expire(id, self.config.cohort.rank, waited_ms);
    }

    /// `Expire` of this rank or of one below: the lead acts, others pass it on.
    pub(crate) fn expire(&mut self, subscription: SubscriptionId, rank: Rank, waited_ms: u64) {
        if self.lead.is_some() {
            self.expel(subscription, rank, waited_ms);
        } else if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::Expire { subscription, rank, waited_ms });
        }
    }

    /// Whether a variable of the open step is stored for somebody.
    pub fn keeps(&self, step: StepId, variable: &str) -> bool {
        self.ledger.keeps(step, variable)
    }

    /// Ends the open step: it is reported to the cohort. Values are those of global scalars; `len_bytes` is what
    /// this rank stored for it.
    ///
    /// # Errors
    /// If the step is not open, the stream is lost, the scalars are too large, or the blocks are too many or none of their
    /// variable's.
    pub fn end_step(
        &mut self,
        now: Moment,
        step: StepId,
        contribution: Contribution,
        values: Vec<ScalarValue>,
        len_bytes: u64,
    ) -> Result<(), CommandError> {
        self.enter(now);
        self.check_open(step)?;
        let values_bytes = check_scalars(step, &values)?;
        let put = self.changes_of(step, contribution, values_bytes)?;
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            (local.len_bytes, local.put) = (len_bytes, Some(put));
            (local.report.values, local.report.len_bytes) = (values, len_bytes);
        }
        self.leave_step(step);
        Ok(())
    }

    /// What was put, as it is reported; known already where the step before had the same.
    fn changes_of(
        &mut self,
        step: StepId,
        contribution: Contribution,
        values_bytes: usize,
    ) -> Result<Arc<PutChanges>, CommandError> {
        if let Some((_, changes)) = self.last_put.as_ref().filter(|(known, _)| *known == contribution) {
            return Ok(changes.clone());
        }
        let CohortConfig { rank, long_bytes, .. } = self.config.cohort;
        let changes = PutChanges::of(rank, &contribution)
            .map_err(|error| CommandError::Contribution { step, error: Box::new(error) })?;
        let changes = Arc::new(checked(step, changes, long_bytes.saturating_sub(values_bytes))?);
        let blocks: usize = contribution.variables.iter().map(|put| put.blocks.len()).sum();
        self.last_put = (blocks <= LIMIT_REMEMBERED_BLOCKS).then(|| (contribution, changes.clone()));
        Ok(changes)
    }

    /// Gives the open step up: nobody gets it.
    ///
    /// # Errors
    /// If the step is not open or the stream is lost.
    pub fn abandon_step(&mut self, now: Moment, step: StepId) -> Result<(), CommandError> {
        self.enter(now);
        self.check_open(step)?;
        self.wire.mark(Transition::StepAbandoned);
        let rank = self.config.cohort.rank;
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            local.report.abandoned = Some(rank);
        }
        self.leave_step(step);
        Ok(())
    }

    fn check_open(&self, step: StepId) -> Result<(), CommandError> {
        if let Phase::Lost { rank, reason, .. } = self.phase {
            return Err(CommandError::Lost { rank, reason });
        }
        if self.ledger.open != Some(step) {
            return Err(CommandError::StepNotOpen(step));
        }
        Ok(())
    }

    fn leave_step(&mut self, step: StepId) {
        self.ledger.open = None;
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            local.stage = Stage::Ended;
        }
        self.free_if_unneeded(step);
        self.send_ready();
        self.finish();
    }

    pub(crate) fn free_if_unneeded(&mut self, step: StepId) {
        if let Some(freed) = self.ledger.review(step) {
            self.freed(freed);
        }
    }

    pub(crate) fn freed(&mut self, freed: super::ledger::Freed) {
        let retire = freed.retire;
        #[cfg(feature = "mutations")]
        let retire = retire && !self.mutated(crate::mutation::Mutation::FreeWithoutRetire);
        self.wire.mark(if retire { Transition::StepRetired } else { Transition::StepFreed });
        self.wire.push(Effect::Free { step: freed.step, retire });
    }
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

fn judge(
    now: Moment,
    id: SubscriptionId,
    subscription: &mut Subscription,
    full: bool,
    silence: Duration,
) -> Verdict {
    let at_steps = subscription.live.len() >= subscription.spec.limit_steps as usize;
    let at_bytes = full && !subscription.live.is_empty();
    let wait = |subscription: &mut Subscription, ms: u64, expires: bool| {
        let since = *subscription.waiting_since.get_or_insert(now);
        Verdict::Wait { until: since.after(Duration::from_millis(ms)), expires }
    };
    if is_standing(id) {
        return if full { Verdict::Refuse } else { Verdict::Keep };
    }
    match subscription.spec.policy {
        _ if !at_steps && !at_bytes => Verdict::Keep,
        // What is kept for a newcomer before its first step is agreed is not its fault: that news comes by itself.
        QueuePolicy::EveryStep { .. } | QueuePolicy::EveryKth { .. } if subscription.first.is_none() => {
            Verdict::Wait { until: now.after(silence), expires: false }
        }
        QueuePolicy::EveryStep { max_wait_ms } | QueuePolicy::EveryKth { max_wait_ms, .. } => {
            wait(subscription, max_wait_ms, true)
        }
        QueuePolicy::WaitAtMost { wait_ms } => match wait(subscription, wait_ms, false) {
            Verdict::Wait { until, .. } if now >= until => Verdict::Refuse,
            verdict => verdict,
        },
        QueuePolicy::DropNewest => Verdict::Refuse,
        QueuePolicy::DropOldest | QueuePolicy::LatestOnly if at_bytes => Verdict::Refuse,
        QueuePolicy::DropOldest | QueuePolicy::LatestOnly => Verdict::Keep,
    }
}
