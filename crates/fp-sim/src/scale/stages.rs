//! The stages of a run: opening, steps of each kind, a newcomer, its detaching, the death of a rank.

use crate::scale::books::Mark;
use crate::scale::check::check;
use crate::scale::content::Case;
use crate::scale::cpu::CpuClock;
use crate::scale::figures::{Memory, ScaleFigures, Stage};
use crate::scale::memory;
use crate::scale::observation::ask_status;
use crate::scale::rank::{Input, Slot};
use crate::scale::world::World;
use fp_types::Contribution;
use std::time::Instant;

/// Links that the data plane dials at a time (`fp-core`'s `fetch::dialling`).
const DATA_LINKS: u64 = 64;
/// What a subscriber tells each owner when it opens a data link, about.
const WANT_BYTES: usize = 128;

/// Runs all stages, with `repeats` steps of each kind. The middle one counts.
pub fn run(mut world: World, repeats: usize) -> ScaleFigures {
    let (began, clock) = (Instant::now(), CpuClock::new());
    let cpu_began_ns = clock.now_ns();
    let (publishers, subscribers) = (world.publishers, world.subscribers);
    let mut stages =
        vec![opening(&mut world), attaching(&mut world), world.step("first layout", Case::NewLayout)];
    // Two steps later what was allocated once is there.
    world.step("warm", Case::Unchanged);
    world.step("warm", Case::Unchanged);
    stages.push(world.middle_step("unchanged", Case::Unchanged, repeats));
    stages.push(world.middle_step("one rank", Case::OneRank, repeats));
    stages.push(world.middle_step("new layout", Case::NewLayout, repeats));
    world.step("warm", Case::EveryCount);
    stages.push(world.middle_step("every count", Case::EveryCount, repeats));
    // The first newcomer runs code that has never run, or not for long: the second one counts.
    let first = world.add_newcomer();
    detach(&mut world, first);
    let newcomer = attach_newcomer(&mut world, &mut stages);
    stages.push(detach(&mut world, newcomer));
    stages.push(death(&mut world));
    let memory = Memory::of(&world);
    let links_peak = world.ranks.iter().map(|rank| rank.links_peak).max().unwrap_or(0);
    let mut finished = ScaleFigures {
        network: world.cost.name,
        publishers,
        subscribers,
        stages,
        memory,
        links_peak,
        violations: Vec::new(),
        wall_seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: (clock.now_ns() - cpu_began_ns) as f64 / 1e9,
        peak_bytes: memory::peak_bytes(),
    };
    finished.violations = check(&finished);
    finished
}

fn opening(world: &mut World) -> Stage {
    world.open_publishers();
    let time_us = world.books.reached_us(Mark::Opened);
    world.stage("opening", time_us, Vec::new())
}

fn attaching(world: &mut World) -> Stage {
    world.open_subscribers();
    let moments = vec![("asked", world.books.reached_us(Mark::Asked))];
    let time_us = world.books.reached_us(Mark::Opened);
    world.stage("attach", time_us, moments)
}

fn attach_newcomer(world: &mut World, stages: &mut Vec<Stage>) -> Slot {
    let newcomer = world.add_newcomer();
    let asked_us = world.books.reached_us(Mark::Asked);
    let agreed_us = world.books.reached_us(Mark::Opened) - asked_us;
    let links_us =
        world.cost.open_data_links_ns(u64::from(world.publishers), DATA_LINKS, WANT_BYTES) as f64 / 1e3;
    let moments = vec![("dial and probe", asked_us), ("data links, computed", links_us)];
    stages.push(world.stage("newcomer", agreed_us, moments));
    newcomer
}

fn detach(world: &mut World, newcomer: Slot) -> Stage {
    world.begin_stage();
    world.command(newcomer, Input::Close);
    world.settle();
    assert_eq!(world.books.count(Mark::Detached), u64::from(world.publishers), "every publisher rank knows");
    let time_us = world.books.reached_us(Mark::Detached);
    world.stage("detach", time_us, Vec::new())
}

/// The rank that is furthest from the lead dies; its host closes its links.
fn death(world: &mut World) -> Stage {
    world.begin_stage();
    world.kill(Slot(world.publishers as usize - 1));
    world.settle();
    let (lost, ended) = (world.books.count(Mark::Lost), world.books.count(Mark::Ended));
    assert_eq!(lost, u64::from(world.publishers - 1), "every publisher rank that lives knows");
    assert_eq!(ended, u64::from(world.subscribers), "every subscriber rank knows");
    let moments = vec![("subscribers", world.books.reached_us(Mark::Ended))];
    let time_us = world.books.reached_us(Mark::Lost).max(world.books.reached_us(Mark::Ended));
    world.stage("death", time_us, moments)
}

impl World {
    fn stage(&self, name: &'static str, time_us: f64, moments: Vec<(&'static str, f64)>) -> Stage {
        let link_bytes = self.longest_link_bytes();
        Stage { name, time_us, links_only_us: None, moments, link_bytes, books: self.books.clone() }
    }

    /// Several steps of one kind, and one more with links alone. The middle one of the former counts.
    fn middle_step(&mut self, name: &'static str, case: Case, repeats: usize) -> Stage {
        let mut steps: Vec<Stage> = (0..repeats.max(1)).map(|_| self.step(name, case)).collect();
        steps.sort_by(|one, other| one.time_us.total_cmp(&other.time_us));
        let mut middle = steps.swap_remove(steps.len() / 2);
        let charges_cpu = std::mem::replace(&mut self.charges_cpu, false);
        middle.links_only_us = Some(self.step(name, case).time_us);
        self.charges_cpu = charges_cpu;
        middle
    }

    /// One step of all ranks at once, from its `end_step` until every subscriber rank has it; then released by all.
    pub(crate) fn step(&mut self, name: &'static str, case: Case) -> Stage {
        self.case = case;
        self.content.advance(case);
        self.begin_stage();
        self.publisher_slots().for_each(|slot| self.command(slot, Input::Begin));
        self.settle();
        self.begin_stage();
        if let Some(observer) = self.observer {
            ask_status(self, observer);
        }
        for slot in self.publisher_slots() {
            let step = self.ranks[slot.0].open_step.expect("the step is begun");
            self.command(slot, Input::End(step, Contribution::default(), Vec::new()));
        }
        self.settle();
        let (taken, freed) = (self.books.count(Mark::Taken), self.books.count(Mark::Freed));
        assert_eq!(taken, u64::from(self.subscribers + self.guests), "every subscriber rank has the step");
        assert_eq!(freed, u64::from(self.publishers), "every publisher rank reclaims it");
        let reached = |mark| self.books.reached_us(mark);
        let mut moments =
            vec![("publishers know", reached(Mark::Applied)), ("reclaimed", reached(Mark::Freed))];
        if self.books.count(Mark::Resolved) > 0 {
            moments.push(("owners known", reached(Mark::Resolved)));
        }
        self.stage(name, reached(Mark::Taken), moments)
    }
}
