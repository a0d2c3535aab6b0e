//! Programs under MPI: `FLEXPATH_MPI` says which, `openmpi` (the default) or `mpich`, as Debian names their commands.

use super::process::ERRORS;
use super::staged::Staged;
use super::{TestProcess, is_there, skip};
use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-O1"];

/// An MPI.
#[derive(Clone, Debug)]
pub struct Mpi {
    name: String,
}

impl Mpi {
    /// The one that the environment names. `None`, with the reason said, where it is not installed; with
    /// `FLEXPATH_REQUIRE_MPI` that is a failure.
    pub fn chosen() -> Option<Self> {
        let mpi = match std::env::var("FLEXPATH_MPI").as_deref() {
            Err(_) | Ok("" | "openmpi") => Self::open_mpi(),
            Ok("mpich") => Self { name: "mpich".to_owned() },
            Ok(other) => panic!("FLEXPATH_MPI is openmpi or mpich, not {other:?}"),
        };
        let missing = ["mpicc", "mpifort", "mpirun"].map(|program| mpi.command(program));
        let Some(missing) = missing.iter().find(|command| !is_there(command)) else { return Some(mpi) };
        let why = format!("{missing} is not installed: run scripts/install-mpi.sh {}", mpi.name);
        skip("FLEXPATH_REQUIRE_MPI", &why);
        None
    }

    /// Open MPI, be it installed or not.
    pub fn open_mpi() -> Self {
        Self { name: "openmpi".to_owned() }
    }

    /// What one of its commands is called.
    pub fn command(&self, program: &str) -> String {
        format!("{program}.{}", self.name)
    }

    fn is_open_mpi(&self) -> bool {
        self.name == "openmpi"
    }

    /// Compiles a program, Fortran if any of the sources is, or else C++ if any is.
    pub fn compile(&self, staged: &Staged, sources: &[&str]) -> PathBuf {
        let any = |ending| sources.iter().any(|source| source.ends_with(ending));
        let (compiler, standard) = match () {
            () if any(".f90") => ("mpifort", "-std=f2018"),
            () if any(".cpp") => ("mpicxx", "-std=c++17"),
            () => ("mpicc", "-std=c11"),
        };
        // Open MPI's retired C++ interface does not compile without warnings.
        let own = [standard, "-pthread", "-DOMPI_SKIP_MPICXX"];
        staged.compile_by(&self.command(compiler), &[&FLAGS[..], &own].concat(), sources)
    }

    /// Starts a run of so many ranks, all on this machine, be it small.
    pub fn start(&self, ranks: u32, program: &Path, arguments: &[&str], place: &Path) -> TestProcess {
        let mut command = Command::new(self.command("mpirun"));
        if self.is_open_mpi() {
            command.arg("--oversubscribe");
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_mpi_yield_when_idle", "1");
            // Messages of Open MPI about devices that are not there, and ptrace that containers forbid.
            command.env("OMPI_MCA_btl", "self,vader").env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        }
        // At an abort, MPICH's launcher may end before it passes on what the ranks said. So they write to a file.
        let said_to_file = r#"exec "$0" "$@" 2>> "$FLEXPATH_TEST_ERRORS""#;
        command.args(["-n", &ranks.to_string(), "sh", "-c", said_to_file]).arg(program).args(arguments);
        // Two runs of Open MPI that begin at one moment make the same folder in the temporary one, and one of them fails.
        let folder = tempfile::tempdir().expect("a folder");
        // Open MPI empties it when it ends.
        let temporary = folder.path().join("temporary");
        std::fs::create_dir(&temporary).expect("a folder");
        command.env("TMPDIR", temporary).env("FLEXPATH_RENDEZVOUS", place);
        command.env("FLEXPATH_TEST_ERRORS", folder.path().join(ERRORS));
        TestProcess::start(&mut command, Some(folder))
    }
}
