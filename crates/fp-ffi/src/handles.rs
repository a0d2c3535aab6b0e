//! The table of handles: what C holds is a number that is looked up here and never followed.

use crate::failure::{Failure, Status};
use std::any::Any;
use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// What stands behind a kind of handle.
pub(crate) trait Handle: Any + Send + Sync {
    /// The kind, for messages.
    const NAME: &'static str;
}

type Entry = (&'static str, Arc<dyn Any + Send + Sync>);

#[derive(Default)]
struct Table {
    issued: usize,
    entries: HashMap<usize, Entry, BuildHasherDefault<Spread>>,
}

/// Spreads numbers that were counted up: nobody outside chooses them, and every call looks some up.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }

    fn write_usize(&mut self, number: usize) {
        let mixed = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

/// Numbers are odd, so none is an aligned address, and none is given twice. Pointers to boxes would save the look-up,
/// and crash when they are wrong.
fn number(issued: usize) -> usize {
    (issued << 1) | 1
}

/// Keeps a value and gives its handle.
pub(crate) fn hold<T: Handle>(value: T) -> *mut T {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.issued += 1;
    let key = number(table.issued);
    table.entries.insert(key, (T::NAME, Arc::new(value)));
    std::ptr::without_provenance_mut(key)
}

/// What a handle stands for.
pub(crate) fn find<T: Handle>(handle: *const T) -> Result<Arc<T>, Failure> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let entry = table.entries.get(&handle.addr()).cloned();
    let issued = table.issued;
    drop(table);
    of_kind(entry, handle.addr(), issued)
}

/// What a handle stands for, and the handle is no more. Where two threads close the same handle, one is late and fails.
pub(crate) fn take<T: Handle>(handle: *const T) -> Result<Arc<T>, Failure> {
    take_from(&mut TABLE.write().unwrap_or_else(PoisonError::into_inner), handle)
}

/// The same of a handle that no other call uses; otherwise it stays as it is.
pub(crate) fn take_alone<T: Handle>(handle: *const T) -> Result<T, Failure> {
    let in_use = || Failure::misuse(format!("another call uses this {}: let that return first", T::NAME));
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    // Calls take their share under this lock, so nobody has one from here on.
    if table.entries.get(&handle.addr()).is_some_and(|(_, held)| Arc::strong_count(held) > 1) {
        return Err(in_use());
    }
    let taken = take_from(&mut table, handle)?;
    drop(table);
    Arc::into_inner(taken).ok_or_else(in_use)
}

fn take_from<T: Handle>(table: &mut Table, handle: *const T) -> Result<Arc<T>, Failure> {
    let entry = match table.entries.entry(handle.addr()) {
        MapEntry::Occupied(entry) if entry.get().1.is::<T>() => Some(entry.remove()),
        MapEntry::Occupied(entry) => Some(entry.get().clone()),
        MapEntry::Vacant(_) => None,
    };
    of_kind(entry, handle.addr(), table.issued)
}

fn of_kind<T: Handle>(entry: Option<Entry>, key: usize, issued: usize) -> Result<Arc<T>, Failure> {
    let (name, held) = entry.ok_or_else(|| absent::<T>(key, issued))?;
    held.downcast().map_err(|_| {
        Failure::new(Status::BadHandle, format!("the handle is that of a {name}, not of a {}", T::NAME))
    })
}

fn absent<T: Handle>(key: usize, issued: usize) -> Failure {
    let name = T::NAME;
    let text = match key {
        0 => format!("the handle of a {name} is null"),
        _ if key & 1 == 1 && key <= number(issued) => format!("the {name} was closed or released before"),
        _ => format!("{key:#x} is no handle of a {name}"),
    };
    Failure::new(Status::BadHandle, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct One(u32);
    #[derive(Debug)]
    struct Other;
    impl Handle for One {
        const NAME: &'static str = "one";
    }
    impl Handle for Other {
        const NAME: &'static str = "other";
    }

    #[test]
    fn a_handle_in_use_is_not_taken_alone() {
        let handle = hold(One(7));
        let used = find(handle).expect("it is held");
        let text = take_alone(handle).map_err(|failure| failure.text).expect_err("it is in use");
        assert_eq!(text, "another call uses this one: let that return first");
        drop(used);
        assert_eq!(take_alone(handle).map(|one| one.0).ok(), Some(7));
        assert!(take_alone(handle).is_err_and(|failure| failure.status == Status::BadHandle));
    }

    #[test]
    fn wrong_closed_and_made_up_handles_are_told_apart() {
        let handle = hold(One(7));
        assert_eq!(find(handle).map(|one| one.0).ok(), Some(7));
        let text = |failure: Failure| failure.text;
        assert_eq!(
            find(handle.cast::<Other>()).map_err(text).unwrap_err(),
            "the handle is that of a one, not of a other"
        );
        assert_eq!(take(handle).map(|one| one.0).ok(), Some(7));
        assert_eq!(take(handle).map_err(text).unwrap_err(), "the one was closed or released before");
        assert_eq!(find::<One>(std::ptr::null()).map_err(text).unwrap_err(), "the handle of a one is null");
        let stack = 0u64;
        assert!(find::<One>((&raw const stack).cast()).map_err(text).unwrap_err().contains("is no handle"));
    }
}
