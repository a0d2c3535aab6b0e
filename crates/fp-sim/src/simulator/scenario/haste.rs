//! A rank that lags and hurries: it may pass what the others agree on.

use crate::simulator::prng::Prng;
use crate::simulator::scenario::{Pace, PublisherPlan, Scenario};
use fp_types::Rank;

/// How a rank hurries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Haste {
    pub(crate) rank: Rank,
    /// By how many steps it may be further ahead than the others.
    pub(crate) more_steps: u32,
    /// How long it lags where it does.
    pub(crate) lag: Pace,
}

impl PublisherPlan {
    /// How many steps of a rank may be undecided. Others believe a rank that has twice as many as they do, and no more.
    pub(crate) fn skew_of(&self, rank: Rank) -> u32 {
        match self.hasty {
            Some(hasty) if hasty.rank == rank => self.skew_steps + hasty.more_steps.min(self.skew_steps),
            _ => self.skew_steps,
        }
    }
}

/// A rank that lags and hurries, and may be further ahead than the others, where somebody asks something of the simulation.
pub(super) fn draw(scenario: &mut Scenario, prng: &mut Prng) {
    let is_steered = scenario.subscribers.iter().any(|plan| plan.steers_every.is_some());
    let plan = &mut scenario.publishers[0];
    if !is_steered || plan.size == 1 || !prng.chance(70) {
        return;
    }
    let any = prng.below(u64::from(plan.size));
    // One step ahead is soon passed.
    plan.skew_steps = prng.pick(&[1, 1, 1, 2, plan.skew_steps]);
    plan.hasty = Some(Haste {
        rank: Rank(prng.pick(&[0, any]) as u32),
        more_steps: prng.between(1, 3) as u32,
        lag: Pace { low_us: 0, high_us: 8 * scenario.delays.high_us },
    });
    plan.limit_requests_per_second = 1_000;
    for plan in &mut scenario.subscribers {
        plan.steers_every = plan.steers_every.map(|_| 1);
    }
}
