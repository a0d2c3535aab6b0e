//! The ranks that take a stream together, each in a thread: rank 0 leads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use fp_cli::{Credentials, Failure, Interrupt};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Cohort, Interrupt as Asked, QueuePolicy, StartAt, Subscriber, SubscriberOptions};

use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::lead::Lead;
use crate::member::Member;
use crate::part::Part;
use crate::sink::{self, Sink};
use crate::taken_step::{Choice, TakenStep};
use crate::target::Target;

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
    /// Whether a rank has ended: the others need not wait for it.
    is_over: Arc<AtomicBool>,
}

/// Writes a stream to the target, until it ends.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let rendezvous = match &arguments.rendezvous {
        Some(path) => Rendezvous::at(path),
        None => Rendezvous::from_environment(),
    };
    let credentials = arguments.credentials.read()?;
    let sink = sink::open(arguments).map_err(failed)?;
    let start_at = sink.last_step().map_or(arguments.start_at, StartAt::After);
    let team = Team {
        arguments,
        sink,
        interrupt: Interrupt::watch()?,
        rendezvous: rendezvous?,
        credentials,
        start_at,
        is_over: Arc::default(),
    };
    let outcome = team.work();
    if team.interrupt.is_requested() {
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
        | SinkError::Format { .. }) => Failure::Other(Box::new(other)),
    }
}

impl Team<'_> {
    fn work(&self) -> Result<(), Failure> {
        let (done, written) = mpsc::channel();
        thread::scope(|scope| {
            let mut orders = Vec::new();
            let mut members = Vec::new();
            for rank in 1..self.arguments.ranks {
                let (order, told) = mpsc::channel();
                let member = Member { team: self, rank, orders: told, done: done.clone() };
                members.push(scope.spawn(move || self.ending(|| member.run())));
                orders.push(order);
            }
            drop(done);
            let lead = self.ending(|| Lead::new(self, orders, written).run());
            let others = members.into_iter().map(|member| member.join().unwrap_or(Ok(())));
            // What a member says of itself says more than that rank 0 misses it.
            others.fold(Ok(()), Result::and).and(lead)
        })
    }

    /// Runs a rank. When it has ended, or failed, the others wait no more.
    fn ending(&self, rank: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let outcome = rank();
        self.is_over.store(true, Ordering::Relaxed);
        outcome
    }

    /// Attaches a rank to the stream.
    pub(crate) fn subscribe(&self, rank: u32) -> Result<Subscriber, Failure> {
        let Arguments { stream, variables, ranks, lossy, timeout, .. } = self.arguments;
        let cohort = Cohort::of(rank, *ranks).map_err(|error| Failure::Other(Box::new(error)))?;
        let (asked, over) = (self.interrupt.asked(), Arc::clone(&self.is_over));
        let mut options = SubscriberOptions::default()
            .with_cohort(cohort)
            .with_name(format!("tee-{}", std::process::id()))
            .with_start_at(self.start_at)
            .with_open_timeout(*timeout)
            .with_interrupt(Asked::new(move || asked() || over.load(Ordering::Relaxed)));
        if !variables.is_empty() {
            options = options.with_variables(variables.clone());
        }
        if *lossy {
            options = options.with_policy(QueuePolicy::DropOldest);
        }
        fp_cli::open(stream, options, &self.credentials, self.rendezvous.clone())
    }

    /// Which variables are written, and as what.
    pub(crate) fn choice(&self) -> Choice {
        let Arguments { variables, cast, to, .. } = self.arguments;
        let with_blocks = matches!(to, Target::Vtkhdf(_));
        Choice { variables: variables.clone(), cast: *cast, with_blocks }
    }

    /// Whether a step is one of those that are written.
    pub(crate) fn takes(&self, step: fp_core::StepId) -> bool {
        step.0.is_multiple_of(self.arguments.every)
    }

    /// Whether ranks have something left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
