//! Records with lists and texts: what these refer to is taken by whole blocks, and the selected records picked out.

use super::reading::Matched;
use crate::error::ReadError;
use crate::fetch::Get;
use crate::patience::Limit;
use crate::planned::Planned;
use crate::statistics::Counters;
use crate::step::StepReader;
use fp_types::record::{Loss, Records};
use fp_types::{BlockId, MemoryOrder, VariableDef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Blocks that are asked about at a time.
const LIMIT_BLOCKS: usize = 1024;

/// A block as it was put: the fixed parts of so many records, then what they refer to.
pub(super) struct Whole {
    pub(super) bytes: Vec<u8>,
    pub(super) count: usize,
    /// The number of its first record, counted through all blocks.
    pub(super) first: u64,
}

impl StepReader {
    /// The selected records as bytes, of the type that is wanted.
    pub(super) fn whole_records(
        &self,
        variable: &str,
        matched: &Matched,
        limit: Limit<'_>,
    ) -> Result<Vec<u8>, ReadError> {
        if Self::is_told(&matched.planned) {
            let bytes = self.value(variable)?.bytes.clone();
            return self.converted(variable, matched, &bytes, 1);
        }
        let plan = &matched.planned.plan;
        let fetched;
        let blocks = match &matched.planned.made {
            Some(made) => &made.blocks,
            None => {
                let ids: Vec<BlockId> = plan.pieces.iter().map(|piece| piece.block).collect();
                fetched = self.whole_blocks(&matched.planned.def, false, ids, limit)?;
                &fetched
            }
        };
        let numbers = self.numbers(variable, &matched.planned, blocks)?;
        if let Some(block) = blocks.values().next().filter(|_| blocks.len() == 1)
            && numbers.iter().copied().eq(0..block.count as u64)
        {
            return self.converted(variable, matched, &block.bytes, block.count);
        }
        self.picked(variable, matched, blocks, &numbers)
    }

    /// The blocks, whole, in the order in which they were put; of plain records these refer to nothing.
    pub(super) fn whole_blocks(
        &self,
        def: &VariableDef,
        is_plain: bool,
        mut ids: Vec<BlockId>,
        limit: Limit<'_>,
    ) -> Result<BTreeMap<BlockId, Whole>, ReadError> {
        ids.sort_unstable();
        ids.dedup();
        let parts = def.parts().map(|parts| parts.name).unwrap_or_default();
        let both = [def.name.as_str(), parts.as_str()];
        let variables = if is_plain { &both[..1] } else { &both[..] };
        let of_block = |&id: &BlockId| variables.iter().map(move |&variable| (variable, id));
        let wanted: Vec<(&str, BlockId)> = ids.iter().flat_map(of_block).collect();
        let mut planned = Vec::with_capacity(wanted.len());
        for some in wanted.chunks(2 * LIMIT_BLOCKS) {
            planned.extend(self.planned_blocks_in(some, def.order, limit.deadline)?);
        }
        let mut blocks = BTreeMap::new();
        let mut first = 0;
        for (&id, pair) in ids.iter().zip(planned.chunks_exact(variables.len())) {
            let len = pair.iter().map(|planned| planned.len_bytes().unwrap_or(usize::MAX));
            let bytes = vec![0; len.fold(0, usize::saturating_add)];
            let count = pair.first().map_or(0, |fixed| fixed.plan.element_count());
            blocks.insert(id, Whole { bytes, count: count as usize, first });
            first += count;
        }
        self.fill_all(gets(&mut blocks, &planned, variables.len()), limit)?;
        Ok(blocks)
    }

    /// For each selected record its number, in the order of the selection.
    fn numbers(
        &self,
        variable: &str,
        planned: &Planned,
        blocks: &BTreeMap<BlockId, Whole>,
    ) -> Result<Vec<u64>, ReadError> {
        let plan = &planned.plan;
        let mut numbers = vec![u64::MAX; plan.element_count() as usize];
        for piece in &plan.pieces {
            let Some(block) = blocks.get(&piece.block) else { continue };
            let own: Vec<u64> = (block.first..block.first + block.count as u64).collect();
            let (from, to) = (bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(&mut numbers));
            let (order, wanted): (MemoryOrder, MemoryOrder) = (planned.order(), planned.destination_order);
            plan.copy_piece(piece, from, order, to, wanted, size_of::<u64>()).map_err(|error| {
                let (stream, step, rank) = (self.stream().to_owned(), self.step(), piece.block.rank);
                ReadError::PeerMisbehaved { stream, step, rank, what: format!("{variable:?}: {error}") }
            })?;
        }
        Ok(numbers)
    }

    /// The records of these numbers.
    fn picked(
        &self,
        variable: &str,
        matched: &Matched,
        blocks: &BTreeMap<BlockId, Whole>,
        numbers: &[u64],
    ) -> Result<Vec<u8>, ReadError> {
        let types = &self.shared().types;
        let copy = || types.conversion(&matched.found, &matched.found, Loss::Refused).map(|(copy, _)| copy);
        let conversion = matched.conversion.clone().map_or_else(copy, Ok).map_err(|source| {
            let (stream, step) = (self.stream().to_owned(), self.step());
            ReadError::Incompatible { stream, step, variable: variable.to_owned(), source: Box::new(source) }
        })?;
        let taken = blocks.values().map(|block| Records::new(&matched.found, &block.bytes, block.count));
        let taken: Vec<Records<'_>> =
            taken.collect::<Result<_, _>>().map_err(|error| self.problem(variable, error.into()))?;
        let firsts: Vec<u64> = blocks.values().map(|block| block.first).collect();
        let picks = numbers.iter().map(|&number| {
            let block = firsts.partition_point(|&first| first <= number).saturating_sub(1);
            let first = firsts.get(block).copied().unwrap_or_default();
            (block, usize::try_from(number - first).unwrap_or(usize::MAX))
        });
        Counters::add(&self.shared().counters.handled_records, numbers.len());
        conversion.gather(&taken, picks).map_err(|error| self.problem(variable, error.into()))
    }
}

/// One get for the fixed parts of each block, and one for what they refer to, if they may.
fn gets<'a>(blocks: &'a mut BTreeMap<BlockId, Whole>, planned: &[Arc<Planned>], each: usize) -> Vec<Get<'a>> {
    let mut gets = Vec::with_capacity(planned.len());
    for (block, pair) in blocks.values_mut().zip(planned.chunks_exact(each)) {
        let [fixed, parts @ ..] = pair else { continue };
        let middle = fixed.len_bytes().unwrap_or(usize::MAX).min(block.bytes.len());
        let (of_fixed, of_parts) = block.bytes.split_at_mut(middle);
        gets.push(Get::new(fixed.clone(), of_fixed));
        gets.extend(parts.first().map(|parts| Get::new(parts.clone(), of_parts)));
    }
    gets
}
