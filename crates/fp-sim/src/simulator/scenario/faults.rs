//! The faults that a seed may draw: some shape the scenario, others strike at a moment.

use crate::simulator::prng::Prng;
use crate::simulator::scenario::reselection::Reselection;
use crate::simulator::scenario::{self, Leaves, OddRank, Pace, Scenario};
use fp_proto::config::{OnLoss, QueuePolicy, Share, ShareMode};
use fp_proto::time::Moment;
use fp_types::Rank;
use std::time::Duration;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Messages take longer for a while, within what heartbeats allow.
    ShortSpike,
    /// Messages take longer than the silence.
    LongSpike,
    /// Links are reset.
    Resets,
    /// Links go silent.
    HalfOpen,
    /// A publisher rank dies.
    PublisherCrash,
    /// A subscriber rank dies.
    SubscriberCrash,
    /// A publisher rank dies and a new epoch comes; subscribers wait for it.
    Restart,
    /// A subscriber is too slow.
    SlowSubscriber,
    /// Subscribers come when much is over already.
    LateSubscribers,
    /// Publisher and subscribers close at one moment.
    SimultaneousClose,
    /// One publisher rank is far behind the others when subscribers attach.
    SkewedAttach,
    /// Only one rank meets its bound and loses patience.
    LocalTimeout,
    /// A holder is paused for longer than the silence and resumes with its view.
    PausedHolder,
    /// Placements are faster or slower than decisions.
    Overtaking,
    /// Selections change between two steps.
    SelectionChanges,
    /// Two publishers of one name.
    Rivals,
    /// Coordinators sleep too long.
    Oversleep,
    /// The rendezvous holds entries of the dead and of liars.
    FalseEntries,
    /// Somebody sends what no peer may send.
    Intruder,
    /// Subscriptions that must be refused.
    BadSubscriptions,
    /// A rank that does not come, or does not fit.
    OddRank,
}

impl FaultKind {
    pub(crate) const ALL: [Self; 21] = [
        Self::ShortSpike,
        Self::LongSpike,
        Self::Resets,
        Self::HalfOpen,
        Self::PublisherCrash,
        Self::SubscriberCrash,
        Self::Restart,
        Self::SlowSubscriber,
        Self::LateSubscribers,
        Self::SimultaneousClose,
        Self::SkewedAttach,
        Self::LocalTimeout,
        Self::PausedHolder,
        Self::Overtaking,
        Self::SelectionChanges,
        Self::Rivals,
        Self::Oversleep,
        Self::FalseEntries,
        Self::Intruder,
        Self::BadSubscriptions,
        Self::OddRank,
    ];
}

/// Which machine a fault is for: the publisher or subscriber of this number, and a rank of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Publisher(usize, Rank),
    Subscriber(usize, Rank),
}

/// A fault that strikes at a moment.
#[derive(Clone, Debug)]
pub(crate) enum Strike {
    /// Every message, or those of one machine, take longer.
    Spike { len: Duration, extra: Duration, only: Option<Target> },
    /// A live link, picked by this number, is reset.
    Reset { pick: u64 },
    /// A live link, picked by this number, goes silent.
    Silence { pick: u64 },
    /// A process dies; with its whole host if `silent`, so that nobody is told.
    Crash { target: Target, silent: bool },
    /// A process gets no input for this long.
    Pause { target: Target, len: Duration, holding: bool },
    /// A coordinator does nothing for this long, but reads its input before it looks at the clock.
    Oversleep { target: Target, len: Duration },
    /// A stranger dials a machine and says what it must not.
    Intrude { pick: u64 },
}

/// The question about contacts that kills the publisher rank which it goes to. It says how many are before it, how long
/// after it was sent that rank dies, and whether its host does too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutWay {
    pub(crate) before: u64,
    pub(crate) after: Duration,
    pub(crate) silent: bool,
}

/// In some seeds a way is cut, drawn from a stream of its own: what else a seed does stays as it is.
pub(crate) fn draw_cut_way(prng: &mut Prng) -> Option<CutWay> {
    let cut = prng.chance(8);
    let (before, after, silent) = (prng.below(8), prng.micros(0, 3_000), prng.chance(30));
    cut.then_some(CutWay { before, after, silent })
}

/// When a fault strikes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    At(Moment),
    /// So long after the first publisher opened.
    AfterOpening(Duration),
}

/// A strike and its moment.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) when: When,
    pub(crate) strike: Strike,
}

