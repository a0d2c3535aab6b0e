//! An arena: the segments that hold the blocks of one step, and the loans made from them.
#![allow(unsafe_code)] // a loan is a mutable slice of a segment

use super::error::MemoryError;
use super::payload::{Location, Payload};
use super::pool::{Pool, PoolShared};
use super::process_watch::ProcessWatch;
use super::segment::Segment;
use crate::lock::lock;
use crate::page::PAGE_BYTES;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Lends memory for the blocks of one step. Clones lend from the same segments.
#[derive(Clone)]
pub struct Arena {
    shared: Arc<ArenaShared>,
}

/// Loans and payloads keep their arena through this. When the last one and the [`Arena`] itself are gone, or the arena
/// is cleared, its segments go back to the pool.
struct ArenaShared {
    pool: Arc<PoolShared>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    segments: SmallVec<[Segment; 2]>,
    /// The shared segment that small loans are cut from, and how much of it is lent.
    current: Option<(usize, usize)>,
    /// Bytes of all shared segments but the current one.
    earlier_bytes: usize,
    watch: Vec<ProcessWatch>,
    retired: bool,
    withheld: bool,
}

impl State {
    /// Bytes of all shared segments.
    fn shared_bytes(&self) -> usize {
        self.earlier_bytes + self.current.map_or(0, |(segment, _)| self.segments[segment].len())
    }

    /// Bytes of small loans, with what was left over at the ends of segments.
    fn small_bytes(&self) -> usize {
        self.earlier_bytes + self.current.map_or(0, |(_, used)| used)
    }
}

/// A place found for a loan.
struct Place {
    segment: usize,
    offset: usize,
}

impl Pool {
    /// An arena, for the blocks of one step.
    pub fn arena(&self) -> Arena {
        let pool = Arc::clone(&self.shared);
        Arena { shared: Arc::new(ArenaShared { pool, state: Mutex::default() }) }
    }

    /// A lone loan, in a segment of its own. See [`Arena::loan`].
    ///
    /// # Errors
    /// As [`Arena::loan`].
    pub fn loan(&self, len_bytes: usize, align: usize) -> Result<PoolMemory, MemoryError> {
        self.arena().lend(len_bytes, align, true)
    }
}

impl Arena {
    /// Lends `len_bytes` bytes whose first is aligned to `align` (at least 64). Their content is undefined but
    /// initialised: zeros, or an older step's bytes. A loan of more than half the longest shared segment gets its own.
    ///
    /// # Errors
    /// [`MemoryError::Alignment`], [`MemoryError::NoRoom`], [`MemoryError::NoDescriptor`].
    pub fn loan(&self, len_bytes: usize, align: usize) -> Result<PoolMemory, MemoryError> {
        let own = len_bytes > self.shared.pool.options.segment_len_bytes / 2;
        self.lend(len_bytes, align, own)
    }

    fn lend(&self, len: usize, align: usize, own: bool) -> Result<PoolMemory, MemoryError> {
        let align = check_align(align)?;
        if len == 0 {
            let pointer = NonNull::<AlignedByte>::dangling().cast::<u8>();
            return Ok(PoolMemory { pointer, len, location: None, hold: Arc::clone(&self.shared) });
        }
        let mut state = lock(&self.shared.state);
        let place =
            if own { self.own_place(&mut state, len)? } else { self.shared_place(&mut state, len, align)? };
        Ok(self.loan_at(&state, place, len))
    }

    fn own_place(&self, state: &mut State, len: usize) -> Result<Place, MemoryError> {
        state.segments.push(self.shared.pool.take(len)?);
        Ok(Place { segment: state.segments.len() - 1, offset: 0 })
    }

    fn shared_place(&self, state: &mut State, len: usize, align: usize) -> Result<Place, MemoryError> {
        if let Some((segment, used)) = state.current {
            let offset = used.next_multiple_of(align);
            if offset + len <= state.segments[segment].len() {
                state.current = Some((segment, offset + len));
                return Ok(Place { segment, offset });
            }
        }
        let fresh = self.shared.pool.shared_len_bytes(state.shared_bytes()).max(len);
        let place = self.own_place(state, fresh)?;
        state.earlier_bytes = state.shared_bytes();
        state.current = Some((place.segment, len));
        Ok(place)
    }

    fn loan_at(&self, state: &State, place: Place, len: usize) -> PoolMemory {
        let segment = &state.segments[place.segment];
        let (offset, len_bytes) = (place.offset as u64, len as u64);
        let location = segment.fd.as_ref().map(|_| Location { segment: segment.id, offset, len: len_bytes });
        // SAFETY: `shared_place` and `own_place` keep offset + len within the segment's mapping.
        let pointer = unsafe { segment.mapping.pointer().add(place.offset) };
        PoolMemory { pointer, len, location, hold: Arc::clone(&self.shared) }
    }

    /// From now on the segments of this arena are parked when its loans and payloads are gone. They are not reused
    /// until every watched process is gone: somebody there may still see the bytes. May be called again with more.
    pub fn retire(&self, watch: Vec<ProcessWatch>) {
        let mut state = lock(&self.shared.state);
        state.retired = true;
        state.watch.extend(watch);
    }

    /// Gives the segments back, where no loan and no payload is left, and lends from others then: for another step. Says
    /// whether that is so.
    pub fn clear(&mut self) -> bool {
        let Some(shared) = Arc::get_mut(&mut self.shared) else { return false };
        shared.part();
        true
    }

