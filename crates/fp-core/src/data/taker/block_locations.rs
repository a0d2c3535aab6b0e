//! Where the blocks of a step are, as their owner has said: looked up by variable and number.

use fp_types::{StepId, StepMap};

/// What is known of blocks.
pub(crate) struct BlockLocations<T> {
    steps: StepMap<Vec<Block<T>>>,
}

struct Block<T> {
    variable: String,
    number: u32,
    what: T,
}

impl<T> Default for BlockLocations<T> {
    fn default() -> Self {
        Self { steps: StepMap::new() }
    }
}

impl<T: Clone> BlockLocations<T> {
    /// Adds what one message says of a step. Of a block that is known already the latest counts.
    pub(crate) fn add(&mut self, step: StepId, blocks: impl IntoIterator<Item = (String, u32, T)>) {
        let known = self.steps.get_or_insert_with(step, || Vec::with_capacity(1));
        known.extend(blocks.into_iter().map(|(variable, number, what)| Block { variable, number, what }));
        // What was in order before is no work for it, and equal ones stay in the order in which they came.
        known.sort_by(|one, other| one.key().cmp(&other.key()));
        known.dedup_by(|later, earlier| {
            let same = later.key() == earlier.key();
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
    }

    pub(crate) fn find(&self, step: StepId, variable: &str, number: u32) -> Option<T> {
        let blocks = self.steps.get(&step)?;
        let at = blocks.binary_search_by(|block| block.key().cmp(&(variable, number))).ok()?;
        blocks.get(at).map(|block| block.what.clone())
    }

    /// Forgets steps.
    pub(crate) fn forget(&mut self, gone: impl Fn(StepId) -> bool) {
        self.steps.retain(|&step, _| !gone(step));
    }
}

impl<T> Block<T> {
    fn key(&self) -> (&str, u32) {
        (&self.variable, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_counts_whatever_the_order() {
        let mut placed = BlockLocations::default();
        let named = |name: &str, number, what| (name.to_owned(), number, what);
        placed.add(StepId(3), [named("y", 0, 1), named("x", 7, 2), named("x", 1, 3)]);
        placed.add(StepId(3), [named("x", 7, 4), named("a", 0, 5)]);
        placed.add(StepId(4), [named("x", 7, 6)]);
        assert_eq!(placed.steps.get(&StepId(3)).map(Vec::len), Some(4));
        let found = |step, name, number| placed.find(StepId(step), name, number);
        assert_eq!([found(3, "x", 7), found(3, "x", 1), found(3, "y", 0)], [Some(4), Some(3), Some(1)]);
        assert_eq!([found(3, "x", 2), found(3, "", 0), found(5, "x", 7)], [None; 3]);
        assert_eq!(found(4, "x", 7), Some(6));
        placed.forget(|step| step == StepId(3));
        assert_eq!((placed.find(StepId(3), "a", 0), placed.find(StepId(4), "x", 7)), (None, Some(6)));
    }
}
