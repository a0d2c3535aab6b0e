//! Memory of results, used again: fresh memory costs more than what is written into it.
//!
//! Without this a swap of bytes ran at 0.35 of the speed of memcpy
//! (`docs/decisions/0028-derivations-are-values-in-a-crate-of-their-own.md`).

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::DeriveError;
use crate::stop::Stop;

/// How many results' memories are kept.
const KEPT: usize = 8;
/// Shorter ones cost nothing.
const SHORT_BYTES: usize = 64 << 10;

/// Memory that results leave when they are dropped, what a run may use of it, and whether it is to go on. Clones have
/// what is kept in common.
#[derive(Clone, Debug)]
pub struct Memory {
    kept: Arc<Mutex<Kept>>,
    allowance: Option<Arc<Allowance>>,
    stop: Stop,
}

/// Memory that nobody uses just now.
#[derive(Debug)]
struct Kept {
    rooms: Vec<Vec<u8>>,
    len_bytes: u64,
    limit_rooms: usize,
    limit_bytes: u64,
}

/// What several runs may use together, with what is kept.
#[derive(Debug)]
struct Allowance {
    limit_bytes: u64,
    used_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    /// The most that would have been used if there had been room.
    wanted_bytes: AtomicU64,
}

/// Some bytes, which go back to where they came from.
pub(crate) struct Room {
    bytes: Vec<u8>,
    /// What it takes of the allowance.
    len_bytes: u64,
    home: Memory,
}

impl Default for Memory {
    /// For one plan: few results are kept, however long.
    fn default() -> Self {
        Self::keeping(KEPT, u64::MAX)
    }
}

impl Kept {
    /// Lets go of the oldest that is kept, if anything is.
    fn let_go(&mut self) -> Option<Vec<u8>> {
        let oldest = (!self.rooms.is_empty()).then(|| self.rooms.remove(0))?;
        self.len_bytes -= oldest.capacity() as u64;
        Some(oldest)
    }

    /// Lets go of what is more than may be kept.
    fn trim(&mut self) -> Vec<Vec<u8>> {
        let mut gone = Vec::new();
        while self.rooms.len() > self.limit_rooms || self.len_bytes > self.limit_bytes {
            let Some(oldest) = self.let_go() else { break };
            gone.push(oldest);
        }
        gone
    }
}

impl Memory {
    /// Memory that keeps so many results at most, and so many bytes.
    pub fn keeping(limit_rooms: usize, limit_bytes: u64) -> Self {
        let kept = Kept { rooms: Vec::new(), len_bytes: 0, limit_rooms, limit_bytes };
        Self { kept: Arc::new(Mutex::new(kept)), allowance: None, stop: Stop::default() }
    }

    /// Keeps so many bytes at most from now on.
    pub fn keep_at_most(&self, limit_bytes: u64) {
        let mut kept = self.lock();
        kept.limit_bytes = limit_bytes;
        let gone = kept.trim();
        drop(kept);
        drop(gone);
    }

