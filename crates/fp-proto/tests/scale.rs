//! Small worlds of `examples/scale`: what must hold whatever the size.

#[path = "../examples/scale/scaling/mod.rs"]
// The program and this test each leave something of it unused.
#[allow(dead_code)]
mod scaling;

use scaling::boot::askers;
use scaling::cost::LinkCost;
use scaling::stages::{Run, run};

fn small(publishers: u32, subscribers: u32) -> Run {
    let cluster = LinkCost::named("cluster").expect("there is such a network");
    run(cluster, publishers, subscribers, 1)
}

#[test]
fn sixteen_times_the_ranks_cost_each_no_more() {
    let (few, many) = (small(64, 8), small(1_024, 8));
    for run in [&few, &many] {
        assert!(run.violations.is_empty(), "{} x {}: {:?}", run.publishers, run.subscribers, run.violations);
        let unchanged = &run.stage("unchanged").books;
        let kinds: Vec<&str> = unchanged.traffic.keys().copied().collect();
        assert_eq!(kinds, ["Assign", "Log", "Ready", "Release"], "nothing else travels when nothing changed");
        let expected = 3 * (u64::from(run.publishers) - 1) + 2 * u64::from(run.subscribers);
        assert_eq!(unchanged.messages(), expected, "one Ready, two Logs an edge; one Assign, one Release");
    }
    // Numbers of variable length: a larger cohort's bytes take more digits, and nothing else grows.
    for kind in ["Ready", "Log", "Assign", "Release"] {
        let [few, many] = [&few, &many].map(|run| run.stage("unchanged").books.longest_bytes(kind));
        assert!(many <= few + 8, "{kind}: {few} bytes over 64 ranks, {many} over 1024");
    }
    assert!(
        many.memory.publisher_own <= few.memory.publisher_own * 5 / 4,
        "{:?}, {:?}",
        few.memory,
        many.memory
    );
    assert!(many.memory.lead_own <= few.memory.lead_own * 5 / 4, "{:?}, {:?}", few.memory, many.memory);
}

#[test]
fn what_changed_travels_and_nothing_else() {
    let run = small(64, 8);
    let longest = |stage: &str| run.stage(stage).books.longest_bytes("Ready");
    assert!(longest("one rank") < 2 * longest("new layout"), "one rank's blocks, not all ranks'");
    assert!(longest("every count") > 2 * longest("unchanged"), "the counts of a subtree");
    // A rank that answered for many layouts holds those of live steps and the latest, some 10 KiB each with the contacts.
    assert!(run.memory.publisher_layouts <= 40 << 10, "{:?}", run.memory);
}

/// A coordinator's memory without layouts is that of its tree's fan-out, its live steps, its subscriptions and its own
/// blocks: neither cohort's size is in it.
#[test]
fn a_coordinator_does_not_grow_with_either_cohort() {
    let (few, many) = (small(64, 64), small(64, 512));
    for run in [&few, &many] {
        assert!(run.violations.is_empty(), "{} x {}: {:?}", run.publishers, run.subscribers, run.violations);
        let own = [run.memory.publisher_own, run.memory.lead_own, run.memory.subscriber_own];
        assert!(own.iter().all(|own| *own <= 64 << 10), "{:?}", run.memory);
    }
    let grown = |of: fn(&Run) -> i64| of(&many) <= of(&few) * 5 / 4;
    assert!(grown(|run| run.memory.publisher_own), "{:?}, {:?}", few.memory, many.memory);
    assert!(grown(|run| run.memory.lead_own), "{:?}, {:?}", few.memory, many.memory);
    assert!(grown(|run| run.memory.subscriber_own), "{:?}, {:?}", few.memory, many.memory);
}

#[test]
fn a_subscriber_rank_hears_the_contacts_of_its_subtree_alone() {
    let run = small(64, 512);
    let attached = run.stage("attach").books.traffic["Attached"];
    assert_eq!(attached.messages, 511);
    // A contact is some 65 bytes long. Each rank's goes down three levels at most, once on each.
    assert!(attached.bytes <= 511 * (3 * 72 + 64), "{attached:?}");
    assert!(attached.longest_bytes <= (1 + 16 + 256) * 72 + 64, "{attached:?}");
}

#[test]
fn a_large_cohort_asks_along_one_way_down_with_all_siblings() {
    assert_eq!(askers(64).len(), 64);
    let chosen = askers(8_192);
    assert!((0..=16).all(|rank| chosen.contains(&rank)));
    assert!((17..=32).all(|rank| chosen.contains(&rank)));
    assert_eq!(chosen.len(), 1 + 4 * 16);
}
