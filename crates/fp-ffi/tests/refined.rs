//! The refined grid, a C program on four ranks of MPI with many boxes, and its analysis.

#[path = "programs/checker.rs"]
#[allow(dead_code)] // this test uses its part
mod checker;
#[path = "programs/staged.rs"]
#[allow(dead_code)] // this test uses its part
mod staged;

use staged::{compile, compile_with, finish, place};
use std::process::{Command, Stdio};

/// A program of Open MPI, by the name that Debian gives it where there are others beside it.
fn open_mpi(program: &str) -> String {
    let of_open_mpi = format!("{program}.openmpi");
    let is_there = Command::new(&of_open_mpi).arg("--version").output().is_ok();
    if is_there { of_open_mpi } else { program.to_owned() }
}

/// What the analysis has checked is every cell of one component, by function of step and global index.
#[test]
fn boxes_come_and_go_and_every_cell_is_what_it_must_be() {
    let place = place();
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"];
    let grid = compile_with(&open_mpi("mpicc"), &flags, "../../examples/c/refined_grid.c");
    let analysis = compile("../../examples/c/refined_analysis.c");
    let mut mpirun = Command::new(open_mpi("mpirun"));
    mpirun.args(["--oversubscribe", "-n", "4"]).arg(grid).args(["12", "1"]);
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let start = |mut command: Command| {
        command.env("FLEXPATH_RENDEZVOUS", place.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let (ranks, analysis) = (start(mpirun), start(checker::Checker::chosen().run(&analysis)));
    let printed = finish(analysis);
    finish(ranks);
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
    let is_shared = checker::Checker::chosen() != checker::Checker::Memcheck;
    assert!(!is_shared || views == 2 * (12 * 8 + fine), "{printed}");
}
