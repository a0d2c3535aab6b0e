//! C and Fortran programs under `mpirun`: cohorts from communicators, over a staged installation. `FLEXPATH_MPI` says
//! which MPI: `openmpi` (the default) or `mpich`.

mod support;

use std::process::Command;
use support::{Mpi, STAGED, mpi, place, printed};

fn streams(mpi: &Mpi, publishers: u32, subscribers: u32) {
    let (program, place) = (mpi.compile(&["tests/mpi/stream.c"]), place());
    let publish =
        mpi.run(publishers, &program, place.path()).args(["publish", "7"]).spawn().expect("it starts");
    let subscribe = mpi.run(subscribers, &program, place.path()).args(["subscribe", "7"]).spawn();
    assert_eq!(printed(subscribe.expect("it starts")), "subscribe: all as expected\n");
    assert_eq!(printed(publish), "publish: all as expected\n");
    let left = std::fs::read_dir(place.path()).expect("the place is there").count();
    assert_eq!(left, 0, "nothing is left in the rendezvous");
}

#[test]
fn four_ranks_publish_to_two() {
    if let Some(mpi) = mpi() {
        streams(&mpi, 4, 2);
    }
}

/// The tree of 18 ranks has two levels.
#[test]
fn eighteen_ranks_publish_to_one() {
    if let Some(mpi) = mpi() {
        streams(&mpi, 18, 1);
    }
}

#[test]
fn both_sides_in_one_run_on_communicators_of_their_own() {
    let Some(mpi) = mpi() else { return };
    let (program, place) = (mpi.compile(&["tests/mpi/stream.c"]), place());
    let both = mpi.run(5, &program, place.path()).args(["both", "4"]).spawn().expect("it starts");
    assert_eq!(printed(both), "both: all as expected\n");
}

#[test]
fn all_ranks_are_told_that_one_cannot_open() {
    let Some(mpi) = mpi() else { return };
    let (program, place) = (mpi.compile(&["tests/mpi/stream.c"]), place());
    let run = mpi.run(3, &program, place.path()).args(["decline", "0"]).spawn().expect("it starts");
    assert_eq!(printed(run), "decline: all as expected\n");
}

#[test]
fn fortran_makes_a_cohort_of_both_kinds_of_communicator() {
    let Some(mpi) = mpi() else { return };
    let sources = ["installed/share/flexpath/fortran/flexpath_mpi.f90", "tests/mpi/cohort.f90"];
    let (program, place) = (mpi.compile(&sources), place());
    let run = mpi.run(3, &program, place.path()).spawn().expect("it starts");
    assert_eq!(printed(run).trim(), "all as expected");
}

#[test]
fn cpp_makes_a_cohort_of_a_communicator() {
    let Some(mpi) = mpi() else { return };
    let (program, place) = (mpi.compile(&["tests/mpi/cohort.cpp"]), place());
    let run = mpi.run(3, &program, place.path()).spawn().expect("it starts");
    assert_eq!(printed(run).trim(), "all as expected");
}

#[test]
fn the_library_itself_links_no_mpi() {
    let library = STAGED.join("lib/libflexpath.so");
    let output = Command::new("nm").args(["-D", "--undefined-only"]).arg(&library).output().expect("nm runs");
    assert!(output.status.success());
    let undefined = String::from_utf8(output.stdout).expect("a text");
    assert!(undefined.lines().any(|line| line.contains("malloc")), "{undefined}");
    assert!(undefined.lines().all(|line| !line.to_lowercase().contains("mpi_")), "{undefined}");
}
