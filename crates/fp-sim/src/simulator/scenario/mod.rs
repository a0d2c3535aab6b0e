//! What a seed stands for: cohorts, their configurations and habits, and the faults that will hit them.

mod additions;
pub(crate) mod faults;
mod haste;
pub(crate) mod observers;
pub(crate) mod reselection;

use crate::simulator::content::{Demand, LayoutHabit, VARIABLES};
use crate::simulator::network::Delays;
use crate::simulator::prng::Prng;
use crate::simulator::scenario::faults::{CutWay, Fault, FaultKind, Strike};
use crate::simulator::scenario::haste::Haste;
use crate::simulator::scenario::observers::ObserverPlan;
use crate::simulator::scenario::reselection::Reselection;
use crate::simulator::steering::REQUESTS_PER_SECOND;
use fp_proto::bounds::FRAGMENT_BYTES;
use fp_proto::config::{OnLoss, QueuePolicy, Share, ShareMode, StartAt, SubscriptionSpec, VariableSet};
use fp_proto::time::Moment;
use fp_types::{Epoch, Rank, StepId};
use std::ops::Range;
use std::time::Duration;

/// The name of the stream in every run.
pub(crate) const STREAM: &str = "atoms";

/// Deadlines that all cohorts of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) heartbeat: Duration,
    pub(crate) silence: Duration,
    pub(crate) open_timeout: Duration,
    pub(crate) close_timeout: Duration,
    pub(crate) lookup_interval: Duration,
    pub(crate) lag_report: Duration,
}

/// A range of microseconds from which waits are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) low_us: u64,
    pub(crate) high_us: u64,
}

impl Pace {
    pub(crate) fn draw(self, prng: &mut Prng) -> Duration {
        prng.micros(self.low_us, self.high_us)
    }
}

/// A publisher cohort.
#[derive(Clone, Debug)]
pub(crate) struct PublisherPlan {
    pub(crate) epoch: Epoch,
    pub(crate) size: u32,
    /// The number of its first step, if it says one.
    pub(crate) first_step: Option<StepId>,
    pub(crate) starts_at: Moment,
    pub(crate) steps: u64,
    /// How long ranks wait before their first step, so that somebody may attach.
    pub(crate) warm_up: Duration,
    /// Closes at this moment even if it has not published all.
    pub(crate) stops_at: Option<Moment>,
    pub(crate) skew_steps: u32,
    /// Whether it may be asked for anything.
    pub(crate) takes_requests: bool,
    /// Whether it hands on what it is asked for.
    pub(crate) delegates_requests: bool,
    /// A rank that lags and hurries, and may be further ahead than the others.
    pub(crate) hasty: Option<Haste>,
    pub(crate) limit_requests_per_second: u32,
    pub(crate) limit_bytes: u64,
    /// A rank with bounds of its own, so that it alone meets them.
    pub(crate) tight_rank: Option<(Rank, u64)>,
    pub(crate) reserve_steps: u32,
    /// 1 where the last step alone is to stay of them.
    pub(crate) reserve_bytes: u64,
    /// What steps of the reserve are like.
    pub(crate) reserve_demand: Option<Demand>,
    pub(crate) precious_first: bool,
    /// Live steps that whoever makes it wait may have.
    pub(crate) least_limit_steps: u32,
    pub(crate) limit_subscriptions: u32,
    pub(crate) limit_peer_subscriptions: u32,
    /// While its lead is short of memory, if it ever is.
    pub(crate) short: Option<Range<Moment>>,
    pub(crate) limit_wait: Duration,
    pub(crate) gap: Pace,
    pub(crate) work: Pace,
    /// A rank that is slower than the others by this factor.
    pub(crate) slow_rank: Option<(Rank, u64)>,
    pub(crate) abandon_percent: u64,
    pub(crate) disagree_percent: u64,
    pub(crate) disagree_steps: u64,
    pub(crate) habit: LayoutHabit,
    /// Particles are in every so manieth step.
    pub(crate) particles_every: u64,
    /// Whether ranks know their lead's contact, as under MPI.
    pub(crate) knows_lead: bool,
    /// A rank that never comes, or comes with another size.
    pub(crate) odd_rank: Option<OddRank>,
    /// Where a new epoch follows when this one is lost: after this long.
    pub(crate) restarts_after: Option<Duration>,
    /// How the numbers of that epoch go on.
    pub(crate) numbers: Numbers,
}

