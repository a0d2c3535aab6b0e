//! The pool: makes segments up to a limit, and keeps them warm for the next step.
//!
//! A fresh segment of 128 MiB costs 70 ms (the kernel zeroes every page), a recycled one nothing. So the pool keeps
//! what comes back. When no kept segment fits, kept ones are let go first, oldest first. So the pool never holds more
//! than the most that was lent at one time. The rounding of lengths may add at most a sixteenth.

use super::error::MemoryError;
use super::memory_map::Mapping;
use super::process_watch::ProcessWatch;
use super::remote_memory::{Registrar, Registration, RemoteMemory};
use super::segment::{Segment, SegmentDescriptor, SegmentId};
use crate::lock::lock;
use crate::page::PAGE_BYTES;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Shortest segment that small loans share.
const SHORTEST_SHARED_BYTES: usize = 64 << 10;
/// How many names of segments let go are remembered for [`Pool::drain_let_go`].
const LET_GO_LIMIT: usize = 4096;

/// How a pool works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PoolOptions {
    /// Longest segment that small loans share; a multiple of the page. Default 4 MiB. They begin shorter, with what
    /// the small loans of a step took lately.
    pub segment_len_bytes: usize,
    /// Bytes of all segments together, lent, kept and retired. Default 1 GiB.
    pub limit_bytes: u64,
    /// Whether peers can map the segments. Default true.
    pub shareable: bool,
}

impl Default for PoolOptions {
    fn default() -> Self {
        PoolOptions { segment_len_bytes: 4 << 20, limit_bytes: 1 << 30, shareable: true }
    }
}

impl PoolOptions {
    /// Sets the length of shared segments, rounded up to a page.
    #[must_use]
    pub fn with_segment_len_bytes(mut self, len_bytes: usize) -> Self {
        self.segment_len_bytes = len_bytes.max(1).checked_next_multiple_of(PAGE_BYTES).unwrap_or(4 << 20);
        self
    }

    /// Sets the limit of all segments together.
    #[must_use]
    pub fn with_limit_bytes(mut self, limit_bytes: u64) -> Self {
        self.limit_bytes = limit_bytes;
        self
    }

    /// Sets whether peers can map the segments.
    #[must_use]
    pub fn with_shareable(mut self, shareable: bool) -> Self {
        self.shareable = shareable;
        self
    }
}

/// Numbers of a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Segments made since the pool was made.
    pub segments_made: u64,
    /// Times a kept segment was lent again.
    pub recycled: u64,
    /// Bytes of segments that hold loans or payloads.
    pub live_bytes: u64,
    /// Bytes of segments kept for reuse.
    pub kept_bytes: u64,
    /// Segments that are retired now.
    pub retired: u64,
    /// Bytes of them.
    pub retired_bytes: u64,
    /// The most bytes of all segments at any time.
    pub peak_bytes: u64,
}

/// Lends memory. Clones share it.
#[derive(Clone)]
pub struct Pool {
    pub(super) shared: Arc<PoolShared>,
}

pub(super) struct PoolShared {
    pub(super) options: PoolOptions,
    state: Mutex<State>,
    /// What the small loans of an arena took lately, in bytes: follows a larger one at once, a smaller one slowly.
    small_bytes: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Oldest first.
    kept: VecDeque<Segment>,
    retired: Vec<Retired>,
    /// Every shareable segment of the pool.
    shareable: BTreeMap<SegmentId, Shareable>,
    let_go: VecDeque<SegmentId>,
    total_bytes: u64,
    most_lent_bytes: u64,
    stats: PoolStats,
}

/// What peers need of a segment.
struct Shareable {
    fd: Arc<OwnedFd>,
    mapping: Arc<Mapping>,
    /// For RDMA, once for each registrar, as long as the segment lives.
    registrations: Vec<Arc<Registration>>,
}

/// A segment that goes, with what a peer had of it.
type Outgoing = (Segment, Option<Shareable>);

struct Retired {
    segments: Vec<Segment>,
    watch: Vec<ProcessWatch>,
}

