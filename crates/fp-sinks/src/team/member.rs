//! A rank that writes what rank 0 says.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};

use fp_cli::{Failure, NOTICE};
use fp_core::{NextStep, StepReader};

use super::{Order, Task, Team, failed};
use crate::error::SinkError;
use crate::part::PartMemory;
use crate::pieces;

/// A rank that writes what rank 0 says.
pub(crate) struct Member<'a> {
    pub(crate) team: &'a Team<'a>,
    pub(crate) rank: u32,
    /// What rank 0 says. It says no more: this rank is to leave.
    pub(crate) orders: Receiver<Order>,
    /// Each time that its parts were written.
    pub(crate) done: Sender<()>,
}

impl Member<'_> {
    /// Takes and writes its parts of all steps.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut subscriber = self.team.subscribe(self.rank)?;
        let mut memory = PartMemory::default();
        while !self.team.is_over() {
            match subscriber.next_step(NOTICE)? {
                NextStep::Step(step) if self.team.takes(step.step()) => {
                    if !self.write(&step, &mut memory)? {
                        break;
                    }
                }
                NextStep::Step(_) | NextStep::NotYet => {}
                NextStep::Ended(_) => break,
            }
        }
        Ok(subscriber.close()?)
    }

    /// Writes its parts of a step, and keeps that until it is committed: whether rank 0 is still there.
    fn write(&self, step: &StepReader, memory: &mut PartMemory) -> Result<bool, Failure> {
        let Some(Order::Write(task)) = self.next_order() else { return Ok(false) };
        write_parts(self.team, &task, self.rank, step, memory)?;
        drop(task);
        Ok(self.done.send(()).is_ok() && matches!(self.next_order(), Some(Order::Committed)))
    }

    /// What rank 0 says next; none if it has left, or a rank has failed. How long it takes is told by rank 0.
    fn next_order(&self) -> Option<Order> {
        loop {
            match self.orders.recv_timeout(NOTICE) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Timeout) if !self.team.is_over() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// Takes and writes the parts of one rank.
pub(crate) fn write_parts(
    team: &Team<'_>,
    task: &Task,
    rank: u32,
    reader: &StepReader,
    memory: &mut PartMemory,
) -> Result<(), Failure> {
    if reader.step() != task.step.step {
        let (own, other) = (reader.step(), task.step.step);
        return Err(failed(SinkError::Apart { rank, own, other }));
    }
    for part in &task.parts[rank as usize] {
        if team.sink.takes_pieces(part)
            && let Some(pieces) = pieces::of(reader, &task.step, part, &mut memory.is_elsewhere)?
        {
            team.sink.write_pieces(part, &pieces).map_err(failed)?;
            continue;
        }
        memory.take(reader, &task.step, part)?;
        team.sink.write(&task.step, part, memory.bytes()).map_err(failed)?;
    }
    Ok(())
}