/// With which number a new epoch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// With 0: it says nothing of it.
    Anew,
    /// With so many below that of the step that would have been next.
    Back(u64),
    /// With so many above it: what lies between is nowhere.
    Ahead(u64),
}

impl PublisherPlan {
    /// How many steps the reserve keeps at most: each takes a byte at least.
    pub(crate) fn reserved_steps(&self) -> usize {
        u64::from(self.reserve_steps).min(self.reserve_bytes) as usize
    }

    /// What somebody who asks for this has here.
    pub(crate) fn allowed(&self, spec: &SubscriptionSpec) -> SubscriptionSpec {
        let lossless_or_slow = match spec.policy {
            QueuePolicy::EveryStep { .. } | QueuePolicy::EveryKth { .. } | QueuePolicy::WaitAtMost { .. } => {
                true
            }
            QueuePolicy::DropOldest | QueuePolicy::DropNewest | QueuePolicy::LatestOnly => false,
        };
        let least = if lossless_or_slow { self.least_limit_steps } else { 0 };
        SubscriptionSpec { limit_steps: spec.limit_steps.max(least), ..spec.clone() }
    }

    /// The number of its first step.
    pub(crate) fn first(&self) -> StepId {
        self.first_step.unwrap_or_default()
    }
}

/// A rank that spoils the assembly of its cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OddRank {
    Missing(Rank),
    WrongSize(Rank),
    WrongFirstStep(Rank),
}

/// When a subscriber cohort leaves by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// It stays to the end of the stream.
    AtEnd,
    /// After so many steps.
    After(u64),
    /// At this moment.
    At(Moment),
}

/// A subscriber cohort.
#[derive(Clone, Debug)]
pub(crate) struct SubscriberPlan {
    pub(crate) name: String,
    pub(crate) epoch: Epoch,
    pub(crate) size: u32,
    pub(crate) starts_at: Moment,
    /// Whether it knows the publisher's contact.
    pub(crate) direct: bool,
    pub(crate) spec: SubscriptionSpec,
    /// The variable that a step must have.
    pub(crate) demand: Option<Demand>,
    pub(crate) credit_steps: u32,
    pub(crate) on_loss: OnLoss,
    /// Whether steps that are held as the publisher is lost come again.
    pub(crate) takes_held_again: bool,
    /// How long a rank holds a step that it has read.
    pub(crate) hold: Pace,
    /// How long a rank waits between two steps.
    pub(crate) gap: Pace,
    /// Steps that a rank holds at one time.
    pub(crate) hold_steps: usize,
    pub(crate) leaves: Leaves,
    /// Another selection, or another condition.
    pub(crate) reselects: Option<Reselection>,
    /// After every so many steps its lead asks something of the simulation.
    pub(crate) steers_every: Option<u64>,
    /// Whether it maps blocks (a view) instead of copying them.
    pub(crate) views: bool,
}

impl SubscriberPlan {
    /// Whether what a rank holds as it closes is given back.
    pub(crate) fn gives_back_held(&self) -> bool {
        self.spec.redelivers() && self.epoch.0.is_multiple_of(2)
    }

    /// Whether no publisher accepts its specification.
    pub(crate) fn is_wrong(&self) -> bool {
        let never = matches!(self.spec.policy, QueuePolicy::EveryKth { every: 0, .. });
        let unknown = self.spec.when.is_some() && self.demand.is_none();
        self.spec.limit_steps == 0 || never || unknown
    }
}

/// Everything that a seed decides before the run begins.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) seed: u64,
    pub(crate) fan_out: u32,
    /// Messages longer than this travel in fragments.
    pub(crate) fragment_bytes: usize,
    pub(crate) timing: Timing,
    pub(crate) delays: Delays,
    pub(crate) data_delays: Delays,
    pub(crate) publishers: Vec<PublisherPlan>,
    pub(crate) subscribers: Vec<SubscriberPlan>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) kinds: Vec<FaultKind>,
    /// A publisher rank that dies with a question about contacts on its way to it.
    pub(crate) cut_way: Option<CutWay>,
    pub(crate) observers: Vec<ObserverPlan>,
}

