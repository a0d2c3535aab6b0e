//! Memory that devices write to: what a caller lends for a while, and what a domain keeps for its reads. The first read
//! that needs such memory registers it with a device, once. Nothing here guesses when memory was freed: keys live
//! within a borrow, or beside the mapping that they are of.
#![allow(unsafe_code)] // slices of a mapping, and the registering of borrowed memory

use super::device_list::DeviceList;
use super::error::VerbsTrouble;
use super::protection::Protection;
use super::registration::{Access, Registration};
use super::sys::Sge;
use crate::lock::lock;
use crate::memory::{Mapping, segment_len_for};
use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// What devices need to write to some memory: a registration for each that did so far.
pub struct Keys {
    pointer: NonNull<u8>,
    len: usize,
    /// A fork copies it, as it is the program's.
    is_inherited: bool,
    registrations: Mutex<Vec<Registration>>,
}

// SAFETY: the pointer is a number here: memory is touched by who has the slice, and by devices that it was handed to.
unsafe impl Send for Keys {}
// SAFETY: as above; the registrations are behind a lock.
unsafe impl Sync for Keys {}

impl Keys {
    /// # Safety
    /// The memory is there until the keys are dropped, or nobody can name them any more.
    unsafe fn of(pointer: NonNull<u8>, len: usize, is_inherited: bool) -> Keys {
        Keys { pointer, len, is_inherited, registrations: Mutex::default() }
    }

    pub(super) fn len_bytes(&self) -> usize {
        self.len
    }

    /// Registers the memory, unless it is.
    pub(super) fn register(&self, protection: &Arc<Protection>) -> Result<u32, VerbsTrouble> {
        let mut known = lock(&self.registrations);
        if let Some(known) = known.iter().find(|known| known.is_of(protection)) {
            return Ok(known.local_key());
        }
        if self.is_inherited {
            DeviceList::of_process()?.check_fork()?;
        }
        // SAFETY: the memory is there for as long as these keys, as `of` was told. Were they leaked, no request would
        // name the memory any more: whoever reads to it holds a slice of it besides.
        let made = unsafe { Registration::of(protection, self.pointer, self.len, Access::Local)? };
        let key = made.local_key();
        known.push(made);
        Ok(key)
    }

    /// Ends the registration for these devices: after success they write there no more. The next read registers anew.
    pub(super) fn end(&self, protection: &Arc<Protection>) -> Result<(), VerbsTrouble> {
        let mut known = lock(&self.registrations);
        let Some(at) = known.iter().position(|known| known.is_of(protection)) else { return Ok(()) };
        known.get_mut(at).map_or(Ok(()), Registration::end)?;
        drop(known.swap_remove(at));
        Ok(())
    }

    /// The part of the memory that a slice is, as places of requests. `None` if it lies elsewhere, or the memory was
    /// not registered for such requests.
    pub(super) fn part(&self, slice: &mut [u8], protection: &Arc<Protection>) -> Option<Part> {
        let offset = (slice.as_mut_ptr() as usize).checked_sub(self.pointer.as_ptr() as usize)?;
        let within = offset.checked_add(slice.len()).is_some_and(|end| end <= self.len);
        let known = lock(&self.registrations);
        let key = known.iter().find(|known| within && known.is_of(protection))?.local_key();
        Some(Part { address: slice.as_mut_ptr() as u64, len: slice.len(), key })
    }
}

/// Registered memory whose places requests may name.
#[derive(Clone, Copy)]
pub(super) struct Part {
    address: u64,
    pub(super) len: usize,
    key: u32,
}

impl Part {
    /// A place of no length yet.
    pub(super) fn place(&self, offset: usize) -> Sge {
        Sge { addr: self.address + offset as u64, length: 0, lkey: self.key }
    }
}

/// Memory of the caller's to read to, for as long as this lives: the guard of what was registered.
pub struct ReadTarget<'a> {
    keys: Keys,
    memory: &'a mut [u8],
}

impl<'a> ReadTarget<'a> {
    /// A guard; each device registers the memory with the first read that it does there.
    pub fn new(memory: &'a mut [u8]) -> ReadTarget<'a> {
        // SAFETY: the memory is borrowed for as long as the guard lives, and nobody reaches the keys of one that was
        // leaked.
        let keys = unsafe { Keys::of(NonNull::from(&mut *memory).cast(), memory.len(), true) };
        ReadTarget { keys, memory }
    }

    /// Bytes.
    pub fn len_bytes(&self) -> usize {
        self.memory.len()
    }

    /// The memory.
    pub fn as_slice(&self) -> &[u8] {
        self.memory
    }

    /// The memory, and what a read to any part of it needs.
    pub fn parts(&mut self) -> (&mut [u8], &Keys) {
        (self.memory, &self.keys)
    }

    /// Devices that it was registered with so far.
    pub fn devices(&self) -> usize {
        lock(&self.keys.registrations).len()
    }
}

impl fmt::Debug for ReadTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadTarget").field("len_bytes", &self.memory.len()).finish()
    }
}

/// Memory of a domain to read to. It goes back to it when this is dropped, with its registrations.
pub struct Landing {
    /// There until it is dropped.
    land: Option<Land>,
    len: usize,
    home: Arc<Landings>,
}

/// The keys go before the mapping.
struct Land {
    keys: Keys,
    mapping: Mapping,
}

impl Landing {
    /// The memory, and what a read to any part of it needs.
    pub fn parts(&mut self) -> Option<(&mut [u8], &Keys)> {
        let Land { keys, mapping } = self.land.as_mut()?;
        // SAFETY: within the mapping, which this value has for itself; devices write to it only while the slice is lent
        // to a read.
        let memory = unsafe { std::slice::from_raw_parts_mut(mapping.pointer().as_ptr(), self.len) };
        Some((memory, keys))
    }

