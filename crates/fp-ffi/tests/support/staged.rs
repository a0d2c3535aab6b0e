//! The library installed as a stranger installs it, once for each test binary: several may run at one time.

use super::of_repository;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The library and its headers.
pub static LIBRARY: LazyLock<Staged> = LazyLock::new(|| Staged::install(false));

/// The library and the module for Fortran, for the tests that use it: it takes its time to compile.
pub static LIBRARY_AND_MODULE: LazyLock<Staged> = LazyLock::new(|| Staged::install(true));

/// An installation, and the package by whose flags programs are compiled against it.
pub struct Staged {
    folder: PathBuf,
    package: &'static str,
}

impl Staged {
    fn install(with_module: bool) -> Self {
        let test = std::env::current_exe().expect("this test knows where it is");
        let package = if with_module { "flexpath-fortran" } else { "flexpath" };
        let folder = folder_of(&test, package);
        let staged = Self { folder, package };
        let mut install = Command::new(of_repository("scripts/install-library.sh"));
        install.arg(test.parent().expect("tests lie in deps")).arg(staged.prefix()).stdout(Stdio::null());
        // Where no module is wanted, by a compiler that there is not.
        install.env("FC", if with_module { "gfortran" } else { "none" }).env("FFLAGS", "-O0 -g -fcheck=all");
        assert!(install.status().expect("the script runs").success(), "the library is not installed");
        let is_complete = staged.prefix().join(format!("lib/pkgconfig/{package}.pc")).exists();
        assert!(is_complete, "there is no gfortran: make tools");
        std::fs::create_dir_all(staged.programs()).expect("a directory can be made");
        staged
    }

    /// Where it is installed.
    pub fn prefix(&self) -> PathBuf {
        self.folder.join("installed")
    }

    /// Where programs are compiled to.
    pub(super) fn programs(&self) -> PathBuf {
        self.folder.join("programs")
    }

    /// What pkg-config says of this package, as words.
    pub fn pkg_config(&self, package: &str) -> Vec<String> {
        let mut asked = Command::new("pkg-config");
        asked.args(["--cflags", "--libs", package]);
        asked.env("PKG_CONFIG_PATH", self.prefix().join("lib/pkgconfig"));
        let output = asked.output().expect("pkg-config runs");
        super::printed(output).split_whitespace().map(str::to_owned).collect()
    }

    /// Flags for the compiler and the linker: what pkg-config says, and where the library is when a program runs.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = self.pkg_config(self.package);
        flags.push(format!("-Wl,-rpath,{}/lib", self.prefix().display()));
        flags
    }
}

/// A folder for this test binary, its profile and the package. Its name lacks the hash that each build has of its own,
/// so what was staged before is written over.
fn folder_of(test: &Path, package: &str) -> PathBuf {
    let name = test.file_name().expect("a name").to_string_lossy().into_owned();
    let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name);
    let profile = test.ancestors().nth(2).and_then(Path::file_name).expect("tests lie in deps");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("staged-{}-{name}-{package}", profile.display()))
}
