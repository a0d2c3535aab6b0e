//! What a watch costs: a cohort that wants those steps alone in which the least element of the array is below a number.

use crate::scale::books::Mark;
use crate::scale::content::Case;
use crate::scale::rank::Input;
use crate::scale::world::World;
use fp_types::Contribution;

/// What a watched step costs. The middle one of several counts.
#[derive(Clone, Copy, Debug)]
pub struct WatchCost {
    /// Until every subscriber rank has a step that the condition asks for, from when all ranks end it.
    pub told_us: f64,
    /// The same, of links alone.
    pub links_only_us: f64,
    /// Until every publisher rank has a step back that the condition does not ask for.
    pub freed_us: f64,
    /// Bytes of the longest report.
    pub report_bytes: u64,
    /// Messages of a step that the condition does not ask for, over all links.
    pub messages: u64,
}

/// Attaches the world's subscribers as a cohort that watches, and takes `repeats` steps of each sort.
pub fn watch(mut world: World, repeats: usize) -> WatchCost {
    world.is_watched = true;
    world.open_publishers();
    world.open_subscribers();
    world.content.advance(Case::NewLayout);
    for fires in [true, false, true, false] {
        watched_step(&mut world, fires);
    }
    let mut middle = |fires: bool| {
        let mut all: Vec<f64> = (0..repeats.max(1)).map(|_| watched_step(&mut world, fires)).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (told_us, freed_us) = (middle(true), middle(false));
    let (report_bytes, messages) = (world.books.longest_bytes("ReadyMeasured"), world.books.messages());
    world.charges_cpu = false;
    let links_only_us = watched_step(&mut world, true);
    WatchCost { told_us, links_only_us, freed_us, report_bytes, messages }
}

/// One step of all ranks at once, from its `end_step` on: until all subscriber ranks have it, or until all publisher ranks
/// have it back.
fn watched_step(world: &mut World, fires: bool) -> f64 {
    world.case = Case::Unchanged;
    world.content.fires = fires;
    world.begin_stage();
    world.publisher_slots().for_each(|slot| world.command(slot, Input::Begin));
    world.settle();
    world.begin_stage();
    for slot in world.publisher_slots() {
        let step = world.ranks[slot.0].open_step.expect("the step is begun");
        world.command(slot, Input::End(step, Contribution::default(), Vec::new()));
    }
    world.settle();
    let (taken, freed) = (world.books.count(Mark::Taken), world.books.count(Mark::Freed));
    let told = if fires { u64::from(world.subscribers) } else { 0 };
    assert_eq!(taken, told, "those are told whom the step is for");
    assert_eq!(freed, u64::from(world.publishers), "every publisher rank reclaims it");
    world.books.reached_us(if fires { Mark::Taken } else { Mark::Freed })
}
