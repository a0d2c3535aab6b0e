//! Peak memory of both sides while the publisher has as many live steps as its subscription allows.

use crate::bench::{Around, Bench};
use crate::machine::status_bytes;
use crate::ours;
use crate::process::{Role, Words};
use crate::report::{Row, Target};
use flexpath::{Selection, Variable};
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const LIVE_STEPS: u64 = 4;
const STEPS: u64 = 16;

/// Over shm, where what the publisher shares counts as resident in the subscriber too, and over tcp.
pub(crate) fn measure(bench: &mut Bench) {
    for (transport, step_bytes) in [("shm", 64 * MIB), ("tcp", 64 * MIB), ("shm", MIB)] {
        let directory = bench.directory();
        let role = |name, core: usize| {
            let role = Role::new(name).with("core", core).with("rank", 0).with("size", 1);
            let role = role.with("directory", &directory).with("transport", transport);
            role.with("step_bytes", step_bytes).start()
        };
        let (around, (found, sent)) = Around::during(|| {
            let (publisher, subscriber) = (role("memory-publisher", 0), role("memory-subscriber", 1));
            (subscriber.finish(), publisher.finish())
        });
        let case = |what: &str| format!("{transport} {} MiB steps, {what}", step_bytes / MIB);
        let live_bytes = LIVE_STEPS * step_bytes;
        add(bench, case("publisher's peak"), &sent, (live_bytes, live_bytes + 256 * KIB), around);
        if step_bytes == MIB {
            // Its heap alone is more than its selection: nothing to learn there.
            continue;
        }
        let selected = selected(step_bytes);
        add(bench, case("subscriber's own"), &found, (selected, selected * 11 / 10), around);
        let all = found.number::<f64>("all") / MIB as f64;
        let row = Row::new(case("subscriber's resident"), "MiB", all, Target::None).under(around);
        bench.add(row.noting("with the segments that the publisher shares"));
    }
}

/// What the subscriber selects of a step: a quarter.
fn selected(step_bytes: u64) -> u64 {
    step_bytes / 4
}

/// A peak beside the bytes that live, or are selected. It may have so many.
fn add(bench: &mut Bench, case: String, found: &Words, (needed, allowed): (u64, u64), around: Around) {
    let mib = |key: &str| found.number::<f64>(key) / MIB as f64;
    let target = Target::RatioAtMost((allowed as f64 / needed as f64 * 1e4).round() / 1e4);
    let row = Row::new(case, "MiB", mib("peak") - mib("before"), target).under(around);
    let note = format!("besides {:.1} MiB of the process with its stream open", mib("before"));
    bench.add(row.against(needed as f64 / MIB as f64).noting(note));
}

/// Role: publishes as fast as it may.
pub(crate) fn publisher(words: &Words) {
    let mut publisher = ours::publisher(words);
    let before = own_bytes();
    let elements = words.number::<u64>("step_bytes") / 8;
    let mut peak = before;
    let variable = Variable::global::<u64>("x", &[elements]).expect("a variable");
    let region = ours::region(&[0], &[elements]);
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        let mut loan = writer.loan::<u64>(&variable, &region).expect("a loan");
        loan.fill(step);
        peak = peak.max(own_bytes());
        writer.put_loan(loan).expect("a put");
        writer.end().expect("the end of a step");
    }
    publisher.close().expect("all is delivered");
    println!("before={before} peak={peak}");
}

/// Resident memory of this process, what it shares included. Pages of the program's file are not counted: they are in memory
/// once for all processes, and appear as code runs for the first time.
fn own_bytes() -> u64 {
    status_bytes("RssAnon") + status_bytes("RssShmem")
}

/// Role: takes a quarter of each step, slowly, so that steps pile up.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let quarter = selected(words.number("step_bytes")) / 8;
    let selection = Selection::Region(ours::region(&[quarter], &[quarter]));
    let options = ours::subscriber_options(words)
        .with_selection("x", selection.clone())
        .with_limit_steps(LIVE_STEPS as u32);
    let mut subscriber = ours::subscriber(options);
    let before = status_bytes("RssAnon");
    let mut destination = vec![0u64; quarter as usize];
    let (mut peak, mut number) = (before, 0);
    while let Some(step) = ours::next(&mut subscriber) {
        // Longer than the publisher needs to fill all it may.
        std::thread::sleep(Duration::from_millis(100));
        step.get_into("x", &selection, &mut destination).expect("its data");
        assert_eq!((destination[0], destination[destination.len() - 1]), (number, number));
        number += 1;
        peak = peak.max(status_bytes("RssAnon"));
    }
    assert_eq!(number, STEPS);
    println!("before={before} peak={peak} all={}", status_bytes("VmHWM"));
}
