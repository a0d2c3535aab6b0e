//! The examples in Fortran: what docs/fortran.md shows is run word for word, and the solver under mpirun.

use crate::support::{LIBRARY_AND_MODULE, Mpi, example, of_repository, place, printed, start};
use std::process::Command;

fn text(path: &str) -> String {
    std::fs::read_to_string(of_repository(path)).expect("the file is there")
}

/// What stands in the blocks of a language, in their order.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let inside = |block: &str| block.split("```").next().unwrap_or_default().to_owned();
    document.split(&fence).skip(1).map(inside).collect()
}

#[test]
fn a_stranger_publishes_by_the_document_alone() {
    let (document, place) = (text("docs/fortran.md"), place());
    let programs = blocks(&document, "fortran");
    for (name, program) in ["publisher.f90", "subscriber.f90"].into_iter().zip(&programs) {
        assert_eq!(*program, text(&format!("examples/fortran/{name}")));
        std::fs::write(place.path().join(name), program).expect("written");
    }
    std::os::unix::fs::symlink(LIBRARY_AND_MODULE.prefix(), place.path().join(".local")).expect("a link");
    let [script] = &blocks(&document, "sh")[..] else { panic!("one block of sh") };
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c"]).arg(format!("{script}\nwait")).current_dir(place.path());
    shell.env("HOME", place.path()).env("FLEXPATH_RENDEZVOUS", place.path());
    let printed = printed(shell.output().expect("sh runs"));
    let first = "time 0.0:  321.0  322.0  323.0  324.0  325.0  326.0, mean  329.0\n";
    assert!(
        printed.starts_with(first) && printed.ends_with("the publisher closed the stream\n"),
        "{printed}"
    );
    assert_eq!(printed.lines().count(), 11);
}

#[test]
fn rust_reads_rows_of_the_solver_under_mpirun() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (place, rows) = (place(), example("heat_rows"));
    let heat = mpi.compile(
        &LIBRARY_AND_MODULE,
        &["installed/share/flexpath/fortran/flexpath_mpi.f90", "../../examples/fortran/heat.f90"],
    );
    let solver = mpi.start(4, &heat, &[], place.path());
    let printed = start(Command::new(rows).env("FLEXPATH_RENDEZVOUS", place.path())).printed();
    solver.printed();
    assert!(printed.starts_with("iteration 0: [0.6596, 0.9874, 0.8186], at most"), "{printed}");
    assert!(printed.ends_with("the publisher closed the stream\n"), "{printed}");
    assert_eq!(printed.lines().count(), 12);
}
