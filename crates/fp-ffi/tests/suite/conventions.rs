//! The examples in C whose names other tools know: `flexpath check` finds nothing wrong with them.

use crate::support::{LIBRARY, Mpi, command, place, start};
use std::process::Command;

/// What the check prints of a program that waits for it, from its second line on.
fn checked(source: &str, ranks: u32, stream: &str) -> Option<String> {
    let mpi = Mpi::chosen()?;
    let place = place();
    let program = mpi.compile(&LIBRARY, &[source]);
    let running = mpi.start(ranks, &program, &["8", "1"], place.path());
    let mut check = Command::new(command());
    check.args(["check", stream, "--timeout", "60"]).env("FLEXPATH_RENDEZVOUS", place.path());
    let printed = start(&mut check).printed();
    running.printed();
    Some(printed.split_once('\n')?.1.to_owned())
}

/// A cube of four cells along each side is 384 tetrahedra.
#[test]
fn tetrahedra_are_a_mesh_of_blueprint() {
    let Some(found) = checked("../../examples/c/tetrahedra.c", 3, "tetrahedra") else { return };
    assert_eq!(found, "  blueprint: nothing is wrong\n    mesh \"mesh\": 1152 tet in 3 domains, 2 fields\n");
}

#[test]
fn the_refined_grid_has_two_levels() {
    let Some(found) = checked("../../examples/c/refined_grid.c", 4, "refined") else { return };
    assert_eq!(found, "  amr: nothing is wrong\n    refined \"cells\", 2 levels\n");
}
