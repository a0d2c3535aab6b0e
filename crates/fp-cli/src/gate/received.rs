//! A step as it came over the connection.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use fp_core::connection::Connection;
use fp_core::{Epoch, Rank};
use fp_spool::{BlockHead, Damage, RecordSequence, SpoolError, StepHead};

use crate::crossing::{self, Mark, PackedError};

/// Memory of blocks that were published. Those of the next step, which come in the same order, are as long. New pages
/// would cost as much as their bytes on the way.
#[derive(Default)]
pub(super) struct Spare(Mutex<VecDeque<Vec<u8>>>);

/// A step, whole and checked.
pub(super) struct Received {
    pub(super) head: StepHead,
    pub(super) blocks: Vec<(BlockHead, Vec<u8>)>,
    spare: Arc<Spare>,
}

impl Spare {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or_default()
    }

    /// It was not needed.
    fn give_back(&self, memory: Vec<u8>) {
        // What is none would take the place of what the next block fits into.
        if memory.capacity() > 0 {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_front(memory);
        }
    }
}

/// Its memory is spare then: two steps of each stream are on their way, and no more is kept.
impl Drop for Received {
    fn drop(&mut self) {
        let mut spare = self.spare.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Of a step with more blocks no more is kept than for this one.
        spare.truncate(self.blocks.len());
        spare.extend(self.blocks.drain(..).map(|(_, bytes)| bytes));
    }
}

/// What is known of the opening that a step is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) epoch: Epoch,
    pub(super) ranks: u32,
}

/// How a step is read.
pub(super) struct Reading {
    pub(super) opened: Opened,
    /// Whether its blocks are compressed.
    pub(super) is_packed: bool,
    /// Bytes that it may take.
    pub(super) limit_bytes: u64,
}

/// Memory that a block may have beyond twice its bytes.
const LEAST_BYTES: usize = 4096;

/// What was damaged on the way may come whole another time. What means nothing here never will.
fn unread(error: SpoolError) -> io::Error {
    let is_for_ever = matches!(
        &error,
        SpoolError::Damaged { damage: Damage::NoRecord | Damage::Version { .. } | Damage::Invalid(_), .. }
            | SpoolError::TooLong { .. }
    );
    match is_for_ever {
        true if matches!(error, SpoolError::TooLong { .. }) => {
            io::Error::new(io::ErrorKind::InvalidData, format!("{error} (--memory of the gate)"))
        }
        true => io::Error::new(io::ErrorKind::InvalidData, error),
        false => io::Error::other(error),
    }
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// A block that came compressed, if there is room for it. One that is not what it says is refused by its name.
fn unpacked(
    head: &StepHead,
    block: &BlockHead,
    bytes: &[u8],
    (left_bytes, limit_bytes): (u64, u64),
) -> io::Result<Vec<u8>> {
    let unpacked = crossing::unpack(head, block, bytes, left_bytes);
    unpacked.map_err(|error| {
        if matches!(error, PackedError::NoRoom { .. }) {
            return unread(SpoolError::TooLong { step: head.step, limit_bytes });
        }
        let of = head.variables.get(block.variable as usize);
        let name = of.map(|of| of.def.name.as_str()).unwrap_or_default();
        let (step, rank) = (head.step, block.block.rank);
        invalid(format!("step {step}, rank {rank}, variable {name:?}: {error}"))
    })
}

impl Received {
    pub(super) fn mark(&self) -> Mark {
        Mark { epoch: self.head.epoch, step: self.head.step }
    }

    /// Reads the step that begins now.
    pub(super) fn read(connection: &Connection, how: &Reading, spare: &Arc<Spare>) -> io::Result<Self> {
        let opened = how.opened;
        let mut records = RecordSequence::new(connection).with_limit_bytes(how.limit_bytes);
        let head = records.step().map_err(unread)?;
        let head = head.ok_or_else(|| invalid("a step was announced, and none came".to_owned()))?;
        if head.epoch != opened.epoch {
            return Err(invalid(format!("step {} is of another opening than was said", head.step)));
        }
        let mut step = Self { head, blocks: Vec::new(), spare: spare.clone() };
        let (mut bytes, mut left_bytes) = (spare.take(), how.limit_bytes);
        while let Some(block) = records.block_in(&mut bytes).map_err(unread)? {
            if block.block.rank >= Rank(opened.ranks) {
                let (step, rank, ranks) = (step.head.step, block.block.rank, opened.ranks);
                return Err(invalid(format!(
                    "step {step} has a block of rank {rank}, and there are {ranks}"
                )));
            }
            let whole = match how.is_packed {
                true => unpacked(&step.head, &block, &bytes, (left_bytes, how.limit_bytes))?,
                false => {
                    if bytes.capacity() > 2 * bytes.len() + LEAST_BYTES {
                        bytes.shrink_to_fit();
                    }
                    std::mem::replace(&mut bytes, spare.take())
                }
            };
            left_bytes = left_bytes.saturating_sub(whole.len() as u64);
            step.blocks.push((block, whole));
        }
        spare.give_back(bytes);
        Ok(step)
    }
}
