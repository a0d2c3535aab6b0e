//! C programs, compiled against a staged installation and run as processes: against each other and against Rust.

use crate::support::{Checker, LIBRARY, TestProcess, as_rank, of_repository, place, start};
use fp_core::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, Subscriber, SubscriberOptions,
    Variable,
};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Elements of each rank: 16 MiB, which is more than the system holds for a connection that nobody reads.
const WIDE: &str = "2097152";

fn prepared(program: &Path, place: &Path, rank: (u32, u32), transports: &str) -> Command {
    let mut command = Checker::chosen().run(program);
    as_rank(&mut command, place, rank, Checker::chosen().transports(transports));
    command.env("PUBLISHERS", "2");
    command
}

fn run(program: &Path, place: &Path, rank: (u32, u32), transports: &str) -> TestProcess {
    start(&mut prepared(program, place, rank, transports))
}

fn c_to_c(transports: &str) {
    let place = place();
    let (publish, subscribe) = (LIBRARY.compile("tests/c/publish.c"), LIBRARY.compile("tests/c/subscribe.c"));
    let ranks: Vec<TestProcess> =
        (0..2).map(|rank| run(&publish, place.path(), (rank, 2), transports)).collect();
    let subscriber = run(&subscribe, place.path(), (0, 1), transports);
    assert_eq!(subscriber.printed(), "took 5 steps\n");
    ranks.into_iter().for_each(|rank| assert_eq!(rank.printed(), "published 5 steps\n"));
}

#[test]
fn c_publishes_to_c_over_shared_memory() {
    c_to_c("shm,tcp");
}

#[test]
fn c_publishes_to_c_over_tcp() {
    c_to_c("tcp");
}

#[test]
fn mistakes_are_errors_with_a_text() {
    let place = place();
    assert_eq!(
        run(&LIBRARY.compile("tests/c/misuse.c"), place.path(), (0, 1), "shm,tcp").printed(),
        "all refused\n"
    );
}

#[test]
fn everything_else_works_with_both_ends_in_one_process() {
    let complete = LIBRARY.compile("tests/c/complete.c");
    for transports in ["inproc,shm,tcp", "shm", "tcp"] {
        let place = place();
        assert_eq!(run(&complete, place.path(), (0, 1), transports).printed(), "complete\n", "{transports}");
    }
    let in_cpp = LIBRARY.compile("tests/c/complete.cpp");
    assert_eq!(run(&in_cpp, place().path(), (0, 1), "shm,tcp").printed(), "complete\n");
}

/// Runs a program with both ends of a stream over each transport.
fn over_each(source: &str, printed: &str) {
    let program = LIBRARY.compile(source);
    for transports in ["inproc,shm,tcp", "shm", "tcp"] {
        let place = place();
        assert_eq!(run(&program, place.path(), (0, 1), transports).printed(), printed, "{transports}");
    }
}

#[test]
fn structs_are_records_as_they_lie() {
    over_each("tests/c/records.c", "as they lay\n");
}

#[test]
fn records_with_lists_and_texts_are_made_and_read_field_by_field() {
    over_each("tests/c/lists.c", "all there\n");
}

#[test]
fn variables_are_derived_where_c_says() {
    over_each("tests/c/derived.c", "derived\n");
}

#[test]
fn every_condition_fires() {
    over_each("tests/c/watched.c", "watched\n");
}

#[test]
fn what_has_no_number_compares_with_nothing() {
    over_each("tests/c/watched_absent.c", "watched\n");
}

#[test]
fn c_functions_make_records_of_others() {
    over_each("tests/c/transforms.c", "transformed\n");
}

#[test]
fn streams_are_found_and_opened_by_what_they_must_have() {
    let found = LIBRARY.compile("tests/c/found.c");
    assert_eq!(run(&found, place().path(), (0, 1), "shm,tcp").printed(), "found\n");
}

#[test]
fn a_program_waits_by_poll() {
    over_each("tests/c/polled.c", "polled\n");
}

#[test]
fn steps_come_to_a_function() {
    over_each("tests/c/called_back.c", "called back\n");
}

#[test]
fn derivations_call_c_functions_over_arrays() {
    over_each("tests/c/called.c", "called\n");
}

#[test]
fn a_publisher_offers_c_functions_by_name() {
    over_each("tests/c/offered.c", "offered\n");
}

#[test]
fn the_cpp_layer_has_records_and_derived_variables() {
    over_each("tests/c/records.cpp", "all there\n");
}

