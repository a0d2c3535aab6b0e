//! What the tests of C programs under MPI share: a staged installation, compilers and launchers of both MPIs.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
const FLAGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-O1"];

/// The library installed, once for all tests of this process.
pub static STAGED: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("this test knows where it is");
    let name = test.file_name().expect("a name").to_string_lossy().into_owned();
    // Without the hash that each build has of its own: what was staged before is written over.
    let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name);
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("staged-{name}"));
    let mut install = Command::new(Path::new(FOLDER).join("../../scripts/install-library.sh"));
    install.arg(test.parent().expect("tests lie in deps")).arg(&prefix);
    assert!(install.status().expect("the script runs").success());
    prefix
});

/// Compiles a program with this compiler, as a stranger would, from one or several sources.
pub fn compile(compiler: &str, standard: &str, sources: &[&str]) -> PathBuf {
    let prefix = &*STAGED;
    let last = Path::new(sources.last().expect("a source")).file_stem().expect("a name");
    let name = format!("{compiler}-{}", last.display());
    let folder = tempfile::Builder::new().prefix(&name).tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.expect("a directory").keep();
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.current_dir(&folder).arg(standard).args(FLAGS).arg("-pthread");
    command.arg(format!("-I{}", prefix.join("include").display()));
    // Open MPI's retired C++ interface does not compile without warnings.
    command.arg("-DOMPI_SKIP_MPICXX");
    command.args(sources.iter().map(|source| source_path(source)));
    command.arg(format!("-L{}", prefix.join("lib").display())).arg("-lflexpath");
    command.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())).arg("-o").arg(&program);
    assert!(command.status().expect("the compiler runs").success(), "{sources:?} do not compile");
    program
}

/// Sources are named from this crate's folder, installed ones from the installation.
fn source_path(source: &str) -> PathBuf {
    match source.strip_prefix("installed/") {
        Some(name) => STAGED.join(name),
        None => Path::new(FOLDER).join(source),
    }
}

/// Every wait inside the programs has its own deadline: they end by themselves.
pub fn finish(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

/// What a program printed that must succeed.
pub fn printed(child: Child) -> String {
    let output = finish(child);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout).expect("a text")
}

pub fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory can be made")
}

/// An MPI: `openmpi` or `mpich`, as Debian names its commands.
#[derive(Clone, Debug)]
pub struct Mpi {
    name: String,
}

/// The MPI of `FLEXPATH_MPI` (Open MPI unless that says `mpich`). `None`, with the reason said, where it is not
/// installed; with `FLEXPATH_REQUIRE_MPI` that is a failure.
pub fn mpi() -> Option<Mpi> {
    let name = std::env::var("FLEXPATH_MPI").unwrap_or_else(|_| "openmpi".to_owned());
    let commands = [format!("mpicc.{name}"), format!("mpirun.{name}")];
    let is_there = |command: &String| Command::new(command).arg("--version").output().is_ok();
    if let Some(missing) = commands.iter().find(|command| !is_there(command)) {
        let why = format!("{missing} is not installed: run scripts/install-mpi.sh {name}");
        assert!(std::env::var_os("FLEXPATH_REQUIRE_MPI").is_none(), "{why}");
        eprintln!("skipped: {why}");
        return None;
    }
    Some(Mpi { name })
}

impl Mpi {
    pub fn is_open_mpi(&self) -> bool {
        self.name == "openmpi"
    }

    pub fn compile(&self, sources: &[&str]) -> PathBuf {
        let any = |ending| sources.iter().any(|source| source.ends_with(ending));
        let (compiler, standard) = match () {
            () if any(".f90") => ("mpifort", "-std=f2018"),
            () if any(".cpp") => ("mpicxx", "-std=c++17"),
            () => ("mpicc", "-std=c11"),
        };
        compile(&format!("{compiler}.{}", self.name), standard, sources)
    }

    /// A run of so many ranks, all on this machine, be it small.
    pub fn run(&self, ranks: u32, program: &Path, place: &Path) -> Command {
        let mut command = Command::new(format!("mpirun.{}", self.name));
        if self.is_open_mpi() {
            command.arg("--oversubscribe");
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_mpi_yield_when_idle", "1");
            // Messages of Open MPI about devices that are not there, and ptrace that containers forbid.
            command.env("OMPI_MCA_btl", "self,vader").env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        }
        command.arg("-n").arg(ranks.to_string()).arg(program);
        command.env("FLEXPATH_RENDEZVOUS", place).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
