//! What is drawn of a scenario besides, each from a stream of its own: what else a seed does stays as it is.

use crate::simulator::content::{CLOCK, Demand, LayoutHabit, MEASURED_BELOW, PARTICLES};
use crate::simulator::prng::Prng;
use crate::simulator::scenario::{self, Numbers, Pace, Scenario, SubscriberPlan, haste, reselection};
use fp_proto::config::{QueuePolicy, StartAt};
use fp_proto::time::Moment;
use fp_types::{Comparison, StepId};
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

/// Draws all of it.
pub(crate) fn draw(scenario: &mut Scenario) {
    let seed = scenario.seed;
    let stream = |number| Prng::new(seed).fork(number);
    draw_company(scenario, &mut stream(41));
    draw_long_disputes(scenario, &mut stream(43));
    draw_numbers(scenario, &mut stream(9));
    draw_turns(scenario, &mut stream(11));
    draw_conditions(scenario, &mut stream(23));
    draw_measures(scenario, &mut stream(59));
    draw_watches(scenario, &mut stream(67));
    draw_steering(scenario, &mut stream(61));
    draw_peers(scenario, &mut stream(29));
    draw_shortage(scenario, &mut stream(31));
    draw_long_hold(scenario, &mut stream(37));
    // More than anybody asks for, or less than some.
    scenario.publishers[0].least_limit_steps = stream(47).pick(&[0, 0, 0, 2, 4, 7]);
    draw_reserve(scenario, &mut stream(53));
    draw_hits(scenario, &mut stream(71));
    reselection::draw_conditions(scenario, &mut stream(73));
    draw_held_again(scenario, &mut stream(79));
    haste::draw(scenario, &mut stream(131));
    draw_delegation(scenario, &mut stream(137));
}

/// Some hand on what they are asked for.
fn draw_delegation(scenario: &mut Scenario, prng: &mut Prng) {
    for plan in &mut scenario.publishers {
        plan.delegates_requests = prng.chance(15);
    }
}

/// Some have what they hold as the publisher is lost come again.
fn draw_held_again(scenario: &mut Scenario, prng: &mut Prng) {
    for plan in &mut scenario.subscribers {
        plan.takes_held_again = prng.chance(50);
    }
}

/// Most scenarios have more than one subscription, and more than one kind of policy.
fn draw_company(scenario: &mut Scenario, prng: &mut Prng) {
    let alone = prng.chance(5);
    if alone || is_mixed(&scenario.subscribers) {
        return;
    }
    let mut plan = scenario::draw_subscriber(prng, &scenario.publishers[0], "another".to_owned());
    while scenario.subscribers.iter().any(|other| kind_of(other) == kind_of(&plan)) {
        plan.spec.policy = scenario::draw_policy(prng);
    }
    scenario.subscribers.push(plan);
}

fn kind_of(plan: &SubscriberPlan) -> Discriminant<QueuePolicy> {
    discriminant(&plan.spec.policy)
}

/// Whether there are two kinds of policy, and so more than one subscription.
fn is_mixed(plans: &[SubscriberPlan]) -> bool {
    plans.windows(2).any(|pair| kind_of(&pair[0]) != kind_of(&pair[1]))
}

/// A reserve of many steps, of which its bytes leave the last one.
fn draw_reserve(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    if plan.reserve_steps > 0 && prng.chance(30) {
        (plan.reserve_steps, plan.reserve_bytes) = (50, 1);
    }
}

/// A reserve of steps that are as somebody demands, and who comes late for these.
fn draw_hits(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    if plan.reserve_steps == 0 || !prng.chance(40) {
        return;
    }
    let half = u64::from(plan.size) * MEASURED_BELOW / 2;
    let sum = |threshold| Demand::Sum(Comparison::Above, threshold);
    let demand = prng.pick(&[sum(half), sum(half), sum(half / 2), Demand::Has(PARTICLES)]);
    plan.reserve_demand = Some(demand);
    for subscriber in &mut scenario.subscribers {
        if subscriber.spec.share.is_none() && prng.chance(50) {
            (subscriber.demand, subscriber.spec.start_at) = (Some(demand), StartAt::OldestReserved);
        }
    }
    tell_conditions(scenario);
}

/// Disputes of several steps: a rank goes on with what it was refused for.
fn draw_long_disputes(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    if plan.disagree_percent > 0 {
        (plan.disagree_percent, plan.disagree_steps) =
            prng.pick(&[(plan.disagree_percent, 1), (12, 2), (12, 4)]);
    }
}

/// Numbers that outlive an epoch: where the publisher begins, how one that comes again goes on, and who starts at a
/// number.
fn draw_numbers(scenario: &mut Scenario, prng: &mut Prng) {
    let plan = &mut scenario.publishers[0];
    plan.first_step = prng.pick(&[None, None, Some(StepId(0)), Some(StepId(1)), Some(StepId(17))]);
    let (back, ahead) = (prng.between(0, 12), prng.between(1, 5));
    plan.numbers = prng.pick(&[
        Numbers::Anew,
        Numbers::Back(back),
        Numbers::Back(back),
        Numbers::Back(1_000),
        Numbers::Ahead(ahead),
    ]);
    let (first, set) = (plan.first().0, prng.below(30));
    for subscriber in &mut scenario.subscribers {
        let number = if subscriber.spec.share.is_some() { set } else { prng.below(30) };
        if number < 12 {
            subscriber.spec.start_at = StartAt::After(StepId((first + 2 * number).saturating_sub(4)));
        }
    }
}

