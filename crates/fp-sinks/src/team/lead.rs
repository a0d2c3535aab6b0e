//! Rank 0: it has the target plan each step, waits for all ranks, and commits.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use fp_cli::{Failure, NOTICE};
use fp_core::{EndReason, NextStep, StepId, StepReader, Subscriber};

use super::member::write_parts;
use super::{Order, Task, Team, failed};
use crate::error::SinkError;
use crate::part::PartMemory;
use crate::taken_step::TakenStep;

/// How often it says how far it is.
const PROGRESS: Duration = Duration::from_secs(10);

/// Rank 0.
pub(crate) struct Lead<'a> {
    team: &'a Team<'a>,
    /// To the other ranks, by rank from 1.
    orders: Vec<Sender<Order>>,
    written: Receiver<()>,
    memory: PartMemory,
    steps: u64,
    skipped: u64,
    len_bytes: u64,
    told: Instant,
}

impl<'a> Lead<'a> {
    pub(crate) fn new(team: &'a Team<'a>, orders: Vec<Sender<Order>>, written: Receiver<()>) -> Self {
        let (memory, told) = (PartMemory::default(), Instant::now());
        Self { team, orders, written, memory, steps: 0, skipped: 0, len_bytes: 0, told }
    }

    /// Writes all steps that come.
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let mut subscriber = self.team.subscribe(0)?;
        self.team.sink.start().map_err(failed)?;
        let outcome = self.follow(&mut subscriber);
        eprintln!("flexpath: {}", self.so_far());
        outcome?;
        // The others leave too: only together ranks leave a stream.
        self.orders.clear();
        self.team.end();
        Ok(subscriber.close()?)
    }

    fn follow(&mut self, subscriber: &mut Subscriber) -> Result<(), Failure> {
        let is_enough = |steps| self.team.arguments.steps.is_some_and(|limit| steps >= limit);
        while !self.team.is_over() && !self.team.interrupt.is_requested() && !is_enough(self.steps) {
            match subscriber.next_step(NOTICE)? {
                NextStep::Step(step) => {
                    self.skipped += step.skipped();
                    if self.team.takes(step.step()) {
                        self.write(&step)?;
                    }
                }
                NextStep::NotYet => {}
                NextStep::Ended(ending) => {
                    self.skipped += ending.skipped;
                    return self.ended(&ending.reason);
                }
            }
            if self.told.elapsed() >= PROGRESS {
                eprintln!("flexpath: {} so far", self.so_far());
                self.told = Instant::now();
            }
        }
        Ok(())
    }

    fn ended(&self, reason: &EndReason) -> Result<(), Failure> {
        if matches!(reason, EndReason::Closed) {
            return Ok(());
        }
        Err(Failure::Ended { stream: self.team.arguments.stream.clone(), ending: reason.to_string() })
    }

    /// A step that could not be judged is written all the same: nobody knows that it is not one of those.
    fn tell_unjudged(&self, reader: &StepReader) {
        if let Some(why) = reader.judgement().and_then(|judgement| judgement.unjudged.as_ref()) {
            let (stream, step) = (reader.stream(), reader.step());
            eprintln!(
                "flexpath: stream {stream:?}, step {step}: written, though it could not be judged: {why}"
            );
        }
    }

    /// Has all ranks write a step, and commits it.
    fn write(&mut self, reader: &StepReader) -> Result<(), Failure> {
        self.tell_unjudged(reader);
        let step = TakenStep::of(reader, &self.team.choice())?;
        let sink = &self.team.sink;
        let parts = sink.begin(&step, self.team.arguments.ranks).map_err(failed)?;
        let task = Arc::new(Task { step, parts });
        self.tell(&Order::Write(Arc::clone(&task)));
        write_parts(self.team, &task, 0, reader, &mut self.memory)?;
        if !self.await_others(&task)? {
            return Ok(());
        }
        sink.commit(&task.step).map_err(failed)?;
        self.tell(&Order::Committed);
        self.steps += 1;
        self.len_bytes += reader.len_bytes();
        Ok(())
    }

    /// A rank that is gone hears nothing: that it is missing is noticed where it is awaited.
    fn tell(&self, order: &Order) {
        for rank in &self.orders {
            let _ = rank.send(order.clone());
        }
    }

    /// Until all have written their parts; false if one has failed, which says why.
    fn await_others(&mut self, task: &Task) -> Result<bool, Failure> {
        let (mut missing, step) = (self.orders.len(), task.step.step);
        while missing > 0 {
            match self.written.recv_timeout(NOTICE) {
                Ok(()) => missing -= 1,
                Err(_) if self.team.is_over() => return Ok(false),
                Err(RecvTimeoutError::Timeout) if !self.team.has_lost_one() => {
                    self.tell_missing(step, missing)
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(failed(SinkError::Left { step }));
                }
            }
        }
        Ok(true)
    }

    fn tell_missing(&mut self, step: StepId, missing: usize) {
        if self.told.elapsed() >= PROGRESS {
            eprintln!("flexpath: step {step}: {missing} ranks have not written their parts yet");
            self.told = Instant::now();
        }
    }

    fn so_far(&self) -> String {
        let (arguments, mebibytes) = (self.team.arguments, self.len_bytes as f64 / f64::from(1 << 20));
        let (stream, steps, skipped) = (&arguments.stream, self.steps, self.skipped);
        format!(
            "stream {stream:?}: {steps} steps of {mebibytes:.1} MiB in all to {}, {skipped} skipped",
            arguments.to
        )
    }
}
