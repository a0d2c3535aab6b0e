//! One-sided READs over a connection: the peer's memory goes straight into places of this side, with several requests
//! under way. For places that are not registered it goes through memory that is.
#![allow(unsafe_code)] // the device writes to borrowed memory

use super::error::{Breakage, ReadTrouble, VerbsTrouble};
use super::landing_memory::{Keys, Landing, Part};
use super::queue::READS;
use super::read_requests::{Landed, ReadRun, Request, batches, check, copy_out, requests};
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
        (slice, keys): (&mut [u8], &Keys),
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
        let part = self.part_of(slice, keys)?;
        let requests = requests(remote, &part, runs, self.queue.places)?;
        // SAFETY: the places were checked to be within the slice, which is registered and borrowed until `end_reads`
        // has seen the last request out.
        let posted = unsafe { self.post_reads(requests, remote, deadline) };
        let outcome = posted.and_then(|()| self.await_reads(0, deadline));
        if !self.end_reads(&outcome, runs) {
            self.take_back(keys);
        }
        outcome
    }

    /// The same for a slice whose memory is not registered: through a landing whose memory is. One half of the landing
    /// is copied out while the other is READ into.
    pub(crate) fn read_through(
        &mut self,
        remote: &RemoteMemory,
        landing: &mut Landing,
        (slice, runs): (&mut [u8], &[ReadRun]),
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
        runs.iter().try_for_each(|run| check(run, remote.len_bytes, slice.len()))?;
        let no_memory = ReadTrouble::Outside { what: "memory to read through", value: 0, limit: 1 };
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
        if !self.end_reads(&outcome, runs) {
            self.give_up_landing(landing);
        }
        outcome
    }

    fn part_of(&self, slice: &mut [u8], keys: &Keys) -> Result<Part, ReadTrouble> {
        let what = "registration of a destination";
        keys.part(slice, &self.queue.protection).ok_or(ReadTrouble::Outside { what, value: 0, limit: 1 })
    }

    /// Begins to read a batch into its places in a landing, which its caller has until `end_reads`.
    fn land(
        &mut self,
        remote: &RemoteMemory,
        landing: &Part,
        batch: &[Landed],
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
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
    ) -> Result<[u8; 16], ReadTrouble> {
        let mut place = self.queue.probe_destination(16);
        // SAFETY: the page is registered with the queue, and borrowed with it until `end_reads` is through.
        let posted = unsafe { self.post_read(std::slice::from_mut(&mut place), address, key, true) };
        let outcome = posted.and_then(|()| self.await_reads(0, deadline));
        // What is not settled leaves the connection broken, and its page to nobody.
        self.end_reads(&outcome, &[]);
        outcome?;
        Ok(self.queue.probe().first_chunk().copied().unwrap_or_default())
    }

    /// # Safety
    /// As `Queue::post_read`, until `end_reads` returns.
    unsafe fn post_reads(
        &mut self,
        requests: Vec<Request>,
        remote: &RemoteMemory,
        deadline: Instant,
    ) -> Result<(), ReadTrouble> {
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
    fn end_reads(&mut self, outcome: &Result<(), ReadTrouble>, runs: &[ReadRun]) -> bool {
        let settled = self.settle_reads();
        self.remind();
        if outcome.is_ok() {
            let bytes: usize = runs.iter().map(|run| run.len_bytes).sum();
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
