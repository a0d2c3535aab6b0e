//! Records with lists and texts: what these refer to is taken by whole blocks, and the selected records picked out.

use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::records::made::Whole;
use crate::step::held::HeldStep;
use crate::step::records::matched::Matched;
use crate::step::records::{matched, record_type, whole_block};
use crate::step::request::RecordRequest;
use crate::value::counters::Counters;
use fp_types::record::{Loss, Records};
use fp_types::{ArrayKind, BlockId, MemoryOrder};
use std::collections::BTreeMap;

/// The selected records as bytes, of the type that is wanted.
pub(crate) fn whole_records(
    held: &HeldStep,
    request: RecordRequest<'_>,
    matched: &Matched,
) -> Result<Vec<u8>, ReadError> {
    let variable = request.variable;
    if matched.planned.def.kind == ArrayKind::Scalar {
        // The value came with the announcement of the step.
        let bytes = held.value(variable)?.bytes.clone();
        return matched::converted(held, variable, matched, &bytes, 1);
    }
    let plan = &matched.planned.plan;
    let fetched;
    let blocks = match &matched.planned.made {
        Some(made) => &made.blocks,
        None => {
            let ids: Vec<BlockId> = plan.pieces.iter().map(|piece| piece.block).collect();
            fetched = whole_block::whole_blocks(held, &matched.planned.def, false, ids, request.limit)?;
            &fetched
        }
    };
    let numbers = numbers(held, variable, &matched.planned, blocks)?;
    if let Some(block) = blocks.values().next().filter(|_| blocks.len() == 1)
        && numbers.iter().copied().eq(0..block.count as u64)
    {
        return matched::converted(held, variable, matched, &block.bytes, block.count);
    }
    picked(held, variable, matched, blocks, &numbers)
}

/// For each selected record its number, in the order of the selection.
pub(crate) fn numbers(
    held: &HeldStep,
    variable: &str,
    planned: &FetchPlan,
    blocks: &BTreeMap<BlockId, Whole>,
) -> Result<Vec<u64>, ReadError> {
    let plan = &planned.plan;
    let mut numbers = vec![u64::MAX; plan.element_count() as usize];
    for piece in &plan.pieces {
        let Some(block) = blocks.get(&piece.block) else { continue };
        let own: Vec<u64> = (block.first..block.first + block.count as u64).collect();
        let (from, to) = (bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(&mut numbers));
        let (order, wanted): (MemoryOrder, MemoryOrder) = (planned.order(), planned.destination_order);
        plan.copy_piece(piece, from, order, to, wanted, size_of::<u64>())
            .map_err(|error| held.misbehaved(piece.block.rank, format!("{variable:?}: {error}")))?;
    }
    Ok(numbers)
}

/// The records of these numbers.
pub(crate) fn picked(
    held: &HeldStep,
    variable: &str,
    matched: &Matched,
    blocks: &BTreeMap<BlockId, Whole>,
    numbers: &[u64],
) -> Result<Vec<u8>, ReadError> {
    let copy = || record_type::conversion(held, &matched.found, &matched.found, Loss::Refused);
    let conversion = matched
        .conversion
        .clone()
        .map_or_else(copy, Ok)
        .map_err(|source| held.incompatible(variable, source))?;
    let taken = blocks.values().map(|block| Records::new(&matched.found, &block.bytes, block.count));
    let taken: Vec<Records<'_>> =
        taken.collect::<Result<_, _>>().map_err(|error| held.problem(variable, error.into()))?;
    let firsts: Vec<u64> = blocks.values().map(|block| block.first).collect();
    let picks = numbers.iter().map(|&number| {
        let block = firsts.partition_point(|&first| first <= number).saturating_sub(1);
        let first = firsts.get(block).copied().unwrap_or_default();
        (block, usize::try_from(number - first).unwrap_or(usize::MAX))
    });
    Counters::add(&held.shared.counters.handled_records, numbers.len());
    conversion.gather(&taken, picks).map_err(|error| held.problem(variable, error.into()))
}
