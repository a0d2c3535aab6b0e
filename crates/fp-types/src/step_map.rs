//! Values by step, where few steps are live at a time and most come and go at the ends.
//!
//! It is not a tree map: one of large values asks for pages whenever it goes from none to one. In the steady state that
//! is every step (`docs/decisions/0003-small-steps-have-a-path-of-their-own.md`).

use std::collections::VecDeque;

use crate::id::StepId;

/// Values by step, in the order of the steps: a map for a few steps, mostly neighbours, that keeps its memory when they
/// go. New ones are expected at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepMap<T> {
    entries: VecDeque<(StepId, T)>,
}

impl<T> Default for StepMap<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new() }
    }
}

impl<T> StepMap<T> {
    /// One without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where a step is, or belongs.
    #[inline]
    fn find(&self, step: StepId) -> Result<usize, usize> {
        let (Some((first, _)), Some((last, _))) = (self.entries.front(), self.entries.back()) else {
            return Err(0);
        };
        if *last <= step {
            let len = self.entries.len();
            return if *last == step { Ok(len - 1) } else { Err(len) };
        }
        // Neighbours lie as far from the first as their numbers say.
        let at = usize::try_from(step.0.wrapping_sub(first.0)).unwrap_or(usize::MAX);
        match self.entries.get(at) {
            Some((known, _)) if *known == step => Ok(at),
            _ => self.entries.binary_search_by_key(&step, |(known, _)| *known),
        }
    }

    /// How many steps there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether this step is there.
    #[inline]
    pub fn contains_key(&self, step: &StepId) -> bool {
        self.find(*step).is_ok()
    }

    /// The value of a step.
    #[inline]
    pub fn get(&self, step: &StepId) -> Option<&T> {
        let at = self.find(*step).ok()?;
        self.entries.get(at).map(|(_, value)| value)
    }

    /// The value of a step.
    #[inline]
    pub fn get_mut(&mut self, step: &StepId) -> Option<&mut T> {
        let at = self.find(*step).ok()?;
        self.entries.get_mut(at).map(|(_, value)| value)
    }

    /// The value of a step; made if the step is not there.
    pub fn get_or_insert_with(&mut self, step: StepId, make: impl FnOnce() -> T) -> &mut T {
        let at = self.find(step).unwrap_or_else(|at| {
            self.put(at, step, make());
            at
        });
        &mut self.entries[at].1
    }

    /// Puts a step where it belongs. That is the end, as a rule.
    #[inline]
    fn put(&mut self, at: usize, step: StepId, value: T) {
        if at == self.entries.len() {
            self.entries.push_back((step, value));
        } else {
            self.entries.insert(at, (step, value));
        }
    }

    /// Gives a step its value; the one that it had before.
    #[inline]
    pub fn insert(&mut self, step: StepId, value: T) -> Option<T> {
        match self.find(step) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.put(at, step, value);
                None
            }
        }
    }

    /// Takes a step out. That is the first, as a rule.
    #[inline]
    pub fn remove(&mut self, step: &StepId) -> Option<T> {
        let at = self.find(*step).ok()?;
        let taken = if at == 0 { self.entries.pop_front() } else { self.entries.remove(at) };
        taken.map(|(_, value)| value)
    }

    /// The first step, with its value.
    #[inline]
    pub fn first_mut(&mut self) -> Option<(&StepId, &mut T)> {
        self.entries.front_mut().map(|(step, value)| (&*step, value))
    }

    /// Takes all steps out.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Keeps what is asked for.
    pub fn retain(&mut self, mut keep: impl FnMut(&StepId, &mut T) -> bool) {
        self.entries.retain_mut(|(step, value)| keep(step, value));
    }

    /// The steps with their values, rising.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&StepId, &T)> {
        self.entries.iter().map(|(step, value)| (step, value))
    }

    /// The steps with their values, rising.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&StepId, &mut T)> {
        self.entries.iter_mut().map(|(step, value)| (&*step, value))
    }

    /// The steps, rising.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &StepId> {
        self.entries.iter().map(|(step, _)| step)
    }

    /// The values, by rising steps.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.entries.iter().map(|(_, value)| value)
    }
}

/// Steps, as [`StepMap`] has them, without values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepSet(StepMap<()>);

impl StepSet {
    /// How many steps there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this step is there.
    #[inline]
    pub fn contains(&self, step: &StepId) -> bool {
        self.0.contains_key(step)
    }

    /// Adds a step; whether it is new.
    #[inline]
    pub fn insert(&mut self, step: StepId) -> bool {
        self.0.insert(step, ()).is_none()
    }

    /// Takes a step out; whether it was there.
    #[inline]
    pub fn remove(&mut self, step: &StepId) -> bool {
        self.0.remove(step).is_some()
    }

    /// The first of them.
    pub fn first(&self) -> Option<&StepId> {
        self.iter().next()
    }

    /// The steps, rising.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &StepId> {
        self.0.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn is_a_set(ops in prop::collection::vec((0u64..12, any::<bool>()), 0..60)) {
            let (mut ours, mut model) = (StepSet::default(), BTreeSet::new());
            for (step, adds) in ops {
                let step = StepId(step);
                match adds {
                    true => prop_assert_eq!(ours.insert(step), model.insert(step)),
                    false => prop_assert_eq!(ours.remove(&step), model.remove(&step)),
                }
                prop_assert!(ours.iter().eq(model.iter()) && ours.first() == model.first());
                prop_assert_eq!(ours.contains(&step), model.contains(&step));
                prop_assert_eq!((ours.len(), ours.is_empty()), (model.len(), model.is_empty()));
            }
        }

        #[test]
        fn is_a_map(ops in prop::collection::vec((0u64..12, 0u8..6, any::<u8>()), 0..60)) {
            let (mut ours, mut model) = (StepMap::new(), BTreeMap::new());
            for (step, op, value) in ops {
                let step = StepId(step);
                match op {
                    0 | 1 => prop_assert_eq!(ours.insert(step, value), model.insert(step, value)),
                    2 => prop_assert_eq!(ours.remove(&step), model.remove(&step)),
                    3 => {
                        let made = *ours.get_or_insert_with(step, || value);
                        prop_assert_eq!(made, *model.entry(step).or_insert(value));
                    }
                    4 if value == 0 => {
                        ours.clear();
                        model.clear();
                    }
                    _ => {
                        ours.retain(|known, _| known.0 % 3 != step.0 % 3);
                        model.retain(|known, _| known.0 % 3 != step.0 % 3);
                    }
                }
                prop_assert!(ours.iter().eq(model.iter()));
                prop_assert!(ours.keys().eq(model.keys()) && ours.values().eq(model.values()));
                let first = ours.first_mut().map(|(step, value)| (*step, *value));
                prop_assert_eq!(first, model.first_key_value().map(|(step, value)| (*step, *value)));
                prop_assert_eq!(ours.get(&step), model.get(&step));
                prop_assert_eq!(ours.get_mut(&step).copied(), model.get(&step).copied());
                prop_assert_eq!(ours.contains_key(&step), model.contains_key(&step));
                prop_assert_eq!((ours.len(), ours.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }
}