/// Plans a fault of this kind.
pub(crate) fn plan(kind: FaultKind, scenario: &mut Scenario, prng: &mut Prng) {
    match kind {
        FaultKind::ShortSpike => spike(scenario, prng, false),
        FaultKind::LongSpike => spike(scenario, prng, true),
        FaultKind::Resets => strikes(scenario, prng, |pick| Strike::Reset { pick }),
        FaultKind::HalfOpen => strikes(scenario, prng, |pick| Strike::Silence { pick }),
        FaultKind::PublisherCrash => crash_publisher(scenario, prng),
        FaultKind::SubscriberCrash => crash_subscriber(scenario, prng),
        FaultKind::Restart => restart(scenario, prng),
        FaultKind::SlowSubscriber => slow(scenario, prng),
        FaultKind::LateSubscribers => late(scenario, prng),
        FaultKind::SimultaneousClose => close_together(scenario, prng),
        FaultKind::SkewedAttach => skewed_attach(scenario, prng),
        FaultKind::LocalTimeout => local_timeout(scenario, prng),
        FaultKind::PausedHolder => pause_holder(scenario, prng),
        FaultKind::Overtaking => overtaking(scenario, prng),
        FaultKind::SelectionChanges => selections(scenario, prng),
        FaultKind::Rivals => rivals(scenario, prng),
        FaultKind::Oversleep => oversleep(scenario, prng),
        FaultKind::Intruder => strikes(scenario, prng, |pick| Strike::Intrude { pick }),
        FaultKind::BadSubscriptions => bad_subscriptions(scenario, prng),
        FaultKind::OddRank => odd_rank(scenario, prng),
        // The world writes them, as it knows who is where. They take some time to see through.
        FaultKind::FalseEntries => {
            let silence = scenario.timing.silence;
            scenario.publishers.iter_mut().for_each(|plan| plan.warm_up += silence);
        }
    }
}

fn strike(scenario: &mut Scenario, prng: &mut Prng, strike: Strike) {
    let late = prng.chance(80);
    let when = if late {
        When::AfterOpening(scenario.busy_after(prng))
    } else {
        When::At(scenario.busy_moment(prng))
    };
    scenario.faults.push(Fault { when, strike });
}

fn strikes(scenario: &mut Scenario, prng: &mut Prng, make: impl Fn(u64) -> Strike) {
    for _ in 0..prng.between(1, 3) {
        let pick = prng.next();
        strike(scenario, prng, make(pick));
    }
}

fn any_publisher(scenario: &Scenario, prng: &mut Prng) -> Target {
    let number = prng.below(scenario.publishers.len() as u64) as usize;
    Target::Publisher(number, any_rank(prng, scenario.publishers[number].size))
}

/// The lead in a third of the cases: it has the most to lose.
fn any_rank(prng: &mut Prng, size: u32) -> Rank {
    Rank(if prng.chance(33) { 0 } else { prng.below(u64::from(size)) as u32 })
}

fn any_subscriber(scenario: &Scenario, prng: &mut Prng) -> Target {
    let number = prng.below(scenario.subscribers.len() as u64) as usize;
    Target::Subscriber(number, any_rank(prng, scenario.subscribers[number].size))
}

fn anybody(scenario: &Scenario, prng: &mut Prng) -> Target {
    if prng.chance(50) { any_publisher(scenario, prng) } else { any_subscriber(scenario, prng) }
}

fn spike(scenario: &mut Scenario, prng: &mut Prng, long: bool) {
    let silence = scenario.timing.silence;
    let only = prng.chance(50).then(|| anybody(scenario, prng));
    let extra = if long { silence + silence / 2 } else { silence / prng.between(4, 12) as u32 };
    let len = prng.micros(1_000, 30_000);
    strike(scenario, prng, Strike::Spike { len, extra, only });
}

fn crash_publisher(scenario: &mut Scenario, prng: &mut Prng) {
    let target = any_publisher(scenario, prng);
    let silent = prng.chance(30);
    strike(scenario, prng, Strike::Crash { target, silent });
}

fn crash_subscriber(scenario: &mut Scenario, prng: &mut Prng) {
    for _ in 0..prng.between(1, 2) {
        let target = any_subscriber(scenario, prng);
        let silent = prng.chance(30);
        strike(scenario, prng, Strike::Crash { target, silent });
    }
}

fn restart(scenario: &mut Scenario, prng: &mut Prng) {
    scenario.publishers[0].restarts_after = Some(prng.micros(1_000, 200_000));
    let patience = prng.pick(&[30, 2_000, 4_000]);
    for plan in &mut scenario.subscribers {
        if prng.chance(80) {
            plan.on_loss = OnLoss::AwaitRestart(Duration::from_millis(patience));
            plan.leaves = Leaves::AtEnd;
        }
    }
    crash_publisher(scenario, prng);
}

fn slow(scenario: &mut Scenario, prng: &mut Prng) {
    let number = prng.below(scenario.subscribers.len() as u64) as usize;
    let plan = &mut scenario.subscribers[number];
    plan.hold = Pace { low_us: 20_000, high_us: prng.pick(&[40_000, 200_000]) };
}

fn late(scenario: &mut Scenario, prng: &mut Prng) {
    let moments: Vec<Moment> = scenario.subscribers.iter().map(|_| scenario.busy_moment(prng)).collect();
    for (plan, moment) in scenario.subscribers.iter_mut().zip(moments) {
        plan.starts_at = moment.after(prng.micros(0, 50_000));
    }
}

fn close_together(scenario: &mut Scenario, prng: &mut Prng) {
    let moment = scenario.busy_moment(prng).after(Duration::from_millis(20));
    scenario.publishers[0].stops_at = Some(moment);
    for plan in &mut scenario.subscribers {
        if prng.chance(70) {
            plan.leaves = Leaves::At(moment);
        }
    }
}

