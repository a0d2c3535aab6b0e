//! Compiling programs as a stranger would, against a staged installation.

use super::staged::Staged;
use super::{Checker, FOLDER};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

const C_FLAGS: [&str; 6] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread"];
const CPP_FLAGS: [&str; 6] = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread"];
/// How Fortran is compiled, with every check that gfortran has.
pub const GFORTRAN_FLAGS: [&str; 7] =
    ["-std=f2018", "-Wall", "-Wextra", "-Werror", "-fcheck=all", "-g", "-O0"];

/// Programs of this process by what they were compiled from: several tests want the same.
static COMPILED: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

impl Staged {
    /// Compiles a program by what its name ends with; C and C++ for the chosen checker.
    pub fn compile(&self, source: &str) -> PathBuf {
        let watched = Checker::chosen().flags();
        match Path::new(source).extension().and_then(|ending| ending.to_str()) {
            Some("f90") => self.compile_by("gfortran", &GFORTRAN_FLAGS, &[source]),
            Some("cpp") => self.compile_by("c++", &[&CPP_FLAGS, watched].concat(), &[source]),
            _ => self.compile_by("cc", &[&C_FLAGS, watched].concat(), &[source]),
        }
    }

    /// Compiles a program by a compiler and flags. Sources are named from this crate's folder, installed ones from the
    /// installation, as in `installed/share`.
    pub fn compile_by(&self, compiler: &str, flags: &[&str], sources: &[&str]) -> PathBuf {
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{} {compiler} {sources:?} {flags:?}", self.prefix().display());
        if let Some(program) = compiled.get(&key) {
            return program.clone();
        }
        // What a compiler leaves beside the program, as the files of Fortran's modules, is of this program alone.
        let folder = self.programs().join(compiled.len().to_string());
        std::fs::create_dir_all(&folder).expect("a directory can be made");
        let last = Path::new(sources.last().expect("a source"));
        let program = folder.join(last.file_stem().expect("a name"));
        let mut command = Command::new(compiler);
        command.current_dir(&folder).args(sources.iter().map(|source| self.source(source))).args(flags);
        let output = command.args(self.flags()).arg("-o").arg(&program).output().expect("the compiler runs");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sources:?} do not compile: {complaint}");
        compiled.insert(key, program.clone());
        program
    }

    fn source(&self, source: &str) -> PathBuf {
        match source.strip_prefix("installed/") {
            Some(name) => self.prefix().join(name),
            None => Path::new(FOLDER).join(source),
        }
    }
}
