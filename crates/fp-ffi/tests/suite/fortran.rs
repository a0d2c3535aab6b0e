//! Fortran programs, compiled against a staged installation and run as processes: against each other and against Rust.

#[path = "../fortran/everything.rs"]
mod everything;
#[path = "../fortran/examples.rs"]
mod examples;

use crate::support::{
    GFORTRAN_FLAGS, LIBRARY, LIBRARY_AND_MODULE, TestProcess, as_rank, of_repository, place, start,
};
use everything::{TYPES, program};
use fp_core::{
    MemoryOrder, NextStep, Publisher, PublisherOptions, QueuePolicy, Region, Rendezvous, Select, Subscriber,
    SubscriberOptions, Variable,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

static EVERYTHING: LazyLock<PathBuf> =
    LazyLock::new(|| compile_text("everything", &program(&TYPES.map(|of| of.name), true)));

/// Compiles a program from its text.
fn compile_text(name: &str, text: &str) -> PathBuf {
    let folder = place();
    let source = folder.path().join(name).with_extension("f90");
    std::fs::write(&source, text).expect("written");
    // The text is put together, so its lines are as long as they happen to be.
    let flags = [&GFORTRAN_FLAGS[..], &["-ffree-line-length-none", "-Wno-compare-reals"]].concat();
    LIBRARY_AND_MODULE.compile_by("gfortran", &flags, &[source.to_str().expect("a text")])
}

fn run(program: &Path, arguments: &[&str], place: &Path, rank: (u32, u32), transports: &str) -> TestProcess {
    let mut command = Command::new(program);
    as_rank(&mut command, place, rank, transports);
    start(command.args(arguments))
}

fn publish(place: &Path, transports: &str) -> Vec<TestProcess> {
    (0..2).map(|rank| run(&EVERYTHING, &["publish"], place, (rank, 2), transports)).collect()
}

fn every_type_and_rank(transports: &str) {
    let place = place();
    let ranks = publish(place.path(), transports);
    let subscriber = run(&EVERYTHING, &["subscribe"], place.path(), (0, 1), transports);
    assert_eq!(subscriber.printed(), "took 3 steps\n");
    ranks.into_iter().for_each(|rank| assert_eq!(rank.printed(), "published 3 steps\n"));
}

#[test]
fn every_type_and_rank_over_shared_memory() {
    every_type_and_rank("shm,tcp");
}

#[test]
fn every_type_and_rank_over_tcp() {
    every_type_and_rank("tcp");
}

/// The index of an element in Fortran's order.
fn fortran_index(at: &[usize], shape: &[usize]) -> u64 {
    at.iter().zip(shape).rev().fold(0, |index, (at, extent)| index * *extent as u64 + *at as u64)
}

#[test]
fn rust_reads_rows_of_fortran() {
    let place = place();
    let ranks = publish(place.path(), "shm,tcp");
    let rendezvous = Rendezvous::at(place.path()).expect("a place");
    let mut subscriber =
        Subscriber::open("everything", SubscriberOptions::default().with_rendezvous(rendezvous))
            .expect("attached");
    let mut taken = 0;
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(60)).expect("a step") {
        let first = 1000 * step.step().0;
        for select in [Select::from("[...]"), Select::from("[...]").with_order(MemoryOrder::ColumnMajor)] {
            let array = step.get_array::<f64>("real64_3", select).expect("the array");
            let shape = array.shape().to_vec();
            assert_eq!(shape, [4, 3, 4]);
            for (at, value) in array.indexed_iter() {
                let at: Vec<usize> = (0..3).map(|dim| at[dim]).collect();
                assert_eq!(*value, 0.5 * (first + fortran_index(&at, &shape)) as f64, "{at:?}");
            }
        }
        // A row: the last dimension runs fastest here, and slowest there.
        let row = step.get::<i32>("int32_2", "[1, :]").expect("a row");
        assert_eq!(row, (0..6).map(|at| first as i32 + 1 + 4 * at).collect::<Vec<_>>());
        let truths = step.get::<u8>("logical_1", "[...]").expect("truth values");
        assert!(truths.iter().zip(first..).all(|(truth, at)| *truth == u8::from(at % 3 == 0)));
        assert_eq!(truths.len(), 8);
        let letters = step.get_array::<u8>("character_2", "[...]").expect("letters");
        assert_eq!(letters.shape(), [3, 4, 6]);
        let letter = |at: u64| b'a' + (at % 26) as u8;
        assert_eq!(letters[[0, 1, 2]], letter(first + 9));
        assert_eq!(letters[[2, 3, 5]], b'.');
        taken += 1;
    }
    assert_eq!(taken, 3);
    ranks.into_iter().for_each(|rank| assert_eq!(rank.printed(), "published 3 steps\n"));
}

