//! Small worlds of the scale model: what must hold whatever the size. A binary of its own, as its allocator counts.

use fp_proto::mutation::Mutation;
use fp_sim::scale::{Counting, LinkCost, ScaleFigures, World, askers, crowd, observe, rest, run, watch};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Without the processor's time, which differs from run to run and with it who comes first.
fn small(publishers: u32, subscribers: u32) -> ScaleFigures {
    let cluster = LinkCost::named("cluster").expect("there is such a network");
    let mut world = World::new(cluster, publishers, subscribers);
    world.charges_cpu = false;
    run(world, 1)
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
    // What waits at the lead for the last of its children is more where their subtrees are three ranks deep.
    let grown = |of: fn(&ScaleFigures) -> i64| of(&many) <= of(&few) * 3 / 2;
    assert!(grown(|run| run.memory.publisher_own), "{:?}, {:?}", few.memory, many.memory);
    assert!(grown(|run| run.memory.lead_own), "{:?}, {:?}", few.memory, many.memory);
}

/// Attaching grows with the logarithm of the publisher's ranks: a level of the tree more for sixteen times as many.
#[test]
fn attaching_takes_one_level_more_for_sixteen_times_the_ranks() {
    let attach_us = [64, 1_024, 16_384].map(|publishers| {
        let run = small(publishers, 8);
        (run.stage("attach").time_us, run.stage("newcomer").time_us)
    });
    println!("64, 1024, 16384 publisher ranks: {attach_us:?} us for the first and for a newcomer");
    let [few, more, most] = attach_us;
    for [few, more, most] in [[few.0, more.0, most.0], [few.1, more.1, most.1]] {
        assert!(more > few && most > more, "a deeper tree takes longer: {attach_us:?}");
        assert!(most - more <= 2.0 * (more - few), "{attach_us:?}");
    }
}

#[test]
fn what_changed_travels_and_nothing_else() {
    let run = small(64, 8);
    let longest = |stage: &str| run.stage(stage).books.longest_bytes("Ready");
    assert!(longest("one rank") < 2 * longest("new layout"), "one rank's blocks, not all ranks'");
    assert!(longest("every count") > 2 * longest("unchanged"), "the counts of a subtree");
    // A rank that answered for many layouts holds those of live steps and the last eight, some 5 KiB each. It has in mind
    // what as many reports of its children told, and its own.
    assert!(run.memory.publisher_layouts <= 128 << 10, "{:?}", run.memory);
}

/// A coordinator's memory without layouts is that of its tree's fan-out, its live steps, its subscriptions and its own
/// blocks. Neither cohort's size is in it.
#[test]
fn a_coordinator_does_not_grow_with_either_cohort() {
    let (few, many) = (small(64, 64), small(64, 512));
    for run in [&few, &many] {
        assert!(run.violations.is_empty(), "{} x {}: {:?}", run.publishers, run.subscribers, run.violations);
        let own = [run.memory.publisher_own, run.memory.lead_own, run.memory.subscriber_own];
        assert!(own.iter().all(|own| *own <= 64 << 10), "{:?}", run.memory);
    }
    let grown = |of: fn(&ScaleFigures) -> i64| of(&many) <= of(&few) * 5 / 4;
    assert!(grown(|run| run.memory.publisher_own), "{:?}, {:?}", few.memory, many.memory);
    assert!(grown(|run| run.memory.lead_own), "{:?}, {:?}", few.memory, many.memory);
    assert!(grown(|run| run.memory.subscriber_own), "{:?}, {:?}", few.memory, many.memory);
}

/// Nobody has the contacts of a cohort, neither the lead that lets it in nor a rank that answers for its layouts. Each
/// rank that needs contacts asks for them, once for each.
#[test]
fn contacts_are_told_to_those_who_ask_and_to_nobody_else() {
    for run in [small(64, 512), small(4_096, 64)] {
        assert!(run.violations.is_empty(), "{} x {}: {:?}", run.publishers, run.subscribers, run.violations);
        assert!(run.memory.lead_own <= 64 << 10, "{:?}", run.memory);
        let books = &run.stage("attach").books;
        for kind in ["Subscribed", "Attached"] {
            assert!(books.longest_bytes(kind) <= 64, "{kind} takes {} bytes", books.longest_bytes(kind));
        }
        assert!(!books.traffic.contains_key("AskContacts"), "who has no question asks for nothing");
        // Those of one rank and its children, some 65 bytes each.
        let first = run.stage("first layout").books.traffic["Contacts"];
        assert!(first.longest_bytes <= 17 * 80, "{first:?}");
        for stage in ["unchanged", "one rank", "new layout"] {
            let traffic = &run.stage(stage).books.traffic;
            assert!(!traffic.contains_key("AskContacts"), "{stage}: the owners are the same");
        }
    }
}

