//! The processes of a test: started in a role, spoken to in lines, stopped and killed, and never left behind.
#![allow(dead_code)] // each role uses its part

use flexpath::{
    Cohort, NextStep, PublisherOptions, Rendezvous, StepReader, Subscriber, SubscriberOptions,
    TransportPolicy,
};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const ROLE: &str = "FLEXPATH_TEST_ROLE";
const DIRECTORY: &str = "FLEXPATH_TEST_DIRECTORY";
/// Lines that a role says start with this: the test harness writes to the same stream.
const MARK: &str = "@ ";
/// Long enough that only a hang reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The rendezvous directory of one test, removed at its end.
pub(crate) struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.directory.path()
    }

    pub(crate) fn rendezvous(&self) -> Rendezvous {
        Rendezvous::at(self.path()).expect("a rendezvous")
    }

    /// Names of the files in the rendezvous directory.
    pub(crate) fn entries(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.path()).expect("the directory is there");
        files.flatten().map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    }

    /// This binary again, in a role and with settings.
    pub(crate) fn start(&self, role: &str, settings: &[(&str, String)]) -> Actor {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["child_entry", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).env(DIRECTORY, self.path());
        settings.iter().for_each(|(name, value)| {
            command.env(setting_name(name), value);
        });
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the test binary starts");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().expect("piped"));
        let (said, heard) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // The harness may have begun the line.
                if let Some((_, line)) = line.split_once(MARK) {
                    let _ = said.send(line.to_owned());
                }
            }
        });
        let name = format!("{role} {settings:?}");
        Actor { child, stdin, heard, name }
    }

    /// The ranks of a cohort, each in the same role.
    pub(crate) fn cohort(&self, role: &str, size: u32, settings: &[(&str, String)]) -> Vec<Actor> {
        let one = |rank: u32| {
            let mut all = settings.to_vec();
            all.extend([("rank", rank.to_string()), ("size", size.to_string())]);
            self.start(role, &all)
        };
        (0..size).map(one).collect()
    }
}

fn setting_name(name: &str) -> String {
    format!("FLEXPATH_TEST_{}", name.to_uppercase())
}

/// A process of the test's own; killed when it is dropped.
pub(crate) struct Actor {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<String>,
    name: String,
}

impl Actor {
    /// The rest of the next line that starts with `word`; other lines are passed over.
    pub(crate) fn hear(&self, word: &str) -> String {
        self.hear_within(word, PATIENCE)
    }

    pub(crate) fn hear_within(&self, word: &str, patience: Duration) -> String {
        let deadline = Instant::now() + patience;
        loop {
            match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(rest) = line.strip_prefix(word) {
                        return rest.trim().to_owned();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!("{}: nothing of {word:?} within {patience:?}", self.name)
                }
                Err(RecvTimeoutError::Disconnected) => panic!("{}: ended without {word:?}", self.name),
            }
        }
    }

    /// The next line; none if it has ended. Fails with the time.
    pub(crate) fn line(&self, patience: Duration) -> Result<Option<String>, RecvTimeoutError> {
        match self.heard.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(timeout) => Err(timeout),
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it listens");
        writeln!(stdin, "{line}").expect("it listens");
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn number(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32).expect("a pid")
    }

    /// As `kill -9` does; returns when it is gone.
    pub(crate) fn kill(&mut self) {
        kill_process(self.number(), Signal::KILL).expect("the child is ours");
        self.child.wait().expect("it ends");
    }

    /// As `kill -STOP` does; returns when it is stopped.
    pub(crate) fn stop(&self) {
        kill_process(self.number(), Signal::STOP).expect("the child is ours");
        let (stat, deadline) = (format!("/proc/{}/stat", self.child.id()), Instant::now() + PATIENCE);
        while !std::fs::read_to_string(&stat).expect("it lives").contains(") T ") {
            assert!(Instant::now() < deadline, "{} does not stop", self.name);
            std::thread::yield_now();
        }
    }

    pub(crate) fn resume(&self) {
        kill_process(self.number(), Signal::CONT).expect("the child is ours");
    }

    /// The lines that are left, to its end, which may be of any kind.
    pub(crate) fn rest(&self) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut lines = Vec::new();
        loop {
            match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => return lines,
                Err(RecvTimeoutError::Timeout) => panic!("{} does not end", self.name),
            }
        }
    }

    /// Waits for its end, which must be a success.
    pub(crate) fn finish(mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("{} does not end", self.name),
            }
        }
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{}: {status}", self.name);
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The role of this process; `None` in the parent. A role ends with its parent.
pub(crate) fn role() -> Option<String> {
    let role = std::env::var(ROLE).ok()?;
    let (said, heard) = channel();
    *PARENT.lock().expect("sound") = Some(heard);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let _ = said.send(line);
        }
        if std::env::var_os(setting_name("orphan")).is_none() {
            std::process::exit(3);
        }
    });
    Some(role)
}