#[test]
fn what_is_lent_and_looked_at_is_copied_nowhere() {
    let program = LIBRARY.compile("tests/c/zero_copy.c");
    let is_shared = Checker::chosen() != Checker::Memcheck;
    for transports in if is_shared { &["inproc", "shm"][..] } else { &["inproc"] } {
        let place = place();
        assert_eq!(
            run(&program, place.path(), (0, 1), transports).printed(),
            "nothing copied\n",
            "{transports}"
        );
    }
}

#[test]
fn the_examples_do_what_they_say() {
    let place = place();
    let publisher = LIBRARY.compile("../../examples/c/publisher.c");
    let ranks: Vec<TestProcess> =
        (0..2).map(|rank| run(&publisher, place.path(), (rank, 2), "shm,tcp")).collect();
    let printed =
        run(&LIBRARY.compile("../../examples/c/subscriber.c"), place.path(), (0, 1), "shm,tcp").printed();
    ranks.into_iter().for_each(|rank| drop(rank.printed()));
    assert!(printed.starts_with("step 0: [348.00, 349.00, 350.00, 351.00]\n"), "{printed}");
    assert!(printed.ends_with("the publisher closed the stream\n"), "{printed}");
    assert_eq!(printed.lines().count(), 11);
}

fn value(step: u64, index: u64) -> f64 {
    (1000 * step + index) as f64
}

#[test]
fn c_publishes_to_rust() {
    let place = place();
    let publish = LIBRARY.compile("tests/c/publish.c");
    let ranks: Vec<TestProcess> =
        (0..2).map(|rank| run(&publish, place.path(), (rank, 2), "shm,tcp")).collect();
    let options =
        SubscriberOptions::default().with_rendezvous(Rendezvous::at(place.path()).expect("a place"));
    let mut subscriber = Subscriber::open("c", options).expect("attached");
    let mut taken = 0;
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(60)).expect("a step") {
        let at = step.step().0;
        let grid = step.get::<f64>("grid", &Selection::All).expect("the grid");
        let turned = step.get::<i32>("turned", &Selection::All).expect("the turned grid");
        let expected: Vec<f64> = (0..48).map(|index| value(at, index)).collect();
        assert_eq!(grid, expected);
        assert_eq!(turned.into_iter().map(f64::from).collect::<Vec<_>>(), expected);
        assert_eq!(step.scalar::<f64>("time").expect("the time"), 0.5 * at as f64);
        taken += 1;
    }
    assert_eq!(taken, 5);
    ranks.into_iter().for_each(|rank| assert_eq!(rank.printed(), "published 5 steps\n"));
}

#[test]
fn rust_publishes_to_c() {
    let place = place();
    let subscriber = run(&LIBRARY.compile("../../examples/c/subscriber.c"), place.path(), (0, 1), "shm,tcp");
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place.path()).expect("a place"))
        .with_min_subscribers(1);
    let mut publisher = Publisher::open("heat", options).expect("open");
    let temperature = Variable::global::<f64>("temperature", &[60]).expect("a variable");
    for step in 0..3u64 {
        let mut writer = publisher.begin_step().expect("begun");
        let region = Region::new([0], [60]).expect("a region");
        let cells = (0..60).map(|cell| value(step, cell)).collect();
        writer.put(&temperature, &region, cells).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
    let printed = subscriber.printed();
    assert!(printed.contains("step 2: [2048.00, 2049.00, 2050.00, 2051.00]"), "{printed}");
}

#[test]
fn a_get_times_out_and_nothing_is_written_late() {
    let place = place();
    let publish = LIBRARY.compile("tests/c/publish.c");
    let wide = |rank| start(prepared(&publish, place.path(), (rank, 2), "tcp").env("WIDE", WIDE));
    let mut ranks = [wide(0), wide(1)];
    let mut late = Checker::chosen().run(&LIBRARY.compile("tests/c/late.c"));
    late.env("FLEXPATH_RENDEZVOUS", place.path()).env("WIDE", WIDE);
    let mut late = start(late.stdin(Stdio::piped()));
    let (mut input, output) = late.pipes();
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("holds a step"));
    ranks.iter_mut().for_each(TestProcess::stop);
    writeln!(input).expect("told");
    let said = lines.next();
    ranks.iter_mut().for_each(|rank| rank.signal("-CONT"));
    assert_eq!(said.as_deref(), Some("timed out"), "{}", late.printed());
    writeln!(input).expect("told");
    assert_eq!(lines.next().as_deref(), Some("done"));
    late.printed();
    ranks.into_iter().for_each(|rank| drop(rank.printed()));
}

