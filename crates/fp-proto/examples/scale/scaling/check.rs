//! What must hold whatever the size: memory of a coordinator, control links of a rank, bytes of an unchanged step.

use crate::scaling::boot::askers;
use crate::scaling::stages::Run;
use crate::scaling::world::World;
use fp_proto::config::ASKERS_EACH;

/// Memory of a coordinator without layouts, at most.
const LIMIT_OWN_BYTES: i64 = 64 << 10;
/// Control links of a rank, at most.
const LIMIT_LINKS: u32 = 64;
/// Bytes of an unchanged step over one link, both ways, at most: `Ready` up, `Log` down twice; `Assign`, `Release`.
const LIMIT_LINK_BYTES: u64 = 128;

/// Bytes of machines, each as if nothing were shared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// The most that a publisher rank but the lead ever had, without layouts.
    pub(crate) publisher_own: i64,
    /// The publisher's lead, without layouts and without its cohort's contacts.
    pub(crate) lead_own: i64,
    /// The cohort's contacts at the publisher's lead.
    pub(crate) lead_directory: i64,
    /// Layouts at the publisher's lead.
    pub(crate) lead_layouts: i64,
    /// The most that another publisher rank had of layouts and contacts of owners.
    pub(crate) publisher_layouts: i64,
    /// The most that a subscriber rank ever had, its cohort's contacts at its lead apart.
    pub(crate) subscriber_own: i64,
    /// Of all ranks in the end.
    pub(crate) total: i64,
}

impl Memory {
    pub(crate) fn of(world: &World) -> Self {
        let publishers = world.publishers as usize;
        let own = |from: usize, to: usize| world.ranks[from..to].iter().map(|rank| rank.held.own_peak).max();
        let layouts = world.ranks[1..publishers].iter().map(|rank| rank.held.layouts_peak).max();
        let lead = world.ranks[0].held;
        let all = world.ranks.iter().map(|rank| rank.held.own + rank.held.layouts + rank.held.directory);
        Self {
            publisher_own: own(1, publishers).unwrap_or(0),
            lead_own: lead.own_peak,
            lead_directory: lead.directory,
            lead_layouts: lead.layouts_peak,
            publisher_layouts: layouts.unwrap_or(0),
            subscriber_own: own(publishers, world.ranks.len()).unwrap_or(0),
            total: all.sum(),
        }
    }
}

/// The most links that a rank would have if every subscriber rank asked: those that were not run are added.
pub(crate) fn links_of_all(run: &Run) -> u32 {
    let answering = run.subscribers.min(run.publishers).max(1);
    let asking = if askers(run.subscribers).len() < run.subscribers as usize { run.subscribers } else { 0 };
    run.links_peak + asking.div_ceil(answering).min(ASKERS_EACH).saturating_sub(1)
}

/// What does not hold, in words.
pub(crate) fn check(run: &Run) -> Vec<String> {
    let Memory { publisher_own, lead_own, subscriber_own, .. } = run.memory;
    let mut wrong = Vec::new();
    let coordinators = [
        ("publisher rank", publisher_own),
        ("publisher's lead", lead_own),
        ("subscriber rank", subscriber_own),
    ];
    for (who, own) in coordinators.into_iter().filter(|(_, own)| *own > LIMIT_OWN_BYTES) {
        wrong.push(format!("a {who} takes {own} bytes without layouts, more than {LIMIT_OWN_BYTES}"));
    }
    let links = links_of_all(run);
    if links > LIMIT_LINKS {
        wrong.push(format!("a rank has {links} control links, more than {LIMIT_LINKS}"));
    }
    let link_bytes = run.stage("unchanged").link_bytes;
    if link_bytes > LIMIT_LINK_BYTES {
        wrong.push(format!(
            "an unchanged step takes {link_bytes} bytes over a link, more than {LIMIT_LINK_BYTES}"
        ));
    }
    wrong
}