static PARENT: Mutex<Option<Receiver<String>>> = Mutex::new(None);

/// What the parent says next.
pub(crate) fn heed() -> String {
    let parent = PARENT.lock().expect("sound");
    parent.as_ref().expect("this is a role").recv_timeout(PATIENCE).expect("the parent speaks")
}

/// Says a line to the parent.
pub(crate) fn tell(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{line}").and_then(|()| out.flush()).expect("the parent listens");
}

/// A setting that the parent gave.
pub(crate) fn setting(name: &str) -> Option<String> {
    std::env::var(setting_name(name)).ok()
}

pub(crate) fn number(name: &str) -> u64 {
    setting(name).unwrap_or_else(|| panic!("no setting {name}")).parse().expect("a number")
}

/// This rank's part of so many elements, cut evenly among its cohort.
pub(crate) fn even_part(len: u64) -> Range<u64> {
    let (rank, size) = (number("rank"), number("size"));
    len * rank / size..len * (rank + 1) / size
}

/// What a rank puts of so many elements: another part in each step. Some parts are empty.
pub(crate) fn shifting_part(len: u64, step: u64, ranks: u64, rank: u64) -> Range<u64> {
    let cut = |at: u64| if at == ranks { len } else { (len * at / ranks).saturating_sub(step * 100) };
    cut(rank)..cut(rank + 1)
}

/// Takes every step to the end, from the first on and without a gap; how many there were.
pub(crate) fn take_every_step(
    subscriber: &mut Subscriber,
    patience: Duration,
    mut take: impl FnMut(&StepReader, u64),
) -> u64 {
    let mut next = 0;
    loop {
        match subscriber.next_step(patience).expect("a step or the end") {
            NextStep::Step(step) => {
                assert_eq!((step.step().0, step.skipped()), (next, 0));
                take(&step, next);
                next += 1;
            }
            NextStep::NotYet => panic!("nothing after step {next}"),
            NextStep::Ended(_) => return next,
        }
    }
}

pub(crate) fn rendezvous() -> Rendezvous {
    Rendezvous::at(std::env::var_os(DIRECTORY).expect("a directory")).expect("a rendezvous")
}

fn own_cohort() -> Cohort {
    match setting("rank") {
        Some(_) => Cohort::of(number("rank") as u32, number("size") as u32).expect("a cohort"),
        None => Cohort::alone(),
    }
}

fn policy() -> TransportPolicy {
    setting("transports").map(|list| list.parse().expect("transports")).unwrap_or_default()
}

/// Options of a publisher in a role: rank, transports and directory as the parent set them.
pub(crate) fn publisher_options() -> PublisherOptions {
    PublisherOptions::default()
        .with_rendezvous(rendezvous())
        .with_cohort(own_cohort())
        .with_transports(policy())
        .with_open_timeout(PATIENCE)
        .with_close_timeout(PATIENCE)
        // Nothing is cut off however busy the machine is.
        .with_derive_budget(PATIENCE)
}

/// Options of a subscriber in a role.
pub(crate) fn subscriber_options() -> SubscriberOptions {
    SubscriberOptions::default()
        .with_rendezvous(rendezvous())
        .with_cohort(own_cohort())
        .with_transports(policy())
        .with_name(setting("name").unwrap_or_else(|| "subscriber".to_owned()))
        .with_open_timeout(PATIENCE)
        .with_close_timeout(PATIENCE)
        .with_fetch_timeout(PATIENCE)
}