#[test]
fn a_large_cohort_asks_along_one_way_down_with_all_siblings() {
    assert_eq!(askers(64).len(), 64);
    let chosen = askers(8_192);
    assert!((0..=16).all(|rank| chosen.contains(&rank)));
    assert!((17..=32).all(|rank| chosen.contains(&rank)));
    assert_eq!(chosen.len(), 1 + 4 * 16);
}

/// 256 publisher ranks and 16 subscriber ranks, asked twice a second.
#[test]
fn an_observer_costs_less_than_a_hundredth_of_a_core_and_delays_no_step() {
    let cluster = LinkCost::named("cluster").expect("there is such a network");
    let observed = observe(World::new(cluster, 256, 16), 15);
    println!("256 x 16, asked twice a second: {observed:?}");
    assert!(observed.all_cores < 0.01, "of one core, over all ranks: {observed:?}");
    // There and back over each link of both trees, the one between the leads, and the observer's own.
    assert_eq!(observed.messages, 2 * (255 + 15 + 1 + 1));
    let mut world = World::new(cluster, 256, 16);
    world.charges_cpu = false;
    let links = observe(world, 3);
    // What a port and a processor need for the messages of one question at the lead, and no wait.
    assert!(links.observed_step_us < links.step_us + 100.0, "{links:?}");
}

/// The model asserts that each subscription has every step, and that every rank reclaims it. `FLEXPATH_SIM_CROWD` says
/// how many ranks there are, and subscriptions: with 1,024, the most that there may be, it takes a minute or two.
#[test]
fn every_subscription_of_a_crowd_gets_every_step() {
    let cluster = LinkCost::named("cluster").expect("there is such a network");
    let said = std::env::var("FLEXPATH_SIM_CROWD").ok();
    let most = said.map(|said| said.parse().expect("FLEXPATH_SIM_CROWD is a number"));
    let (ranks, subscriptions) = most.map_or((64, 256), |most| (most, most));
    let many = crowd(World::new(cluster, ranks, subscriptions));
    println!("{ranks} ranks, {subscriptions} subscriptions: {many:?}");
    assert!(many.lead_bytes_each <= 8 << 10, "{many:?}");
    assert!(many.publisher_bytes_each <= 4 << 10, "{many:?}");
}

/// The most that a rank of 64 grows by in 40 rounds, after 20.
fn grown_at_rest(mutation: Option<Mutation>) -> i64 {
    let cluster = LinkCost::named("cluster").expect("there is such a network");
    let mut world = World::new(cluster, 64, 8);
    world.charges_cpu = false;
    world.mutation = mutation;
    let rounds = rest(world, 60);
    rounds[19].iter().zip(&rounds[59]).map(|(early, late)| late - early).max().unwrap_or(0)
}

/// Steps, layouts, questions and subscriptions that are over leave nothing behind, on any rank.
#[test]
fn nothing_is_remembered_for_ever() {
    assert!(grown_at_rest(None) <= 256);
    for mutation in Mutation::HOARDING {
        let grown = grown_at_rest(Some(mutation));
        assert!(grown > 4 << 10, "{mutation:?} is not noticed: {grown} bytes");
    }
}

/// What a condition does not ask for is told to nobody: a report up and the log down on each edge, however many watch.
#[test]
fn a_watch_costs_an_edge_the_same_in_every_cohort() {
    let cluster = LinkCost::named("cluster").expect("there is such a network");
    let [few, many] = [(64, 8), (1_024, 64)].map(|(publishers, subscribers)| {
        let mut world = World::new(cluster, publishers, subscribers);
        world.charges_cpu = false;
        let found = watch(world, 1);
        assert_eq!(found.messages, 2 * (u64::from(publishers) - 1), "{found:?}");
        assert!(found.report_bytes <= 128, "{found:?}");
        assert!(found.links_only_us > 0.0 && found.links_only_us == found.told_us, "{found:?}");
        found
    });
    assert!(many.report_bytes <= few.report_bytes + 8, "{few:?}, {many:?}");
    assert!(many.told_us < 3.0 * few.told_us, "a level of the tree more, on each side: {few:?}, {many:?}");
}
