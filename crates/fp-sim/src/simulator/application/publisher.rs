//! The application of a publisher rank: what it is about to do, at which pace and for how long.

use crate::simulator::content::Content;
use crate::simulator::names::SlotId;
use crate::simulator::prng::Prng;
use crate::simulator::scenario::{Pace, PublisherPlan};
use fp_proto::message::ChangeId;
use fp_proto::time::Moment;
use fp_types::{Rank, StepId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What it is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Begin,
    /// It would begin, but must wait.
    Wait,
    /// A step is open.
    End(StepId),
    /// The stream is lost: it looks around, then closes.
    GiveUp,
    Closing,
}

/// The application of one publisher rank.
pub(crate) struct PublisherApp {
    pub(crate) act: Act,
    pub(crate) steps: u64,
    pub(crate) stops_at: Option<Moment>,
    pub(crate) begun: u64,
    pub(crate) warm_up: Duration,
    /// No step is begun before that.
    pub(crate) not_before: Moment,
    gap: Pace,
    /// How long it lags now and then, where it hurries between.
    lag: Option<Pace>,
    pub(crate) work: Pace,
    pub(crate) abandon_percent: u64,
    pub(crate) content: Content,
    pub(crate) rank: Rank,
    pub(crate) prng: Prng,
    pub(crate) wants: Vec<SlotId>,
    /// What is asked of it at the open step.
    pub(crate) steering: Vec<(ChangeId, u64)>,
    /// What is to be measured of open steps.
    pub(crate) measures: BTreeMap<StepId, Arc<str>>,
}

impl PublisherApp {
    pub(crate) fn new(plan: &PublisherPlan, content: Content, rank: Rank, prng: Prng) -> Self {
        let factor = plan.slow_rank.filter(|(slow, _)| *slow == rank).map_or(1, |(_, factor)| factor);
        let slower = |pace: Pace| Pace { low_us: pace.low_us * factor, high_us: pace.high_us * factor };
        Self {
            act: Act::Begin,
            steps: plan.steps,
            stops_at: plan.stops_at,
            begun: 0,
            warm_up: plan.warm_up,
            not_before: Moment::ZERO,
            gap: slower(plan.gap),
            lag: plan.hasty.filter(|hasty| hasty.rank == rank).map(|hasty| hasty.lag),
            work: slower(plan.work),
            abandon_percent: plan.abandon_percent,
            content,
            rank,
            prng,
            wants: Vec::new(),
            steering: Vec::new(),
            measures: BTreeMap::new(),
        }
    }

    /// How long it waits before its next step.
    pub(crate) fn draw_gap(&mut self) -> Duration {
        let gap = self.gap.draw(&mut self.prng);
        match self.lag {
            Some(lag) if self.prng.chance(25) => lag.draw(&mut self.prng),
            Some(_) => gap / 8,
            None => gap,
        }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.act == Act::Wait
    }

    /// Whether it begins no more steps.
    pub(crate) fn is_done(&self, now: Moment) -> bool {
        self.begun >= self.steps || self.stops_at.is_some_and(|stop| stop <= now)
    }
}
