//! The examples in C with meshes, as `flexpath tee` writes them and VTK reads them: it finds all cells.
//!
//! A binary of its own that runs by name alone: it needs `flexpath tee` and VTK, which the shard `sinks` has.

mod support;

use std::ffi::OsString;
use std::process::Command;
use support::{LIBRARY, Mpi, place, start};

fn named(variable: &str) -> OsString {
    std::env::var_os(variable)
        .unwrap_or_else(|| panic!("{variable} is not set: scripts/shards.sh one sinks sets it"))
}

/// What VTK finds in the files that `flexpath tee` makes of a program's three steps.
fn seen_by_vtk(source: &str, ranks: u32, stream: &str) -> String {
    let (tee, python) = (named("FLEXPATH_TEE"), named("FLEXPATH_SINKS_PYTHON"));
    let mpi = Mpi::chosen().expect("an MPI that starts the program");
    let place = place();
    let program = mpi.compile(&LIBRARY, &[source]);
    let running = mpi.start(ranks, &program, &["3", "1"], place.path());
    let files = place.path().join("files");
    let mut writing = Command::new(tee);
    writing.arg("--rendezvous").arg(place.path()).args([stream, "--timeout", "60", "--ranks", "2", "--to"]);
    writing.arg(format!("vtkhdf:{}", files.join("run_%06T.vtkhdf").display()));
    start(&mut writing).printed();
    running.printed();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cells.py");
    start(Command::new(python).arg(script).arg(files)).printed()
}

#[test]
fn vtk_finds_all_tetrahedra() {
    let found = seen_by_vtk("../../examples/c/tetrahedra.c", 3, "tetrahedra");
    assert_eq!(found, "1152 tetrahedra\n3 files\n");
}

/// Eight boxes of 32 x 32 x 32 cells a level.
#[test]
fn vtk_finds_all_boxes_of_both_levels() {
    let found = seen_by_vtk("../../examples/c/refined_grid.c", 4, "refined");
    assert_eq!(found, "level 0: 262144 cells in 8 boxes\nlevel 1: 262144 cells in 8 boxes\n3 files\n");
}
