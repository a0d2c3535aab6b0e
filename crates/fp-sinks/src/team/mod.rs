//! The ranks that take a stream together, each in a thread: rank 0 leads.

mod lead;
mod member;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use fp_cli::{Credentials, Failure, Interrupt};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Cohort, Interrupt as Asked, QueuePolicy, StartAt, Subscriber, SubscriberOptions};

use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::opening;
use crate::part::Part;
use crate::sink::Sink;
use crate::taken_step::{Choice, TakenStep};
use crate::target::Target;
use lead::Lead;
use member::Member;

/// A step that all ranks write.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) step: TakenStep,
    /// The parts of each rank.
    pub(crate) parts: Vec<Vec<Part>>,
}

/// What rank 0 tells another.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Write your parts of this step.
    Write(Arc<Task>),
    /// It is committed: let go of it.
    Committed,
}

/// What all ranks share.
pub(crate) struct Team<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) interrupt: Interrupt,
    rendezvous: Rendezvous,
    credentials: Credentials,
    start_at: StartAt,
    /// Whether rank 0 has nothing more to write: the others leave.
    is_over: AtomicBool,
    /// Whether a rank has failed: no other waits any more.
    is_failed: Arc<AtomicBool>,
    /// Why the first one did: what others say may come of that.
    failure: Mutex<Option<Failure>>,
    /// How many ranks but 0 have left.
    left: AtomicU32,
}

/// Notes the end of a rank, also of one that panics.
struct Leaving<'a>(&'a Team<'a>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(Failure::Other(Box::new(SinkError::Panic)));
        }
    }
}

/// Writes a stream to the target, until it ends.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let rendezvous = match &arguments.rendezvous {
        Some(path) => Rendezvous::at(path),
        None => Rendezvous::from_environment(),
    };
    let credentials = arguments.credentials.read()?;
    let sink = opening::open(arguments).map_err(failed)?;
    let start_at = sink.last_step().map_or(arguments.start_at, StartAt::After);
    let team = Team {
        arguments,
        sink,
        interrupt: Interrupt::watch()?,
        rendezvous: rendezvous?,
        credentials,
        start_at,
        is_over: AtomicBool::default(),
        is_failed: Arc::default(),
        failure: Mutex::default(),
        left: AtomicU32::default(),
    };
    let outcome = team.work();
    if team.interrupt.is_requested() {
        // A wait that the user has ended is no failure.
        if let Err(failure @ Failure::Other(_)) = outcome {
            eprintln!("flexpath: {failure}");
        }
        return Ok(team.interrupt.finish()?);
    }
    outcome
}

/// For what goes wrong with the target.
pub(crate) fn failed(error: SinkError) -> Failure {
    match error {
        SinkError::Target(why) => Failure::Usage(why),
        other @ (SinkError::Step { .. }
        | SinkError::Variable { .. }
        | SinkError::File { .. }
        | SinkError::Format { .. }
        | SinkError::Database { .. }
        | SinkError::Panic
        | SinkError::Apart { .. }
        | SinkError::Left { .. }
        | SinkError::Memory { .. }) => Failure::Other(Box::new(other)),
    }
}

impl Team<'_> {
    fn work(&self) -> Result<(), Failure> {
        let (done, written) = mpsc::channel();
        thread::scope(|scope| {
            let mut orders = Vec::new();
            for rank in 1..self.arguments.ranks {
                let (order, told) = mpsc::channel();
                let member = Member { team: self, rank, orders: told, done: done.clone() };
                scope.spawn(move || {
                    self.watched(|| member.run());
                    self.left.fetch_add(1, Ordering::Relaxed);
                });
                orders.push(order);
            }
            drop(done);
            self.watched(|| Lead::new(self, orders, written).run());
        });
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Runs a rank, and notes why it failed.
    fn watched(&self, rank: impl FnOnce() -> Result<(), Failure>) {
        let _leaving = Leaving(self);
        if let Err(failure) = rank() {
            self.fail(failure);
        }
    }

    /// A rank has failed. The first one says why.
    fn fail(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        self.is_failed.store(true, Ordering::Relaxed);
    }

    /// Attaches a rank to the stream.
    pub(crate) fn subscribe(&self, rank: u32) -> Result<Subscriber, Failure> {
        let Arguments { stream, when, ranks, lossy, timeout, .. } = self.arguments;
        let cohort = Cohort::of(rank, *ranks).map_err(|error| Failure::Other(Box::new(error)))?;
        let (asked, failed) = (self.interrupt.asked(), Arc::clone(&self.is_failed));
        let mut options = SubscriberOptions::default()
            .with_cohort(cohort)
            .with_name(format!("tee-{}", std::process::id()))
            .with_start_at(self.start_at)
            .with_open_timeout(*timeout)
            .with_interrupt(Asked::new(move || asked() || failed.load(Ordering::Relaxed)));
        // The publisher judges once for all ranks.
        options.condition = when.clone();
        let variables = self.variables();
        if !variables.is_empty() {
            options = options.with_variables(variables);
        }
        if *lossy {
            options = options.with_policy(QueuePolicy::DropOldest);
        }
        fp_cli::open(stream, options, &self.credentials, self.rendezvous.clone())
    }

    /// Which variables are written, and as what.
    pub(crate) fn choice(&self) -> Choice {
        let Arguments { cast, to, .. } = self.arguments;
        let with_blocks = matches!(to, Target::Vtkhdf(_));
        Choice { variables: self.variables(), cast: *cast, with_blocks }
    }

    /// The variables that are taken; all if there is none.
    fn variables(&self) -> Vec<String> {
        let Arguments { variables, queries, .. } = self.arguments;
        let queries = queries.iter().filter(|_| !variables.is_empty());
        variables.iter().chain(queries).cloned().collect()
    }

    /// Whether a step is one of those that are written.
    pub(crate) fn takes(&self, step: fp_core::StepId) -> bool {
        step.0.is_multiple_of(self.arguments.every)
    }

    /// Rank 0 has nothing more to write.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether ranks are to leave.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_failed.load(Ordering::Relaxed)
    }

    /// Whether a rank has left that may be awaited.
    pub(crate) fn has_lost_one(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }
}
