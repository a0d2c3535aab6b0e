//! One array derived of three where they are published, against sending all three and deriving where they are wanted.

use super::copies::WARM_STEPS;
use crate::bench::Bench;
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Words};
use crate::report::{Row, Target, median};
use flexpath::{CohortSide, DerivedVariable, Selection, Variable};

const NAMES: [&str; 3] = ["x", "y", "z"];
const SPEED: &str = "x, y, z | compute(sqrt(x*x + y*y + z*z))";
const MIB: usize = 1 << 20;

/// Three components, one speed, over tcp: with a core for each side, as everywhere, and without, as threads of a pool derive.
pub(crate) fn measure(bench: &mut Bench) {
    for (pinned, target) in [(true, Target::RatioAtLeast(2.0)), (false, Target::None)] {
        for len in [MIB, 16 * MIB] {
            measure_len(bench, len, pinned, target);
        }
    }
}

fn measure_len(bench: &mut Bench, len: usize, pinned: bool, target: Target) {
    let steps = bench.scaled(((1 << 28) / len).clamp(16, 200));
    let mut bytes = (Vec::new(), Vec::new());
    let rounds = bench.take_turns(|bench| {
        let (one, one_bytes) = run(bench, "publisher", (len, steps), pinned);
        let (three, three_bytes) = run(bench, "subscriber", (len, steps), pinned);
        bytes.0.push(one_bytes);
        bytes.1.push(three_bytes);
        (one, three)
    });
    let cores = if pinned { "" } else { ", unpinned" };
    let name = format!("tcp, one of three derived, {} MiB each{cores}", len / MIB);
    bench.add(Row::of_rounds(name.clone(), "steps/s", &rounds, target).noting("against deriving there"));
    if pinned {
        let (one, three) = (median(&bytes.0), median(&bytes.1));
        let row = Row::new(format!("{name}: crossing"), "B/step", one, Target::RatioAtMost(0.334));
        bench.add(row.against(three));
    }
}

/// Steps and bytes: in a second, in a step.
fn run(bench: &mut Bench, side: &str, (len, steps): (usize, usize), pinned: bool) -> (f64, f64) {
    let directory = bench.directory();
    let role = |name: &'static str, core: usize| {
        let core = if pinned { core.to_string() } else { "any".to_owned() };
        let role = Role::new(name).with("len", len).with("steps", steps).with("core", core);
        let role = role.with("directory", &directory).with("transport", "tcp").with("side", side);
        role.with("rank", 0).with("size", 1)
    };
    let publisher = role("derived-publisher", 0).start();
    let found = role("derived-subscriber", 1).start().finish();
    publisher.finish();
    (steps as f64 / found.number::<f64>("seconds"), found.number("bytes"))
}

/// Role: puts three components in every step.
pub(crate) fn publisher(words: &Words) {
    let mut publisher = ours::publisher(words);
    let elements = words.number::<u64>("len") / 8;
    let region = ours::region(&[0], &[elements]);
    let variables = NAMES.map(|name| Variable::global::<f64>(name, &[elements]).expect("a variable"));
    for step in 0..WARM_STEPS + words.number::<usize>("steps") {
        let mut writer = publisher.begin_step().expect("a step");
        for variable in &variables {
            let mut loan = writer.loan::<f64>(variable, &region).expect("a loan");
            loan.fill(step as f64);
            writer.put_loan(loan).expect("put");
        }
        writer.end().expect("the end of a step");
    }
    publisher.close().expect("all is delivered");
    println!("done=1");
}

/// Role: takes the speed of every step, derived on the side that the words name.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let placement = match words.text("side") {
        "publisher" => CohortSide::Publisher,
        _ => CohortSide::Subscriber,
    };
    let derived = DerivedVariable::new("speed", SPEED).expect("a derivation").with_placement(placement);
    let options = ours::subscriber_options(words).with_request(derived);
    let selected = if placement == CohortSide::Publisher { &["speed"][..] } else { &NAMES[..] };
    let options = selected
        .iter()
        .fold(options.expect("a derivation"), |options, name| options.with_selection(*name, Selection::All));
    let mut subscriber = ours::subscriber(options);
    let mut speeds = vec![0.0; words.number::<usize>("len") / 8];
    let (mut started, mut before) = (0, 0);
    let mut number = 0;
    while let Some(step) = ours::next(&mut subscriber) {
        if number == WARM_STEPS {
            (started, before) = (now_ns(), crossed(&subscriber));
        }
        step.get_into("speed", Selection::All, &mut speeds).expect("its data");
        assert!((speeds[0] - (number as f64) * 3f64.sqrt()).abs() < 1e-6 * (1.0 + number as f64));
        number += 1;
    }
    let (seconds, steps) = ((now_ns() - started) as f64 / 1e9, (number - WARM_STEPS) as f64);
    println!("seconds={seconds} bytes={}", (crossed(&subscriber) - before) as f64 / steps);
}

fn crossed(subscriber: &flexpath::Subscriber) -> u64 {
    let counted = subscriber.statistics();
    counted.received_bytes + counted.staged_bytes
}
