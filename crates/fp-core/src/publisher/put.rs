//! What was put of one variable in a step.

use crate::value::variable::Variable;
use fp_types::{ArrayKind, Region, Shape, VariableDef};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What was put of one variable.
pub(crate) struct Put {
    pub(crate) def: Arc<VariableDef>,
    pub(crate) shape: Option<Shape>,
    pub(crate) blocks: Vec<Region>,
    /// Those of a global array once more, where they are many, so that one put twice is found among a million.
    regions: BTreeSet<Region>,
    pub(crate) bytes: u64,
}

/// Blocks of a variable among which one that was put twice is found by looking at each.
const FEW_BLOCKS: usize = 16;

impl Put {
    pub(crate) fn of(variable: &Variable) -> Box<Self> {
        let shape = (variable.def.kind == ArrayKind::GlobalArray).then_some(variable.shape);
        let (blocks, regions) = (Vec::with_capacity(1), BTreeSet::new());
        Box::new(Self { def: variable.def.clone(), shape, blocks, regions, bytes: 0 })
    }

    /// Whether this block of a global array was put.
    pub(crate) fn has(&self, region: &Region) -> bool {
        if self.regions.is_empty() { self.blocks.contains(region) } else { self.regions.contains(region) }
    }

    pub(crate) fn add(&mut self, region: &Region) {
        self.blocks.push(*region);
        if self.def.kind != ArrayKind::GlobalArray || self.blocks.len() <= FEW_BLOCKS {
            return;
        }
        if self.regions.is_empty() {
            self.regions = self.blocks.iter().copied().collect();
        } else {
            self.regions.insert(*region);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_was_put_is_known_among_few_and_many() {
        let variable = Variable::global::<u8>("x", &[1000]).expect("a variable");
        let region = |at| Region::new([at], [1]).expect("a region");
        let mut put = Put::of(&variable);
        for at in 0..3 * FEW_BLOCKS as u64 {
            assert!(!put.has(&region(at)), "block {at} before it is put");
            put.add(&region(at));
            assert!((0..=at).all(|known| put.has(&region(known))), "after block {at}");
        }
    }
}
