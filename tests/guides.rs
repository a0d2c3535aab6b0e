//! The programs in Rust of docs/watches.md and docs/steering.md run, as they stand there, in processes of their own. What they
//! print is compared.
//!
//! The C programs run in flexpath-ffi, the lines of a shell in flexpath-cli, and the Python programs in python/tests.

#[path = "guides/blocks.rs"]
mod blocks;
#[path = "guides/process.rs"]
mod process;
#[path = "guides/steering.rs"]
mod steering;
#[path = "guides/watches.rs"]
mod watches;

use blocks::{PAGES, blocks_in, languages};
use std::path::Path;

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs in Rust, in the order in which the pages show them.
const PROGRAMS: [(&str, &[&str]); 2] = [
    (
        PAGES[0],
        &[
            include_str!("guides/programs/watch.in"),
            include_str!("guides/programs/around.in"),
            include_str!("guides/programs/another_condition.in"),
            include_str!("guides/programs/reserved_hits.in"),
        ],
    ),
    (
        PAGES[1],
        &[
            include_str!("guides/programs/simulation.in"),
            include_str!("guides/programs/ask.in"),
            include_str!("guides/programs/stop.in"),
        ],
    ),
];

#[test]
fn the_pages_show_the_programs_that_run() {
    for (page, programs) in PROGRAMS {
        assert_eq!(blocks_in(root(), page, "rust"), programs, "docs/{page}");
    }
}

/// A block in another language would be run by nobody. What a text block shows is compared with what the others print.
#[test]
fn every_language_has_a_test_that_runs_it() {
    let runs = ["c", "fortran", "python", "rust", "sh", "text"];
    for page in PAGES {
        for language in languages(root(), page) {
            assert!(
                runs.contains(&language.as_str()),
                "docs/{page}: a block of {language:?}, which no test runs"
            );
        }
    }
}

/// Runs the program that the environment names; in the parent, nothing.
#[test]
fn child_entry() {
    let Some(role) = process::role() else { return };
    process::play(|| match role.as_str() {
        "watch" => watches::watch(),
        "around" => watches::around(),
        "another condition" => watches::another_condition(),
        "simulation" => steering::simulation(),
        "ask" => steering::ask(),
        "stop" => steering::stop(),
        other => panic!("no program {other:?}"),
    });
}
