//! What a rank keeps of steps that do not fire, for a subscriber that would take all of those which do.

use crate::decision::BUDGET;
use crate::ours;
use crate::process::{Role, Words};
use crate::report::{bounded, noted};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Publisher, Selection, Variable};

/// Elements of a step: 8 MiB.
const LEN: u64 = 1 << 20;
const STEPS: usize = 50;
/// The subscriber has the step that fires.
const TAKEN: usize = 2;

pub(crate) fn measure() {
    for transport in ["shm", "tcp"] {
        let (memory, place) = (Memory::new(0), tempfile::tempdir().expect("a directory"));
        let role = |name| {
            let role = Role::new(name).with("core", "any").with("rank", 0).with("size", 1);
            let role = role.with("directory", place.path().display()).with("transport", transport);
            role.with("memory", memory.path()).start()
        };
        let publisher = role("kept-publisher");
        let subscriber = role("kept-subscriber");
        let found = publisher.finish();
        drop(subscriber.finish());
        let case = |what: &str| format!("{transport}, all of 8 MiB wanted where it fires, {what}");
        bounded(&case("live after others"), (found.number("live"), 0.0), "B", "none");
        noted(&case("live while it is read"), found.number("fired"), "B");
    }
}

/// Role: steps that do not fire, each looked at when it is decided, and one that does.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let options = ours::publisher_options(words).with_min_subscribers(1).with_derive_budget(BUDGET);
    let mut publisher = Publisher::open(ours::STREAM, options).expect("the stream opens");
    let variable = Variable::global::<f64>("x", &[LEN]).expect("a variable");
    let mut numbers = vec![1.0; LEN as usize];
    let mut publish = |numbers: &[f64]| {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &ours::region(&[0], &[LEN]), numbers).expect("a put");
        writer.end().expect("the end of a step");
        publisher.pool_statistics().live_bytes
    };
    let live = (0..STEPS).map(|_| publish(&numbers)).max().unwrap_or_default();
    numbers[77] = 200.0;
    let fired = publish(&numbers);
    Bell::of(shared.words(), TAKEN).wait_for(1);
    publisher.close().expect("the subscriber has its step");
    println!("live={live} fired={fired}");
}

/// Role: takes all of the one step that fires.
pub(crate) fn subscriber(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let options = ours::subscriber_options(words).with_open_timeout(ours::PATIENCE);
    let mut subscriber = ours::subscriber(options.with_condition("max(x) > 100").expect("a condition"));
    let step = ours::next(&mut subscriber).expect("a step");
    let all = step.get::<f64>("x", Selection::All).expect("its data");
    assert_eq!((step.step().0, all.len() as u64, all[77]), (STEPS as u64, LEN, 200.0));
    drop(step);
    Bell::of(shared.words(), TAKEN).ring();
    assert!(ours::next(&mut subscriber).is_none(), "nothing else fires");
    println!("done=1");
}
