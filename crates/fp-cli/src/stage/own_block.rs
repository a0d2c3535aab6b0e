//! The blocks of a step that a rank passes on: those of the publisher's rank of its number.

use fp_core::{BlockId, Rank, Region, Select, StepReader, VariableInfo};
use fp_spool::BlockHead;

use super::relay::Relay;
use crate::failure::Failure;
use crate::recorded_step;

/// A block of this rank.
pub(super) struct OwnBlock<'a> {
    pub(super) info: &'a VariableInfo,
    pub(super) head: BlockHead,
    pub(super) select: Select,
}

impl OwnBlock<'_> {
    /// As many bytes as its elements have; of records and texts, what is known without reading them.
    pub(super) fn len_bytes(&self) -> u64 {
        self.head.region.element_count() * self.info.def.element_bytes().unwrap_or(1) as u64
    }
}

/// The blocks of a rank.
///
/// # Errors
/// Besides what reading fails with: there are blocks of ranks that are not staged.
pub(super) fn own_blocks<'v>(
    relay: &Relay,
    step: &StepReader,
    variables: &'v [VariableInfo],
    (rank, ranks): (Rank, u32),
) -> Result<Vec<OwnBlock<'v>>, Failure> {
    let mut own = Vec::new();
    for (variable, info) in (0..).zip(variables) {
        let all: Vec<(BlockId, Region, Select)> = recorded_step::blocks(step, info)?;
        if all.iter().any(|(block, ..)| block.rank.0 >= ranks) {
            relay.course.repeat();
            let ending = format!("it came back with more ranks than {ranks}, and is staged anew");
            return Err(Failure::Ended { stream: relay.stream.clone(), ending });
        }
        let of_rank = all.into_iter().filter(|(block, ..)| block.rank == rank);
        own.extend(of_rank.map(|(block, region, select)| OwnBlock {
            info,
            head: BlockHead { variable, block, region },
            select,
        }));
    }
    Ok(own)
}
