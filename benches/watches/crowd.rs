//! Up to a thousand conditions on one rank that publishes 8 bytes a step: what they cost it, and when all are told.

use crate::decision::BUDGET;
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Running, Words, listed};
use crate::report::{bounded, median, noted};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Publisher, Subscriber, Variable};
use std::time::Duration;

/// Subscriptions of one process.
const EACH: usize = 256;
/// Steps that satisfy no condition, then steps that satisfy the first of them, and then steps that satisfy all.
const QUIET_STEPS: usize = 300;
const LONE_STEPS: usize = 100;
const FIRED_STEPS: usize = 20;
/// Steps of each sort that are not counted.
const WARM: usize = 5;
const ROUNDS: usize = 3;
const PAUSE: Duration = Duration::from_micros(500);
/// A process has attached all that it has; it has a step with each; the first of all has one.
const ATTACHED: usize = 2;
const TAKEN: usize = 3;
const SEEN: usize = 4;

/// The conditions of a crowd.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// One number, and a threshold of each condition's own.
    Alike,
    /// A number of each condition's own.
    Different,
}

const CROWDS: [(Sort, usize); 5] =
    [(Sort::Alike, 1), (Sort::Alike, 64), (Sort::Alike, 1024), (Sort::Different, 1), (Sort::Different, 64)];

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Self::Alike => "alike",
            Self::Different => "different",
        }
    }

    fn condition(name: &str, number: usize) -> String {
        match name {
            "alike" => format!("max(x) > {number}"),
            _ => format!("count(x > {number}.5) > 0"),
        }
    }
}

/// The time from begin to end while nothing fires, until the one is told that fires, and until all are, in microseconds.
#[derive(Clone, Default)]
struct Times {
    calls: Vec<f64>,
    seen: Vec<f64>,
    taken: Vec<f64>,
}

/// Of each of these the middle.
struct Middle {
    calls: f64,
    seen: f64,
    taken: f64,
}

pub(crate) fn measure() {
    let mut found: [Times; CROWDS.len()] = Default::default();
    // Crowds take turns, so that all see the same machine.
    for _ in 0..ROUNDS {
        for ((sort, conditions), times) in CROWDS.iter().zip(&mut found) {
            let [published, told] = round(*sort, *conditions);
            times.calls.extend(published.list("calls").iter().map(|ns| ns / 1e3));
            // Both are of one clock.
            let seen = published.list("entered").into_iter().zip(told.list("told"));
            times.seen.extend(seen.map(|(entered, told)| (told - entered) / 1e3));
            times.taken.extend(published.list("taken").iter().map(|ns| ns / 1e3));
        }
    }
    let middle = |Times { calls, seen, taken }: Times| Middle {
        calls: median(&calls),
        seen: median(&seen),
        taken: median(&taken),
    };
    report(found.map(middle));
}

fn report([one, few, many, one_number, numbers]: [Middle; CROWDS.len()]) {
    let kinds = ["that do not fire, begin to end", "of which one fires, end to its event"];
    for (number, what) in kinds.into_iter().enumerate() {
        let of = |times: &Middle| [times.calls, times.seen][number];
        noted(&format!("1 condition, {what}"), of(&one), "us");
        for (conditions, times) in [(64, &few), (1024, &many)] {
            let case = format!("{conditions} conditions on one number, {what}");
            bounded(&case, (of(times), 1.5 * of(&one)), "us", "at most 1.5 x one condition");
        }
        noted(&format!("1 condition on a count, {what}"), of(&one_number), "us");
        let case = format!("64 conditions on 64 numbers, {what}");
        bounded(&case, (of(&numbers), 1.2 * 64.0 * of(&one_number)), "us", "at most 64 x one, + 20 %");
    }
    noted("1 condition that fires, end to event", one.taken, "us");
    noted("64 conditions that fire, end to the last event", few.taken, "us");
    bounded("1024 conditions that fire, end to the last event", (many.taken, 1e5), "us", "at most 100 ms");
    for (conditions, told_us) in [(1.0, one.taken), (64.0, few.taken), (1024.0, many.taken)] {
        noted(&format!("events told of {conditions} conditions that fire"), conditions / told_us * 1e6, "/s");
    }
}