fn skewed_attach(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    plan.skew_steps = prng.between(3, 6) as u32;
    plan.slow_rank = Some((Rank(prng.below(u64::from(plan.size)) as u32), prng.between(2, 5)));
    // Without a subscription nothing bounds the skew: the first ones meet the ranks far apart.
    let later = plan.starts_at.after(prng.micros(10_000, 60_000));
    for subscriber in &mut scenario.subscribers {
        subscriber.starts_at = subscriber.starts_at.max(later);
    }
}

fn local_timeout(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    plan.tight_rank = Some((Rank(prng.below(u64::from(plan.size)) as u32), prng.pick(&[1, 200, 600])));
    for subscriber in &mut scenario.subscribers {
        if prng.chance(50) {
            subscriber.spec.policy =
                QueuePolicy::EveryStep { max_wait: Duration::from_millis(prng.pick(&[5, 30])) };
            subscriber.hold.high_us = subscriber.hold.high_us.max(40_000);
            subscriber.spec.share = None;
        }
    }
}

fn pause_holder(scenario: &mut Scenario, prng: &mut Prng) {
    let target = any_subscriber(scenario, prng);
    if let Target::Subscriber(number, _) = target {
        scenario.subscribers[number].views = true;
        scenario.subscribers[number].hold = Pace { low_us: 2_000, high_us: 20_000 };
    }
    let len = scenario.timing.silence * prng.between(1, 4) as u32 + Duration::from_millis(20);
    strike(scenario, prng, Strike::Pause { target, len, holding: true });
}

fn overtaking(scenario: &mut Scenario, prng: &mut Prng) {
    let (quick, slow) = ((1, 10), (2_000, 9_000));
    let (control, data) = if prng.chance(50) { (quick, slow) } else { (slow, quick) };
    (scenario.delays.low_us, scenario.delays.high_us) = control;
    (scenario.data_delays.low_us, scenario.data_delays.high_us) = data;
}

fn selections(scenario: &mut Scenario, prng: &mut Prng) {
    for plan in scenario.subscribers.iter_mut().filter(|plan| plan.spec.share.is_none()) {
        let (after, variables) = (prng.between(1, 6), scenario::draw_variables(prng));
        let before = plan.reselects.take();
        let demand = before.as_ref().and_then(|before| before.demand);
        let errs = before.is_some_and(|before| before.errs);
        plan.reselects = Some(Reselection { after, variables, demand, errs });
        if plan.leaves != Leaves::AtEnd && prng.chance(70) {
            plan.leaves = Leaves::AtEnd;
        }
    }
}

fn rivals(scenario: &mut Scenario, prng: &mut Prng) {
    let mut rival = scenario::another_epoch(prng, &scenario.publishers[0]);
    let apart = prng.pick(&[0, 300, 3_000, 60_000]);
    // Without that, ranks of one size could not tell which of the two leads is theirs.
    rival.knows_lead = true;
    scenario.publishers[0].knows_lead = true;
    rival.starts_at = scenario.publishers[0].starts_at.after(prng.micros(0, apart));
    scenario.publishers.push(rival);
    if prng.chance(50) {
        scenario.publishers.swap(0, 1);
    }
}

fn oversleep(scenario: &mut Scenario, prng: &mut Prng) {
    for _ in 0..prng.between(1, 4) {
        let target = anybody(scenario, prng);
        // Long enough to be noticed, short enough that its own heartbeats are not missed.
        let len = scenario.timing.silence * prng.between(55, 65) as u32 / 100;
        strike(scenario, prng, Strike::Oversleep { target, len });
    }
}

fn bad_subscriptions(scenario: &mut Scenario, prng: &mut Prng) {
    let publisher = scenario.publishers[0].clone();
    let mut plan = scenario::draw_subscriber(prng, &publisher, "wrong".to_owned());
    match prng.below(3) {
        0 if plan.epoch.0.is_multiple_of(2) => plan.spec.limit_steps = 0,
        0 => plan.spec.when = Some(b"\x01\x05above\x01\x00T".to_vec()),
        1 => plan.spec.policy = QueuePolicy::EveryKth { every: 0, max_wait: Duration::from_millis(10) },
        _ => {
            let mode = prng.pick(&[ShareMode::RoundRobin, ShareMode::OnDemand]);
            let share = Share { set: "workers".to_owned(), mode, redeliver: prng.chance(50) };
            plan.spec.share = Some(share);
            plan.spec.limit_steps = 9;
        }
    }
    scenario.subscribers.push(plan);
}

fn odd_rank(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    if plan.size < 2 {
        plan.size = prng.between(2, 8) as u32;
    }
    let rank = Rank(prng.between(1, u64::from(plan.size) - 1) as u32);
    let other = Prng::new(scenario.seed).fork(10).chance(50);
    plan.odd_rank = Some(match prng.chance(50) {
        true => OddRank::Missing(rank),
        false if other => OddRank::WrongFirstStep(rank),
        false => OddRank::WrongSize(rank),
    });
}
