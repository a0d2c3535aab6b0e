//! Processes that end with the test that started them, also where that fails.

use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a launcher has to end its ranks.
const LAUNCHER_TIMEOUT: Duration = Duration::from_secs(10);

/// The file in a launcher's folder to which its ranks write their errors.
pub(super) const ERRORS: &str = "errors";

/// A process; where it starts others, with a folder for what it keeps.
#[derive(Debug)]
pub struct TestProcess {
    child: Option<Child>,
    launcher: Option<TempDir>,
}

/// Starts a process whose output is kept.
pub fn start(command: &mut Command) -> TestProcess {
    TestProcess::start(command, None)
}

/// One rank of a cohort without a launcher.
pub fn as_rank(command: &mut Command, place: &Path, (rank, size): (u32, u32), transports: &str) {
    command.env("FLEXPATH_RENDEZVOUS", place).env("FLEXPATH_TRANSPORTS", transports);
    command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
}

impl TestProcess {
    pub(super) fn start(command: &mut Command, launcher: Option<TempDir>) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        Self { child: Some(child), launcher }
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("there until it is waited for")
    }

    /// What was given to it, where its standard input is a pipe, and what it prints.
    pub fn pipes(&mut self) -> (ChildStdin, ChildStdout) {
        let child = self.child();
        (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"))
    }

    /// What it printed, with the errors of all ranks of a launcher.
    /// Every wait inside the programs has its own deadline: they end by themselves.
    pub fn output(mut self) -> Output {
        let child = self.child.take().expect("there until it is waited for");
        let mut output = child.wait_with_output().expect("it ends");
        if let Some(folder) = &self.launcher {
            // The file is there when a rank has begun.
            output.stderr.extend(std::fs::read(folder.path().join(ERRORS)).unwrap_or_default());
        }
        output
    }

    /// What it printed, when it has ended, as it must, with success.
    pub fn printed(self) -> String {
        super::printed(self.output())
    }

    /// Sends a signal, as `-STOP`.
    pub fn signal(&mut self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child().id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Stops it, and returns when it is stopped: the signal is on its way when `kill` returns.
    pub fn stop(&mut self) {
        self.signal("-STOP");
        let status = format!("/proc/{}/stat", self.child().id());
        let is_stopped = || {
            let status = std::fs::read_to_string(&status).expect("proc is there");
            status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
        };
        let deadline = Instant::now() + LAUNCHER_TIMEOUT;
        while !is_stopped() {
            assert!(Instant::now() < deadline, "{self:?} does not stop");
            std::thread::yield_now();
        }
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // A launcher that is told to end takes its ranks with it; killed, it could not.
        if self.launcher.is_some() && matches!(child.try_wait(), Ok(None)) {
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let deadline = Instant::now() + LAUNCHER_TIMEOUT;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
