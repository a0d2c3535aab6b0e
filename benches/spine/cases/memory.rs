//! Peak memory of both sides while the publisher has as many live steps as its subscription allows.

use crate::bench::Bench;
use crate::machine::{Ticks, status_bytes};
use crate::ours;
use crate::process::{Role, Words};
use crate::report::{Row, Target};
use flexpath::{Selection, Variable};
use std::time::Duration;

const STEP_BYTES: u64 = 64 << 20;
/// What the subscriber selects: a quarter.
const SELECTED_BYTES: u64 = STEP_BYTES / 4;
const LIVE_STEPS: u64 = 4;
const STEPS: u64 = 16;
const MIB: f64 = (1 << 20) as f64;

/// Over shm, where what the publisher shares counts as resident in the subscriber too, and over tcp.
pub(crate) fn measure(bench: &mut Bench) {
    for transport in ["shm", "tcp"] {
        let since = Ticks::now();
        let directory = bench.directory();
        let role = |name, core: usize| {
            let role = Role::new(name).with("core", core).with("rank", 0).with("size", 1);
            role.with("directory", &directory).with("transport", transport).start()
        };
        let (publisher, subscriber) = (role("memory-publisher", 0), role("memory-subscriber", 1));
        let found = subscriber.finish();
        let sent = publisher.finish();
        let live = (LIVE_STEPS * STEP_BYTES) as f64;
        let load = since.others_percent();
        add(bench, &format!("{transport} publisher's peak, 4 live steps"), &sent, "peak", live, load);
        let selected = SELECTED_BYTES as f64;
        add(bench, &format!("{transport} subscriber's peak, own memory"), &found, "own", selected, load);
        let mapped = found.number::<f64>("peak") / MIB;
        let case = format!("{transport} subscriber's peak, all resident");
        let row = Row::new(case, "MiB", mapped, Target::None).under(load);
        bench.add(row.noting("with the segments that the publisher shares"));
    }
}

fn add(bench: &mut Bench, case: &str, found: &Words, key: &str, allowed: f64, load: f64) {
    let peak = found.number::<f64>(key) - found.number::<f64>("before");
    let row = Row::new(case, "MiB", peak / MIB, Target::RatioAtMost(1.1)).under(load);
    bench.add(
        row.against(allowed / MIB).noting(format!("{} MiB before", found.number::<f64>("before") / MIB)),
    );
}

/// Role: publishes as fast as it may.
pub(crate) fn publisher(words: &Words) {
    let before = status_bytes("VmHWM");
    let mut publisher = ours::publisher(words);
    let elements = STEP_BYTES / 8;
    let variable = Variable::global::<u64>("x", &[elements]).expect("a variable");
    let region = ours::region(&[0], &[elements]);
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        let mut loan = writer.loan::<u64>(&variable, &region).expect("a loan");
        loan.fill(step);
        writer.put_loan(loan).expect("a put");
        writer.end().expect("the end of a step");
    }
    publisher.close().expect("all is delivered");
    println!("before={before} peak={}", status_bytes("VmHWM"));
}

/// Role: takes a quarter of each step, slowly, so that steps pile up.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let before = status_bytes("RssAnon");
    let quarter = Selection::Region(ours::region(&[SELECTED_BYTES / 8], &[SELECTED_BYTES / 8]));
    let options = ours::subscriber_options(words)
        .with_selection("x", quarter.clone())
        .with_limit_steps(LIVE_STEPS as u32);
    let mut subscriber = ours::subscriber(options);
    let mut destination = vec![0u64; (SELECTED_BYTES / 8) as usize];
    let (mut own, mut number) = (before, 0);
    while let Some(step) = ours::next(&mut subscriber) {
        // Longer than the publisher needs to fill all it may.
        std::thread::sleep(Duration::from_millis(100));
        step.get_into("x", &quarter, &mut destination).expect("its data");
        assert_eq!((destination[0], destination[destination.len() - 1]), (number, number));
        number += 1;
        own = own.max(status_bytes("RssAnon"));
    }
    assert_eq!(number, STEPS);
    println!("before={before} own={own} peak={}", status_bytes("VmHWM"));
}
