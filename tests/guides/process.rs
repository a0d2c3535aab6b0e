//! A program of a page in a process of its own: this test binary again. What it prints is kept, and it is never left behind.

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

const ROLE: &str = "FLEXPATH_GUIDES_PROGRAM";
/// The test harness writes to the same stream: what is between these lines is the program's.
const MARKS: [&str; 2] = ["\n@ the program begins\n", "@ the program has ended\n"];
/// Long enough that only a hang reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The program that this process is to run.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Runs it.
pub(crate) fn play(program: impl FnOnce() -> Result<(), Box<dyn Error>>) {
    print!("{}", MARKS[0]);
    program().expect("the program ends well");
    print!("{}", MARKS[1]);
}

/// A program that runs.
pub(crate) struct Program(Option<Child>);

/// What it printed, and what it logged.
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    /// Starts a program where streams are found in that folder, with what else the environment says.
    pub(crate) fn start(role: &str, rendezvous: &Path, environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["child_entry", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).env("FLEXPATH_RENDEZVOUS", rendezvous).env_remove("FLEXPATH_LOG");
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("the test binary starts")))
    }

    /// Waits for it to end by itself, and well.
    pub(crate) fn finish(mut self) -> Said {
        let child = self.0.take().expect("nobody has waited for it");
        let id = Pid::from_child(&child);
        let (tx, rx) = mpsc::channel();
        std::thread::spawn(move || tx.send(child.wait_with_output()));
        let Ok(output) = rx.recv_timeout(PATIENCE) else {
            // It may have ended this very moment: that is as well.
            let _ = kill_process(id, Signal::KILL);
            panic!("the program did not end within {PATIENCE:?}");
        };
        let output = output.expect("its output can be read");
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("it prints text"));
        assert!(output.status.success(), "{}: {stderr}{stdout}", output.status);
        let after = stdout.split_once(MARKS[0]).map(|(_, after)| after);
        let (stdout, _) = after.and_then(|after| after.split_once(MARKS[1])).expect("it ran");
        Said { stdout: stdout.to_owned(), stderr }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