/// The same elements as the Fortran publisher's, put in row-major order.
fn put_rows(writer: &mut fp_core::StepWriter, rank: usize, first: u64) {
    let mut shape: Vec<u64> = everything::EXTENTS.iter().take(rank).copied().collect();
    shape.iter_mut().next_back().into_iter().for_each(|last| *last *= 2);
    let extents: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
    let name = format!("real64_{rank}");
    if rank == 0 {
        writer.put_scalar(&Variable::scalar::<f64>(name).expect("a name"), 0.5 * first as f64).expect("put");
        return;
    }
    let mut elements = Vec::new();
    for index in 0..shape.iter().product::<u64>() as usize {
        let mut rest = index;
        let mut at = vec![0; rank];
        for dim in (0..rank).rev() {
            at[dim] = rest % extents[dim];
            rest /= extents[dim];
        }
        elements.push(0.5 * (first + fortran_index(&at, &extents)) as f64);
    }
    let variable = Variable::global::<f64>(name, &shape).expect("a variable");
    let whole = Region::whole(variable.shape());
    writer.put(&variable, &whole, elements).expect("put");
}

#[test]
fn fortran_reads_rows_of_rust() {
    let place = place();
    let take = compile_text("rows", &program(&["real64"], false));
    let subscriber = run(&take, &["subscribe"], place.path(), (0, 1), "shm,tcp");
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place.path()).expect("a place"))
        .with_min_subscribers(1);
    let mut publisher = Publisher::open("everything", options).expect("open");
    for step in 0..3 {
        let mut writer = publisher.begin_step().expect("begun");
        (0..8).for_each(|rank| put_rows(&mut writer, rank, 1000 * step));
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
    assert_eq!(subscriber.printed(), "took 3 steps\n");
}

#[test]
fn what_is_needed_beside_puts_and_gets() {
    let place = place();
    let complete = LIBRARY_AND_MODULE.compile("tests/fortran/complete.f90");
    assert_eq!(run(&complete, &[], place.path(), (0, 1), "shm,tcp").printed(), "complete\n");
}

#[test]
fn a_derived_variable_is_read_as_any_other() {
    let place = place();
    let derived = LIBRARY_AND_MODULE.compile("tests/fortran/derived.f90");
    assert_eq!(run(&derived, &[], place.path(), (0, 1), "shm,tcp").printed(), "derived\n");
}

#[test]
fn every_condition_fires() {
    let watched = LIBRARY_AND_MODULE.compile("tests/fortran/watched.f90");
    for transports in ["inproc,shm,tcp", "tcp"] {
        let place = place();
        assert_eq!(
            run(&watched, &[], place.path(), (0, 1), transports).printed(),
            "watched\n",
            "{transports}"
        );
    }
}

/// What a simulation in each language says of what was asked of it.
const ASKED: &str =
    "conductivity = 2.5\nlevel = -2\nmelts = 1\ntitle = a warm day\nlevel = 3\nmelts = 1\nstop = 1\n";

/// What a simulation says of its parameter *level*.
fn level_of(place: &Path) -> String {
    let rendezvous = Rendezvous::at(place).expect("a place");
    let options =
        SubscriberOptions::default().with_rendezvous(rendezvous).with_variables(Vec::<String>::new());
    let mut looking =
        Subscriber::open("steered", options.with_policy(QueuePolicy::DropOldest)).expect("attached");
    let known = looking.parameters(Duration::from_secs(60)).expect("told");
    known.iter().find(|known| known.name == "level").expect("it").to_string()
}

/// Simulations in each language are steered from another.
#[test]
fn simulations_are_steered_across_languages() {
    let in_fortran = LIBRARY_AND_MODULE.compile("tests/fortran/steered.f90");
    let in_c = LIBRARY.compile("tests/c/steered.c");
    let in_cpp = LIBRARY.compile("tests/c/steered.cpp");
    for (simulation, asker) in [(&in_c, &in_fortran), (&in_fortran, &in_cpp), (&in_cpp, &in_c)] {
        let place = place();
        let run = |program, role| run(program, &[role], place.path(), (0, 1), "shm,tcp");
        let simulated = run(simulation, "simulate");
        assert_eq!(level_of(place.path()), "level: a whole number from -3 to 3; of the tank, in m");
        assert_eq!(run(asker, "ask").printed(), "asked\n");
        assert_eq!(simulated.printed(), ASKED);
    }
}

#[test]
fn records_transforms_and_gets_that_are_fetched_together() {
    let records = LIBRARY_AND_MODULE.compile("tests/fortran/records.f90");
    for transports in ["inproc,shm,tcp", "shm", "tcp"] {
        let place = place();
        let printed = run(&records, &[], place.path(), (0, 1), transports).printed();
        assert_eq!(printed, "all there\n", "{transports}");
    }
}

