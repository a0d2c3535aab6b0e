//! Blocks of several variables cut alike, so that each part of the one meets the same part of the others.

use fp_types::Region;

use crate::block::{Array, Block};
use crate::error::DeriveError;
use crate::memory::Memory;

/// Which of several arrays tells where results lie: the first that is no single number.
pub(crate) fn lead(ndims: impl IntoIterator<Item = usize>) -> usize {
    ndims.into_iter().position(|ndims| ndims > 0).unwrap_or(0)
}

/// Hands over the parts that several arrays have in common: that of the leading one, and one of each in their order.
/// They are all of one region and order, but for single numbers among arrays, which are handed over as they are.
pub(crate) fn for_each_part(
    inputs: &[Array],
    memory: &Memory,
    mut take: impl FnMut(&Block, Vec<Block>) -> Result<(), DeriveError>,
) -> Result<(), DeriveError> {
    let at = lead(inputs.iter().map(|input| input.shape().ndims()));
    let mut others = inputs.to_vec();
    if inputs.is_empty() {
        return Err(DeriveError::InputCount { count: 0 });
    }
    for (index, block) in others.remove(at).blocks().iter().enumerate() {
        memory.check_stop_after(index)?;
        for mut parts in aligned(block, &others, memory)? {
            let of = parts.remove(0);
            parts.insert(at, of.clone());
            take(&of, parts)?;
        }
    }
    Ok(())
}

/// A block of the first input, cut so that each of the others has a block around every part. Each time it gives as many
/// blocks as there are inputs, all of one region and order. Where all have the same blocks nothing is copied.
fn aligned(block: &Block, others: &[Array], memory: &Memory) -> Result<Vec<Vec<Block>>, DeriveError> {
    let mut parts = vec![vec![block.clone()]];
    for other in others {
        if other.shape().ndims() == 0 && block.region().ndims() > 0 {
            let uncovered = || DeriveError::Uncovered { region: Box::new(Region::whole(other.shape())) };
            let value = other.blocks().first().ok_or_else(uncovered)?;
            parts.iter_mut().for_each(|part| part.push(value.clone()));
            continue;
        }
        let mut cut = Vec::new();
        for part in &parts {
            let region = *part[0].region();
            let mut covered = 0;
            for theirs in other.blocks() {
                let Some(common) = region.intersection(theirs.region()) else {
                    continue;
                };
                covered += common.element_count();
                let mut cells = Vec::with_capacity(part.len() + 1);
                for ours in part.iter().chain([theirs]) {
                    let is_value = ours.region().ndims() == 0 && common.ndims() > 0;
                    cells.push(match is_value {
                        true => ours.clone(),
                        false => ours.part(&common, block.order(), memory)?,
                    });
                }
                cut.push(cells);
            }
            if covered != region.element_count() {
                return Err(DeriveError::Uncovered { region: Box::new(region) });
            }
        }
        parts = cut;
    }
    Ok(parts)
}
