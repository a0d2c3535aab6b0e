//! Parts of blocks, counted from a block's own corner.

use crate::data::owner::block::StoredBlock;
use fp_types::{ArrayKind, Part, Region, Selection};

/// The region counted from its own corner.
pub(crate) fn local_region(region: &Region) -> Option<Region> {
    Region::new(region.start().zeros_like(), *region.count()).ok()
}

/// What a standing selection takes of a block, counted from the block's corner; as the subscriber's plan has it where
/// no blocks overlap.
pub(crate) fn wanted_part(block: &StoredBlock, selection: &Selection) -> Option<Part> {
    let whole = || local_region(&block.region).map(Part::Region);
    match selection {
        Selection::All => whole(),
        Selection::Region(wanted) if block.def.kind == ArrayKind::GlobalArray => {
            let common = wanted.intersection(&block.region)?;
            common.translate(block.region.start(), &block.region.start().zeros_like()).ok().map(Part::Region)
        }
        Selection::Rank(_) | Selection::Block(_) => whole(),
        Selection::Region(_) | Selection::Strided(_) | Selection::Points(_) => None,
    }
}
