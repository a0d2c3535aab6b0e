//! The processes that the supervisor started: all of them, and no others, are ended by it.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::super::part::Part;
use super::super::report::heard;
use super::super::settings::{Settings, SourceKind};
use super::run::Notice;

/// How long a process may take to end when asked to.
const GRACE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// How much of a failed process's log is shown.
const TAIL_LINES: usize = 12;

/// A process that was started.
pub(super) struct Process {
    /// For people: `helper.1`.
    pub(super) label: String,
    pub(super) part: Part,
    pub(super) status: Option<ExitStatus>,
    child: Child,
    log: PathBuf,
}

/// All processes of one run. Dropped, it ends those that still run.
pub(super) struct Children {
    settings: Settings,
    rendezvous: PathBuf,
    time_limit: Duration,
    inbox: Sender<Notice>,
    processes: Vec<Process>,
}

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The end of what it wrote to standard error.
    pub(super) fn last_words(&self) -> Vec<String> {
        let text = fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let lines: Vec<String> = text.unwrap_or_default().lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec()
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (None, Some(id)) = (self.status, id) {
            // Not reaped yet, so the id is still its own; if it has ended meanwhile, that is as well.
            let _ = kill_process(id, signal);
        }
    }
}

impl Children {
    pub(super) fn new(
        settings: &Settings,
        rendezvous: &Path,
        time_limit: Duration,
        inbox: Sender<Notice>,
    ) -> Self {
        let (settings, rendezvous) = (settings.clone(), rendezvous.to_owned());
        Children { settings, rendezvous, time_limit, inbox, processes: Vec::new() }
    }

    pub(super) fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// Start all ranks of a part.
    pub(super) fn start(&mut self, part: Part) -> io::Result<()> {
        if part == Part::Simulation && self.settings.source == SourceKind::Lammps {
            let command = self.under_mpirun()?;
            return self.spawn(part, part.name().to_owned(), command);
        }
        let size = part.ranks(&self.settings);
        for rank in 0..size {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(self.arguments(part));
            command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
            self.spawn(part, format!("{}.{rank}", part.name()), command)?;
        }
        Ok(())
    }

    fn arguments(&self, part: Part) -> Vec<std::ffi::OsString> {
        let words = ["part".into(), part.name().into()];
        words.into_iter().chain(self.settings.to_arguments()).collect()
    }

    /// LAMMPS's ranks learn their places from the launcher. More ranks than cores: they must give way when they wait.
    fn under_mpirun(&self) -> io::Result<Command> {
        let mut command = Command::new("mpirun");
        command.args(["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]);
        command.args(["--timeout", &self.time_limit.as_secs().to_string()]);
        command.args(["-np", &self.settings.ranks.to_string()]);
        command.arg(std::env::current_exe()?).args(self.arguments(Part::Simulation));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env_remove("FLEXPATH_RANK").env_remove("FLEXPATH_SIZE");
        Ok(command)
    }

    fn spawn(&mut self, part: Part, label: String, mut command: Command) -> io::Result<()> {
        fs::create_dir_all(self.settings.logs())?;
        let log = self.settings.logs().join(format!("{label}.log"));
        // A process group of its own: Ctrl-C reaches the supervisor alone, who ends its parts in order.
        command.env("FLEXPATH_RENDEZVOUS", &self.rendezvous).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut child = command.spawn()?;
        if let Some(output) = child.stdout.take() {
            read_along(output, label.clone(), self.inbox.clone());
        }
        self.processes.push(Process { label, part, status: None, child, log });
        Ok(())
    }

    /// Those that have ended since the last call.
    pub(super) fn reap(&mut self) -> io::Result<Vec<usize>> {
        let mut ended = Vec::new();
        for (index, process) in self.processes.iter_mut().enumerate() {
            if process.status.is_none() {
                process.status = process.child.try_wait()?;
                ended.extend(process.status.map(|_| index));
            }
        }
        Ok(ended)
    }

    pub(super) fn are_all_ended(&self) -> bool {
        self.processes.iter().all(|process| process.status.is_some())
    }

    /// End those that still run: ask them, and after a while do not ask.
    pub(super) fn end(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            self.processes.iter().for_each(|process| process.signal(signal));
            let asked = Instant::now();
            while !self.are_all_ended() && asked.elapsed() < GRACE {
                // What cannot be waited for cannot be ended either.
                let _ = self.reap();
                thread::sleep(LOOK);
            }
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.end();
    }
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
