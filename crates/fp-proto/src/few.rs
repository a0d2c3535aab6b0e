//! Lists that are short as a rule: the first items ask for no memory.

use smallvec::SmallVec;

/// Items of which there are few as a rule. It travels as any list does.
pub type Few<T> = SmallVec<[T; 4]>;

/// Adds an item to a sorted list that does not have it.
pub(crate) fn add<T: Ord>(list: &mut Few<T>, item: T) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}

/// Takes an item out of a sorted list.
pub(crate) fn take_out<T: Ord>(list: &mut Few<T>, item: &T) {
    if let Ok(at) = list.binary_search(item) {
        list.remove(at);
    }
}
