//! One-sided READs: the peer's memory straight into places of this side, several requests under way, each with as many
//! places as the device takes; or, for memory that is not registered, through some that is.
//!
//! READs complete in their order, so one in a few asks to be told of: its completion is that of all before it.
#![allow(unsafe_code)] // the device writes to borrowed memory

use super::landing::{Keys, Landing, Part};
use super::queue::READS;
use super::stream::Stream;
use super::sys::Sge;
use super::trouble::{Breakage, VerbsTrouble};
use crate::link::LinkError;
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Longest request, so that several are under way.
const REQUEST_BYTES: usize = 16 << 20;
/// One in so many requests completes with a word, and the last before a wait.
const SIGNALLED: u32 = 8;
/// How long a queue pair that was moved to the error state is waited for, before it is destroyed.
const FLUSH: Duration = Duration::from_secs(1);

/// Memory of the peer that may be read, as the peer told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteMemory {
    /// Its first byte, in the peer's own address space.
    pub address: u64,
    /// The key that the peer registered it with.
    pub key: u32,
    /// Bytes.
    pub len_bytes: u64,
}

/// One run: so many bytes from here in the peer's memory to there in this side's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRun {
    /// First byte in the peer's memory.
    pub source: u64,
    /// First byte in the destination.
    pub destination: usize,
    /// Bytes.
    pub len_bytes: usize,
}

/// A request: neighbouring bytes of the peer, places of this side.
struct Request {
    source: u64,
    len: usize,
    places: Vec<Sge>,
}

/// Requests posted and completed, by number: they complete in their order.
#[derive(Default)]
pub(super) struct Reads {
    posted: u32,
    done: u32,
}

impl Reads {
    pub(super) fn under_way(&self) -> usize {
        self.posted.wrapping_sub(self.done) as usize
    }

    /// This request, and all before it, are over.
    pub(super) fn complete(&mut self, number: usize) {
        self.done = (number as u32).wrapping_add(1);
    }

    /// Whether the next one must complete with a word: one in a few does, and the last before a wait.
    fn is_told_of(&self, last: bool) -> bool {
        last || self.posted % SIGNALLED == SIGNALLED - 1 || self.under_way() + 1 >= READS
    }
}

/// A run on its way through a landing.
struct Landed {
    run: ReadRun,
    /// First byte in the landing.
    at: usize,
}

impl Stream {
    /// Registers memory for `read`, unless it is.
    pub(crate) fn register(&self, keys: &Keys) -> Result<(), VerbsTrouble> {
        keys.register(&self.queue.protection).map(drop)
    }

    /// Fills the runs of a slice whose memory was registered. Returns when the device writes nothing more, also with an
    /// error; at the deadline by breaking the connection.
    pub(crate) fn read(
        &mut self,
        remote: &RemoteMemory,
        (slice, keys): (&mut [u8], &Keys),
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let part = self.part_of(slice, keys)?;
        let requests = requests(remote, &part, runs, self.queue.places)?;
        // SAFETY: the places were checked to be within the slice, which is registered and borrowed until `end_reads` has
        // seen the last request out.
        let posted = unsafe { self.post_reads(requests, remote, deadline) };
        let outcome = posted.and_then(|()| self.await_reads(0, deadline));
        self.end_reads(outcome, runs)
    }

    /// The same for a slice whose memory is not registered: through a landing whose memory is, of which one half is copied
    /// out while the other is READ into.
    pub(crate) fn read_through(
        &mut self,
        remote: &RemoteMemory,
        landing: &mut Landing,
        (slice, runs): (&mut [u8], &[ReadRun]),
        deadline: Instant,
    ) -> Result<(), LinkError> {
        runs.iter().try_for_each(|run| check(run, remote.len_bytes, slice.len()))?;
        let no_memory = LinkError::Malformed { what: "memory to read through", value: 0, limit: 1 };
        let (memory, keys) = landing.parts().filter(|(memory, _)| memory.len() > 1).ok_or(no_memory)?;
        let part = self.part_of(memory, keys)?;
        let batches = batches(runs, memory.len() / 2);
        let mut before: Option<(u32, &[Landed])> = None;
        let mut outcome = Ok(());
        for batch in &batches {
            outcome = self.land(remote, &part, batch, deadline);
            if let (Ok(()), Some((number, landed))) = (&outcome, before) {
                outcome = self.await_reads(self.reads.posted.wrapping_sub(number) as usize, deadline);
                outcome = outcome.map(|()| copy_out(memory, slice, landed));
            }
            if outcome.is_err() {
                break;
            }
            before = Some((self.reads.posted, batch));
        }
        outcome = outcome.and_then(|()| self.await_reads(0, deadline));
        if let (Ok(()), Some((_, landed))) = (&outcome, before) {
            copy_out(memory, slice, landed);
        }
        self.end_reads(outcome, runs)
    }

