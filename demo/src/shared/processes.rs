//! Processes that a supervisor starts, each a rank of some part: watched, and all of them, and no others, ended by it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a process may take to end when asked to.
const GRACE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// How much of a process's log is shown.
const TAIL_LINES: usize = 12;
/// The status of a process whose supervisor is gone.
const ABANDONED: i32 = 3;

/// Ends this process when its supervisor is gone, who holds the other end of standard input.
pub(crate) fn end_with_supervisor() {
    thread::spawn(|| {
        // Nobody writes there: it ends by closing, or fails, which means the same.
        let _ = io::stdin().read(&mut [0]);
        std::process::exit(ABANDONED);
    });
}

/// What starts a rank of a part of this program.
pub(crate) fn rank_command(
    part: &str,
    arguments: Vec<OsString>,
    (rank, size): (u32, u32),
) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["part", part]).args(arguments);
    command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
    Ok(command)
}

/// The command `flexpath`, which is built beside this program.
pub(crate) fn flexpath_command() -> io::Result<PathBuf> {
    let command = std::env::current_exe()?.with_file_name("flexpath");
    let why = || format!("{} is not there: cargo build --profile ci -p flexpath-cli", command.display());
    if command.is_file() { Ok(command) } else { Err(io::Error::new(io::ErrorKind::NotFound, why())) }
}

/// A process that was started.
pub(crate) struct Process<P> {
    /// For people: `helper.1`.
    pub(crate) label: String,
    /// Which part it is a rank of.
    pub(crate) part: P,
    pub(crate) status: Option<ExitStatus>,
    child: Child,
    log: PathBuf,
}

impl<P> Process<P> {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The end of what it wrote to standard error.
    pub(crate) fn last_words(&self) -> Vec<String> {
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

/// What there is to say of these, for people: labels and process numbers.
pub(crate) fn list<P>(processes: &[Process<P>]) -> String {
    let listed = processes.iter().map(|process| format!("{} pid {}", process.label, process.id()));
    listed.collect::<Vec<_>>().join(", ")
}

/// All processes of one run. Dropped, it ends those that still run.
pub(crate) struct Processes<P> {
    all: Vec<Process<P>>,
}

impl<P> Default for Processes<P> {
    fn default() -> Self {
        Self { all: Vec::new() }
    }
}

impl<P> Processes<P> {
    pub(crate) fn all(&self) -> &[Process<P>] {
        &self.all
    }

    /// Starts a process, with its standard error in a file of its own there. Gives what it will print, where `command`
    /// pipes its output.
    pub(crate) fn spawn(
        &mut self,
        (part, label): (P, String),
        mut command: Command,
        logs: &Path,
    ) -> io::Result<Option<ChildStdout>> {
        fs::create_dir_all(logs)?;
        let log = logs.join(format!("{label}.log"));
        // A process group of its own: Ctrl-C reaches the supervisor alone, who ends its parts in order.
        command.process_group(0).stdin(Stdio::piped()).stderr(File::create(&log)?);
        let mut child = command.spawn()?;
        let output = child.stdout.take();
        self.all.push(Process { label, part, status: None, child, log });
        Ok(output)
    }

    /// Those that have ended since the last call.
    pub(crate) fn reap(&mut self) -> io::Result<Vec<usize>> {
        let mut ended = Vec::new();
        for (index, process) in self.all.iter_mut().enumerate() {
            if process.status.is_none() {
                process.status = process.child.try_wait()?;
                ended.extend(process.status.map(|_| index));
            }
        }
        Ok(ended)
    }

    pub(crate) fn are_all_ended(&self) -> bool {
        self.all.iter().all(|process| process.status.is_some())
    }

    /// Ends the processes that still run: asks them first, and after a while kills them.
    fn end(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            self.all.iter().for_each(|process| process.signal(signal));
            let asked = Instant::now();
            while !self.are_all_ended() && asked.elapsed() < GRACE {
                // What cannot be waited for cannot be ended either.
                let _ = self.reap();
                thread::sleep(LOOK);
            }
        }
    }
}

impl<P> Drop for Processes<P> {
    fn drop(&mut self) {
        self.end();
    }
}
