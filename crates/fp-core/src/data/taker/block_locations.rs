//! Where the blocks of a step are, as their owner has said: looked up by variable and number.

use std::collections::BTreeMap;

use fp_types::{StepId, StepMap};

/// Of a step its variables, by name.
type StepBlocks<T> = BTreeMap<String, VariableBlocks<T>>;

/// Names of a step that was forgotten are kept for the next one, if they are no more.
const LIMIT_SPARE: usize = 64;

/// What is known of blocks.
pub(crate) struct BlockLocations<T> {
    steps: StepMap<StepBlocks<T>>,
    /// Memory of a step that was forgotten: the next one mostly has the same variables.
    spare: StepBlocks<T>,
}

/// The blocks of one variable in one step.
pub(crate) struct VariableBlocks<T> {
    /// By rising number, but while a message is taken in.
    blocks: Vec<(u32, T)>,
    is_in_order: bool,
}

impl<T> Default for BlockLocations<T> {
    fn default() -> Self {
        Self { steps: StepMap::new(), spare: BTreeMap::new() }
    }
}

impl<T> Default for VariableBlocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), is_in_order: true }
    }
}

impl<T: Clone> BlockLocations<T> {
    /// Adds what one message says of a step. Of a block that is known already the latest counts.
    pub(crate) fn add(&mut self, step: StepId, blocks: impl IntoIterator<Item = (impl AsRef<str>, u32, T)>) {
        let spare = &mut self.spare;
        let known = self.steps.get_or_insert_with(step, || std::mem::take(spare));
        let (mut blocks, mut are_in_order) = (blocks.into_iter().peekable(), true);
        while let Some((variable, number, what)) = blocks.next() {
            let name = variable.as_ref();
            let of = match known.get_mut(name) {
                Some(of) => of,
                None => known.entry(name.to_owned()).or_default(),
            };
            of.add(number, what);
            // Those of one variable follow one another, and may be very many.
            while let Some((_, number, what)) = blocks.next_if(|(next, ..)| next.as_ref() == name) {
                of.add(number, what);
            }
            are_in_order &= of.is_in_order;
        }
        if !are_in_order {
            known.values_mut().for_each(VariableBlocks::put_in_order);
        }
    }

    pub(crate) fn find(&self, step: StepId, variable: &str, number: u32) -> Option<T> {
        self.of(step, variable)?.find(number).cloned()
    }

    /// All that is known of a variable in a step.
    pub(crate) fn of(&self, step: StepId, variable: &str) -> Option<&VariableBlocks<T>> {
        self.steps.get(&step)?.get(variable)
    }

    /// Forgets steps.
    #[inline]
    pub(crate) fn forget(&mut self, gone: impl Fn(StepId) -> bool) {
        if self.steps.is_empty() {
            return;
        }
        while let Some((&step, blocks)) = self.steps.first_mut() {
            if !gone(step) {
                break;
            }
            if blocks.len() <= LIMIT_SPARE {
                blocks.values_mut().for_each(|of| of.blocks.clear());
                std::mem::swap(&mut self.spare, blocks);
            }
            self.steps.remove(&step);
        }
        if self.steps.keys().any(|step| gone(*step)) {
            self.steps.retain(|step, _| !gone(*step));
        }
    }

    /// Whether anything is known of a step.
    pub(crate) fn has(&self, step: StepId) -> bool {
        self.steps.contains_key(&step)
    }
}

impl<T> VariableBlocks<T> {
    fn add(&mut self, number: u32, what: T) {
        self.is_in_order &= self.blocks.last().is_none_or(|(last, _)| *last < number);
        self.blocks.push((number, what));
    }

    /// Sorts them once, whatever their order was.
    fn put_in_order(&mut self) {
        if std::mem::replace(&mut self.is_in_order, true) {
            return;
        }
        // Equal ones stay in the order in which they came, and the last of them is kept.
        self.blocks.sort_by_key(|(number, _)| *number);
        self.blocks.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                std::mem::swap(later, earlier);
            }
            is_same
        });
    }

    /// What is known of the block of that number.
    pub(crate) fn find(&self, number: u32) -> Option<&T> {
        // Where all of a rank's blocks are known, each is at its number.
        let guess = self.blocks.get(number as usize).filter(|(found, _)| *found == number);
        let place = || self.blocks.binary_search_by_key(&number, |(number, _)| *number).ok();
        let found = guess.or_else(|| self.blocks.get(place()?));
        found.map(|(_, what)| what)
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
        let numbers = |(name, of): (&String, &VariableBlocks<_>)| {
            (name.clone(), of.blocks.iter().map(|(number, _)| *number).collect::<Vec<_>>())
        };
        let known: Vec<_> = placed.steps.get(&StepId(3)).into_iter().flatten().map(numbers).collect();
        assert_eq!(known, [("a".into(), vec![0]), ("x".into(), vec![1, 7]), ("y".into(), vec![0])]);
        let found = |step, name, number| placed.find(StepId(step), name, number);
        assert_eq!([found(3, "x", 7), found(3, "x", 1), found(3, "y", 0)], [Some(4), Some(3), Some(1)]);
        assert_eq!([found(3, "x", 2), found(3, "", 0), found(5, "x", 7)], [None; 3]);
        assert_eq!(found(4, "x", 7), Some(6));
        assert!(placed.has(StepId(3)) && !placed.has(StepId(5)));
        placed.forget(|step| step == StepId(3));
        assert_eq!((placed.find(StepId(3), "a", 0), placed.find(StepId(4), "x", 7)), (None, Some(6)));
        placed.add(StepId(6), [named("x", 0, 7)]);
        placed.forget(|step| step == StepId(6));
        assert_eq!((placed.find(StepId(6), "x", 0), placed.find(StepId(4), "x", 7)), (None, Some(6)));
    }
}
