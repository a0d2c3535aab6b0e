//! What a publisher rank tells observers of itself.

use super::ledger::{Stage, is_standing};
use super::{Phase, PublisherMachine};
use crate::bounds::LIMIT_STATUS_ITEMS;
use crate::cohort::Cohort;
use crate::commands::BeginWait;
use crate::effect::{Misbehaviour, PeerId};
use crate::status::answer::{Observed, millis};
use crate::status::questions::Questions;
use crate::status::report::{
    CohortStatus, ProcessStatus, RankPhase, RankStatus, StepCounts, SubscriptionStatus, Wait, WaitOn,
};
use crate::time::Moment;
use crate::wire::Wire;
use fp_types::{StepId, SubscriptionId};
use std::time::Duration;

/// What `begin_step` said last that it waits for, and since when.
pub(crate) type Waiting = Option<(BeginWait, Moment)>;

impl Observed for PublisherMachine {
    fn cohort(&self) -> &Cohort {
        &self.cohort
    }

    fn status(&mut self) -> (&mut Wire, &mut Questions) {
        (&mut self.wire, &mut self.questions)
    }

    fn own_status(&self) -> RankStatus {
        let mut subscriptions = subscriptions(self);
        let left_out = subscriptions.len().saturating_sub(LIMIT_STATUS_ITEMS);
        subscriptions.sort_by_key(|known| (std::cmp::Reverse(known.lag_steps), known.subscription));
        subscriptions.truncate(LIMIT_STATUS_ITEMS);
        RankStatus {
            rank: self.config.cohort.rank,
            phase: phase(self),
            steps: steps(self),
            waits: waits(self),
            subscriptions,
            subscriptions_left_out: left_out as u32,
            links: Vec::new(),
            links_left_out: 0,
            process: ProcessStatus::default(),
        }
    }

    fn cohort_status(&self) -> CohortStatus {
        CohortStatus {
            name: self.config.cohort.name.clone(),
            publishes: true,
            epoch: Some(self.cohort.epoch),
            size: self.config.cohort.size,
            ..CohortStatus::default()
        }
    }

    fn subscriber_cohorts(&self) -> Vec<(PeerId, CohortStatus)> {
        let members = self.lead.iter().flat_map(|lead| lead.members.values());
        let cohort = |member: &super::lead::Member| CohortStatus {
            name: member.label.clone(),
            epoch: Some(self.cohort.epoch),
            size: member.cohort_size,
            ..CohortStatus::default()
        };
        members.map(|member| (member.peer, cohort(member))).collect()
    }

    fn blame(&mut self, from: PeerId, what: Misbehaviour) {
        self.misbehaved(from, what);
    }
}

/// Notes what `begin_step` waits for; the same wait goes on.
pub(crate) fn note_wait(machine: &mut PublisherMachine, reason: Option<&BeginWait>) {
    let now = machine.wire.now;
    machine.waiting = reason.map(|reason| match machine.waiting.take() {
        Some((known, since)) if is_same(&known, reason) => (reason.clone(), since),
        _ => (reason.clone(), now),
    });
}

fn is_same(known: &BeginWait, reason: &BeginWait) -> bool {
    match (known, reason) {
        (BeginWait::Opening, BeginWait::Opening) => true,
        (BeginWait::Skew { step: one, .. }, BeginWait::Skew { step: other, .. }) => one == other,
        (
            BeginWait::Subscription { subscription: one, .. },
            BeginWait::Subscription { subscription: other, .. },
        ) => one == other,
        (BeginWait::Paused { .. } | BeginWait::Request { .. }, _) => known == reason,
        (BeginWait::Opening | BeginWait::Skew { .. } | BeginWait::Subscription { .. }, _) => false,
    }
}

fn phase(machine: &PublisherMachine) -> RankPhase {
    match machine.phase {
        Phase::Opening => RankPhase::Opening,
        Phase::Streaming => RankPhase::Streaming,
        Phase::Draining => RankPhase::Closing,
        Phase::Lost { rank, .. } => RankPhase::Lost { rank },
        Phase::Closed => RankPhase::Closed,
    }
}

