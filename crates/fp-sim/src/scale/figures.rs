//! The figures of a finished run: its stages, and what its machines took.

use crate::scale::books::Books;
use crate::scale::world::World;

/// One measured stage.
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// From its beginning to its end for everybody who waits for it.
    pub time_us: f64,
    /// The same without the processor's time: links alone. None where that was not run.
    pub links_only_us: Option<f64>,
    /// Further moments, by name, in microseconds.
    pub moments: Vec<(&'static str, f64)>,
    /// The longest message of each kind, the most that one link carried.
    pub link_bytes: u64,
    /// What was counted meanwhile.
    pub books: Books,
}

/// What was measured of a run of the scale model.
pub struct ScaleFigures {
    /// The name of its network.
    pub network: &'static str,
    /// Ranks of the publisher cohort.
    pub publishers: u32,
    /// Ranks of the subscriber cohort.
    pub subscribers: u32,
    /// In the order in which they were run.
    pub stages: Vec<Stage>,
    /// What its machines took.
    pub memory: Memory,
    /// The most control links that a rank had.
    pub links_peak: u32,
    /// Bounds that were not kept, in words.
    pub violations: Vec<String>,
    /// How long it took.
    pub wall_seconds: f64,
    /// Processor time of its thread.
    pub cpu_seconds: f64,
    /// The most memory that its process had so far.
    pub peak_bytes: u64,
}

impl ScaleFigures {
    /// The stage of that name.
    ///
    /// # Panics
    /// If no stage has it.
    pub fn stage(&self, name: &str) -> &Stage {
        self.stages.iter().find(|stage| stage.name == name).expect("a stage of that name")
    }
}

/// Bytes of machines, each as if nothing were shared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The most that a publisher rank but the lead ever had, without layouts.
    pub publisher_own: i64,
    /// The publisher's lead, without layouts.
    pub lead_own: i64,
    /// Layouts at the publisher's lead.
    pub lead_layouts: i64,
    /// The most that another publisher rank had of layouts.
    pub publisher_layouts: i64,
    /// The most that a subscriber rank ever had, without layouts.
    pub subscriber_own: i64,
    /// Of all ranks in the end.
    pub total: i64,
}

impl Memory {
    pub(crate) fn of(world: &World) -> Self {
        let publishers = world.publishers as usize;
        let own = |from: usize, to: usize| world.ranks[from..to].iter().map(|rank| rank.held.own_peak).max();
        let layouts = world.ranks[1..publishers].iter().map(|rank| rank.held.layouts_peak).max();
        let lead = world.ranks[0].held;
        let all = world.ranks.iter().map(|rank| rank.held.own + rank.held.layouts);
        Self {
            publisher_own: own(1, publishers).unwrap_or(0),
            lead_own: lead.own_peak,
            lead_layouts: lead.layouts_peak,
            publisher_layouts: layouts.unwrap_or(0),
            subscriber_own: own(publishers, world.ranks.len()).unwrap_or(0),
            total: all.sum(),
        }
    }
}
