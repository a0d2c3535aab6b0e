//! Deployed code of C and Fortran programs: whose modules a publisher runs, and what they may use. Conditions on what they
//! make, and the example that hands one over.
//!
//! A binary of its own: it needs the feature `wasm`, and the shard of that name builds nothing else of this crate's tests.

mod support;

use fp_core::ModuleHash;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Checker, LIBRARY, LIBRARY_AND_MODULE, TestProcess, as_rank, start};

/// A module that never gives anything.
const ENDLESS: &str = r#"(module (memory (export "memory") 1)
    (func (export "flexpath_reserve_1") (param i32) (result i32) (i32.const 1024))
    (func (export "flexpath_transform_1") (param i32 i32 i32) (result i32) (loop $again (br $again)) (unreachable)))"#;

/// WebAssembly of a text, as a file.
fn module(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, wat::parse_str(text).expect("WebAssembly text")).expect("written");
    path
}

fn squares(folder: &Path) -> PathBuf {
    module(folder, "squares.wasm", include_str!("../../fp-transform/guest/sum_of_squares.wat"))
}

#[test]
fn a_publisher_says_whose_modules_it_runs_and_what_they_may_use() {
    let program = LIBRARY.compile("tests/c/deployed.c");
    for (transports, proved) in [("inproc,shm,tcp", "proved"), ("shm", "proved"), ("tcp", "unknown")] {
        let (place, modules) = (support::place(), support::place());
        let (squares, endless) = (squares(modules.path()), module(modules.path(), "endless.wasm", ENDLESS));
        let hash = ModuleHash::of(&std::fs::read(&squares).expect("it was written"));
        let mut command = Checker::chosen().run(&program);
        as_rank(&mut command, place.path(), (0, 1), transports);
        command.arg(&squares).arg(&endless).args([&hash.to_string(), proved]);
        assert_eq!(start(&mut command).printed(), "deployed\n", "{transports}");
    }
}

/// Conditions on what a module makes of each element hold at the steps at which the programs find that they do.
#[test]
fn conditions_on_modules_fire() {
    let modules = support::place();
    let twice = module(modules.path(), "twice.wasm", include_str!("../../fp-transform/guest/twice.wat"));
    let in_c = LIBRARY.compile("tests/c/watched_module.c");
    let in_fortran = LIBRARY_AND_MODULE.compile("tests/fortran/watched_module.f90");
    for transports in ["inproc,shm,tcp", "shm", "tcp"] {
        let place = support::place();
        let mut command = Checker::chosen().run(&in_c);
        as_rank(&mut command, place.path(), (0, 1), transports);
        assert_eq!(start(command.arg(&twice)).printed(), "watched\n", "C, {transports}");
    }
    // Over tcp nobody proves who sent the module, and this publisher runs those of its own user.
    for transports in ["inproc,shm,tcp", "shm"] {
        let place = support::place();
        let mut command = Command::new(&in_fortran);
        as_rank(&mut command, place.path(), (0, 1), transports);
        assert_eq!(start(command.arg(&twice)).printed(), "watched\n", "Fortran, {transports}");
    }
}

#[test]
fn the_example_hands_a_module_over() {
    let (place, modules) = (support::place(), support::place());
    let reduce = LIBRARY.compile("../../examples/c/reduce.c");
    let run = |arguments: &[&str]| -> TestProcess {
        let mut command = Checker::chosen().run(&reduce);
        start(command.args(arguments).env("FLEXPATH_RENDEZVOUS", place.path()))
    };
    let squares = squares(modules.path());
    let publisher = run(&["publish"]);
    let subscriber = run(&["subscribe", squares.to_str().expect("a path in UTF-8")]);
    let printed = subscriber.printed();
    publisher.printed();
    let sum = |step: u64| (0..60).map(|index| (index + step).pow(2)).sum::<u64>();
    let line = |step| {
        let (count, first) = (9 + step, 51 - step);
        format!("step {step}: {count} hot ones, from {first} on; squares: {}\n", sum(step))
    };
    assert_eq!(printed, (0..3).map(line).collect::<String>());
}