impl Pool {
    /// A pool without any segment yet.
    pub fn new(options: PoolOptions) -> Pool {
        let options = options.clone().with_segment_len_bytes(options.segment_len_bytes);
        Pool {
            shared: Arc::new(PoolShared {
                options,
                state: Mutex::default(),
                small_bytes: AtomicUsize::new(0),
            }),
        }
    }

    /// The options it was made with.
    pub fn options(&self) -> &PoolOptions {
        &self.shared.options
    }

    /// The descriptor of a segment, to send to a peer. `None` if the pool has let the segment go or cannot share.
    pub fn segment_fd(&self, id: SegmentId) -> Option<Arc<OwnedFd>> {
        lock(&self.shared.state).shareable.get(&id).map(|shareable| Arc::clone(&shareable.fd))
    }

    /// What is announced of a segment.
    pub fn segment_descriptor(&self, id: SegmentId) -> Option<SegmentDescriptor> {
        let state = lock(&self.shared.state);
        let len_bytes = state.shareable.get(&id)?.mapping.len() as u64;
        Some(SegmentDescriptor { id, len_bytes })
    }

    /// A segment as a peer may read it. The first call for a registrar registers it, without the pool's lock: others
    /// borrow meanwhile, and who wants the same waits for it. It stays registered for as long as it lives, whatever it
    /// holds. What failed is tried again by the next call. `None` if the pool has let the segment go or cannot share.
    pub(crate) fn registered<R: Registrar>(
        &self,
        id: SegmentId,
        registrar: &R,
    ) -> Result<Option<RemoteMemory>, R::Error> {
        let Some((mapping, registration)) = self.registration(id, registrar.number()) else {
            return Ok(None);
        };
        let remote = registration.make(registrar, mapping)?;
        let lives = lock(&self.shared.state).shareable.contains_key(&id);
        Ok(lives.then_some(remote))
    }

    /// The same of a segment that is registered already; never waits for a device.
    pub(crate) fn known_registered(&self, id: SegmentId, registrar: usize) -> Option<RemoteMemory> {
        let state = lock(&self.shared.state);
        let registrations = &state.shareable.get(&id)?.registrations;
        registrations.iter().find(|known| known.registrar() == registrar)?.known()
    }

    fn registration(&self, id: SegmentId, registrar: usize) -> Option<(Arc<Mapping>, Arc<Registration>)> {
        let mut state = lock(&self.shared.state);
        let Shareable { mapping, registrations, .. } = state.shareable.get_mut(&id)?;
        let known = registrations.iter().find(|known| known.registrar() == registrar).cloned();
        let registration = known.unwrap_or_else(|| {
            registrations.push(Arc::new(Registration::new(registrar)));
            registrations[registrations.len() - 1].clone()
        });
        Some((mapping.clone(), registration))
    }

    /// Names of segments that the pool has let go since the last call: peers should unmap them. Only the last 4096
    /// are remembered.
    pub fn drain_let_go(&self) -> Vec<SegmentId> {
        let mut state = lock(&self.shared.state);
        if state.let_go.is_empty() { Vec::new() } else { state.let_go.drain(..).collect() }
    }

    /// Frees retired segments whose watched processes are all gone; says how many.
    pub fn sweep(&self) -> usize {
        let mut state = lock(&self.shared.state);
        if state.retired.is_empty() {
            return 0;
        }
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut state.retired)
            .into_iter()
            .partition(|retired| retired.watch.iter().all(ProcessWatch::is_gone));
        state.retired = kept;
        let segments: Vec<_> = gone.into_iter().flat_map(|retired| retired.segments).collect();
        let freed = segments.len();
        state.kept.extend(segments);
        freed
    }

    /// Lets go of everything that is kept for reuse.
    pub fn trim(&self) {
        let kept = {
            let mut state = lock(&self.shared.state);
            let bytes = state.kept_bytes();
            state.let_go_of(bytes)
        };
        drop(kept);
    }

    /// Bytes of segments that are retired now.
    pub fn retired_bytes(&self) -> u64 {
        lock(&self.shared.state).retired_bytes()
    }

    /// Numbers of now.
    pub fn stats(&self) -> PoolStats {
        let state = lock(&self.shared.state);
        let (kept_bytes, retired_bytes) = (state.kept_bytes(), state.retired_bytes());
        let retired = state.retired.iter().map(|retired| retired.segments.len() as u64).sum();
        let live_bytes = state.total_bytes - kept_bytes - retired_bytes;
        PoolStats { live_bytes, kept_bytes, retired, retired_bytes, ..state.stats }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("options", &self.shared.options).field("stats", &self.stats()).finish()
    }
}

