//! One rank of the staged stream: it publishes what some ranks of the publisher put on this host.

use std::ops::Range;
use std::thread;

use fp_core::{BlockId, Publisher, Rank, StepId, StepReader, VariableInfo};
use fp_spool::BlockHead;

use crate::failure::Failure;
use crate::recorded_step;
use crate::stage::own_block::OwnBlock;
use crate::stage::putting;

/// A rank of the staged stream.
pub(super) struct Lane {
    /// The publisher ranks whose blocks it has.
    ranks: Range<u32>,
    pub(super) staged: Publisher,
    /// The number of its next step.
    next: StepId,
}

/// Every block of a step, by variable and then by rank, in the order of the puts.
pub(super) fn all_blocks<'v>(
    step: &StepReader,
    variables: &'v [VariableInfo],
) -> Result<Vec<OwnBlock<'v>>, Failure> {
    let mut all = Vec::new();
    for (variable, info) in (0..).zip(variables) {
        let blocks = recorded_step::blocks(step, info)?.into_iter();
        all.extend(blocks.map(|(block, region, select)| OwnBlock {
            info,
            head: BlockHead { variable, block, region },
            select,
        }));
    }
    Ok(all)
}

/// Does something on each lane, on all at once.
pub(super) fn on_each<L: Send, T: Send>(
    lanes: impl IntoIterator<Item = L>,
    work: impl Fn(L) -> Result<T, Failure> + Sync,
) -> Vec<Result<T, Failure>> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(move || work(lane))).collect();
        let panicked = |_| Err(Failure::Publish("a thread that stages a part of it panicked".into()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    })
}

impl Lane {
    /// That of these ranks. Its stream begins with this step.
    pub(super) fn new(ranks: Range<u32>, staged: Publisher, next: StepId) -> Self {
        Self { ranks, staged, next }
    }

    /// Whether a block is one of its blocks.
    fn has(&self, block: BlockId) -> bool {
        let Rank(rank) = block.rank;
        self.ranks.contains(&rank)
    }

    /// Nobody gets the steps before this one.
    pub(super) fn skip_to(&mut self, step: StepId) -> Result<(), Failure> {
        while self.next < step {
            self.staged.begin_stored_step().map_err(Failure::publishing)?.abandon();
            self.next = StepId(self.next.0 + 1);
        }
        Ok(())
    }

    /// Publishes what it has of a step: how many bytes. Its number is used up, whatever comes of it.
    pub(super) fn put(&mut self, step: &StepReader, all: &[OwnBlock<'_>]) -> Result<u64, Failure> {
        self.skip_to(step.step())?;
        let mut writer = self.staged.begin_step().map_err(Failure::publishing)?;
        self.next = StepId(self.next.0 + 1);
        writer.allow_repeated_puts();
        let mut len_bytes = 0;
        for own in all.iter().filter(|own| self.has(own.head.block)) {
            putting::put(&mut writer, step, own)?;
            len_bytes += own.len_bytes();
        }
        writer.end().map_err(Failure::publishing)?;
        Ok(len_bytes)
    }
}
