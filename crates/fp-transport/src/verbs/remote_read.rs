//! One-sided READs over a connection: what there is of it beside `read_all`, which has them under way.
#![allow(unsafe_code)] // the device writes to borrowed memory

use super::error::{Breakage, ReadTrouble, VerbsTrouble};
use super::landing_memory::{Keys, Landing};
use super::read_all::{ReadLimit, ReadPlace, read_all};
use super::read_requests::{BlockRead, ReadRun};
use super::stream::Stream;
use super::sys::Sge;
use crate::memory::RemoteMemory;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a queue pair that was moved to the error state is waited for, before it is destroyed.
const FLUSH: Duration = Duration::from_secs(1);

impl Stream {
    /// Registers memory for `read`, unless it is.
    pub(crate) fn register(&self, keys: &Keys) -> Result<(), VerbsTrouble> {
        keys.register(&self.queue.protection).map(drop)
    }

    /// Memory of the stream's domain, registered for READs over this link.
    pub(crate) fn landing(&self, len_bytes: usize) -> Result<Landing, VerbsTrouble> {
        let mut landing = self.domain.landing(len_bytes)?;
        landing.parts().map_or(Ok(()), |(_, keys)| self.register(keys))?;
        Ok(landing)
    }

    /// Fills the runs of a slice whose memory was registered. Returns when the device writes nothing more, also with an
    /// error; at the deadline by breaking the connection.
    pub(crate) fn read(
        &mut self,
        remote: &RemoteMemory,
        (memory, keys): (&mut [u8], &Keys),
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
        self.read_one(remote, ReadPlace { memory, keys: Some(keys) }, &mut [], runs, deadline)
    }

    /// The same for a slice whose memory is not registered: through a landing whose memory is.
    pub(crate) fn read_through(
        &mut self,
        remote: &RemoteMemory,
        landing: &mut Landing,
        (memory, runs): (&mut [u8], &[ReadRun]),
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
        self.read_one(remote, ReadPlace { memory, keys: None }, std::slice::from_mut(landing), runs, deadline)
    }

    fn read_one(
        &mut self,
        remote: &RemoteMemory,
        place: ReadPlace<'_>,
        landings: &mut [Landing],
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
        let is_through = place.keys.is_none();
        let piece = [BlockRead { remote: *remote, place: 0, is_through, runs: runs.to_vec() }];
        let connection = vec![(self, &piece[..])];
        let outcome = read_all(connection, &mut [place], landings, &ReadLimit::until(deadline)).pop();
        outcome.unwrap_or(Ok(()))
    }

    /// Reads a few bytes into the page of the probe; gives them.
    pub(crate) fn read_probe(
        &mut self,
        address: u64,
        key: u32,
        deadline: Instant,
    ) -> Result<[u8; 16], ReadTrouble> {
        let mut place = self.queue.probe_destination(16);
        // SAFETY: the page is registered with the queue, and borrowed with it until `end_reads` is through.
        let posted = unsafe { self.post_read(std::slice::from_mut(&mut place), address, key, true) };
        let outcome = posted.and_then(|()| self.await_reads(0, deadline));
        // What is not settled leaves the connection broken, and its page to nobody.
        self.end_reads(outcome.is_ok(), &[]);
        outcome?;
        Ok(self.queue.probe().first_chunk().copied().unwrap_or_default())
    }

    /// # Safety
    /// As `Queue::post_read`.
    pub(super) unsafe fn post_read(
        &mut self,
        places: &mut [Sge],
        address: u64,
        key: u32,
        last: bool,
    ) -> Result<(), ReadTrouble> {
        if let Some(breakage) = self.broken {
            return Err(ReadTrouble::broken(breakage));
        }
        let (number, told) = (self.reads.posted as usize, self.reads.is_told_of(last));
        // SAFETY: as the caller says.
        match unsafe { self.queue.post_read(places, (address, key), number, told) } {
            Ok(()) => {
                self.reads.posted = self.reads.posted.wrapping_add(1);
                self.queue.protection.counters.reads.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(trouble) => Err(ReadTrouble::Lost(self.give_up(trouble))),
        }
    }

    /// Waits until at most so many are under way.
    fn await_reads(&mut self, most: usize, deadline: Instant) -> Result<(), ReadTrouble> {
        let looks_until = Instant::now() + self.busy_poll;
        while self.reads.under_way() > most && self.broken.is_none() {
            if self.progress() || (Instant::now() >= looks_until && self.stall()) {
                continue;
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(ReadTrouble::Deadline);
            }
            if now >= looks_until {
                self.await_room(deadline).map_err(ReadTrouble::Lost)?;
            }
        }
        self.broken.map_or(Ok(()), |breakage| Err(ReadTrouble::broken(breakage)))
    }

    /// Sees every request out, counts what came, and tells of what came beside it. `false`: the device may go on to
    /// write.
    pub(super) fn end_reads(&mut self, is_done: bool, pieces: &[BlockRead]) -> bool {
        let settled = self.settle_reads();
        self.remind();
        if is_done {
            let runs = pieces.iter().flat_map(|piece| &piece.runs);
            let bytes: usize = runs.map(|run| run.len_bytes).sum();
            self.queue.protection.counters.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        settled
    }

    /// Where a request is still under way the connection is broken, and what is left completes with an error. `false`:
    /// it did not, and the queue pair could not be destroyed.
    fn settle_reads(&mut self) -> bool {
        if self.reads.under_way() == 0 {
            return true;
        }
        self.break_off(Breakage::Ended);
        let deadline = Instant::now() + FLUSH;
        while self.reads.under_way() > 0 {
            if self.queue.identifier.pair().is_none() {
                // Destroyed, as it could not be moved to the error state: nothing completes any more, nothing is
                // written.
                self.reads.done = self.reads.posted;
            } else if self.progress() || self.stall() {
                continue;
            } else if Instant::now() >= deadline || self.await_room(deadline).is_err() {
                // A device that does not answer: without the queue pair it has no business with the memory.
                self.reads.done = self.reads.posted;
                if let Err(trouble) = self.queue.identifier.destroy_pair() {
                    tracing::error!(%trouble, "a device that does not answer keeps what it was to read");
                    return false;
                }
            }
        }
        true
    }
}
