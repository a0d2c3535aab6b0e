//! The processes that the supervisor started: all of them, and no others, are ended by it.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use super::super::part::Part;
use super::super::reach::token_file;
use super::super::report::heard;
use super::super::settings::{Settings, SourceKind};
use super::super::streams::{ATOMS, SPEED, SYMMETRY};
use super::notice::Notice;
use crate::shared::processes::{self, Processes, flexpath_command, rank_command};

/// A process of a run.
pub(super) type Process = processes::Process<Part>;

/// All processes of one run, each heard.
pub(super) struct Children {
    settings: Settings,
    rendezvous: PathBuf,
    time_limit: Duration,
    inbox: Sender<Notice>,
    processes: Processes<Part>,
}

impl Children {
    pub(super) fn new(
        settings: &Settings,
        rendezvous: &Path,
        time_limit: Duration,
        inbox: Sender<Notice>,
    ) -> Self {
        let (settings, rendezvous) = (settings.clone(), rendezvous.to_owned());
        Children { settings, rendezvous, time_limit, inbox, processes: Processes::default() }
    }

    pub(super) fn processes(&self) -> &[Process] {
        self.processes.all()
    }

    /// Start all ranks of a part.
    pub(super) fn start(&mut self, part: Part) -> io::Result<()> {
        if part == Part::Simulation && self.settings.source == SourceKind::Lammps {
            let command = self.under_mpirun()?;
            return self.spawn(part, part.name().to_owned(), command);
        }
        if let (Part::Energy, Some(python)) = (part, &self.settings.python) {
            let command = self.in_python(python);
            return self.spawn(part, part.name().to_owned(), command);
        }
        if part == Part::Watch {
            let command = self.watch()?;
            return self.spawn(part, part.name().to_owned(), command);
        }
        let size = part.ranks(&self.settings);
        for rank in 0..size {
            let command = rank_command(part.name(), self.settings.to_arguments(), (rank, size))?;
            self.spawn(part, format!("{}.{rank}", part.name()), command)?;
        }
        Ok(())
    }

    /// LAMMPS's ranks learn their places from the launcher. More ranks than cores: they must give way when they wait.
    fn under_mpirun(&self) -> io::Result<Command> {
        let mut command = Command::new("mpirun");
        command.args(["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]);
        command.args(["--timeout", &self.time_limit.as_secs().to_string()]);
        command.args(["-np", &self.settings.ranks.to_string()]);
        command.arg(std::env::current_exe()?).args(["part", Part::Simulation.name()]);
        command.args(self.settings.to_arguments());
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env_remove("FLEXPATH_RANK").env_remove("FLEXPATH_SIZE");
        Ok(command)
    }

    /// Energy is a program of its own, which knows no settings of ours.
    fn in_python(&self, python: &Path) -> Command {
        let settings = &self.settings;
        let seconds = |millis: u64| Duration::from_millis(millis).as_secs_f64().to_string();
        let mut command = Command::new(python);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/python/energy.py"));
        command.args(["--every", &settings.compared_every().to_string()]);
        command.args(["--max-wait-s", &seconds(settings.max_wait_ms)]);
        command.args(["--patience-s", &seconds(settings.patience_ms)]);
        if let Some(address) = settings.address {
            command.args(["--listen", &SocketAddr::from((address, 0)).to_string(), "--token-file"]);
            command.arg(token_file(&self.rendezvous));
        }
        command
    }

    /// What waits for the verdict. Whatever it starts speaks by its output.
    fn watch(&self) -> io::Result<Command> {
        let (settings, flexpath) = (&self.settings, flexpath_command()?);
        let commands = settings.logs().join("commands.toml");
        std::fs::create_dir_all(settings.logs())?;
        std::fs::write(&commands, called(settings, &flexpath)?)?;
        let mut command = Command::new(flexpath);
        command.args(["watch", SYMMETRY, "rises(max(torn) > 0)", "--every-step"]);
        command.args(["--then", "run cna", "--then", "run slower", "--commands"]).arg(commands);
        command.args(["--timeout", &self.time_limit.as_secs().to_string()]);
        if let Some(address) = settings.address {
            command.env("FLEXPATH_LISTEN", SocketAddr::from((address, 0)).to_string());
            command.env("FLEXPATH_TOKEN_FILE", token_file(&self.rendezvous));
        }
        Ok(command)
    }

    fn spawn(&mut self, part: Part, label: String, mut command: Command) -> io::Result<()> {
        command.env("FLEXPATH_RENDEZVOUS", &self.rendezvous).stdout(Stdio::piped());
        let output = self.processes.spawn((part, label.clone()), command, &self.settings.logs())?;
        output.into_iter().for_each(|output| read_along(output, label.clone(), self.inbox.clone()));
        Ok(())
    }

    /// Those that have ended since the last call.
    pub(super) fn reap(&mut self) -> io::Result<Vec<usize>> {
        self.processes.reap()
    }

    pub(super) fn are_all_ended(&self) -> bool {
        self.processes.are_all_ended()
    }
}

/// The commands that the watch may start, as it reads them: CNA, and who asks for half the speed.
fn called(settings: &Settings, flexpath: &Path) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let cna = [program.as_os_str(), OsStr::new("part"), OsStr::new(Part::Cna.name())];
    let arguments = settings.to_arguments();
    let cna = cna.into_iter().chain(arguments.iter().map(OsString::as_os_str));
    let (speed, seconds) = (format!("{SPEED}={}", settings.slower()), settings.step_patience().as_secs());
    let seconds = seconds.to_string();
    let slower = [OsStr::new("request"), OsStr::new(ATOMS), OsStr::new(&speed), OsStr::new("--timeout")];
    let slower = std::iter::once(flexpath.as_os_str()).chain(slower).chain([OsStr::new(&seconds)]);
    let words = |words: &mut dyn Iterator<Item = &OsStr>| {
        // An array of texts is the same in JSON and in TOML.
        let texts: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        serde_json::to_string(&texts).map_err(io::Error::other)
    };
    let (mut cna, mut slower) = (cna, slower);
    Ok(format!(
        "[command.cna]\nrun = {}\n\n[command.slower]\nrun = {}\n",
        words(&mut cna)?,
        words(&mut slower)?
    ))
}

/// Hand on what a process says, line by line, until it says no more.
fn read_along(output: impl io::Read + Send + 'static, label: String, inbox: Sender<Notice>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let lines = heard(&line);
            let notices: Vec<Notice> = match lines.is_empty() {
                true => vec![Notice::Noise { label: label.clone(), text: line }],
                false => lines.into_iter().map(|line| Notice::Said(Box::new(line))).collect(),
            };
            for notice in notices {
                // Where the run has failed already nobody listens any more.
                let _ = inbox.send(notice);
            }
        }
        let _ = inbox.send(Notice::Silent);
    });
}