/// What the publisher says of a crowd, and whoever has the first condition.
fn round(sort: Sort, conditions: usize) -> [Words; 2] {
    let (memory, place) = (Memory::new(0), tempfile::tempdir().expect("a directory"));
    let role = |name| {
        let role = Role::new(name).with("core", "any").with("rank", 0).with("size", 1);
        let role = role.with("directory", place.path().display()).with("transport", "shm");
        role.with("memory", memory.path()).with("conditions", conditions).with("sort", sort.name())
    };
    let publisher = role("crowd-publisher").start();
    let parts = (0..conditions).step_by(EACH);
    let subscribers = parts.map(|first| {
        let each = EACH.min(conditions - first);
        role("crowd-subscribers").with("first", first).with("each", each).start()
    });
    let subscribers: Vec<Running> = subscribers.collect();
    let found = publisher.finish();
    let said: Vec<Words> = subscribers.into_iter().map(Running::finish).collect();
    [found, said.into_iter().next().expect("a subscriber")]
}

/// Role: steps that nobody is told of, then steps that everybody has before the next begins.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let conditions: u32 = words.number("conditions");
    let processes = (conditions as usize).div_ceil(EACH) as u32;
    let options = ours::publisher_options(words).with_limit_subscriptions(conditions);
    let mut publisher =
        Publisher::open(ours::STREAM, options.with_derive_budget(BUDGET)).expect("the stream opens");
    let variable = Variable::global::<f64>("x", &[1]).expect("a variable");
    let [attached, taken, seen] = [ATTACHED, TAKEN, SEEN].map(|at| Bell::of(shared.words(), at));
    attached.wait_for(processes);
    // When it was begun, when its end was entered, and when that was over.
    let mut publish = |number: f64| {
        let began = now_ns();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &ours::region(&[0], &[1]), &[number]).expect("a put");
        let entered = now_ns();
        writer.end().expect("the end of a step");
        (began, entered, now_ns())
    };
    let (mut calls_ns, mut entered_ns, mut taken_ns) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..QUIET_STEPS {
        let (began, _, ended) = publish(-1.0);
        calls_ns.push(ended - began);
        std::thread::sleep(PAUSE);
    }
    for step in 1..=LONE_STEPS as u32 {
        let (_, entered, _) = publish(0.75);
        seen.wait_for(step);
        entered_ns.push(entered);
        std::thread::sleep(PAUSE);
    }
    for step in 1..=FIRED_STEPS as u32 {
        let (_, entered, _) = publish(1e6);
        taken.wait_for(step * processes);
        taken_ns.push(now_ns() - entered);
    }
    let counted = publisher.statistics();
    assert_eq!((counted.cut_derivations, counted.failed_derivations), (0, 0), "everything is measured");
    publisher.close().expect("everybody has taken all steps");
    let [calls, entered, taken] = [&calls_ns, &entered_ns, &taken_ns].map(|times| listed(&times[WARM..]));
    println!("calls={calls} entered={entered} taken={taken}");
}

/// Role: a part of the crowd, each with a condition of its own.
pub(crate) fn subscribers(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let (attached, taken) = (Bell::of(shared.words(), ATTACHED), Bell::of(shared.words(), TAKEN));
    let (first, each): (usize, usize) = (words.number("first"), words.number("each"));
    let open = |number| {
        let options = ours::subscriber_options(words).with_variables(Vec::<String>::new());
        let condition = Sort::condition(words.text("sort"), number);
        ours::subscriber(options.with_condition(&*condition).expect("a condition"))
    };
    let mut all: Vec<Subscriber> = (first..first + each).map(open).collect();
    attached.ring();
    let take = |subscriber: &mut Subscriber, number: usize| {
        let step = ours::next(subscriber).expect("a step");
        let judgement = step.judgement().expect("it is told why");
        assert!(judgement.unjudged.is_none(), "{judgement:?}");
        assert_eq!(step.step().0, number as u64, "another step than one that fires");
        // It is told: what letting go of the step takes is no part of that.
        now_ns()
    };
    let mut told_ns = Vec::new();
    for at in (0..LONE_STEPS).filter(|_| first == 0) {
        told_ns.push(take(&mut all[0], QUIET_STEPS + at));
        Bell::of(shared.words(), SEEN).ring();
    }
    for at in 0..FIRED_STEPS {
        for subscriber in &mut all {
            take(subscriber, QUIET_STEPS + LONE_STEPS + at);
        }
        taken.ring();
    }
    println!("told={}", listed(&told_ns[WARM.min(told_ns.len())..]));
}
