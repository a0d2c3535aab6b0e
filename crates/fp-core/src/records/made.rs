//! Records that a subscriber made by itself of what was published.

use fp_types::{BlockId, Layout, VariableDef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A variable of a step that a transform made here.
pub(crate) struct Made {
    pub(crate) def: Arc<VariableDef>,
    pub(crate) layout: Layout,
    pub(crate) blocks: BTreeMap<BlockId, Whole>,
    /// Bytes that went in.
    pub(crate) input_bytes: u64,
}

impl Made {
    pub(crate) fn output_bytes(&self) -> u64 {
        self.blocks.values().map(|block| block.bytes.len() as u64).sum()
    }
}

/// A block as it was put: the fixed parts of so many records, then what they refer to.
pub(crate) struct Whole {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: usize,
    /// The number of its first record, counted through all blocks.
    pub(crate) first: u64,
}
