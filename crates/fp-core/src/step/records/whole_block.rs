//! Whole blocks of records with what these refer to.

use crate::data::taker::fetch::job::Get;
use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::records::made::Whole;
use crate::step::held::HeldStep;
use crate::step::{fill, plan};
use crate::value::limit::Limit;
use fp_types::{BlockId, VariableDef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Blocks that are asked about at a time.
const LIMIT_BLOCKS: usize = 1024;

/// The blocks, whole, in the order in which they were put; of plain records these refer to nothing.
pub(crate) fn whole_blocks(
    held: &HeldStep,
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
        planned.extend(plan::planned_blocks(held, some, def.order, limit.deadline)?);
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
    fill::fill_all(held, gets(&mut blocks, &planned, variables.len()), limit)?;
    Ok(blocks)
}

/// One get for the fixed parts of each block, and one for what they refer to, if they may.
fn gets<'a>(
    blocks: &'a mut BTreeMap<BlockId, Whole>,
    planned: &[Arc<FetchPlan>],
    each: usize,
) -> Vec<Get<'a>> {
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