    /// From now on the segments of this arena are never used again. They are let go when its loans and payloads are
    /// gone. Whatever is lent later is other memory. This is for a peer that may READ them, nobody knows for how long
    /// ([`Link::revoke`](crate::Link::revoke) failed).
    pub fn withhold(&self) {
        lock(&self.shared.state).withheld = true;
    }
}

/// Largest alignment that a loan of no bytes must pretend to have.
#[repr(align(4096))]
struct AlignedByte;

fn check_align(align: usize) -> Result<usize, MemoryError> {
    if !align.is_power_of_two() || align > PAGE_BYTES {
        return Err(MemoryError::Alignment { align, limit: PAGE_BYTES });
    }
    Ok(align.max(64))
}

impl Drop for ArenaShared {
    fn drop(&mut self) {
        self.part();
    }
}

impl ArenaShared {
    /// Parts with the segments, as is right for them.
    fn part(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.pool.learn_small_bytes(state.small_bytes());
        if state.withheld {
            self.pool.let_go_of(&state.segments);
            state.segments.clear();
        } else if state.retired {
            self.pool.park(state.segments.drain(..), std::mem::take(&mut state.watch));
        } else {
            self.pool.give_back(state.segments.drain(..));
        }
        state.watch.clear();
        (state.current, state.earlier_bytes) = (None, 0);
        (state.retired, state.withheld) = (false, false);
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.shared.state);
        f.debug_struct("Arena")
            .field("segments", &state.segments.len())
            .field("retired", &state.retired)
            .finish()
    }
}

/// Memory of a pool, lent to be filled: a mutable slice that can be sent to another thread.
pub struct PoolMemory {
    pointer: NonNull<u8>,
    len: usize,
    location: Option<Location>,
    hold: Arc<ArenaShared>,
}

// SAFETY: the loan has its range of the segment for itself, so it may be moved to another thread. Ranges of one arena
// never overlap, and a segment is in one arena at a time.
unsafe impl Send for PoolMemory {}
// SAFETY: `&PoolMemory` only reads.
unsafe impl Sync for PoolMemory {}

impl PoolMemory {
    /// Gives up writing: from now on the bytes can be shared.
    pub fn freeze(self) -> Payload {
        Payload::new(self.pointer, self.len, self.location, self.hold)
    }
}

impl Deref for PoolMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range is within a mapping that `hold` keeps, initialised by the kernel, and only this loan
        // writes to it.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }
}

impl DerefMut for PoolMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in deref, and `&mut self` makes the access exclusive in this process. Other processes can map the
        // segment read only and are told of the range after `freeze`.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

impl fmt::Debug for PoolMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolMemory").field("len", &self.len).field("location", &self.location).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::pool::PoolOptions;
    use std::thread;

    /// A pool that nobody shares: its memory is that of any mapping, and Miri runs it.
    fn pool() -> Pool {
        Pool::new(PoolOptions::default().with_shareable(false))
    }

    fn filled(arena: &Arena, len: usize, byte: u8) -> Payload {
        let mut loan = arena.loan(len, 1).expect("room");
        loan.fill(byte);
        loan.freeze()
    }

    #[test]
    fn loans_of_one_segment_are_filled_beside_one_another_while_others_are_read() {
        let arena = pool().arena();
        let frozen = filled(&arena, 100, 1);
        let mut loans: Vec<PoolMemory> = (0..4).map(|_| arena.loan(100, 1).expect("room")).collect();
        let bytes = frozen.as_slice();
        thread::scope(|scope| {
            for (byte, loan) in (2..).zip(&mut loans) {
                scope.spawn(move || loan.fill(byte));
            }
            scope.spawn(move || assert_eq!(bytes, [1; 100]));
        });
        assert_eq!(lock(&arena.shared.state).segments.len(), 1, "they lie in one segment");
        assert_eq!(bytes, [1; 100], "borrowed from before the others were filled");
        for (byte, loan) in (2..).zip(loans) {
            let payload = loan.freeze();
            let part = payload.slice(10..20).expect("within");
            thread::spawn(move || {
                assert_eq!((payload.as_slice(), part.as_slice()), (&[byte; 100][..], &[byte; 10][..]))
            })
            .join()
            .expect("its own bytes");
        }
    }

    #[test]
    fn memory_is_lent_again_when_the_last_part_of_its_last_block_is_gone() {
        let pool = pool();
        let arena = pool.arena();
        let (one, other) = (filled(&arena, 5000, 1), filled(&arena, 5000, 2));
        let part = other.slice(4990..5000).expect("within");
        drop((arena, one, other));
        let next = filled(&pool.arena(), 5000, 3);
        assert_eq!((part.as_slice(), pool.stats().recycled), (&[2; 10][..], 0));
        drop(part);
        let last = filled(&pool.arena(), 5000, 4);
        assert_eq!((next.as_slice(), last.as_slice()), (&[3; 5000][..], &[4; 5000][..]));
        assert_eq!((pool.stats().recycled, pool.stats().segments_made), (1, 2));
    }

    #[test]
    fn loans_outlive_their_arena_and_their_pool() {
        let pool = pool();
        let mut loan = pool.arena().loan(64, 4096).expect("room");
        let empty = pool.arena().loan(0, 4096).expect("nothing is needed");
        drop(pool);
        loan.fill(7);
        assert_eq!(loan.as_ptr().align_offset(4096), 0);
        assert_eq!(empty.as_ptr().align_offset(4096), 0);
        assert_eq!((loan.freeze().as_slice(), empty.freeze().as_slice()), (&[7; 64][..], &[][..]));
    }
}