    fn part_of(&self, slice: &mut [u8], keys: &Keys) -> Result<Part, LinkError> {
        let what = "registration of a destination";
        keys.part(slice, &self.queue.protection).ok_or(LinkError::Malformed { what, value: 0, limit: 1 })
    }

    /// Begins to read a batch into its places in a landing, which its caller has until `end_reads`.
    fn land(
        &mut self,
        remote: &RemoteMemory,
        landing: &Part,
        batch: &[Landed],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let runs: Vec<ReadRun> =
            batch.iter().map(|landed| ReadRun { destination: landed.at, ..landed.run }).collect();
        let requests = requests(remote, landing, &runs, self.queue.places)?;
        // SAFETY: the places are within the landing, which is registered, and what lay there was copied out.
        unsafe { self.post_reads(requests, remote, deadline) }
    }

    /// Reads a few bytes into the page of the probe; gives them.
    pub(crate) fn read_probe(
        &mut self,
        address: u64,
        key: u32,
        deadline: Instant,
    ) -> Result<[u8; 16], LinkError> {
        let mut place = self.queue.probe_destination(16);
        // SAFETY: the page is registered with the queue, and borrowed with it until `end_reads` is through.
        let posted = unsafe { self.post_read(std::slice::from_mut(&mut place), address, key, true) };
        let outcome = posted.and_then(|()| self.await_reads(0, deadline));
        self.end_reads(outcome, &[])?;
        Ok(self.queue.probe().first_chunk().copied().unwrap_or_default())
    }

    /// # Safety
    /// As `Queue::post_read`, until `end_reads` returns.
    unsafe fn post_reads(
        &mut self,
        requests: Vec<Request>,
        remote: &RemoteMemory,
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let mut left = requests.len();
        for mut request in requests {
            if self.reads.under_way() >= READS {
                // Half of them: so the next wait comes late.
                self.await_reads(READS / 2, deadline)?;
            }
            left -= 1;
            let address = remote.address.wrapping_add(request.source);
            // SAFETY: as the caller says.
            unsafe { self.post_read(&mut request.places, address, remote.key, left == 0)? };
        }
        Ok(())
    }

