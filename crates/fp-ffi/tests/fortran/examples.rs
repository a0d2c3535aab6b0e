//! The examples in Fortran: what docs/fortran.md shows is run word for word, and the solver under mpirun.

use crate::running::{STAGED, compile_by, place, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("the file is there")
}

/// What stands in the blocks of a language, in their order.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let inside = |block: &str| block.split("```").next().unwrap_or_default().to_owned();
    document.split(&fence).skip(1).map(inside).collect()
}

fn told(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_stranger_publishes_by_the_document_alone() {
    let (document, place) = (text("docs/fortran.md"), place());
    let programs = blocks(&document, "fortran");
    for (name, program) in ["publisher.f90", "subscriber.f90"].into_iter().zip(&programs) {
        assert_eq!(*program, text(&format!("examples/fortran/{name}")));
        std::fs::write(place.path().join(name), program).expect("written");
    }
    std::os::unix::fs::symlink(&*STAGED, place.path().join(".local")).expect("a link");
    let [script] = &blocks(&document, "sh")[..] else { panic!("one block of sh") };
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c"]).arg(format!("{script}\nwait")).current_dir(place.path());
    shell.env("HOME", place.path()).env("FLEXPATH_RENDEZVOUS", place.path());
    let printed = told(&shell.output().expect("sh runs"));
    let first = "time 0.0:  321.0  322.0  323.0  324.0  325.0  326.0, mean  329.0\n";
    assert!(
        printed.starts_with(first) && printed.ends_with("the publisher closed the stream\n"),
        "{printed}"
    );
    assert_eq!(printed.lines().count(), 11);
}

/// The program of an MPI: as Debian tells the two apart, or as they are called elsewhere.
fn of_mpi(program: &str) -> String {
    let library = std::env::var("FLEXPATH_TEST_MPI").unwrap_or_else(|_| "openmpi".to_owned());
    let full = format!("{program}.{library}");
    let is_there = Command::new(&full).arg("--version").output().is_ok();
    if is_there { full } else { program.to_owned() }
}

/// An example in Rust, which was built with the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test knows where it is");
    let path = test.ancestors().nth(2).expect("tests lie in deps").join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build --examples with the same profile", path.display());
    path
}

fn mpirun(program: &Path, ranks: u32, place: &Path) -> Command {
    let mut command = Command::new(of_mpi("mpirun"));
    command.args(["-n", &ranks.to_string()]).arg(program);
    // Open MPI: more ranks than cores, and tests that run as root.
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_mpi_yield_when_idle", "1");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("FLEXPATH_RENDEZVOUS", place).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn rust_reads_rows_of_the_solver_under_mpirun() {
    let place = place();
    let flags = ["-std=f2018", "-Wall", "-Wextra", "-Werror", "-O2"];
    let heat = compile_by(&of_mpi("mpifort"), &flags, &root().join("examples/fortran/heat.f90"));
    let solver = mpirun(&heat, 4, place.path()).spawn().expect("mpirun starts");
    let mut rows = Command::new(example("heat_rows"));
    let printed = rows.env("FLEXPATH_RENDEZVOUS", place.path()).output().expect("the example runs");
    told(&solver.wait_with_output().expect("the solver ends"));
    let printed = told(&printed);
    assert!(printed.starts_with("iteration 0: [0.6596, 0.9874, 0.8186], at most"), "{printed}");
    assert!(printed.ends_with("the publisher closed the stream\n"), "{printed}");
    assert_eq!(printed.lines().count(), 12);
}