impl Scenario {
    /// The scenario of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut prng = Prng::new(seed).fork(1);
        let timing = draw_timing(&mut prng);
        let publisher = draw_publisher(&mut prng);
        let mut scenario = Self {
            seed,
            fan_out: prng.between(1, 4) as u32,
            fragment_bytes: Prng::new(seed).fork(7).pick(&[FRAGMENT_BYTES, FRAGMENT_BYTES, 700, 60]),
            timing,
            delays: draw_delays(&mut prng),
            data_delays: draw_delays(&mut prng),
            subscribers: draw_subscribers(&mut prng, &publisher),
            publishers: vec![publisher],
            faults: Vec::new(),
            kinds: Vec::new(),
            cut_way: faults::draw_cut_way(&mut Prng::new(seed).fork(8)),
            observers: Vec::new(),
        };
        additions::draw(&mut scenario);
        let count = prng.between(2, 4);
        while (scenario.kinds.len() as u64) < count {
            let kind = prng.pick(&FaultKind::ALL);
            // A cohort that never opens shows little else.
            let spared = kind == FaultKind::OddRank && prng.chance(70);
            if !spared && !scenario.kinds.contains(&kind) {
                faults::plan(kind, &mut scenario, &mut prng);
                scenario.kinds.push(kind);
            }
        }
        scenario.observers = observers::draw(&scenario, &mut Prng::new(seed).fork(9));
        scenario
    }

    /// How long after its opening the first publisher is likely to be publishing.
    pub(crate) fn busy_after(&self, prng: &mut Prng) -> Duration {
        let plan = &self.publishers[0];
        let step_us = (plan.gap.low_us + plan.gap.high_us + plan.work.low_us + plan.work.high_us) / 2;
        let warm_us = plan.warm_up.as_micros() as u64;
        prng.micros(warm_us * 19 / 20, warm_us + step_us * plan.steps * 3 / 4)
    }

    /// A moment while the first publisher is likely to be publishing.
    pub(crate) fn busy_moment(&self, prng: &mut Prng) -> Moment {
        let plan = &self.publishers[0];
        let step_us = (plan.gap.low_us + plan.gap.high_us + plan.work.low_us + plan.work.high_us) / 2;
        let warm_us = plan.warm_up.as_micros() as u64;
        let open_us = 12 * self.delays.high_us;
        plan.starts_at.after(
            prng.micros(open_us + warm_us / 2, open_us + 20_000 + warm_us + step_us * plan.steps * 3 / 4),
        )
    }

    /// The longest that a fault may hold up a healthy cohort's news.
    pub(crate) fn longest_stall(&self) -> Duration {
        let stall = |fault: &Fault| match fault.strike {
            Strike::Spike { extra, .. } => extra,
            Strike::Pause { len, .. } | Strike::Oversleep { len, .. } => len,
            Strike::Reset { .. } | Strike::Silence { .. } | Strike::Crash { .. } | Strike::Intrude { .. } => {
                Duration::ZERO
            }
        };
        self.faults.iter().map(stall).sum()
    }

    /// How long news may take from any rank to any other, on a good day.
    pub(crate) fn slack(&self) -> Duration {
        // Up one tree and down another, each at most eight ranks deep, and a few words between leads.
        let hops = 24;
        let short = |fault: &Fault| match fault.strike {
            Strike::Spike { extra, .. } if extra < self.timing.silence => extra * 4,
            Strike::Oversleep { len, .. } => len,
            Strike::Spike { .. }
            | Strike::Reset { .. }
            | Strike::Silence { .. }
            | Strike::Crash { .. }
            | Strike::Pause { .. }
            | Strike::Intrude { .. } => Duration::ZERO,
        };
        let spikes: Duration = self.faults.iter().map(short).sum();
        Duration::from_micros(self.delays.high_us) * hops + Duration::from_millis(5) + spikes
    }

    /// The longest that a run may take in virtual time: a minute, and as long as the slowest reader holds all steps.
    pub(crate) fn bound(&self) -> Moment {
        let holds = self.subscribers.iter().map(|plan| plan.hold.high_us).max().unwrap_or(0);
        let steps = self.publishers.iter().map(|plan| plan.steps).max().unwrap_or(0);
        Moment::ZERO.after(Duration::from_secs(60) + Duration::from_micros(holds) * steps as u32)
    }
}

