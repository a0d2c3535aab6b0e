//! Many subscriptions of one rank each: what their attaching costs, and a step that all of them have.

use crate::scale::books::Mark;
use crate::scale::content::Case;
use crate::scale::figures::Memory;
use crate::scale::world::World;

/// What a crowd costs.
#[derive(Clone, Copy, Debug)]
pub struct CrowdCost {
    /// Until all are attached, who come at the same moment.
    pub attach_us: f64,
    /// A step, until every subscriber has it.
    pub step_us: f64,
    /// Until every publisher rank has its memory back.
    pub reclaimed_us: f64,
    /// Processor time of the publisher's lead for this step, and of all ranks together.
    pub lead_cpu_us: f64,
    /// As `lead_cpu_us`.
    pub all_cpu_us: f64,
    /// Messages of this step, over all links.
    pub messages: u64,
    /// Bytes that the busiest link carried, both ways.
    pub link_bytes: u64,
    /// Memory of the lead and of a publisher rank without layouts, for each subscription.
    pub lead_bytes_each: i64,
    /// As `lead_bytes_each`.
    pub publisher_bytes_each: i64,
}

/// Attaches the world's subscribers, each as a subscription of its own, and takes a step with all of them.
pub fn crowd(mut world: World) -> CrowdCost {
    world.open_publishers();
    world.open_crowd();
    let attach_us = world.books.reached_us(Mark::Opened);
    world.step("warm", Case::NewLayout);
    let step = world.step("crowd", Case::Unchanged);
    let memory = Memory::of(&world);
    let each = |bytes: i64| bytes / i64::from(world.subscribers.max(1));
    CrowdCost {
        attach_us,
        step_us: step.time_us,
        reclaimed_us: world.books.reached_us(Mark::Freed),
        lead_cpu_us: step.books.lead_cpu_ns as f64 / 1e3,
        all_cpu_us: step.books.cpu_ns as f64 / 1e3,
        messages: step.books.messages(),
        link_bytes: step.link_bytes,
        lead_bytes_each: each(memory.lead_own),
        publisher_bytes_each: each(memory.publisher_own),
    }
}
