//! What must hold whatever the size: memory of a coordinator, control links of a rank, bytes of an unchanged step. And
//! targets of time and of what a run may take, which hold on a machine that has nothing else to do.

use crate::scale::boot::askers;
use crate::scale::figures::{Memory, ScaleFigures};
use fp_proto::config::ASKERS_EACH;

/// Memory of a coordinator without layouts, at most.
const LIMIT_OWN_BYTES: i64 = 64 << 10;
/// Control links of a rank, at most.
const LIMIT_LINKS: u32 = 64;
/// Bytes of an unchanged step over one link, both ways, at most: `Ready` up, `Log` down twice; `Assign`, `Release`.
const LIMIT_LINK_BYTES: u64 = 128;

/// The longest that a stage may take over `cluster`, in microseconds: the stage, the largest cohorts that it holds for.
const TARGETS_US: [(&str, (u32, u32), f64); 4] = [
    ("unchanged", (1_024, 8), 1_000.0),
    ("unchanged", (131_072, 8_192), 3_000.0),
    ("new layout", (1_024, 8), 5_000.0),
    ("every count", (131_072, 8_192), 50_000.0),
];
/// Processor time of a whole run and its memory, at most.
const LIMIT_RUN_SECONDS: f64 = 600.0;
const LIMIT_RUN_BYTES: u64 = 16 << 30;

/// The most links that a rank would have if every subscriber rank asked: those that were not run are added.
pub(crate) fn links_of_all(run: &ScaleFigures) -> u32 {
    let answering = run.subscribers.min(run.publishers).max(1);
    let asking = if askers(run.subscribers).len() < run.subscribers as usize { run.subscribers } else { 0 };
    run.links_peak + asking.div_ceil(answering).min(ASKERS_EACH).saturating_sub(1)
}

/// What is wrong, in words.
pub(crate) fn check(run: &ScaleFigures) -> Vec<String> {
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

/// Which targets were missed, in words. They are of this machine's processor as well: a test does not ask for them.
pub fn missed(run: &ScaleFigures) -> Vec<String> {
    let mut missed = Vec::new();
    for (name, (publishers, subscribers), most_us) in TARGETS_US {
        let holds =
            run.publishers <= publishers && run.subscribers <= subscribers && run.network == "cluster";
        let time_us = run.stage(name).time_us;
        if holds && time_us > most_us {
            missed.push(format!("{name} takes {time_us:.0} us, more than {most_us:.0}"));
        }
    }
    if run.cpu_seconds > LIMIT_RUN_SECONDS {
        missed.push(format!(
            "the run took {:.0} s of the processor, more than {LIMIT_RUN_SECONDS}",
            run.cpu_seconds
        ));
    }
    if run.peak_bytes > LIMIT_RUN_BYTES {
        missed.push(format!("the run took {} bytes of memory, more than {LIMIT_RUN_BYTES}", run.peak_bytes));
    }
    missed
}
