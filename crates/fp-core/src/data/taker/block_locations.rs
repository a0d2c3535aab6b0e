//! Where the blocks of a step are, as their owner has said: looked up by variable and number.

use fp_types::{StepId, StepMap};

/// What is known of blocks.
pub(crate) struct BlockLocations<T> {
    /// Of each step its variables, by name.
    steps: StepMap<Vec<VariableBlocks<T>>>,
}

struct VariableBlocks<T> {
    variable: String,
    /// By rising number.
    blocks: Vec<(u32, T)>,
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
        // A message has one variable after the other.
        let mut last = 0;
        for (variable, number, what) in blocks {
            if known.get(last).is_none_or(|of| of.variable != variable) {
                last = place_of(known, variable);
            }
            if let Some(of) = known.get_mut(last) {
                of.add(number, what);
            }
        }
    }

    pub(crate) fn find(&self, step: StepId, variable: &str, number: u32) -> Option<T> {
        let known = self.steps.get(&step)?;
        let at = known.binary_search_by(|of| of.variable.as_str().cmp(variable)).ok()?;
        known.get(at)?.find(number)
    }

    /// Forgets steps.
    pub(crate) fn forget(&mut self, gone: impl Fn(StepId) -> bool) {
        self.steps.retain(|&step, _| !gone(step));
    }
}

/// Where a variable is among those that are known, or now is.
fn place_of<T>(known: &mut Vec<VariableBlocks<T>>, variable: String) -> usize {
    let found = known.binary_search_by(|of| of.variable.as_str().cmp(&variable));
    found.unwrap_or_else(|at| {
        known.insert(at, VariableBlocks { variable, blocks: Vec::with_capacity(1) });
        at
    })
}

impl<T: Clone> VariableBlocks<T> {
    fn add(&mut self, number: u32, what: T) {
        // They come in the order of their numbers, mostly.
        if self.blocks.last().is_none_or(|(last, _)| *last < number) {
            self.blocks.push((number, what));
            return;
        }
        match self.place(number) {
            Ok(at) => self.blocks[at].1 = what,
            Err(at) => self.blocks.insert(at, (number, what)),
        }
    }

    fn find(&self, number: u32) -> Option<T> {
        // Where all of a rank's blocks are known, each is at its number.
        let guess = self.blocks.get(number as usize).filter(|(found, _)| *found == number);
        let found = guess.or_else(|| self.blocks.get(self.place(number).ok()?));
        found.map(|(_, what)| what.clone())
    }

    fn place(&self, number: u32) -> Result<usize, usize> {
        self.blocks.binary_search_by_key(&number, |(number, _)| *number)
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
        let numbers = |of: &VariableBlocks<_>| {
            (of.variable.clone(), of.blocks.iter().map(|it| it.0).collect::<Vec<_>>())
        };
        let known: Vec<_> = placed.steps.get(&StepId(3)).into_iter().flatten().map(numbers).collect();
        assert_eq!(known, [("a".into(), vec![0]), ("x".into(), vec![1, 7]), ("y".into(), vec![0])]);
        let found = |step, name, number| placed.find(StepId(step), name, number);
        assert_eq!([found(3, "x", 7), found(3, "x", 1), found(3, "y", 0)], [Some(4), Some(3), Some(1)]);
        assert_eq!([found(3, "x", 2), found(3, "", 0), found(5, "x", 7)], [None; 3]);
        assert_eq!(found(4, "x", 7), Some(6));
        placed.forget(|step| step == StepId(3));
        assert_eq!((placed.find(StepId(3), "a", 0), placed.find(StepId(4), "x", 7)), (None, Some(6)));
    }
}