fn draw_timing(prng: &mut Prng) -> Timing {
    let heartbeat = prng.micros(20_000, 40_000);
    Timing {
        heartbeat,
        silence: heartbeat * prng.between(5, 8) as u32,
        open_timeout: prng.micros(600_000, 1_200_000),
        close_timeout: prng.micros(300_000, 600_000),
        lookup_interval: prng.micros(5_000, 20_000),
        lag_report: prng.micros(5_000, 50_000),
    }
}

fn draw_delays(prng: &mut Prng) -> Delays {
    let low_us = prng.between(5, 100);
    Delays { low_us, high_us: low_us + prng.pick(&[20, 200, 1_000, 3_000]) }
}

fn draw_epoch(prng: &mut Prng) -> Epoch {
    Epoch(u128::from(prng.next()) << 64 | u128::from(prng.next()))
}

/// A publisher cohort in good health.
pub(crate) fn draw_publisher(prng: &mut Prng) -> PublisherPlan {
    let gap = prng.pick(&[500, 3_000, 8_000]);
    let warm_up = Duration::from_micros(prng.pick(&[10_000, 40_000, 120_000]));
    PublisherPlan {
        epoch: draw_epoch(prng),
        size: prng.between(1, 8) as u32,
        first_step: None,
        starts_at: Moment::ZERO.after(prng.micros(0, 20_000)),
        steps: prng.between(15, 60),
        warm_up,
        stops_at: None,
        skew_steps: prng.between(1, 5) as u32,
        takes_requests: true,
        delegates_requests: false,
        hasty: None,
        limit_requests_per_second: REQUESTS_PER_SECOND,
        limit_bytes: prng.pick(&[1 << 30, 1 << 30, 1 << 30, 1_500]),
        tight_rank: None,
        reserve_steps: prng.pick(&[0, 0, 1, 2, 4]),
        reserve_bytes: u64::MAX,
        reserve_demand: None,
        precious_first: prng.chance(30),
        least_limit_steps: 0,
        limit_subscriptions: prng.pick(&[64, 64, 64, 64, 64, 64, 64, 64, 64, 1]),
        limit_peer_subscriptions: u32::MAX,
        short: None,
        limit_wait: Duration::from_millis(prng.pick(&[60_000, 60_000, 60_000, 15])),
        gap: Pace { low_us: gap / 4, high_us: gap },
        work: Pace { low_us: 50, high_us: prng.pick(&[300, 2_000, 6_000]) },
        slow_rank: None,
        abandon_percent: prng.pick(&[0, 0, 0, 4]),
        disagree_percent: prng.pick(&[0, 0, 0, 0, 4]),
        disagree_steps: 1,
        habit: LayoutHabit::draw(prng),
        particles_every: 1,
        knows_lead: prng.chance(50),
        odd_rank: None,
        restarts_after: None,
        numbers: Numbers::Anew,
    }
}

fn draw_subscribers(prng: &mut Prng, publisher: &PublisherPlan) -> Vec<SubscriberPlan> {
    let mut plans: Vec<SubscriberPlan> = Vec::new();
    for number in 0..prng.between(1, 3) {
        plans.push(draw_subscriber(prng, publisher, format!("reader-{number}")));
    }
    if prng.chance(40) {
        let pattern = draw_worker(prng, publisher);
        for number in 0..prng.between(2, 3) {
            plans.push(another_worker(prng, publisher, &pattern, number));
        }
    }
    plans
}

