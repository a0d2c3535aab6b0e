//! Subscribers that want steps by what is in their arrays: `cargo bench -p flexpath --bench watches`. `-- --only CASE`
//! takes one case: `decision`, `attach`, `crowd`, `kept` or `moved`.
//!
//! Every side is a process of its own, which is this binary again, with a role. Each row is ours beside its bound. Where
//! the bound is made of another figure, that one is of the same run. `docs/performance.md` says what is measured.

#[path = "watches/attach.rs"]
mod attach;
#[path = "watches/crowd.rs"]
mod crowd;
#[path = "watches/decision.rs"]
mod decision;
#[path = "watches/kept.rs"]
mod kept;
#[path = "watches/least.rs"]
mod least;
#[path = "spine/machine.rs"]
#[allow(dead_code)] // each bench uses its part
mod machine;
#[path = "watches/moved.rs"]
mod moved;
#[path = "spine/ours.rs"]
#[allow(dead_code)] // each bench uses its part
mod ours;
#[path = "watches/pass.rs"]
mod pass;
#[path = "spine/process.rs"]
mod process;
#[path = "watches/report.rs"]
mod report;
#[path = "spine/ring.rs"]
#[allow(dead_code)] // each bench uses its part
mod ring;
#[path = "rows/mod.rs"]
mod rows;
#[path = "spine/shared.rs"]
#[allow(dead_code)] // each bench uses its part
mod shared;
#[path = "watches/sockets.rs"]
mod sockets;

use process::{ROLE, Words};

/// What is measured, by its name.
const CASES: [(&str, fn()); 5] = [
    ("decision", decision::measure),
    ("attach", attach::measure),
    ("crowd", crowd::measure),
    ("kept", kept::measure),
    ("moved", moved::measure),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [ROLE, role, ref rest @ ..] => play(role, &Words::parse(rest.iter().copied())),
        // `cargo test --benches` only wants to know that it builds.
        _ if !words.contains(&"--bench") => {}
        _ => {
            let only = words.iter().skip_while(|word| **word != "--only").nth(1);
            let wanted = CASES.iter().filter(|(name, _)| only.is_none_or(|only| only == name));
            report::noted(
                "every publisher's budget of judging (derive_budget)",
                decision::BUDGET.as_secs_f64(),
                "s",
            );
            wanted.for_each(|(_, measure)| measure());
        }
    }
}

fn play(role: &str, words: &Words) {
    match role {
        "decision-publisher" => decision::publisher(words),
        "decision-subscriber" => decision::subscriber(words),
        "attach-publisher" => attach::publisher(words),
        "attach-subscriber" => attach::subscriber(words),
        "crowd-publisher" => crowd::publisher(words),
        "crowd-subscribers" => crowd::subscribers(words),
        "moved-publisher" => moved::publisher(words),
        "moved-subscriber" => moved::subscriber(words),
        "kept-publisher" => kept::publisher(words),
        "kept-subscriber" => kept::subscriber(words),
        _ => panic!("no such role: {role}"),
    }
}
