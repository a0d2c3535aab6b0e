//! What one-sided READs are to bring, cut into requests, each with as many places as the device takes. It also knows
//! how many requests are under way.
//!
//! READs complete in their order, so one in a few asks to be told of: its completion is that of all before it.

use super::error::ReadTrouble;
use super::landing_memory::Part;
use super::queue::READS;
use super::sys::Sge;
use crate::memory::RemoteMemory;

/// Longest request, so that several are under way.
const REQUEST_BYTES: usize = 16 << 20;
/// One in so many requests completes with a word, and the last before a wait.
const SIGNALLED: u32 = 8;

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

/// What is read of one block of the peer's.
#[derive(Debug, Clone)]
pub struct BlockRead {
    /// The block.
    pub remote: RemoteMemory,
    /// The array that it is read to, by its number.
    pub place: usize,
    /// Whether it goes there through a landing: always, where that array is not registered.
    pub is_through: bool,
    /// Its runs.
    pub runs: Vec<ReadRun>,
}

/// A request: neighbouring bytes of the peer, places of this side.
pub(super) struct Request {
    pub(super) source: u64,
    len: usize,
    pub(super) places: Vec<Sge>,
}

/// Requests posted and completed, by number: they complete in their order.
#[derive(Default)]
pub(super) struct Reads {
    pub(super) posted: u32,
    pub(super) done: u32,
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
    pub(super) fn is_told_of(&self, last: bool) -> bool {
        last || self.posted % SIGNALLED == SIGNALLED - 1 || self.under_way() + 1 >= READS
    }
}

/// A run on its way through a landing.
pub(super) struct Landed {
    /// The piece, by its number.
    pub(super) piece: usize,
    pub(super) run: ReadRun,
    /// First byte in the landing.
    pub(super) at: usize,
}

/// Cuts runs into requests, neighbours in the peer's memory together.
pub(super) fn requests(
    remote: &RemoteMemory,
    part: &Part,
    runs: &[ReadRun],
    places: usize,
) -> Result<Vec<Request>, ReadTrouble> {
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
pub(super) fn check(run: &ReadRun, remote_len: u64, destination_len: usize) -> Result<(), ReadTrouble> {
    let len = run.len_bytes as u64;
    let within = |what, start: u64, limit: u64| match start.checked_add(len) {
        Some(end) if end <= limit => Ok(()),
        end => Err(ReadTrouble::Outside { what, value: end.unwrap_or(u64::MAX), limit }),
    };
    within("end of a READ in the peer's memory", run.source, remote_len)?;
    within("end of a READ in the destination", run.destination as u64, destination_len as u64)
}

/// Puts runs one after the other into the one half of a landing and then the other, in as many batches as that takes.
pub(super) fn batches(runs: &[(usize, ReadRun)], half: usize) -> Vec<Vec<Landed>> {
    let mut batches: Vec<Vec<Landed>> = Vec::new();
    let mut filled = half;
    for &(piece, run) in runs {
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
                batch.push(Landed { piece, run, at: base + filled });
            }
            (done, filled) = (done + len_bytes, filled + len_bytes);
        }
    }
    batches
}

/// Copies what has landed to where it is wanted; both were checked to be there.
pub(super) fn copy_out(landing: &[u8], array: &mut [u8], Landed { run, at, .. }: &Landed) {
    let to = array.get_mut(run.destination..run.destination + run.len_bytes);
    if let (Some(to), Some(from)) = (to, landing.get(*at..*at + run.len_bytes)) {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_fill_one_half_of_a_landing_after_the_other() {
        let run = |(source, destination, len_bytes)| (7, ReadRun { source, destination, len_bytes });
        let runs = [(0, 0, 5), (100, 50, 3), (200, 60, 2)].map(run);
        let landed = |Landed { run, at, .. }: &Landed| ((run.source, run.destination, run.len_bytes), *at);
        let found: Vec<Vec<_>> =
            batches(&runs, 4).iter().map(|batch| batch.iter().map(landed).collect()).collect();
        let expected =
            [vec![((0, 0, 4), 0)], vec![((4, 4, 1), 4), ((100, 50, 3), 5)], vec![((200, 60, 2), 0)]];
        assert_eq!(found, expected);
    }
}
