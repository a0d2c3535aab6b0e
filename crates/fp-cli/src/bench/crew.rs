//! The processes of a run: started, watched, and ended together, however it goes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::BenchFailure;
use super::task::{Found, GO, Said, Side, Task};
use crate::interrupt::{Interrupt, NOTICE};
use crate::program::Program;

/// When one rank fails others fail after it: how long to wait for who was first.
const AFTERMATH: Duration = Duration::from_millis(500);

/// What happens to a process.
enum News {
    /// It said a line.
    Line(usize, String),
    /// It is over, with what it complained of.
    Ended(usize, std::io::Result<ExitStatus>, String),
}

/// A process of the run. Killed if it is dropped before it ended.
struct Member {
    side: Side,
    rank: u32,
    id: u32,
    kill: Sender<()>,
    stdin: Option<ChildStdin>,
    is_ready: bool,
    found: Vec<Found>,
    is_over: bool,
}

impl Member {
    fn name(&self) -> String {
        match self.side {
            Side::Publisher => format!("publisher {}", self.rank),
            Side::Subscriber => format!("subscriber {}", self.rank),
            Side::All => "the process of all ranks".to_owned(),
        }
    }
}

/// All processes of a run.
pub(crate) struct Crew<'a> {
    members: Vec<Member>,
    news: Receiver<News>,
    tx: Sender<News>,
    program: &'a Program,
    interrupt: &'a Interrupt,
    timeout: Duration,
    deadline: Instant,
    verbose: bool,
}

impl<'a> Crew<'a> {
    /// An empty one, that may take as long.
    pub(crate) fn new(
        program: &'a Program,
        interrupt: &'a Interrupt,
        timeout: Duration,
        verbose: bool,
    ) -> Self {
        let (tx, news) = mpsc::channel();
        let deadline = Instant::now() + timeout;
        Self { members: Vec::new(), news, tx, program, interrupt, timeout, deadline, verbose }
    }

