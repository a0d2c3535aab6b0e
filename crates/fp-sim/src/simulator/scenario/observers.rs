//! Observers of a run: whom they ask, how often, and how they go.

use crate::simulator::prng::Prng;
use crate::simulator::scenario::Scenario;
use fp_proto::time::Moment;
use std::time::Duration;

/// Somebody who asks for status and takes no data.
#[derive(Clone, Debug)]
pub(crate) struct ObserverPlan {
    pub(crate) starts_at: Moment,
    /// Picks whom it asks, of those who live then.
    pub(crate) pick: u64,
    /// How often it asks.
    pub(crate) rounds: u64,
    /// Questions that it asks at once.
    pub(crate) at_once: u64,
    pub(crate) gap: Duration,
    /// Whether it goes without hearing the answer to its last question.
    pub(crate) leaves_early: bool,
}

/// In some seeds there are observers, drawn from a stream of their own: other seeds stay as they are.
pub(crate) fn draw(scenario: &Scenario, prng: &mut Prng) -> Vec<ObserverPlan> {
    if !prng.chance(30) {
        return Vec::new();
    }
    let crowd = prng.chance(10);
    let count = if crowd { 24 } else { prng.between(1, 3) };
    let (pick, starts_at) = (prng.next(), moment(scenario, prng));
    let plan = |prng: &mut Prng| ObserverPlan {
        starts_at: if crowd { starts_at } else { moment(scenario, prng) },
        pick: if crowd { pick } else { prng.next() },
        rounds: prng.between(1, 8),
        at_once: prng.pick(&[1, 1, 1, 2, 6, 120]),
        gap: prng.micros(1_000, 60_000),
        leaves_early: prng.chance(20),
    };
    (0..count).map(|_| plan(prng)).collect()
}

/// Mostly while steps flow, now and then while cohorts assemble.
fn moment(scenario: &Scenario, prng: &mut Prng) -> Moment {
    if prng.chance(80) {
        return scenario.busy_moment(prng);
    }
    scenario.publishers[0].starts_at.after(prng.micros(0, 20_000))
}
