//! Blocks of several variables cut alike, so that each part of the one meets the same part of the others.

use crate::block::{Array, Block};
use crate::error::DeriveError;
use crate::memory::Memory;

/// A block of the first input, cut so that each of the others has a block around every part. Each time it gives as many
/// blocks as there are inputs, all of one region and order. Where all have the same blocks nothing is copied.
pub(crate) fn aligned(
    block: &Block,
    others: &[Array],
    memory: &Memory,
) -> Result<Vec<Vec<Block>>, DeriveError> {
    let mut parts = vec![vec![block.clone()]];
    for other in others {
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
                    cells.push(ours.part(&common, block.order(), memory)?);
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