    /// Starts a process for a task.
    pub(crate) fn start(&mut self, task: &Task) -> Result<(), BenchFailure> {
        let failed = |what| move |source| BenchFailure::Start { what, source };
        let text =
            serde_json::to_string(task).map_err(|error| failed("tell a rank its task")(error.into()))?;
        let mut command = self.program.anew().map_err(failed("find this command's own program"))?;
        command
            .args(["bench-role", &text])
            // Its ranks listen where the task says.
            .env_remove("FLEXPATH_LISTEN")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed("start a process for a rank"))?;
        let (kill, killed) = mpsc::channel();
        let (id, stdin) = (child.id(), child.stdin.take());
        let (number, tx) = (self.members.len(), self.tx.clone());
        thread::spawn(move || watch(number, child, &tx, &killed));
        let (side, rank) = (task.side, task.rank);
        let member =
            Member { side, rank, id, kill, stdin, is_ready: false, found: Vec::new(), is_over: false };
        self.tell(|| format!("{} is process {id}", member.name()));
        self.members.push(member);
        Ok(())
    }

    /// Waits until all that were started are ready.
    pub(crate) fn await_ready(&mut self) -> Result<(), BenchFailure> {
        self.attend(|member| member.is_ready)?;
        self.tell(|| "the stream is open".to_owned());
        Ok(())
    }

    /// Tells all that wait for it that the stream is there.
    pub(crate) fn go(&mut self) {
        for member in self.members.iter_mut().filter(|member| member.side == Side::Subscriber) {
            // If it is gone, its end is noticed.
            let _ = member.stdin.as_mut().map(|stdin| stdin.write_all(GO.as_bytes()));
        }
        self.tell(|| "running".to_owned());
    }

    /// Waits until all have done their work and ended: what each rank found.
    pub(crate) fn finish(mut self) -> Result<Vec<(Side, Vec<Found>)>, BenchFailure> {
        self.attend(|member| member.is_over)?;
        let members = std::mem::take(&mut self.members);
        Ok(members.into_iter().map(|member| (member.side, member.found)).collect())
    }

    /// Takes news until all members are so, one fails, or time is up.
    fn attend(&mut self, are_so: impl Fn(&Member) -> bool) -> Result<(), BenchFailure> {
        while !self.members.iter().all(&are_so) {
            if self.interrupt.is_requested() {
                return Err(BenchFailure::Interrupted);
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left.min(NOTICE)) {
                Ok(news) => self.take(news)?,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let waiting =
                        self.members.iter().filter(|member| !are_so(member)).map(Member::name).collect();
                    return Err(BenchFailure::TooLong { timeout: self.timeout, waiting });
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, news: News) -> Result<(), BenchFailure> {
        match news {
            News::Line(number, line) => self.hear(number, line),
            News::Ended(number, status, errors) => {
                self.members[number].is_over = true;
                self.judge(number, status, errors).map_err(|failure| self.first_cause(failure))
            }
        }
    }

    fn hear(&mut self, number: usize, line: String) -> Result<(), BenchFailure> {
        let member = &mut self.members[number];
        match serde_json::from_str(&line) {
            Ok(Said::Ready) => member.is_ready = true,
            Ok(Said::Found(found)) => member.found.push(*found),
            Err(_) => return Err(BenchFailure::NoAnswer { who: member.name(), id: member.id, line }),
        }
        Ok(())
    }

    /// Whether an end is a good one.
    fn judge(
        &self,
        number: usize,
        status: std::io::Result<ExitStatus>,
        errors: String,
    ) -> Result<(), BenchFailure> {
        let member = &self.members[number];
        let status =
            status.map_err(|source| BenchFailure::Start { what: "wait for a rank's process", source })?;
        if status.success() && !member.found.is_empty() {
            return Ok(());
        }
        Err(BenchFailure::Ended { who: member.name(), id: member.id, status, errors })
    }

    /// When several fail at about the same time, this is the one that failed by itself. The others fail because of it.
    fn first_cause(&mut self, failure: BenchFailure) -> BenchFailure {
        let until = Instant::now() + AFTERMATH;
        let was_killed = |failure: &BenchFailure| matches!(failure, BenchFailure::Ended { status, .. } if status.code().is_none());
        let mut cause = failure;
        while !was_killed(&cause) {
            let left = until.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left) {
                Ok(News::Ended(number, status, errors)) => match self.judge(number, status, errors) {
                    Err(other) if was_killed(&other) => cause = other,
                    _ => {}
                },
                Ok(News::Line(..)) => {}
                Err(_) => break,
            }
        }
        cause
    }

    fn tell(&self, what: impl FnOnce() -> String) {
        if self.verbose {
            eprintln!("bench: {}", what());
        }
    }
}

impl Drop for Crew<'_> {
    /// Nothing stays behind: whoever is still there is killed and waited for.
    fn drop(&mut self) {
        let mut left = 0;
        for member in self.members.iter_mut().filter(|member| !member.is_over) {
            // Its watcher is there until it has said that it ended.
            let _ = member.kill.send(());
            member.stdin = None;
            left += 1;
        }
        let until = Instant::now() + Duration::from_secs(10);
        while left > 0 {
            match self.news.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(News::Ended(..)) => left -= 1,
                Ok(News::Line(..)) => {}
                Err(_) => return,
            }
        }
    }
}

/// Passes on what a process says, and its end; kills it when told to.
fn watch(number: usize, mut child: Child, tx: &Sender<News>, killed: &Receiver<()>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || {
        let mut text = String::new();
        // What cannot be read is no text.
        let _ = stderr.map(|mut stderr| stderr.read_to_string(&mut text));
        text
    });
    let (lines_tx, over) = (tx.clone(), mpsc::channel::<()>());
    let over_tx = over.0;
    thread::spawn(move || {
        let _over = over_tx;
        let Some(stdout) = stdout else { return };
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if lines_tx.send(News::Line(number, line)).is_err() {
                return;
            }
        }
    });
    while over.1.recv_timeout(NOTICE) == Err(RecvTimeoutError::Timeout) {
        if !matches!(killed.try_recv(), Err(mpsc::TryRecvError::Empty)) {
            // It may have ended this very moment: that is as well.
            let _ = child.kill();
        }
    }
    let status = child.wait();
    let _ = tx.send(News::Ended(number, status, errors.join().unwrap_or_default()));
}