impl PoolShared {
    /// A segment of at least `len` bytes: a kept one that fits, or a new one.
    pub(super) fn take(&self, len: usize) -> Result<Segment, MemoryError> {
        let (needed, outgoing) = {
            let mut state = lock(&self.state);
            let needed =
                segment_len_for(len).ok_or_else(|| state.no_room(len as u64, self.options.limit_bytes))?;
            if let Some(segment) = state.take_kept(needed) {
                return Ok(segment);
            }
            (needed, state.reserve(needed as u64, self.options.limit_bytes)?)
        };
        drop(outgoing); // unmapping takes milliseconds: not under the lock
        self.make(needed)
    }

    /// A segment by the system. If it has none, kept segments of other lengths make room.
    fn make_or_exchange(&self, len: usize) -> Result<Segment, MemoryError> {
        let made = Segment::make(len, self.options.shareable);
        let Err(MemoryError::NoRoom { cause: Some(cause), .. }) = &made else { return made };
        if cause.kind() != io::ErrorKind::OutOfMemory {
            return made;
        }
        let outgoing = lock(&self.state).let_go_of(u64::MAX);
        if outgoing.is_empty() {
            return made;
        }
        drop(outgoing);
        Segment::make(len, self.options.shareable)
    }

    /// How long the next segment for small loans should be in an arena that has `earlier` bytes of such already. The
    /// first is as long as those of an arena were lately. Each later one is as long as all before it.
    pub(super) fn shared_len_bytes(&self, earlier: usize) -> usize {
        let wanted = if earlier == 0 { self.small_bytes.load(Ordering::Relaxed) } else { earlier };
        wanted.max(SHORTEST_SHARED_BYTES).min(self.options.segment_len_bytes)
    }

    pub(super) fn learn_small_bytes(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let known = self.small_bytes.load(Ordering::Relaxed);
        self.small_bytes.store(bytes.max(known - known / 8), Ordering::Relaxed);
    }

    fn make(&self, len: usize) -> Result<Segment, MemoryError> {
        let made = self.make_or_exchange(len);
        let mut state = lock(&self.state);
        match made {
            Ok(segment) => {
                state.remember(&segment);
                Ok(segment)
            }
            Err(error) => Err(state.give_up(len as u64, self.options.limit_bytes, error)),
        }
    }

    pub(super) fn give_back(&self, segments: impl IntoIterator<Item = Segment>) {
        let mut state = lock(&self.state);
        for segment in segments {
            state.kept.push_back(segment);
        }
    }

    /// Lets segments go for good, though a device may read them still. Registered pages stay as they are: the kernel
    /// gives them to nobody else before their registration has ended.
    pub(super) fn let_go_of(&self, segments: &[Segment]) {
        let mut state = lock(&self.state);
        let parted: Vec<_> = segments.iter().map(|segment| state.forget(segment)).collect();
        drop(state);
        drop(parted); // registrations end here: not under the lock
    }

    pub(super) fn park(&self, segments: impl IntoIterator<Item = Segment>, watch: Vec<ProcessWatch>) {
        let segments = segments.into_iter().collect();
        lock(&self.state).retired.push(Retired { segments, watch });
    }
}

impl State {
    fn kept_bytes(&self) -> u64 {
        self.kept.iter().map(|segment| segment.len() as u64).sum()
    }