/// A subscriber cohort in good health.
pub(crate) fn draw_subscriber(prng: &mut Prng, publisher: &PublisherPlan, name: String) -> SubscriberPlan {
    let hold = prng.pick(&[300, 2_000, 10_000]);
    let warm_us = publisher.warm_up.as_micros() as u64;
    let run_us = warm_us + (publisher.gap.high_us + publisher.work.high_us) * publisher.steps / 2;
    let late_us = if prng.chance(60) { warm_us / 2 } else { run_us };
    SubscriberPlan {
        name,
        epoch: draw_epoch(prng),
        size: prng.between(1, 8) as u32,
        starts_at: Moment::ZERO.after(prng.micros(0, late_us)),
        direct: prng.chance(30),
        spec: draw_spec(prng),
        demand: None,
        credit_steps: prng.between(1, 3) as u32,
        on_loss: OnLoss::End,
        takes_held_again: false,
        hold: Pace { low_us: 50, high_us: hold },
        gap: Pace { low_us: 20, high_us: prng.pick(&[100, 3_000]) },
        hold_steps: prng.between(1, 3) as usize,
        leaves: draw_leaves(prng, run_us),
        reselects: None,
        steers_every: None,
        views: prng.chance(60),
    }
}

fn draw_leaves(prng: &mut Prng, run_us: u64) -> Leaves {
    match prng.below(10) {
        0 | 1 => Leaves::After(prng.between(1, 8)),
        2 => Leaves::At(Moment::ZERO.after(prng.micros(1_000, run_us + 50_000))),
        _ => Leaves::AtEnd,
    }
}

fn draw_worker(prng: &mut Prng, publisher: &PublisherPlan) -> SubscriberPlan {
    let mut plan = draw_subscriber(prng, publisher, String::new());
    plan.spec.share = Some(Share {
        set: "workers".to_owned(),
        mode: prng.pick(&[ShareMode::RoundRobin, ShareMode::OnDemand]),
        redeliver: prng.chance(60),
    });
    plan
}

fn another_worker(
    prng: &mut Prng,
    publisher: &PublisherPlan,
    pattern: &SubscriberPlan,
    number: u64,
) -> SubscriberPlan {
    let own = draw_subscriber(prng, publisher, format!("worker-{number}"));
    SubscriberPlan { spec: pattern.spec.clone(), size: prng.pick(&[1, 1, 2, 3]), ..own }
}

/// A specification that a publisher accepts.
pub(crate) fn draw_spec(prng: &mut Prng) -> SubscriptionSpec {
    SubscriptionSpec {
        variables: draw_variables(prng),
        policy: draw_policy(prng),
        limit_steps: prng.between(1, 5) as u32,
        start_at: prng.pick(&[StartAt::Next, StartAt::OldestReserved]),
        share: None,
        requests: Vec::new(),
        when: None,
    }
}

/// All variables, or some.
pub(crate) fn draw_variables(prng: &mut Prng) -> VariableSet {
    if prng.chance(50) {
        return VariableSet::All;
    }
    let some: Vec<&str> = VARIABLES.into_iter().filter(|_| prng.chance(50)).collect();
    VariableSet::named(if some.is_empty() { vec![VARIABLES[0]] } else { some })
}

pub(crate) fn draw_policy(prng: &mut Prng) -> QueuePolicy {
    let max_wait = Duration::from_millis(prng.pick(&[2_000, 2_000, 2_000, 40, 0]));
    match prng.below(10) {
        0..=3 => QueuePolicy::EveryStep { max_wait },
        4 => QueuePolicy::DropOldest,
        5 => QueuePolicy::DropNewest,
        6 => QueuePolicy::LatestOnly,
        7 | 8 => QueuePolicy::EveryKth { every: prng.between(1, 4), max_wait },
        _ => QueuePolicy::WaitAtMost { wait: Duration::from_millis(prng.pick(&[0, 2, 20])) },
    }
}

/// Another epoch of a publisher, for a restart or a rival.
pub(crate) fn another_epoch(prng: &mut Prng, plan: &PublisherPlan) -> PublisherPlan {
    PublisherPlan {
        epoch: draw_epoch(prng),
        size: prng.between(1, 8) as u32,
        habit: LayoutHabit::draw(prng),
        odd_rank: None,
        tight_rank: None,
        hasty: None,
        slow_rank: None,
        stops_at: None,
        restarts_after: None,
        ..plan.clone()
    }
}
