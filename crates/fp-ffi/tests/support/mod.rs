//! What the tests of C, C++ and Fortran programs share. It is a staged installation, compilers, checkers, both MPIs,
//! and processes that end with the test that started them.
#![allow(dead_code, unreachable_pub, unused_imports)] // each test binary uses its part

mod checker;
mod compiler;
mod mpi;
mod process;
mod staged;

pub use checker::Checker;
pub use compiler::GFORTRAN_FLAGS;
pub use mpi::Mpi;
pub use process::{TestProcess, as_rank, start};
pub use staged::{LIBRARY, LIBRARY_AND_MODULE};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of this crate. Sources are named from there.
pub const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// A file of the repository, named from its root.
pub fn of_repository(path: &str) -> PathBuf {
    Path::new(FOLDER).join("../..").join(path)
}

/// A rendezvous of its own.
pub fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory can be made")
}

/// What was printed by a process that must succeed.
pub fn printed(output: Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout).expect("a text")
}

/// Whether this command is installed.
pub fn is_there(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok()
}

/// Says why a test does nothing, where nobody captures it; with this variable in the environment that is a failure.
pub fn skip(required_by: &str, why: &str) {
    use std::io::Write;
    assert!(std::env::var_os(required_by).is_none(), "{why}");
    writeln!(std::io::stderr(), "skipped: {why}").expect("there is a standard error");
}

/// An example in Rust. Cargo builds it if it is not there, as this test alone does not ask for it.
pub fn example(name: &str) -> PathBuf {
    built(&format!("examples/{name}"), &["--example", name])
}

/// The command `flexpath`, built in the same way.
pub fn command() -> PathBuf {
    built("flexpath", &["--bin", "flexpath"])
}

/// A program of the workspace at its path beside the tests, and how cargo is asked for it.
fn built(program: &str, asked: &[&str]) -> PathBuf {
    let test = std::env::current_exe().expect("this test knows where it is");
    let built = test.ancestors().nth(2).expect("tests lie in deps");
    let program = built.join(program);
    // Not always: some build scripts see another environment under a test than outside it, and are run anew.
    if program.exists() {
        return program;
    }
    let profile = match built.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        named => named.expect("a profile has a name"),
    };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The whole workspace: for the same features as `cargo test --workspace`, which has built it already.
    cargo.args(["build", "--quiet", "--workspace", "--profile", profile]).args(asked);
    cargo.arg("--target-dir").arg(built.parent().expect("in a target folder")).current_dir(of_repository(""));
    // Build scripts look at what cargo tells the tests of this crate. It would be new to them, and everything would be
    // built anew.
    let of_this_crate = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    std::env::vars().map(|(name, _)| name).filter(of_this_crate).for_each(|name| {
        cargo.env_remove(name);
    });
    assert!(cargo.status().expect("cargo runs").success(), "{} does not build", program.display());
    program
}
