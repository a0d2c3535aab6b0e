//! One seed from beginning to end.

use crate::simulator::falsification::{Falsification, Flaw};
use crate::simulator::names::SlotId;
use crate::simulator::oracle::Rule;
use crate::simulator::oracle::Violation;
use crate::simulator::scenario::Scenario;
use crate::simulator::trace::TraceMode;
use crate::simulator::world::{Due, Life, World};
use fp_proto::time::Moment;
use fp_proto::transition::TransitionSet;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Things that may happen in one run; a usual one takes a hundredth of that.
const LIMIT_HAPPENINGS: u64 = 3_000_000;

/// What became of a run.
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// The first thing that must never be; a panic counts as one.
    pub violation: Option<Violation>,
    /// The rules that were broken at the same moment.
    pub broken: BTreeSet<Rule>,
    /// What the machines went through.
    pub transitions: TransitionSet,
    /// Over everything that happened: two runs with one hash are the same.
    pub hash: u64,
    /// The lines of the trace, if they were recorded.
    pub lines: Vec<String>,
    /// Virtual time at the end.
    pub ended_at: Moment,
    /// Steps that were given to members.
    pub assignments: u64,
}

/// Runs a seed, with something wrong in it if that is named.
pub fn run(seed: u64, flaw: Option<Flaw>, mode: TraceMode) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| play(Scenario::draw(seed), flaw, mode)))
        .unwrap_or_else(|panic| panicked(seed, &panic))
}

fn play(scenario: Scenario, flaw: Option<Flaw>, mode: TraceMode) -> Outcome {
    let seed = scenario.seed;
    let mut world = World::new(scenario, flaw, mode);
    let bound = world.scenario.bound();
    for happened in 0_u64.. {
        if !world.oracle.violations.is_empty() || world.is_over() {
            break;
        }
        let Some((at, due)) = world.queue.pop() else { break };
        world
            .oracle
            .demand(happened < LIMIT_HAPPENINGS, Rule::NoStormOfMessages, || format!("{happened} so far"));
        if at > bound {
            break;
        }
        world.now = at;
        world.oracle.now = at;
        world.happens(due);
    }
    world.finish(seed)
}

fn panicked(seed: u64, panic: &Box<dyn std::any::Any + Send>) -> Outcome {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    let text = text.unwrap_or_else(|| "of unknown kind".to_owned());
    Outcome {
        seed,
        violation: Some(Violation { at: Moment::ZERO, rule: Rule::MachineNeverPanics, text }),
        broken: BTreeSet::from([Rule::MachineNeverPanics]),
        transitions: TransitionSet::default(),
        hash: 0,
        lines: Vec::new(),
        ended_at: Moment::ZERO,
        assignments: 0,
    }
}

impl World {
    fn happens(&mut self, due: Due) {
        if self.falsifies(Falsification::Storm) {
            self.queue.push(self.now, Due::Timer(SlotId(0)));
        }
        match due {
            Due::Start(slot) => self.start(slot),
            Due::Message { link, side, bytes } => self.message_arrives(link, side, &bytes),
            Due::Closed { link, side } => self.link_closes(link, side),
            Due::Dial { from, ticket, contact, epoch } => self.dial_arrives(from, ticket, contact, epoch),
            Due::Input(slot, input) => self.input(slot, input),
            Due::Listing { slot, name } => self.listing(slot, &name),
            Due::Timer(slot) => self.timer_rings(slot),
            Due::Wake(slot) => self.wakes(slot),
            Due::Data(message) => self.data_arrives(message),
            Due::Late(slot, effect) => self.late_effect(slot, effect),
            Due::Strike(number) => self.strike(number),
            Due::Resume(slot) => self.resume(slot),
            Due::Restart(number) => self.restart(number),
            Due::CheckLoss(cohort) => self.check_loss(cohort),
            Due::CheckResolved { slot, request } => self.check_resolved(slot, request),
            Due::ObserverComes(number) => self.observer_comes(number),
            Due::ObserverAsks(number) => self.observer_asks(number),
            Due::CheckStatus { observer, request } => self.check_answered(observer, request),
            Due::CheckLocated { slot, request } => self.check_located(slot, request),
        }
    }

    fn finish(mut self, seed: u64) -> Outcome {
        if self.oracle.violations.is_empty() {
            self.check_end();
        }
        let machines = self.slots.iter().filter_map(|slot| slot.machine.as_ref());
        let transitions = machines.fold(self.transitions, |all, machine| all.union(machine.transitions()));
        let assignments =
            self.oracle.publishers.values().map(|truth| truth.ranks[0].assigned.len() as u64).sum();
        Outcome {
            seed,
            violation: self.oracle.violations.first().cloned(),
            broken: self.oracle.violations.iter().map(|violation| violation.rule).collect(),
            transitions,
            hash: self.trace.hash(),
            ended_at: self.now,
            assignments,
            lines: self.trace.into_lines(),
        }
    }

    fn check_end(&mut self) {
        let waiting: Vec<String> = self
            .slots
            .iter()
            .filter(|slot| slot.life == Life::Unborn || self.hangs(slot))
            .map(|slot| slot.who.clone())
            .collect();
        self.oracle.demand(waiting.is_empty(), Rule::NoHang, || format!("never finished: {waiting:?}"));
        (0..self.slots.len()).map(SlotId).for_each(|slot| self.check_left_views(slot));
        self.oracle.check_leaks();
        self.oracle.check_somebody_opened();
        self.count_observers();
        self.oracle.check_traffic();
    }

    fn hangs(&self, slot: &crate::simulator::world::Slot) -> bool {
        use crate::simulator::machine::Machine;
        slot.life == Life::Alive && !matches!(slot.machine, Some(Machine::Impostor(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The run of a seed in which each subscriber asks for something after so many steps, where that may be.
    fn play_with(seed: u64, steers_every: Option<u64>, takes_requests: bool) -> Outcome {
        let mut scenario = Scenario::draw(seed);
        scenario.subscribers.iter_mut().for_each(|plan| plan.steers_every = steers_every);
        scenario.publishers[0].takes_requests = takes_requests;
        let outcome = play(scenario, None, TraceMode::Hash);
        assert!(outcome.violation.is_none(), "seed {seed}: {:?}", outcome.violation);
        outcome
    }

    /// A stream of which nobody asks anything sends what one sends that cannot be asked for anything: to the byte, from the
    /// same rank to the same, at the same moment.
    #[test]
    fn that_something_may_be_asked_for_costs_nothing() {
        let (mut assignments, mut steered) = (0, 0);
        for seed in 0..60 {
            let [may, may_not] = [true, false].map(|takes| play_with(seed, None, takes));
            assert_eq!((may.hash, may.ended_at), (may_not.hash, may_not.ended_at), "seed {seed}");
            assignments += may.assignments;
            steered += u64::from(play_with(seed, Some(1), true).hash != may.hash);
        }
        assert!(assignments > 300, "the runs are all but empty: {assignments} steps assigned");
        assert!(steered > 30, "requests make no difference either: {steered}");
    }
}
