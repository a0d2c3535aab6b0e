//! LAMMPS as a library, driven by the C example `examples/c/lammps_driver.c` on four ranks.
//!
//! Where LAMMPS's library or an `mpirun` is not installed it says so and passes, unless `FLEXPATH_REQUIRE_LAMMPS` is set.

use crate::support::{LIBRARY, Mpi, is_there, place, skip};
use fp_core::{NextStep, Rendezvous, Selection, StepReader, Subscriber, SubscriberOptions};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const REQUIRED: &str = "FLEXPATH_REQUIRE_LAMMPS";
/// Atoms of the example: 6 x 6 x 6 cells of a face-centred cubic lattice.
const ATOMS: usize = 4 * 6 * 6 * 6;
/// Cells of 4 atoms, 0.8442 atoms a sigma^3.
const DENSITY: f64 = 0.8442;

/// Asks the loader, without starting anything.
fn has_lammps() -> bool {
    let listed =
        ["ldconfig", "/sbin/ldconfig"].iter().find_map(|name| Command::new(name).arg("-p").output().ok());
    listed.is_some_and(|listed| String::from_utf8_lossy(&listed.stdout).contains("liblammps.so.0"))
}

/// The place of an atom in the perfect lattice, in halves of a cell.
fn site(position: &[f64]) -> [i64; 3] {
    let half_cell = (4.0 / DENSITY).cbrt() / 2.0;
    let halves: Vec<f64> = position.iter().map(|place| place / half_cell).collect();
    halves
        .iter()
        .for_each(|half| assert!((half - half.round()).abs() < 1e-9, "{position:?} is no lattice site"));
    [0, 1, 2].map(|axis| (halves[axis].round() as i64).rem_euclid(12))
}

/// Every atom is there once, whichever rank it is on; at the start each is alone on its lattice site.
fn check(step: &StepReader) {
    let mut ids = step.get::<i32>("id", &Selection::All).expect("the ids");
    ids.sort_unstable();
    assert!(ids.into_iter().eq(1..=ATOMS as i32), "step {}: ids are not 1 to {ATOMS}", step.step());
    let positions = step.get::<f64>("x", &Selection::All).expect("the positions");
    let velocities = step.get::<f64>("v", &Selection::All).expect("the velocities");
    assert_eq!((positions.len(), velocities.len()), (3 * ATOMS, 3 * ATOMS));
    if step.scalar::<i64>("timestep").expect("the time step") == 0 {
        let sites: BTreeSet<[i64; 3]> = positions.chunks(3).map(site).collect();
        assert_eq!(sites.len(), ATOMS);
    }
}

#[test]
fn the_driver_publishes_every_atom_once() {
    // Debian's LAMMPS is for Open MPI.
    let mpi = Mpi::open_mpi();
    if !is_there(&mpi.command("mpirun")) {
        return skip(REQUIRED, "there is no mpirun.openmpi: run scripts/install-mpi.sh openmpi");
    }
    if !has_lammps() {
        return skip(REQUIRED, "there is no liblammps.so.0: run scripts/install-demo.sh");
    }
    let place = place();
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-ldl"];
    let driver = LIBRARY.compile_by("cc", &flags, &["../../examples/c/lammps_driver.c"]);
    // So that it waits for us, and does not start more threads than there are cores.
    let settings = ["MIN_SUBSCRIBERS=1", "OMP_NUM_THREADS=1", driver.to_str().expect("a text"), "60", "20"];
    let run = mpi.start(4, Path::new("env"), &settings, place.path());
    let options =
        SubscriberOptions::default().with_rendezvous(Rendezvous::at(place.path()).expect("a place"));
    let mut subscriber = Subscriber::open("melt", options).expect("attached");
    let mut timesteps = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(60)).expect("a step") {
        check(&step);
        timesteps.push(step.scalar::<i64>("timestep").expect("the time step"));
    }
    assert_eq!(run.printed(), "published 4 steps\n");
    assert_eq!(timesteps, [0, 20, 40, 60]);
}
