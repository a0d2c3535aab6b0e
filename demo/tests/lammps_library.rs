//! The safe calls over LAMMPS's library, in this process alone (one rank, no `mpirun`).
//!
//! A binary of its own with one test, as MPI starts in the process, and wants one thread.
//! Where LAMMPS is not installed it says so and passes, unless `FLEXPATH_REQUIRE_LAMMPS` is set.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::small_sheet;
use flexpath_demo::lammps::{Lammps, LammpsError, Snapshot, check_installed};

/// Ids with positions, by rising id, as a run of no steps shows them.
fn atoms_now(lammps: &mut Lammps) -> Vec<(i64, [f64; 3])> {
    let mut atoms = Vec::new();
    let mut look = |snapshot: &mut Snapshot<'_>| {
        atoms =
            snapshot.ids().expect("ids").into_iter().zip(snapshot.positions().expect("positions")).collect();
    };
    lammps.run(0, 1, &mut look).expect("runs");
    atoms.sort_by_key(|(id, _)| *id);
    atoms
}

/// Our callback adds no force: a run that hands over many steps ends where one that hands over none does.
fn assert_undisturbed() {
    let (mut watched, mut alone) = (small_sheet(), small_sheet());
    let mut steps = Vec::new();
    watched.run(300, 50, &mut |snapshot| steps.push(snapshot.step())).expect("runs");
    alone.command("run 300").expect("runs");
    assert_eq!(steps, [0, 50, 100, 150, 200, 250, 300]);
    assert_eq!(atoms_now(&mut watched), atoms_now(&mut alone), "to the last bit");
}

fn assert_lists_agree() {
    let mut lammps = small_sheet();
    let mut compared = 0;
    let mut look = |snapshot: &mut Snapshot<'_>| {
        let count = snapshot.count();
        assert!(count > 300);
        assert_eq!(snapshot.types().expect("types").len(), count);
        assert!(snapshot.positions().expect("positions").iter().all(|position| position[2] == 0.0));
        assert!(snapshot.velocities().expect("velocities").iter().any(|velocity| velocity[0] != 0.0));
        assert_eq!(snapshot.per_atom("reference").expect("defined in the input").len(), count);
        let missing = LammpsError::NoSuchData { what: "nobody".to_owned(), step: snapshot.step() };
        assert_eq!(snapshot.per_atom("nobody"), Err(missing));
        assert_eq!(snapshot.domain().periodic, [false; 3], "the third axis of a sheet is none");
        compared += 1;
    };
    lammps.run(20, 10, &mut look).expect("runs");
    assert_eq!(compared, 3);
}

fn assert_stops_and_panics_pass() {
    let mut lammps = small_sheet();
    let mut steps = Vec::new();
    let mut stop_at_40 = |snapshot: &mut Snapshot<'_>| {
        steps.push(snapshot.step());
        if snapshot.step() == 40 {
            snapshot.stop();
        }
    };
    lammps.run(10_000, 20, &mut stop_at_40).expect("runs");
    assert_eq!(steps, [0, 20, 40]);
    let mut calls = 0;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        lammps.run(30, 10, &mut |_| {
            calls += 1;
            panic!("on purpose")
        })
    }));
    assert_eq!((panicked.is_err(), calls), (true, 1), "kept until the run has ended");
    assert!(!atoms_now(&mut lammps).is_empty(), "and LAMMPS is of use afterwards");
}

#[test]
fn lammps_is_watched_but_not_disturbed() {
    if let Err(error) = check_installed() {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_LAMMPS").is_none(), "{error}");
        eprintln!("not run: {error}");
        return;
    }
    assert_undisturbed();
    assert_lists_agree();
    assert_stops_and_panics_pass();
    assert!(small_sheet().version() >= 20_210_929);
    let zero = small_sheet().command("print \"\0\"");
    assert!(matches!(zero, Err(LammpsError::ZeroByte { .. })));
    small_sheet().finish();
}