/// Layouts that return.
fn draw_turns(scenario: &mut Scenario, prng: &mut Prng) {
    if prng.chance(25) {
        let layouts = prng.pick(&[2, 2, 3, 8, 9]);
        scenario.publishers[0].habit = prng.pick(&[LayoutHabit::InTurn(layouts), LayoutHabit::ComesBack]);
    }
}

/// Variables that come and go, and who wants steps with them only.
fn draw_conditions(scenario: &mut Scenario, prng: &mut Prng) {
    if !prng.chance(40) {
        return;
    }
    scenario.publishers[0].particles_every = prng.pick(&[1, 2, 3, 3, 5]);
    let has = |variable| Some(Demand::Has(variable));
    let any = [None, None, has(PARTICLES), has(PARTICLES), has(PARTICLES), has(CLOCK), has("nothing")];
    let of_set = prng.pick(&any);
    for plan in &mut scenario.subscribers {
        plan.demand = if plan.spec.share.is_some() { of_set } else { prng.pick(&any) };
    }
    tell_conditions(scenario);
}

/// Who asks something of the simulation.
fn draw_steering(scenario: &mut Scenario, prng: &mut Prng) {
    if prng.chance(35) {
        for plan in &mut scenario.subscribers {
            plan.steers_every = prng.pick(&[None, Some(1), Some(2), Some(5)]);
        }
    }
}

/// Who wants steps by what ranks measure.
fn draw_measures(scenario: &mut Scenario, prng: &mut Prng) {
    if !prng.chance(30) {
        return;
    }
    let half = u64::from(scenario.publishers[0].size) * MEASURED_BELOW / 2;
    let any = [half, half, half / 2, 0].map(|threshold| Demand::Sum(Comparison::Above, threshold));
    let of_set = prng.pick(&any);
    for plan in &mut scenario.subscribers {
        let own = prng.pick(&any);
        plan.demand =
            if plan.spec.share.is_some() { Some(of_set) } else { Some(own).filter(|_| prng.chance(70)) };
    }
    tell_conditions(scenario);
}

/// Several lossless subscriptions with a condition, beside others: most compare one number, each with its own.
fn draw_watches(scenario: &mut Scenario, prng: &mut Prng) {
    if !prng.chance(25) {
        return;
    }
    let half = u64::from(scenario.publishers[0].size) * MEASURED_BELOW / 2;
    for number in 0..prng.between(2, 5) {
        let mut plan = scenario::draw_subscriber(prng, &scenario.publishers[0], format!("watch-{number}"));
        let max_wait = Duration::from_millis(prng.pick(&[2_000, 2_000, 40, 0]));
        plan.spec.policy = QueuePolicy::EveryStep { max_wait };
        plan.spec.limit_steps = prng.pick(&[1, 2, 4, 4, 8]);
        let threshold = prng.pick(&[0, half / 2, half, half, 4 * half]);
        let sum = Demand::Sum(prng.pick(&Comparison::ALL), threshold);
        plan.demand = Some(if prng.chance(85) { sum } else { Demand::Has(PARTICLES) });
        scenario.subscribers.push(plan);
    }
    tell_conditions(scenario);
}

fn tell_conditions(scenario: &mut Scenario) {
    for plan in &mut scenario.subscribers {
        plan.spec.when = plan.demand.and_then(Demand::condition).map(|condition| condition.encode());
    }
}

/// How many subscriptions one host may have.
fn draw_peers(scenario: &mut Scenario, prng: &mut Prng) {
    if prng.chance(8) {
        scenario.publishers[0].limit_peer_subscriptions = prng.pick(&[1, 1, 2]);
    }
}

/// When the first publisher is short of memory.
fn draw_shortage(scenario: &mut Scenario, prng: &mut Prng) {
    if prng.chance(12) {
        let begins = Moment::ZERO.after(prng.micros(0, 60_000));
        let lasts = prng.pick(&[5_000, 40_000, 400_000, 60_000_000]);
        scenario.publishers[0].short = Some(begins..begins.after(prng.micros(lasts / 2, lasts)));
    }
}

/// A subscriber that holds its steps for longer than its publisher's close waits.
fn draw_long_hold(scenario: &mut Scenario, prng: &mut Prng) {
    let close_us = scenario.timing.close_timeout.as_micros() as u64;
    let number = prng.below(scenario.subscribers.len().max(1) as u64) as usize;
    let Some(plan) = scenario.subscribers.get_mut(number).filter(|_| prng.chance(12)) else { return };
    plan.hold = Pace { low_us: close_us / 2, high_us: close_us * 3 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_scenarios_have_one_kind_of_policy() {
        let uniform = (0..1_000).filter(|&seed| !is_mixed(&Scenario::draw(seed).subscribers)).count();
        assert!((1..=50).contains(&uniform), "{uniform} of 1,000");
    }
}
