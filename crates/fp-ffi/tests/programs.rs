//! C programs, compiled against a staged installation and run as processes: against each other and against Rust.

#[path = "programs/checker.rs"]
mod checker;
#[path = "programs/staged.rs"]
mod staged;

use checker::Checker;
use fp_core::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, Subscriber, SubscriberOptions,
    Variable,
};
use staged::{FOLDER, STAGED, compile, finish, place};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Elements of each rank that are more than the system holds of a connection that nobody reads: 16 MiB.
const WIDE: &str = "2097152";

fn prepared(program: &Path, place: &Path, (rank, size): (u32, u32), transports: &str) -> Command {
    let mut command = Checker::chosen().run(program);
    command.env("FLEXPATH_RENDEZVOUS", place);
    command.env("FLEXPATH_TRANSPORTS", Checker::chosen().transports(transports));
    command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
    command.env("PUBLISHERS", "2").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(program: &Path, place: &Path, rank: (u32, u32), transports: &str) -> Child {
    prepared(program, place, rank, transports).spawn().expect("the program starts")
}

fn c_to_c(transports: &str) {
    let place = place();
    let (publish, subscribe) = (compile("tests/c/publish.c"), compile("tests/c/subscribe.c"));
    let ranks: Vec<Child> = (0..2).map(|rank| start(&publish, place.path(), (rank, 2), transports)).collect();
    let subscriber = start(&subscribe, place.path(), (0, 1), transports);
    assert_eq!(finish(subscriber), "took 5 steps\n");
    ranks.into_iter().for_each(|rank| assert_eq!(finish(rank), "published 5 steps\n"));
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
    assert_eq!(finish(start(&compile("tests/c/misuse.c"), place.path(), (0, 1), "shm,tcp")), "all refused\n");
}

#[test]
fn everything_else_works_with_both_ends_in_one_process() {
    let complete = compile("tests/c/complete.c");
    for transports in ["inproc,shm,tcp", "shm", "tcp"] {
        let place = place();
        assert_eq!(finish(start(&complete, place.path(), (0, 1), transports)), "complete\n", "{transports}");
    }
    let in_cpp = compile("tests/c/complete.cpp");
    assert_eq!(finish(start(&in_cpp, place().path(), (0, 1), "shm,tcp")), "complete\n");
}

#[test]
fn what_is_lent_and_looked_at_is_copied_nowhere() {
    let program = compile("tests/c/zero_copy.c");
    let is_shared = Checker::chosen() != Checker::Memcheck;
    for transports in if is_shared { &["inproc", "shm"][..] } else { &["inproc"] } {
        let place = place();
        assert_eq!(
            finish(start(&program, place.path(), (0, 1), transports)),
            "nothing copied\n",
            "{transports}"
        );
    }
}

#[test]
fn the_examples_do_what_they_say() {
    let place = place();
    let publisher = compile("../../examples/c/publisher.c");
    let ranks: Vec<Child> =
        (0..2).map(|rank| start(&publisher, place.path(), (rank, 2), "shm,tcp")).collect();
    let printed = finish(start(&compile("../../examples/c/subscriber.c"), place.path(), (0, 1), "shm,tcp"));
    ranks.into_iter().for_each(|rank| drop(finish(rank)));
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
    let publish = compile("tests/c/publish.c");
    let ranks: Vec<Child> = (0..2).map(|rank| start(&publish, place.path(), (rank, 2), "shm,tcp")).collect();
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
    ranks.into_iter().for_each(|rank| assert_eq!(finish(rank), "published 5 steps\n"));
}

#[test]
fn rust_publishes_to_c() {
    let place = place();
    let subscriber = start(&compile("../../examples/c/subscriber.c"), place.path(), (0, 1), "shm,tcp");
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
    let printed = finish(subscriber);
    assert!(printed.contains("step 2: [2048.00, 2049.00, 2050.00, 2051.00]"), "{printed}");
}

fn signal(ranks: &[Child], name: &str) {
    for rank in ranks {
        let sent = Command::new("kill").args([name, &rank.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }
}

#[test]
fn a_get_times_out_and_nothing_is_written_late() {
    let place = place();
    let publish = compile("tests/c/publish.c");
    let wide = |rank| prepared(&publish, place.path(), (rank, 2), "tcp").env("WIDE", WIDE).spawn();
    let ranks: Vec<Child> = (0..2).map(|rank| wide(rank).expect("the program starts")).collect();
    let mut late = Checker::chosen()
        .run(&compile("tests/c/late.c"))
        .env("FLEXPATH_RENDEZVOUS", place.path())
        .env("WIDE", WIDE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut input, output) = (late.stdin.take().expect("piped"), late.stdout.take().expect("piped"));
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("holds a step"));
    signal(&ranks, "-STOP");
    writeln!(input).expect("told");
    let said = lines.next();
    signal(&ranks, "-CONT");
    assert_eq!(said.as_deref(), Some("timed out"), "{}", finish(late));
    writeln!(input).expect("told");
    assert_eq!(lines.next().as_deref(), Some("done"));
    finish(late);
    ranks.into_iter().for_each(|rank| drop(finish(rank)));
}

#[test]
fn the_cpp_layer_publishes_and_subscribes() {
    let place = place();
    let heat = compile("../../examples/cpp/heat.cpp");
    let run = |role: &str| {
        let mut command = Checker::chosen().run(&heat);
        command.arg(role).env("FLEXPATH_RENDEZVOUS", place.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let (publisher, subscriber) = (run("publish"), run("subscribe"));
    let printed = finish(subscriber);
    finish(publisher);
    assert!(printed.starts_with("step 0: 348 of 100\n"), "{printed}");
    assert_eq!(printed.lines().count(), 10);
}

#[test]
fn cpp_mistakes_are_exceptions() {
    let place = place();
    let printed = finish(start(&compile("tests/c/mistakes.cpp"), place.path(), (0, 1), "shm,tcp"));
    assert_eq!(printed, "all thrown\n");
}

fn told_by(tool: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(tool).args(arguments).arg(file).output().expect("binutils are there");
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text")
}

#[test]
fn the_installation_is_stripped_and_exports_what_the_list_says() {
    let library = STAGED.join("lib/libflexpath.so");
    let exported = told_by("nm", &["-D", "--defined-only"], &library);
    let mut names: Vec<&str> = exported.lines().filter_map(|line| line.split(' ').next_back()).collect();
    names.sort_unstable();
    assert_eq!(names, include_str!("symbols.txt").lines().collect::<Vec<_>>());
    assert!(!told_by("objdump", &["-h"], &library).contains(".debug_info"));
    let len_bytes = std::fs::metadata(&library).expect("it is there").len();
    assert!(len_bytes < 16 << 20, "{len_bytes} bytes");
    let kept = told_by("nm", &["--defined-only"], &STAGED.join("lib/libflexpath.a"));
    assert!(kept.lines().any(|line| line.ends_with(" T flexpath_publisher_open")));
}

#[test]
fn pkg_config_and_cmake_find_the_installation() {
    let (prefix, place) = (&*STAGED, place());
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.args(["--cflags", "--libs", "flexpath"]);
    pkg_config.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = String::from_utf8(pkg_config.output().expect("pkg-config runs").stdout).expect("a text");
    let expected = format!("-I{0}/include -L{0}/lib -lflexpath", prefix.display());
    assert_eq!(flags.trim(), expected);
    let project = "cmake_minimum_required(VERSION 3.13)\nproject(heat C)\nfind_package(Flexpath 0.1 REQUIRED)\n\
        add_executable(heat publisher.c)\ntarget_link_libraries(heat PRIVATE Flexpath::flexpath)\n";
    std::fs::write(place.path().join("CMakeLists.txt"), project).expect("written");
    let example = Path::new(FOLDER).join("../../examples/c/publisher.c");
    std::fs::copy(example, place.path().join("publisher.c")).expect("copied");
    let cmake = |arguments: &[&str]| {
        let output = Command::new("cmake").args(arguments).current_dir(place.path()).output();
        let output = output.expect("cmake runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    cmake(&[".", &format!("-DCMAKE_PREFIX_PATH={}", prefix.display())]);
    cmake(&["--build", "."]);
    assert!(place.path().join("heat").exists());
}
