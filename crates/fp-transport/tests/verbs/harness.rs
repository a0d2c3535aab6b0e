//! A main for tests that may have to be passed over: says `skipped` and why, and counts only what ran.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) struct Test {
    name: &'static str,
    run: fn(),
}

impl Test {
    pub(crate) fn new(name: &'static str, run: fn()) -> Test {
        Test { name, run }
    }
}

/// What `cargo test` may hand over: words to look for in the names; options are passed over, but for two.
struct Arguments {
    words: Vec<String>,
    exact: bool,
    list: bool,
}

fn arguments() -> Arguments {
    let mut found = Arguments { words: Vec::new(), exact: false, list: false };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--exact" => found.exact = true,
            "--list" => found.list = true,
            "--test-threads" | "--format" | "--skip" | "--color" => drop(rest.next()),
            option if option.starts_with("--") => {}
            _ => found.words.push(argument),
        }
    }
    found
}

/// Runs the tests that the arguments ask for, or says why none can run.
pub(crate) fn run(tests: &[Test], missing: Option<String>) -> ExitCode {
    let Arguments { words, exact, list } = arguments();
    let fits = |name: &str, word: &String| if exact { name == word } else { name.contains(word.as_str()) };
    let asked = |test: &&Test| words.is_empty() || words.iter().any(|word| fits(test.name, word));
    let chosen: Vec<&Test> = tests.iter().filter(asked).collect();
    if list {
        chosen.iter().for_each(|test| println!("{}: test", test.name));
        return ExitCode::SUCCESS;
    }
    if let Some(reason) = missing {
        println!("skipped: {reason} ({} tests of verbs did not run)", chosen.len());
        let required = std::env::var_os("FLEXPATH_REQUIRE_VERBS").is_some();
        return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let mut failed = Vec::new();
    for test in &chosen {
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(test.run));
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("test {} ... {word} ({} ms)", test.name, started.elapsed().as_millis());
        failed.extend(outcome.is_err().then_some(test.name));
    }
    println!("{} of {} passed; failed: {failed:?}", chosen.len() - failed.len(), chosen.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