#[test]
fn every_kind_of_variable() {
    let place = place();
    let kinds = LIBRARY_AND_MODULE.compile("tests/fortran/kinds.f90");
    let run = |role, rank| run(&kinds, &[role], place.path(), rank, "shm,tcp");
    let ranks = [run("publish", (0, 2)), run("publish", (1, 2))];
    let subscriber = run("subscribe", (0, 1));
    let rendezvous = Rendezvous::at(place.path()).expect("a place");
    let options = SubscriberOptions::default().with_rendezvous(rendezvous);
    let mut rust = Subscriber::open("kinds", options).expect("attached");
    while let NextStep::Step(step) = rust.next_step(Duration::from_secs(60)).expect("a step") {
        let rows = step.get_array::<f32>("positions", "[...]").expect("positions");
        assert_eq!(rows.shape(), [5 + 2 * step.step().0 as usize, 3]);
        assert!(rows.indexed_iter().all(|(at, value)| *value == at[0] as f32 + 0.25 * at[1] as f32));
        let known = step.variables().expect("variables");
        let attributes =
            &known.iter().find(|known| known.def.name == "positions").expect("it").def.attributes;
        let told = ["order", "masses", "seed", "density"].map(|name| format!("{:?}", attributes[name]));
        assert_eq!(told, [r#"Text("x, y, z")"#, "Integer(7)", "Integer(1099511627776)", "Real(Real(0.25))"]);
    }
    assert_eq!(subscriber.printed(), "took 3 steps\n");
    ranks.into_iter().for_each(|rank| assert_eq!(rank.printed(), "published 3 steps\n"));
}

#[test]
fn mistakes_are_told_by_stat_and_errmsg() {
    let place = place();
    let mistakes = LIBRARY_AND_MODULE.compile("tests/fortran/mistakes.f90");
    let told = run(&mistakes, &[], place.path(), (0, 1), "inproc,shm,tcp");
    assert_eq!(told.printed(), "all refused\n");
    // Without stat= the program ends, and says why.
    let stopped = run(&mistakes, &["stop"], place.path(), (0, 1), "inproc,shm,tcp");
    let output = stopped.output();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(complaint.contains("flexpath_publisher_close: the handle of a publisher is null"), "{complaint}");
}

#[test]
fn the_module_is_what_the_script_makes() {
    let made = Command::new(of_repository("scripts/generate-fortran.sh")).output().expect("the script runs");
    let checked_in = std::fs::read(of_repository("fortran/flexpath.f90")).expect("the module");
    let how = "scripts/generate-fortran.sh >fortran/flexpath.f90";
    assert!(
        crate::support::printed(made).into_bytes() == checked_in,
        "fortran/flexpath.f90 is not what the script makes: {how}"
    );
}

#[test]
fn the_modules_numbers_are_those_of_the_header() {
    let header = std::fs::read_to_string(of_repository("include/flexpath.h")).expect("the header");
    let module = std::fs::read_to_string(of_repository("fortran/flexpath.f90")).expect("the module");
    let mut compared = 0;
    let named = |line: &&str| line.starts_with("FLEXPATH_");
    for line in header.lines().map(str::trim).filter(named) {
        let Some((name, number)) = line.trim_end_matches(',').split_once(" = ") else { continue };
        let known = format!("{} = {number}", name.to_lowercase());
        let is_known = [",", "\n"].iter().any(|end| module.contains(&format!("{known}{end}")));
        assert!(is_known, "fortran/parts lacks {known}");
        compared += 1;
    }
    assert!(compared > 60, "{compared} numbers");
}

#[test]
fn cmake_finds_the_module() {
    let (prefix, place) = (LIBRARY_AND_MODULE.prefix(), place());
    let project = "cmake_minimum_required(VERSION 3.13)\nproject(heat C Fortran)\n\
        find_package(Flexpath 0.1 REQUIRED COMPONENTS fortran)\nadd_executable(first publisher.f90)\n\
        target_link_libraries(first PRIVATE Flexpath::fortran)\n";
    std::fs::write(place.path().join("CMakeLists.txt"), project).expect("written");
    let example = of_repository("examples/fortran/publisher.f90");
    std::fs::copy(example, place.path().join("publisher.f90")).expect("copied");
    let cmake = |arguments: &[&str]| {
        let output = Command::new("cmake").args(arguments).current_dir(place.path()).output();
        crate::support::printed(output.expect("cmake runs"));
    };
    cmake(&[".", &format!("-DCMAKE_PREFIX_PATH={}", prefix.display())]);
    cmake(&["--build", "."]);
    assert!(place.path().join("first").exists());
}
