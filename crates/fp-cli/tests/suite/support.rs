//! A live stream in this process, and the command in another.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{Event, Publisher, PublisherOptions, Region, Variable};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Far more than anything here needs on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The stream's pace.
const PACE: Duration = Duration::from_millis(20);

/// What the stream's steps hold: element (row, column) of `temperature`.
pub(crate) fn rows_of_step(step: u64) -> Vec<Vec<f64>> {
    let element = |row: u64, column: u64| (step * 100 + row * 10 + column) as f64 + 0.5;
    (0..3).map(|row| (0..4).map(|column| element(row, column)).collect()).collect()
}

/// A publisher that publishes until it is stopped.
pub(crate) struct Live {
    folder: TempDir,
    stop: Sender<()>,
    events: Receiver<Event>,
    thread: JoinHandle<()>,
}

impl Live {
    /// Opens the stream and starts publishing.
    pub(crate) fn start(stream: &str) -> Self {
        Self::with(stream, |options| options)
    }

    /// The same with what else is to be set.
    pub(crate) fn with(stream: &str, set: impl FnOnce(PublisherOptions) -> PublisherOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rendezvous = Rendezvous::at(folder.path()).unwrap();
        let options = set(PublisherOptions::default().with_rendezvous(rendezvous));
        let publisher = Publisher::open(stream, options).unwrap();
        let (stop, stopped) = mpsc::channel();
        let (tx, events) = mpsc::channel();
        let thread = thread::spawn(move || publish(publisher, &stopped, &tx));
        Self { folder, stop, events, thread }
    }

    /// The rendezvous directory.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Waits for an event of the stream's life.
    pub(crate) fn event<T>(&self, wanted: impl Fn(&Event) -> Option<T>) -> T {
        loop {
            let event = self.events.recv_timeout(PATIENCE).expect("the event comes");
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    /// Closes the stream.
    pub(crate) fn stop(self) {
        self.stop.send(()).expect("the publisher is there");
        self.thread.join().expect("the publisher did not panic");
    }
}

/// Publishes at a steady pace.
fn publish(mut publisher: Publisher, stopped: &Receiver<()>, events: &Sender<Event>) {
    let temperature = Variable::global::<f64>("temperature", &[3, 4]).unwrap().with_unit("K");
    let count = Variable::scalar::<u64>("count").expect("a name");
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PACE) {
        let mut writer = publisher.begin_step().unwrap();
        let step = writer.step().0;
        for request in writer.requests().to_vec() {
            if request.as_f64() == Some(3.0) {
                writer.decline(&request, "three is too many").unwrap();
            }
        }
        let region = Region::new([0, 0], [3, 4]).unwrap();
        writer.put(&temperature, &region, rows_of_step(step).concat()).unwrap();
        writer.put_scalar(&count, step).unwrap();
        writer.end().unwrap();
        // Nobody may be listening: most tests do not care.
        publisher.events().into_iter().for_each(|event| drop(events.send(event)));
    }
    publisher.close().unwrap();
}

/// The command, running.
pub(crate) struct Run {
    /// Its process.
    pub(crate) child: Child,
}

/// What became of it.
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// Its exit status; none if a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it printed after what was read already.
    pub(crate) stdout: String,
    /// What it complained of.
    pub(crate) stderr: String,
}

impl Run {
    /// Starts the command where a stream is live.
    pub(crate) fn of(live: &Live, arguments: &[&str]) -> Self {
        Self::at(live.path(), arguments)
    }

    /// Starts the command with that rendezvous directory.
    pub(crate) fn at(rendezvous: &Path, arguments: &[&str]) -> Self {
        Self::with(rendezvous, arguments, |_| {})
    }

    /// Starts the command with that rendezvous directory, and what else `prepare` sets.
    pub(crate) fn with(rendezvous: &Path, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flexpath"));
        command.args(arguments);
        Self::start(rendezvous, command, prepare)
    }

    /// Starts a line of a shell that knows the command by its name, in that folder.
    pub(crate) fn line(rendezvous: &Path, folder: &Path, line: &str) -> Self {
        let command = Path::new(env!("CARGO_BIN_EXE_flexpath")).parent().expect("in a folder");
        let others = std::env::var("PATH").expect("where commands are");
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(folder).env("PATH", format!("{}:{others}", command.display()));
        Self::start(rendezvous, shell, |_| {})
    }

    fn start(rendezvous: &Path, mut command: Command, prepare: impl FnOnce(&mut Command)) -> Self {
        command.env("FLEXPATH_RENDEZVOUS", rendezvous).env_remove("FLEXPATH_LOG");
        command.env_remove("FLEXPATH_TOKEN_FILE").env_remove("FLEXPATH_LISTEN");
        // Whatever the command leaves behind is seen there.
        command.env("TMPDIR", rendezvous);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        prepare(&mut command);
        Self { child: command.spawn().expect("the command starts") }
    }

    /// Waits for the first line, and drops it with whatever came with it.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        let stdout = self.child.stdout.take().expect("its output is read here");
        let mut stdout = BufReader::new(stdout);
        stdout.read_line(&mut line).expect("it prints text");
        self.child.stdout = Some(stdout.into_inner());
        line
    }

    /// Waits for it to end by itself.
    pub(crate) fn finish(mut self) -> Ended {
        let id = Pid::from_child(&self.child);
        let (tx, rx) = mpsc::channel();
        thread::spawn(move || {
            let stderr = self.child.stderr.take();
            let errors = thread::spawn(move || read_all(stderr));
            let stdout = read_all(self.child.stdout.take());
            let status = self.child.wait().expect("it can be waited for");
            let stderr = errors.join().expect("its complaints can be read");
            tx.send(Ended { status, code: status.code(), stdout, stderr })
        });
        rx.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            // It may have ended this very moment: that is as well.
            let _ = kill_process(id, Signal::KILL);
            panic!("the command did not end within {PATIENCE:?}");
        })
    }
}

/// A test that fails shows what the command complained of, and leaves none behind.
impl Drop for Run {
    fn drop(&mut self) {
        if thread::panicking() {
            // It may have ended.
            let _ = self.child.kill();
            eprintln!("the command said: {}", read_all(self.child.stderr.take()));
            let _ = self.child.wait();
        }
    }
}

/// Everything that is still to be read.
fn read_all(from: Option<impl std::io::Read>) -> String {
    let mut text = String::new();
    from.map(|mut from| from.read_to_string(&mut text).expect("it prints text"));
    text
}
