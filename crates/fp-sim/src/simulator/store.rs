//! The modelled memory of one publisher rank: blocks from put to reclaim, in cells that are used again. Who looks
//! at a cell too late sees somebody else's bytes, as over shared memory.

use crate::simulator::content::Block;
use std::collections::BTreeMap;

/// What a cell holds between its reclaim and its next use.
const POISON: u64 = 0xdead_beef_dead_beef;

/// A piece of memory of one publisher rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell(usize);

/// A block in memory.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) variable: &'static str,
    /// Its number among the rank's blocks of this variable in this step.
    pub(crate) index: u32,
    pub(crate) cell: Cell,
}

/// Blocks of one publisher rank.
#[derive(Default)]
pub(crate) struct Store {
    cells: Vec<Vec<u64>>,
    free: Vec<Cell>,
    steps: BTreeMap<u64, Vec<Stored>>,
    retired: usize,
}

impl Store {
    /// Takes memory for a block, used memory first.
    pub(crate) fn put(&mut self, step: u64, index: u32, block: &Block) {
        let cell = self.free.pop().unwrap_or_else(|| {
            self.cells.push(Vec::new());
            Cell(self.cells.len() - 1)
        });
        self.cells[cell.0].clone_from(&block.values);
        let stored = Stored { variable: block.variable, index, cell };
        self.steps.entry(step).or_default().push(stored);
    }

    /// Gives a step's memory back, or retires it. Says whether there was any.
    pub(crate) fn free(&mut self, step: u64, retire: bool) -> bool {
        let Some(blocks) = self.steps.remove(&step) else { return false };
        for block in blocks {
            if retire {
                self.retired += 1;
            } else {
                self.cells[block.cell.0].fill(POISON);
                self.free.push(block.cell);
            }
        }
        true
    }

    /// The blocks of a variable in a step that are in memory, in the order of their numbers.
    pub(crate) fn blocks(&self, step: u64, variable: &str) -> Vec<Stored> {
        let blocks = self.steps.get(&step).into_iter().flatten();
        blocks.filter(|block| block.variable == variable).cloned().collect()
    }

    /// What is in a cell now.
    pub(crate) fn read(&self, cell: Cell) -> &[u64] {
        &self.cells[cell.0]
    }

    /// Steps in memory.
    pub(crate) fn live_steps(&self) -> Vec<u64> {
        self.steps.keys().copied().collect()
    }
}