#[test]
fn the_example_of_records_does_what_it_says() {
    let place = place();
    let atoms = LIBRARY.compile("../../examples/c/atoms.c");
    let run = |role: &str| {
        let mut command = Checker::chosen().run(&atoms);
        start(command.arg(role).env("FLEXPATH_RENDEZVOUS", place.path()))
    };
    let (publisher, subscriber) = (run("publish"), run("subscribe"));
    let printed = subscriber.printed();
    publisher.printed();
    assert!(printed.starts_with("atoms provides it, converted\nstep 0: atom 7 at 0.7, "), "{printed}");
    assert!(printed.contains("sized by neighbour_count"), "{printed}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("step ")).count(), 3, "{printed}");
}

#[test]
fn the_example_of_reductions_does_what_it_says() {
    let place = place();
    let reduce = LIBRARY.compile("../../examples/c/reduce.c");
    let run = |role: &str| {
        let mut command = Checker::chosen().run(&reduce);
        start(command.arg(role).env("FLEXPATH_RENDEZVOUS", place.path()))
    };
    let (publisher, subscriber) = (run("publish"), run("subscribe"));
    let line = |step| format!("step {step}: {} hot ones, from {} on\n", 9 + step, 51 - step);
    assert_eq!(subscriber.printed(), (0..3).map(line).collect::<String>());
    publisher.printed();
}

#[test]
fn the_cpp_layer_publishes_and_subscribes() {
    let place = place();
    let heat = LIBRARY.compile("../../examples/cpp/heat.cpp");
    let run = |role: &str| {
        let mut command = Checker::chosen().run(&heat);
        start(command.arg(role).env("FLEXPATH_RENDEZVOUS", place.path()))
    };
    let (publisher, subscriber) = (run("publish"), run("subscribe"));
    let printed = subscriber.printed();
    publisher.printed();
    assert!(printed.starts_with("step 0: 348 of 100\n"), "{printed}");
    assert_eq!(printed.lines().count(), 10);
}

#[test]
fn cpp_mistakes_are_exceptions() {
    let place = place();
    let printed = run(&LIBRARY.compile("tests/c/mistakes.cpp"), place.path(), (0, 1), "shm,tcp").printed();
    assert_eq!(printed, "all thrown\n");
}

#[test]
fn cpp_counts_what_it_is_given() {
    over_each("tests/c/sizes.cpp", "all checked\n");
}

fn told_by(tool: &str, arguments: &[&str], file: &Path) -> String {
    crate::support::printed(
        Command::new(tool).args(arguments).arg(file).output().expect("binutils are there"),
    )
}

#[test]
fn the_installation_is_stripped_and_exports_what_the_list_says() {
    let library = LIBRARY.prefix().join("lib/libflexpath.so");
    let exported = told_by("nm", &["-D", "--defined-only"], &library);
    let mut names: Vec<&str> = exported.lines().filter_map(|line| line.split(' ').next_back()).collect();
    names.sort_unstable();
    assert_eq!(names, include_str!("../symbols.txt").lines().collect::<Vec<_>>());
    assert!(!told_by("objdump", &["-h"], &library).contains(".debug_info"));
    let len_bytes = std::fs::metadata(&library).expect("it is there").len();
    // Ten megabytes are code; the names of functions stay, for a backtrace.
    assert!(len_bytes < 18 << 20, "{len_bytes} bytes");
    let kept = told_by("nm", &["--defined-only"], &LIBRARY.prefix().join("lib/libflexpath.a"));
    assert!(kept.lines().any(|line| line.ends_with(" T flexpath_publisher_open")));
}

#[test]
fn pkg_config_and_cmake_find_the_installation() {
    let (prefix, place) = (LIBRARY.prefix(), place());
    let expected = format!("-I{0}/include -L{0}/lib -lflexpath", prefix.display());
    assert_eq!(LIBRARY.pkg_config("flexpath").join(" "), expected);
    let project = "cmake_minimum_required(VERSION 3.13)\nproject(heat C)\nfind_package(Flexpath 0.1 REQUIRED)\n\
        add_executable(heat publisher.c)\ntarget_link_libraries(heat PRIVATE Flexpath::flexpath)\n";
    std::fs::write(place.path().join("CMakeLists.txt"), project).expect("written");
    let example = of_repository("examples/c/publisher.c");
    std::fs::copy(example, place.path().join("publisher.c")).expect("copied");
    let cmake = |arguments: &[&str]| {
        let output = Command::new("cmake").args(arguments).current_dir(place.path()).output();
        crate::support::printed(output.expect("cmake runs"));
    };
    cmake(&[".", &format!("-DCMAKE_PREFIX_PATH={}", prefix.display())]);
    cmake(&["--build", "."]);
    assert!(place.path().join("heat").exists());
}