fn steps(machine: &PublisherMachine) -> StepCounts {
    let ledger = &machine.ledger;
    StepCounts {
        next: ledger.next,
        undecided: ledger.steps.values().filter(|local| local.stage != Stage::Decided).count() as u32,
        live: ledger.steps.values().filter(|local| local.stored && !local.freed).count() as u32,
        live_bytes: ledger.live_bytes(),
        ..StepCounts::default()
    }
}

fn waits(machine: &PublisherMachine) -> Vec<Wait> {
    let now = machine.wire.now;
    if machine.phase == Phase::Opening {
        return machine.cohort.wait_status(now).into_iter().collect();
    }
    if machine.phase == Phase::Draining {
        return close_waits(machine);
    }
    let Some((reason, since)) = &machine.waiting else { return Vec::new() };
    let on = match reason {
        BeginWait::Opening => return Vec::new(),
        &BeginWait::Skew { step, lagging } => WaitOn::Decision { step, lagging },
        &BeginWait::Subscription { subscription, live_steps, live_bytes } => {
            let label = label(machine, subscription);
            WaitOn::Release { subscription, label, live_steps, live_bytes }
        }
        BeginWait::Paused { by } => WaitOn::Pause { by: by.clone() },
        BeginWait::Request { parameter, by } => {
            WaitOn::Request { parameter: parameter.clone(), by: by.clone() }
        }
    };
    vec![Wait { on, waited_ms: millis(now.since(*since)) }]
}

/// The application has closed: who still holds steps, or that others have not closed.
fn close_waits(machine: &PublisherMachine) -> Vec<Wait> {
    let left = super::drain::drain_deadline(machine)
        .map_or(Duration::ZERO, |give_up| give_up.since(machine.wire.now));
    let waited_ms = millis(machine.config.cohort.close_timeout.saturating_sub(left));
    let mut waits: Vec<Wait> = machine
        .holders()
        .into_iter()
        .take(LIMIT_STATUS_ITEMS)
        .map(|(subscription, steps)| {
            let label = label(machine, subscription);
            Wait { on: WaitOn::Close { subscription, label, steps: steps.len() as u32 }, waited_ms }
        })
        .collect();
    if waits.is_empty() {
        waits.push(Wait { on: WaitOn::Others, waited_ms });
    }
    waits
}

/// Who the members of a subscription say they are; only the lead knows.
fn label(machine: &PublisherMachine, subscription: SubscriptionId) -> String {
    let Some(lead) = &machine.lead else { return String::new() };
    lead.members_of(subscription)
        .map(|(_, member)| member.label.as_str())
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn subscriptions(machine: &PublisherMachine) -> Vec<SubscriptionStatus> {
    let read = machine.ledger.all().filter(|(id, known)| !is_standing(**id) && !known.removed);
    read.map(|(&id, known)| {
        let live = machine.ledger.live(known);
        let mut status = SubscriptionStatus {
            subscription: id,
            label: label(machine, id),
            members: 0,
            policy: known.spec.policy,
            limit_steps: known.spec.limit_steps,
            live_steps: live.len() as u32,
            queued: 0,
            held: 0,
            lag_steps: lag(machine.ledger.next, live.first().copied()),
        };
        serve(machine, id, &mut status);
        status
    })
    .collect()
}

/// At the lead: queue and members.
fn serve(machine: &PublisherMachine, id: SubscriptionId, status: &mut SubscriptionStatus) {
    let Some(lead) = &machine.lead else { return };
    let Some(served) = lead.served.get(&id) else { return };
    status.members = served.members.len() as u32;
    status.queued = served.queue.len() as u32;
    status.held = lead.held(id) as u32;
}

/// How far a step is behind the one that is begun next.
fn lag(next: StepId, oldest: Option<StepId>) -> u64 {
    oldest.map_or(0, |oldest| next.0.saturating_sub(oldest.0))
}
