//! One-sided READs: the peer's memory straight into places of this side, several requests under way, each with as many
//! places as the device takes.
#![allow(unsafe_code)] // the device writes to borrowed memory

use super::domain::{Access, Protection, Registration};
use super::queue::READS;
use super::stream::Stream;
use super::sys::Sge;
use super::trouble::{Breakage, VerbsTrouble};
use crate::link::LinkError;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Longest request, so that several are under way.
const REQUEST_BYTES: usize = 16 << 20;
/// How long a queue pair that was moved to the error state is waited for, before it is destroyed.
const FLUSH: Duration = Duration::from_secs(5);

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

/// Memory that is registered, so that the device can write to it, for as long as this lives.
pub struct Destination<'a> {
    registration: Registration,
    pointer: NonNull<u8>,
    len: usize,
    _memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it stands for the mutable borrow, which could be sent as well.
unsafe impl Send for Destination<'_> {}

impl<'a> Destination<'a> {
    pub(super) fn new(protection: &Arc<Protection>, memory: &'a mut [u8]) -> Result<Self, VerbsTrouble> {
        let (pointer, len) = (NonNull::from(&mut *memory).cast::<u8>(), memory.len());
        // SAFETY: the memory is borrowed for as long as this lives. Were this leaked, no request would name the memory any
        // more: `read` returns when none does.
        let registration = unsafe { Registration::of(protection, pointer, len, Access::Local)? };
        Ok(Destination { registration, pointer, len, _memory: PhantomData })
    }

    /// Bytes.
    pub fn len_bytes(&self) -> usize {
        self.len
    }

    fn place(&self, offset: usize, len: usize) -> Sge {
        let addr = self.pointer.as_ptr() as u64 + offset as u64;
        Sge { addr, length: u32::try_from(len).unwrap_or(0), lkey: self.registration.local_key() }
    }
}

impl fmt::Debug for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").field("len_bytes", &self.len).finish()
    }
}

/// A request: neighbouring bytes of the peer, places of this side.
struct Request {
    source: u64,
    len: usize,
    places: Vec<Sge>,
}

impl Stream {
    /// Memory for `read`.
    pub(crate) fn register<'a>(&self, memory: &'a mut [u8]) -> Result<Destination<'a>, VerbsTrouble> {
        Destination::new(&self.queue.protection, memory)
    }

    /// Fills the runs. Returns when the device writes nothing more, also with an error; at the deadline by breaking the
    /// connection.
    pub(crate) fn read(
        &mut self,
        remote: &RemoteMemory,
        destination: &mut Destination<'_>,
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let requests = requests(remote, destination, runs, self.queue.places)?;
        if !destination.registration.is_of(&self.queue.protection) {
            return Err(LinkError::Malformed {
                what: "protection domain of a destination",
                value: 1,
                limit: 0,
            });
        }
        let bytes: usize = requests.iter().map(|request| request.len).sum();
        let mut outcome = Ok(());
        for mut request in requests {
            outcome = self.await_reads(READS - 1, deadline);
            let source = remote.address.wrapping_add(request.source);
            // SAFETY: the places were checked to be within the destination, which is registered and borrowed until
            // `settle_reads` has seen the last request out.
            outcome =
                outcome.and_then(|()| unsafe { self.post_read(&mut request.places, source, remote.key) });
            if outcome.is_err() {
                break;
            }
        }
        outcome = outcome.and_then(|()| self.await_reads(0, deadline));
        self.settle_reads();
        self.remind();
        if outcome.is_ok() {
            self.queue.protection.counters.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        outcome
    }

    /// Reads a few bytes into the page of the probe; gives them.
    pub(crate) fn read_probe(
        &mut self,
        address: u64,
        key: u32,
        deadline: Instant,
    ) -> Result<[u8; 16], LinkError> {
        let mut place = self.queue.probe_destination(16);
        // SAFETY: the page is registered with the queue, and borrowed with it until `settle_reads` is through.
        let posted = unsafe { self.post_read(std::slice::from_mut(&mut place), address, key) };
        let outcome = posted.and_then(|()| self.await_reads(0, deadline));
        self.settle_reads();
        self.remind();
        outcome?;
        Ok(self.queue.probe().first_chunk().copied().unwrap_or_default())
    }

    /// # Safety
    /// As `Queue::post_read`.
    unsafe fn post_read(&mut self, places: &mut [Sge], address: u64, key: u32) -> Result<(), LinkError> {
        if let Some(breakage) = self.broken {
            return Err(lost(breakage));
        }
        // SAFETY: as the caller says.
        match unsafe { self.queue.post_read(places, address, key) } {
            Ok(()) => {
                self.reads_flying += 1;
                self.queue.protection.counters.reads.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(trouble) => Err(LinkError::Lost(self.give_up(trouble))),
        }
    }

    /// Waits until at most so many are under way.
    fn await_reads(&mut self, most: usize, deadline: Instant) -> Result<(), LinkError> {
        while self.reads_flying > most && self.broken.is_none() {
            if self.progress() || self.stall() {
                continue;
            }
            if Instant::now() >= deadline {
                return Err(LinkError::Deadline { waiting_for: "a READ" });
            }
            self.await_room(deadline).map_err(LinkError::Lost)?;
        }
        self.broken.map_or(Ok(()), |breakage| Err(lost(breakage)))
    }

    /// Sees every request out: where one is still under way, the connection is broken and what is left completes with an
    /// error.
    fn settle_reads(&mut self) {
        if self.reads_flying == 0 {
            return;
        }
        self.break_off(Breakage::Ended);
        let deadline = Instant::now() + FLUSH;
        while self.reads_flying > 0 {
            if self.progress() || self.stall() {
                continue;
            }
            if Instant::now() >= deadline || self.await_room(deadline).is_err() {
                // A device that does not answer: without the queue pair it has no business with the memory.
                self.queue.identifier.destroy_pair();
                self.reads_flying = 0;
            }
        }
    }
}

fn lost(breakage: Breakage) -> LinkError {
    LinkError::Lost(io::Error::other(VerbsTrouble::Broken(breakage)))
}

/// Cuts runs into requests, neighbours in the peer's memory together.
fn requests(
    remote: &RemoteMemory,
    destination: &Destination<'_>,
    runs: &[ReadRun],
    places: usize,
) -> Result<Vec<Request>, LinkError> {
    let mut requests: Vec<Request> = Vec::new();
    for run in runs {
        check(run, remote.len_bytes, destination.len)?;
        let mut done = 0;
        while done < run.len_bytes {
            let source = run.source + done as u64;
            let follows = |last: &&mut Request| {
                last.source + last.len as u64 == source
                    && last.places.len() < places
                    && last.len < REQUEST_BYTES
            };
            let begun = requests.last_mut().filter(follows);
            let room = REQUEST_BYTES - begun.as_ref().map_or(0, |last| last.len);
            let len = room.min(run.len_bytes - done);
            let place = destination.place(run.destination + done, len);
            match begun {
                Some(last) => {
                    last.len += len;
                    last.places.push(place);
                }
                None => requests.push(Request { source, len, places: vec![place] }),
            }
            done += len;
        }
    }
    Ok(requests)
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
