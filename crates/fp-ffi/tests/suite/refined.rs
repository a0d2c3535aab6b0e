//! The refined grid, a C program on four ranks of MPI with many boxes, and its analysis.

use crate::support::{Checker, LIBRARY, Mpi, place, start};
use std::process::Command;

/// What the analysis has checked is every cell of one component, by function of step and global index.
#[test]
fn boxes_come_and_go_and_every_cell_is_what_it_must_be() {
    let Some(mpi) = Mpi::chosen() else { return };
    let place = place();
    let grid = mpi.compile(&LIBRARY, &["../../examples/c/refined_grid.c"]);
    let ranks = mpi.start(4, &grid, &["12", "1"], place.path());
    let mut analysis: Command =
        Checker::chosen().run(&LIBRARY.compile("../../examples/c/refined_analysis.c"));
    let printed = start(analysis.env("FLEXPATH_RENDEZVOUS", place.path())).printed();
    ranks.printed();
    let first = "step 0: 8 coarse boxes, 8 fine ones: 1 of rank 0 2 of rank 1 2 of rank 2 3 of rank 3;";
    assert!(printed.starts_with(first), "{printed}");
    let numbers =
        |text: &str| text.split(' ').filter_map(|word| word.parse::<u32>().ok()).collect::<Vec<_>>();
    let last = numbers(printed.lines().next_back().unwrap_or_default());
    let fine: u32 =
        printed.lines().filter(|line| line.starts_with("step ")).map(|line| numbers(line)[1]).sum();
    let [12, changes, views] = last[..] else { panic!("{printed}") };
    assert!(changes >= 4, "the boxes change: {printed}");
    // Two components of each box are looked at where they lie: with memory that is shared none is copied.
    let is_shared = Checker::chosen() != Checker::Memcheck;
    assert!(!is_shared || views == 2 * (12 * 8 + fine), "{printed}");
}
