//! C and Fortran programs under `mpirun`: cohorts from communicators, over a staged installation.

use crate::support::{LIBRARY, Mpi, place, printed};
use std::process::Command;

fn streams(mpi: &Mpi, publishers: u32, subscribers: u32) {
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/stream.c"]), place());
    let publish = mpi.start(publishers, &program, &["publish", "7"], place.path());
    let subscribe = mpi.start(subscribers, &program, &["subscribe", "7"], place.path());
    assert_eq!(subscribe.printed(), "subscribe: all as expected\n");
    assert_eq!(publish.printed(), "publish: all as expected\n");
    let left = std::fs::read_dir(place.path()).expect("the place is there").count();
    assert_eq!(left, 0, "nothing is left in the rendezvous");
}

#[test]
fn four_ranks_publish_to_two() {
    if let Some(mpi) = Mpi::chosen() {
        streams(&mpi, 4, 2);
    }
}

/// The tree of 18 ranks has two levels.
#[test]
fn eighteen_ranks_publish_to_one() {
    if let Some(mpi) = Mpi::chosen() {
        streams(&mpi, 18, 1);
    }
}

#[test]
fn both_sides_in_one_run_on_communicators_of_their_own() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/stream.c"]), place());
    let both = mpi.start(5, &program, &["both", "4"], place.path());
    assert_eq!(both.printed(), "both: all as expected\n");
}

#[test]
fn all_ranks_are_told_that_one_cannot_open() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/stream.c"]), place());
    let run = mpi.start(3, &program, &["decline", "0"], place.path());
    assert_eq!(run.printed(), "decline: all as expected\n");
}

#[test]
fn fortran_makes_a_cohort_of_both_kinds_of_communicator() {
    let Some(mpi) = Mpi::chosen() else { return };
    let sources = ["installed/share/flexpath/fortran/flexpath_mpi.f90", "tests/mpi/cohort.f90"];
    let (program, place) = (mpi.compile(&LIBRARY, &sources), place());
    let run = mpi.start(3, &program, &[], place.path());
    assert_eq!(run.printed().trim(), "all as expected");
}

#[test]
fn cpp_makes_a_cohort_of_a_communicator() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/cohort.cpp"]), place());
    let run = mpi.start(3, &program, &[], place.path());
    assert_eq!(run.printed().trim(), "all as expected");
}

#[test]
fn the_library_itself_links_no_mpi() {
    let library = LIBRARY.prefix().join("lib/libflexpath.so");
    let output = Command::new("nm").args(["-D", "--undefined-only"]).arg(&library).output().expect("nm runs");
    let undefined = printed(output);
    assert!(undefined.lines().any(|line| line.contains("malloc")), "{undefined}");
    assert!(undefined.lines().all(|line| !line.to_lowercase().contains("mpi_")), "{undefined}");
}
