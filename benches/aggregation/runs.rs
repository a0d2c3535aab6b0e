//! One measurement of each kind.

use crate::cable::Hosts;
use crate::plan::{Aggregators, Row};
use crate::roles::Load;
use crate::{Outcome, ROLE, warm};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Options by which Open MPI runs more ranks than there are cores, as root; others know none of them.
const OVER: [&str; 4] = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"];

/// What all measurements need.
pub(crate) struct Bench {
    command: PathBuf,
    place: tempfile::TempDir,
    hosts: Hosts,
    token: PathBuf,
    /// The program that writes under MPI, if there is an MPI.
    null: Option<PathBuf>,
}

/// MiB/s that nodes had, and that the simulation saw.
pub(crate) struct Streamed {
    pub(crate) taken: f64,
    pub(crate) seen: f64,
}

/// A process that is ended when this is dropped.
struct Started(Child);

impl Started {
    fn of(mut command: Command) -> Outcome<Self> {
        Ok(Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?))
    }

    /// What it printed, once it has ended well.
    fn said(mut self, who: &str) -> Outcome<String> {
        use std::io::Read as _;
        let mut said = String::new();
        self.0.stdout.take().ok_or("its output")?.read_to_string(&mut said)?;
        let status = self.0.wait()?;
        status.success().then_some(said).ok_or_else(|| format!("{who}: {status}").into())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // `timeout` passes a request to end on, and a kill not.
        if let Ok(None) = self.0.try_wait() {
            let _ = Command::new("kill").arg(self.0.id().to_string()).status();
            let _ = self.0.wait();
        }
    }
}

impl Bench {
    pub(crate) fn new(command: PathBuf) -> Outcome<Self> {
        let (place, hosts) = (tempfile::tempdir()?, Hosts::new()?);
        let token = place.path().join("run.token");
        std::fs::write(&token, format!("{}\n", "5a".repeat(32)))?;
        let null = place.path().join("null");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/aggregation/null.c");
        let built = Command::new("mpicc").args(["-O2", "-std=gnu11", source, "-o"]).arg(&null).status();
        let null = built.is_ok_and(|status| status.success()).then_some(null);
        if null.is_none() {
            println!(
                "not measured: what ranks write under MPI: there is no mpicc (scripts/install-mpi.sh openmpi)"
            );
        }
        Ok(Self { command, place, hosts, token, null })
    }

    fn role(&self, host: usize, words: &[&str]) -> Outcome<Command> {
        let mut role = self.hosts.command(host, &std::env::current_exe()?, &self.token);
        role.arg(ROLE).args(words);
        Ok(role)
    }

    /// MiB/s of one connection over the cable.
    pub(crate) fn tcp(&self, bytes: u64) -> Outcome<f64> {
        let bytes = bytes.to_string();
        let drain = Started::of(self.role(1, &["drain", &bytes])?)?;
        let pour = Started::of(self.role(0, &["pour", &bytes])?)?;
        pour.said("who sends")?;
        Ok(drain.said("who receives")?.trim().parse()?)
    }

    /// What so many nodes have of what goes through so many aggregators.
    pub(crate) fn streamed(&self, row: &Row) -> Outcome<Streamed> {
        let folder = tempfile::tempdir_in(self.place.path())?;
        let path = folder.path().to_str().ok_or("a folder's name")?;
        let (stager, stream) = match row.aggregators {
            Aggregators::None => (None, "run"),
            Aggregators::Some(_) | Aggregators::Auto => {
                (Some(Started::of(self.aggregators(row.aggregators, folder.path()))?), "run-staged")
            }
        };
        let words = row.load.words();
        let load = words.each_ref().map(String::as_str);
        let publisher = Started::of(self.role(0, &[&["publish", path][..], &load].concat())?)?;
        let nodes = row.nodes.to_string();
        let node = |node: u32| {
            let node = node.to_string();
            Started::of(self.role(1, &[&["take", path, stream, &node, &nodes][..], &load].concat())?)
        };
        let nodes = (0..row.nodes).map(node).collect::<Outcome<Vec<_>>>()?;
        let said = nodes.into_iter().map(|node| node.said("a node")).collect::<Outcome<Vec<_>>>()?;
        let seconds: f64 = publisher.said("the simulation")?.trim().parse()?;
        drop(stager);
        rates(row.load, &said, seconds)
    }

    fn aggregators(&self, aggregators: Aggregators, folder: &Path) -> Command {
        let mut stager = self.hosts.command(0, &self.command, &self.token);
        stager.args([
            "stage",
            "run",
            "--hosts",
            "1",
            "--host-index",
            "0",
            "--memory",
            "1G",
            "--subscribers",
            "1",
        ]);
        stager.args(["--once", "--per-host", &aggregators.to_string(), "--rendezvous"]).arg(folder);
        stager.stderr(Stdio::null());
        stager
    }

    /// MiB/s of the same ranks under MPI, which write to /dev/null or to files.
    pub(crate) fn by_mpi(&self, how: &str, load: Load) -> Outcome<f64> {
        let null = self.null.as_ref().ok_or("there is no MPI")?;
        let folder = tempfile::tempdir_in(self.place.path())?;
        let mut run = Command::new("timeout");
        run.args(["-k", "10", "120", "mpirun"]);
        let version = Command::new("mpirun").arg("--version").output()?;
        if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
            run.args(OVER).env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        }
        run.args(["-n", &load.ranks.to_string()]).arg(null);
        run.args([how, &load.message_bytes.to_string(), &load.steps.to_string()]).arg(folder.path());
        Ok(Started::of(run)?.said("mpirun")?.trim().parse()?)
    }
}

/// From the first node that had its first steps to the last node's last one; and as the simulation saw it.
fn rates(load: Load, said: &[String], seconds: f64) -> Outcome<Streamed> {
    let (mut first, mut last) = (f64::MAX, 0.0f64);
    for line in said {
        let (warm, end) = line.trim().split_once(' ').ok_or("a node said nothing")?;
        (first, last) = (first.min(warm.parse()?), last.max(end.parse()?));
    }
    let mebibytes = |steps: u64| (load.step_bytes() * steps) as f64 / f64::from(1 << 20);
    Ok(Streamed {
        taken: mebibytes(load.steps - warm(load)) / (last - first),
        seen: mebibytes(load.steps - 1) / seconds,
    })
}
