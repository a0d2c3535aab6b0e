//! Values by numbers that are given out rising: links, members, subscriptions.

/// A map that is searched at once where it holds one value, as it mostly does. Numbers that are given out rise, so new
/// ones are expected at the end.
///
/// Each value has memory of its own: where there are thousands, taking one out moves addresses and no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberMap<K, V> {
    /// Rising.
    entries: Vec<(K, Box<V>)>,
}

impl<K, V> Default for NumberMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Ord + Copy, V> NumberMap<K, V> {
    /// Where a number is, or belongs.
    #[inline]
    fn find(&self, key: &K) -> Result<usize, usize> {
        match &self.entries[..] {
            [(only, _)] if only == key => Ok(0),
            entries => entries.binary_search_by(|(known, _)| known.cmp(key)),
        }
    }

    /// How many values there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there is a value of this number.
    #[inline]
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// The value of a number.
    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        let at = self.find(key).ok()?;
        self.entries.get(at).map(|(_, value)| &**value)
    }

    /// The value of a number.
    #[inline]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let at = self.find(key).ok()?;
        self.entries.get_mut(at).map(|(_, value)| &mut **value)
    }

    /// Gives a number its value; the one that it had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut *self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (key, Box::new(value)));
                None
            }
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key).ok()?;
        Some(*self.entries.remove(at).1)
    }

    /// The values with their numbers, rising.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, &**value))
    }

    /// The values with their numbers, rising.
    #[inline]
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, &mut **value))
    }

    /// The numbers, rising.
    #[inline]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values, by rising numbers.
    #[inline]
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| &**value)
    }

    /// The values, by rising numbers.
    #[inline]
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| &mut **value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn is_a_map(ops in prop::collection::vec((0u64..6, 0u8..4, any::<u8>()), 0..60)) {
            let (mut ours, mut model) = (NumberMap::default(), BTreeMap::new());
            for (key, op, value) in ops {
                match op {
                    0 => prop_assert_eq!(ours.remove(&key), model.remove(&key)),
                    1 => {
                        ours.values_mut().for_each(|known| *known ^= value);
                        model.values_mut().for_each(|known| *known ^= value);
                        ours.iter_mut().filter(|(known, _)| **known < key).for_each(|(_, known)| *known = value);
                        model.iter_mut().filter(|(known, _)| **known < key).for_each(|(_, known)| *known = value);
                    }
                    _ => prop_assert_eq!(ours.insert(key, value), model.insert(key, value)),
                }
                prop_assert!(ours.iter().eq(model.iter()));
                prop_assert!(ours.keys().eq(model.keys()) && ours.values().eq(model.values()));
                prop_assert_eq!(ours.get(&key), model.get(&key));
                prop_assert_eq!(ours.get_mut(&key).copied(), model.get(&key).copied());
                prop_assert_eq!(ours.contains_key(&key), model.contains_key(&key));
                prop_assert_eq!((ours.len(), ours.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }
}