    /// # Safety
    /// As `Queue::post_read`.
    unsafe fn post_read(
        &mut self,
        places: &mut [Sge],
        address: u64,
        key: u32,
        last: bool,
    ) -> Result<(), LinkError> {
        if let Some(breakage) = self.broken {
            return Err(lost(breakage));
        }
        let (number, told) = (self.reads.posted as usize, self.reads.is_told_of(last));
        // SAFETY: as the caller says.
        match unsafe { self.queue.post_read(places, (address, key), number, told) } {
            Ok(()) => {
                self.reads.posted = self.reads.posted.wrapping_add(1);
                self.queue.protection.counters.reads.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(trouble) => Err(LinkError::Lost(self.give_up(trouble))),
        }
    }

    /// Waits until at most so many are under way.
    fn await_reads(&mut self, most: usize, deadline: Instant) -> Result<(), LinkError> {
        let looks_until = Instant::now() + self.busy_poll;
        while self.reads.under_way() > most && self.broken.is_none() {
            if self.progress() || (Instant::now() >= looks_until && self.stall()) {
                continue;
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(LinkError::Deadline { waiting_for: "a READ" });
            }
            if now >= looks_until {
                self.await_room(deadline).map_err(LinkError::Lost)?;
            }
        }
        self.broken.map_or(Ok(()), |breakage| Err(lost(breakage)))
    }

    /// Sees every request out, counts what came, and tells of what came beside it.
    fn end_reads(&mut self, outcome: Result<(), LinkError>, runs: &[ReadRun]) -> Result<(), LinkError> {
        self.settle_reads();
        self.remind();
        if outcome.is_ok() {
            let bytes: usize = runs.iter().map(|run| run.len_bytes).sum();
            self.queue.protection.counters.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        outcome
    }

    /// Where a request is still under way the connection is broken, and what is left completes with an error.
    fn settle_reads(&mut self) {
        if self.reads.under_way() == 0 {
            return;
        }
        self.break_off(Breakage::Ended);
        let deadline = Instant::now() + FLUSH;
        while self.reads.under_way() > 0 {
            if self.queue.identifier.pair().is_none() {
                // Destroyed, as it could not be moved to the error state: nothing completes any more, nothing is written.
                self.reads.done = self.reads.posted;
            } else if self.progress() || self.stall() {
                continue;
            } else if Instant::now() >= deadline || self.await_room(deadline).is_err() {
                // A device that does not answer: without the queue pair it has no business with the memory.
                if let Err(trouble) = self.queue.identifier.destroy_pair() {
                    tracing::error!(%trouble, "a device that does not answer keeps what it was to read");
                }
                self.reads.done = self.reads.posted;
            }
        }
    }
}

/// Puts runs one after the other into the one half of a landing and then the other, in as many batches as that takes.
fn batches(runs: &[ReadRun], half: usize) -> Vec<Vec<Landed>> {
    let mut batches: Vec<Vec<Landed>> = Vec::new();
    let mut filled = half;
    for run in runs {
        let mut done = 0;
        while done < run.len_bytes {
            if filled == half {
                batches.push(Vec::new());
                filled = 0;
            }
            let base = if batches.len() % 2 == 0 { half } else { 0 };
            let len_bytes = (half - filled).min(run.len_bytes - done);
            let (source, destination) = (run.source + done as u64, run.destination + done);
            let run = ReadRun { source, destination, len_bytes };
            if let Some(batch) = batches.last_mut() {
                batch.push(Landed { run, at: base + filled });
            }
            (done, filled) = (done + len_bytes, filled + len_bytes);
        }
    }
    batches
}

/// Copies what has landed to where it is wanted; both were checked to be there.
fn copy_out(landing: &[u8], slice: &mut [u8], batch: &[Landed]) {
    for Landed { run, at } in batch {
        let to = slice.get_mut(run.destination..run.destination + run.len_bytes);
        if let (Some(to), Some(from)) = (to, landing.get(*at..*at + run.len_bytes)) {
            to.copy_from_slice(from);
        }
    }
}

fn lost(breakage: Breakage) -> LinkError {
    LinkError::Lost(io::Error::other(VerbsTrouble::Broken(breakage)))
}

/// Cuts runs into requests, neighbours in the peer's memory together.
fn requests(
    remote: &RemoteMemory,
    part: &Part,
    runs: &[ReadRun],
    places: usize,
) -> Result<Vec<Request>, LinkError> {
    let mut requests: Vec<Request> = Vec::new();
    for run in runs {
        check(run, remote.len_bytes, part.len)?;
        let mut done = 0;
        while done < run.len_bytes {
            let source = run.source + done as u64;
            let place = part.place(run.destination + done);
            let takes = |last: &&mut Request| {
                last.source + last.len as u64 == source
                    && (last.places.len() < places || last.ends_at(place.addr))
                    && last.len < REQUEST_BYTES
            };
            let len = run.len_bytes - done;
            done += match requests.last_mut().filter(takes) {
                Some(last) => last.take(place, len),
                None => {
                    let mut next = Request { source, len: 0, places: Vec::new() };
                    let taken = next.take(place, len);
                    requests.push(next);
                    taken
                }
            };
        }
    }
    Ok(requests)
}

impl Request {
    /// Whether its last place ends where the address is.
    fn ends_at(&self, address: u64) -> bool {
        self.places.last().is_some_and(|last| last.addr + u64::from(last.length) == address)
    }

    /// Takes as much of these bytes as there is room for; says how many.
    fn take(&mut self, place: Sge, len: usize) -> usize {
        let len = len.min(REQUEST_BYTES - self.len);
        let continues = self.ends_at(place.addr);
        match self.places.last_mut().filter(|_| continues) {
            Some(last) => last.length += len as u32,
            None => self.places.push(Sge { length: len as u32, ..place }),
        }
        self.len += len;
        len
    }
}

/// Both ends of a run lie within their memory.
fn check(run: &ReadRun, remote_len: u64, destination_len: usize) -> Result<(), LinkError> {
    let len = run.len_bytes as u64;
    let outside = |what, value, limit| Err(LinkError::Malformed { what, value, limit });
    match run.source.checked_add(len) {
        Some(end) if end <= remote_len => {}
        end => return outside("end of a READ in the peer's memory", end.unwrap_or(u64::MAX), remote_len),
    }
    let (start, limit) = (run.destination as u64, destination_len as u64);
    match start.checked_add(len) {
        Some(end) if end <= limit => Ok(()),
        end => outside("end of a READ in the destination", end.unwrap_or(u64::MAX), limit),
    }
}
