//! Memory of results, used again: fresh memory costs more than what is written into it.
//!
//! Without this a swap of bytes ran at 0.35 of the speed of memcpy
//! (`docs/decisions/0028-derivations-are-values-in-a-crate-of-their-own.md`).

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::DeriveError;

/// How many results' memories are kept.
const KEPT: usize = 8;
/// Shorter ones cost nothing.
const SHORT_BYTES: usize = 64 << 10;

/// Memory that results leave when they are dropped. Clones are the same; a plan has one, and it ends with the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    kept: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// Some bytes, which go back to where they came from.
pub(crate) struct Room {
    bytes: Vec<u8>,
    home: Memory,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for that many elements of that size. What is in it is to be overwritten.
    pub(crate) fn room(&self, elements: u64, size: usize) -> Result<Room, DeriveError> {
        let len = usize::try_from(elements).ok().and_then(|count| count.checked_mul(size));
        let len = len.filter(|&len| isize::try_from(len).is_ok());
        let len = len.ok_or(DeriveError::TooLarge { elements, element_bytes: size })?;
        let fits = |bytes: &Vec<u8>| (len..=len.saturating_mul(2)).contains(&bytes.len());
        let mut kept = self.lock();
        let found = kept.iter().position(fits).map(|at| kept.swap_remove(at));
        drop(kept);
        let mut bytes = found.unwrap_or_else(|| vec![0; len]);
        bytes.truncate(len);
        Ok(Room { bytes, home: self.clone() })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes.len() < SHORT_BYTES {
            return;
        }
        let mut kept = self.home.lock();
        let oldest = (kept.len() == KEPT).then(|| kept.remove(0));
        kept.push(std::mem::take(&mut self.bytes));
        drop(kept);
        drop(oldest);
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for Room {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_used_again_and_bounded() {
        let memory = Memory::default();
        let first = memory.room(1 << 20, 1).unwrap();
        let place = first.as_ptr();
        drop(first);
        assert_eq!(memory.room(1 << 17, 8).unwrap().as_ptr(), place);
        assert_eq!(memory.room(1 << 16, 8).unwrap().len(), 1 << 19);
        let many: Vec<Room> = (0..2 * KEPT as u64).map(|_| memory.room(1 << 16, 1).unwrap()).collect();
        drop(many);
        assert_eq!(memory.lock().len(), KEPT);
        assert!(memory.room(u64::MAX, 8).is_err());
    }
}