    /// A device may write there for ever. So nobody looks at the memory any more, and it does not come back.
    pub(super) fn give_up(&mut self) {
        if let Some(land) = self.land.take() {
            lock(&self.home.state).lent_bytes -= land.mapping.len();
        }
    }
}

impl AsRef<[u8]> for Landing {
    fn as_ref(&self) -> &[u8] {
        let Some(land) = &self.land else { return &[] };
        // SAFETY: as above, and whoever writes has this value mutably.
        unsafe { std::slice::from_raw_parts(land.mapping.pointer().as_ptr(), self.len) }
    }
}

impl fmt::Debug for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Landing").field("len_bytes", &self.len).finish()
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        if let Some(land) = self.land.take() {
            self.home.take_back(land);
        }
    }
}

/// What a domain keeps: never more than the most that was lent at one time.
#[derive(Default)]
pub(super) struct Landings {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Oldest first.
    kept: VecDeque<Land>,
    lent_bytes: usize,
    most_lent_bytes: usize,
}

impl Landings {
    /// Memory of so many bytes, which are as they happen to be: kept one that fits, or new.
    pub(super) fn lend(self: &Arc<Self>, len: usize) -> Result<Landing, VerbsTrouble> {
        // Rounded as pools do it, so that lengths that change a little find a kept one.
        let wanted = segment_len_for(len.max(1)).unwrap_or(len);
        let (found, outgoing) = {
            let mut state = lock(&self.state);
            let found = state.take_kept(wanted);
            state.lent_bytes += found.as_ref().map_or(wanted, |land| land.mapping.len());
            state.most_lent_bytes = state.most_lent_bytes.max(state.lent_bytes);
            (found, state.outgoing())
        };
        drop(outgoing); // to let go takes milliseconds: not under the lock
        let made = found.map_or_else(|| make(wanted), Ok);
        let land = made.inspect_err(|_| lock(&self.state).lent_bytes -= wanted)?;
        Ok(Landing { land: Some(land), len, home: Arc::clone(self) })
    }

    fn take_back(&self, land: Land) {
        let mut state = lock(&self.state);
        state.lent_bytes -= land.mapping.len();
        state.kept.push_back(land);
    }
}

impl State {
    /// The smallest that fits and is at most a quarter too long.
    fn take_kept(&mut self, wanted: usize) -> Option<Land> {
        let fits = |len: usize| len >= wanted && len <= wanted + wanted / 4;
        let fitting = self.kept.iter().enumerate().filter(|(_, land)| fits(land.mapping.len()));
        let index = fitting.min_by_key(|(_, land)| land.mapping.len())?.0;
        self.kept.remove(index)
    }

    fn outgoing(&mut self) -> Vec<Land> {
        let mut kept_bytes: usize = self.kept.iter().map(|land| land.mapping.len()).sum();
        let mut outgoing = Vec::new();
        while self.lent_bytes + kept_bytes > self.most_lent_bytes {
            let Some(land) = self.kept.pop_front() else { break };
            kept_bytes -= land.mapping.len();
            outgoing.push(land);
        }
        outgoing
    }
}

fn make(len: usize) -> Result<Land, VerbsTrouble> {
    let mapping = Mapping::private(len).map_err(VerbsTrouble::of_call("mmap"))?;
    // SAFETY: the mapping is kept beside the keys, and goes after them.
    let keys = unsafe { Keys::of(mapping.pointer(), mapping.len(), false) };
    Ok(Land { keys, mapping })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lend(landings: &Arc<Landings>, len: usize) -> Landing {
        landings.lend(len).expect("memory")
    }

    fn address(landing: &Landing) -> usize {
        landing.as_ref().as_ptr() as usize
    }

    #[test]
    fn what_comes_back_is_lent_again() {
        let landings = Arc::new(Landings::default());
        let mut first = lend(&landings, 100_000);
        first.parts().expect("memory").0.fill(7);
        let (one, other) = (address(&first), address(&lend(&landings, 100_000)));
        drop(first);
        let again = [lend(&landings, 99_000), lend(&landings, 100_500)];
        let mut found = again.each_ref().map(address);
        found.sort_unstable();
        let mut lent = [one, other];
        lent.sort_unstable();
        assert_eq!(found, lent);
        assert_eq!(again.map(|landing| landing.as_ref().len()), [99_000, 100_500]);
    }

    #[test]
    fn no_more_is_kept_than_was_ever_lent_at_one_time() {
        let landings = Arc::new(Landings::default());
        for len in [1 << 20, 300_000, 70_000, 2 << 20, 5000] {
            drop(lend(&landings, len));
            let state = lock(&landings.state);
            let kept: usize = state.kept.iter().map(|land| land.mapping.len()).sum();
            assert_eq!(state.lent_bytes, 0);
            assert!(kept <= state.most_lent_bytes && state.most_lent_bytes <= 2 << 20, "{kept} kept");
        }
    }

    #[test]
    fn a_guard_gives_its_memory_and_nothing_registered() {
        let mut memory = vec![1u8, 2, 3];
        let mut guard = ReadTarget::new(&mut memory);
        guard.parts().0[1] = 9;
        assert_eq!((guard.as_slice(), guard.len_bytes(), guard.devices()), (&[1u8, 9, 3][..], 3, 0));
        drop(guard);
        assert_eq!(memory, [1, 9, 3]);
    }
}