    /// Bytes that cannot be lent again now: live and retired ones.
    fn lent_bytes(&self) -> u64 {
        self.total_bytes - self.kept_bytes()
    }

    fn retired_bytes(&self) -> u64 {
        self.retired.iter().flat_map(|retired| &retired.segments).map(|segment| segment.len() as u64).sum()
    }

    /// The smallest kept segment that fits and is at most a quarter too long. Of equal ones it is the one that came
    /// back last: its lines are the likeliest to be in a cache still.
    fn take_kept(&mut self, needed: usize) -> Option<Segment> {
        let fits = |len: usize| len >= needed && len <= needed + needed / 4;
        let fitting = self.kept.iter().enumerate().rev().filter(|(_, segment)| fits(segment.len()));
        let index = fitting.min_by_key(|(_, segment)| segment.len())?.0;
        let segment = self.kept.remove(index);
        self.stats.recycled += 1;
        self.most_lent_bytes = self.most_lent_bytes.max(self.lent_bytes());
        segment
    }

    /// Lets go of kept segments of `bytes` bytes or more, oldest first; the caller drops them outside the lock.
    fn let_go_of(&mut self, bytes: u64) -> Vec<Outgoing> {
        let mut outgoing = Vec::new();
        let mut freed = 0;
        while freed < bytes {
            let Some(segment) = self.kept.pop_front() else { break };
            freed += segment.len() as u64;
            let shareable = self.forget(&segment);
            outgoing.push((segment, shareable));
        }
        outgoing
    }

    /// Gives what ends registrations when it is dropped.
    fn forget(&mut self, segment: &Segment) -> Option<Shareable> {
        self.total_bytes -= segment.len() as u64;
        let shareable = self.shareable.remove(&segment.id)?;
        self.let_go.push_back(segment.id);
        if self.let_go.len() > LET_GO_LIMIT {
            self.let_go.pop_front();
        }
        Some(shareable)
    }

    /// Books `bytes` for a new segment within the limit, letting go of kept ones where the total would pass the most
    /// that was ever lent.
    fn reserve(&mut self, bytes: u64, limit_bytes: u64) -> Result<Vec<Outgoing>, MemoryError> {
        if self.lent_bytes() + bytes > limit_bytes {
            return Err(self.no_room(bytes, limit_bytes));
        }
        let most = self.most_lent_bytes.max(self.lent_bytes() + bytes);
        let outgoing = self.let_go_of((self.total_bytes + bytes).saturating_sub(most));
        self.total_bytes += bytes;
        self.most_lent_bytes = most;
        Ok(outgoing)
    }

    fn remember(&mut self, segment: &Segment) {
        self.stats.segments_made += 1;
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.total_bytes);
        if let Some(fd) = &segment.fd {
            let (fd, mapping) = (Arc::clone(fd), Arc::clone(&segment.mapping));
            self.shareable.insert(segment.id, Shareable { fd, mapping, registrations: Vec::new() });
        }
    }

    /// Takes a booking back, and puts the pool's numbers into the error.
    fn give_up(&mut self, bytes: u64, limit: u64, error: MemoryError) -> MemoryError {
        self.total_bytes -= bytes;
        let MemoryError::NoRoom { asked_bytes, cause, .. } = error else { return error };
        MemoryError::NoRoom { asked_bytes, used_bytes: self.total_bytes, limit_bytes: limit, cause }
    }

    fn no_room(&self, asked_bytes: u64, limit_bytes: u64) -> MemoryError {
        MemoryError::NoRoom { asked_bytes, used_bytes: self.total_bytes, limit_bytes, cause: None }
    }
}

/// Lengths are rounded up by a thirty-second of the next power of two, and at least to a page. So steps whose size
/// changes a little find a kept segment.
pub(crate) fn segment_len_for(len: usize) -> Option<usize> {
    let granule = (len.checked_next_power_of_two()? / 32).max(PAGE_BYTES);
    len.checked_next_multiple_of(granule).filter(|&rounded| rounded <= isize::MAX as usize)
}