    /// The same memory for runs that use so many bytes together at most, what is kept included. They stop before their
    /// next block when they are asked to.
    #[must_use]
    pub fn allowing(&self, limit_bytes: u64, stop: &Stop) -> Self {
        let (used_bytes, peak_bytes, wanted_bytes) = <(AtomicU64, AtomicU64, AtomicU64)>::default();
        let allowance = Some(Arc::new(Allowance { limit_bytes, used_bytes, peak_bytes, wanted_bytes }));
        Self { kept: self.kept.clone(), allowance, stop: stop.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most bytes that were used at one time, without what was kept.
    pub fn peak_bytes(&self) -> u64 {
        self.allowance.as_ref().map_or(0, |allowance| allowance.peak_bytes.load(Ordering::Relaxed))
    }

    /// The same, had there been room for what was refused.
    pub fn wanted_bytes(&self) -> u64 {
        self.allowance.as_ref().map_or(0, |allowance| allowance.wanted_bytes.load(Ordering::Relaxed))
    }

    /// Takes bytes of what may be used, for memory that comes from elsewhere.
    ///
    /// # Errors
    /// [`DeriveError::NoRoom`] if so many are not left.
    pub fn charge(&self, len_bytes: u64) -> Result<(), DeriveError> {
        self.take(&mut self.lock(), len_bytes)
    }

    /// Asks whether to go on with the next block.
    ///
    /// # Errors
    /// [`DeriveError::Stopped`] if not.
    pub(crate) fn check_stop(&self) -> Result<(), DeriveError> {
        if self.stop.is_asked() { Err(DeriveError::Stopped) } else { Ok(()) }
    }

    /// The same before a block, of which so many are done. What was begun with its only block goes to its end.
    ///
    /// # Errors
    /// [`DeriveError::Stopped`] if there are more and it is not to go on.
    pub fn check_stop_after(&self, done: usize) -> Result<(), DeriveError> {
        if done == 0 { Ok(()) } else { self.check_stop() }
    }

    fn take(&self, kept: &mut Kept, len_bytes: u64) -> Result<(), DeriveError> {
        let Some(allowance) = &self.allowance else { return Ok(()) };
        // Only changed under the lock of what is kept, or to become less.
        let wanted_bytes = allowance.used_bytes.load(Ordering::Relaxed).saturating_add(len_bytes);
        allowance.wanted_bytes.fetch_max(wanted_bytes, Ordering::Relaxed);
        while wanted_bytes.saturating_add(kept.len_bytes) > allowance.limit_bytes {
            if kept.let_go().is_none() {
                return Err(DeriveError::NoRoom { len_bytes, limit_bytes: allowance.limit_bytes });
            }
        }
        allowance.used_bytes.fetch_add(len_bytes, Ordering::Relaxed);
        allowance.peak_bytes.fetch_max(wanted_bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Room for that many elements of that size. What is in it is to be overwritten.
    pub(crate) fn room(&self, elements: u64, size: usize) -> Result<Room, DeriveError> {
        let len = usize::try_from(elements).ok().and_then(|count| count.checked_mul(size));
        let len = len.filter(|&len| isize::try_from(len).is_ok());
        let len = len.ok_or(DeriveError::TooLarge { elements, element_bytes: size })?;
        let fits = |bytes: &Vec<u8>| (len..=len.saturating_mul(2)).contains(&bytes.len());
        let mut kept = self.lock();
        let found = kept.rooms.iter().position(fits).map(|at| kept.rooms.swap_remove(at));
        let len_bytes = found.as_ref().map_or(len, Vec::capacity) as u64;
        kept.len_bytes -= if found.is_some() { len_bytes } else { 0 };
        self.take(&mut kept, len_bytes)?;
        drop(kept);
        let mut bytes = found.unwrap_or_else(|| vec![0; len]);
        bytes.truncate(len);
        Ok(Room { bytes, len_bytes, home: self.clone() })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(allowance) = &self.home.allowance {
            allowance.used_bytes.fetch_sub(self.len_bytes, Ordering::Relaxed);
        }
        if self.bytes.len() < SHORT_BYTES {
            return;
        }
        let mut kept = self.home.lock();
        kept.len_bytes += self.bytes.capacity() as u64;
        kept.rooms.push(std::mem::take(&mut self.bytes));
        let gone = kept.trim();
        drop(kept);
        drop(gone);
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
        assert_eq!(memory.lock().rooms.len(), KEPT);
        assert!(memory.room(u64::MAX, 8).is_err());
    }

    #[test]
    fn what_is_used_and_kept_stays_below_what_is_allowed() {
        let (memory, stop) = (Memory::keeping(16, 3 << 20), Stop::default());
        drop([memory.room(1 << 20, 1).unwrap(), memory.room(1 << 20, 1).unwrap()]);
        let run = memory.allowing(4 << 20, &stop);
        let half = run.room(2 << 20, 1).unwrap();
        assert_eq!(memory.lock().len_bytes, 2 << 20, "both are kept beside it");
        let more = run.room(2 << 20, 1).unwrap();
        assert_eq!(memory.lock().len_bytes, 0, "what is used goes before what is kept");
        let refused = DeriveError::NoRoom { len_bytes: 1, limit_bytes: 4 << 20 };
        assert_eq!((run.charge(1), run.room(1, 1).err()), (Err(refused.clone()), Some(refused)));
        drop((half, more));
        assert_eq!(memory.lock().len_bytes, 2 << 20, "of two one is more than may be kept");
        assert_eq!(run.charge(2 << 20), Ok(()));
        memory.keep_at_most(0);
        assert_eq!(memory.lock().len_bytes, 0);
        assert_eq!(run.check_stop(), Ok(()));
        stop.ask();
        assert_eq!((run.check_stop(), memory.check_stop()), (Err(DeriveError::Stopped), Ok(())));
    }
}
