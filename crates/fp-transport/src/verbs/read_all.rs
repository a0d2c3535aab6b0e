//! READs over many connections at once. The requests of all are posted, as far as their queues have room, before a
//! completion is awaited. So what many peers have costs one round trip, not one for each.
//!
//! Memory that is not registered is read through a landing: each connection has a share of one. One half of the share is
//! copied out while the other is READ into.
//!
//! Nobody gets memory back while a device may write to it. A connection whose READs are not over when nobody waits any
//! more is broken. That holds for a panic too.
#![allow(unsafe_code)] // devices write to borrowed memory

use super::error::{Breakage, ReadTrouble};
use super::landing_memory::{Keys, Landing, Part};
use super::queue::READS;
use super::read_requests::{BlockRead, Landed, ReadRun, Request, batches, check, copy_out, requests};
use super::stream::Stream;
use crate::socket::wait_for_any;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often it is asked whether a READ that brings nothing is to go on.
const ASK: Duration = Duration::from_millis(50);

/// An array that is read to.
pub struct ReadPlace<'d> {
    /// All of it: runs count from its beginning.
    pub memory: &'d mut [u8],
    /// By what devices write there, where they may.
    pub keys: Option<&'d Keys>,
}

/// How long READs are waited for.
pub struct ReadLimit<'a> {
    /// Until then.
    pub deadline: Instant,
    /// Asked now and then while nothing comes, with the number of a connection: whether its READs are to go on.
    pub goes_on: &'a dyn Fn(usize) -> bool,
}

impl ReadLimit<'_> {
    /// Until the deadline alone.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline, goes_on: &|_| true }
    }
}

/// What becomes the work of a connection at one time, and is over at one time.
enum Stage {
    /// A piece that goes straight to its place.
    Straight(usize),
    /// Runs that fill one half of the share of a landing.
    Landed(Vec<Landed>),
}

/// A connection's part of a landing.
struct Share {
    part: Part,
    /// The landing, by its number.
    landing: usize,
    /// Where in it the part begins.
    from: usize,
}

/// The READs of one connection.
struct Reading<'s> {
    stream: &'s mut Stream,
    pieces: &'s [BlockRead],
    share: Option<Share>,
    stages: VecDeque<Stage>,
    /// Requests of the stage that is being posted, with the piece of each.
    requests: VecDeque<(Request, usize)>,
    /// What that stage brings to the landing.
    landing: Vec<Landed>,
    /// Stages that were posted: how many requests had been posted then, and what they bring to the landing.
    posted: VecDeque<(u32, Vec<Landed>)>,
    outcome: Result<(), ReadTrouble>,
}

/// All of them; what is under way is seen out when this is dropped.
struct Readings<'a, 's, 'd> {
    all: Vec<Reading<'s>>,
    places: &'a mut [ReadPlace<'d>],
    landings: &'a mut [Landing],
}

/// Reads the pieces of each connection to their places. Returns when no device writes to any of them any more, with
/// whatever outcome; those that were not over by then are broken.
pub(crate) fn read_all(
    connections: Vec<(&mut Stream, &[BlockRead])>,
    places: &mut [ReadPlace<'_>],
    landings: &mut [Landing],
    limit: &ReadLimit<'_>,
) -> Vec<Result<(), ReadTrouble>> {
    let of = |(stream, pieces)| Reading::of(stream, pieces);
    let mut readings = Readings { all: connections.into_iter().map(of).collect(), places, landings };
    readings.plan();
    readings.run(limit);
    readings.end();
    readings.all.iter_mut().map(|reading| std::mem::replace(&mut reading.outcome, Ok(()))).collect()
}

impl Readings<'_, '_, '_> {
    /// Checks what is to be read, and says in which stages. Those that read through landings have equal shares of them.
    fn plan(&mut self) {
        let through = self.all.iter().filter(|reading| reading.goes_through()).count();
        let sharers = through.div_ceil(self.landings.len().max(1));
        let mut number = 0;
        for reading in &mut self.all {
            if reading.goes_through() {
                reading.take_share(self.landings, number, sharers);
                number += 1;
            }
            reading.outcome = reading.plan(self.places);
        }
    }

    fn run(&mut self, limit: &ReadLimit<'_>) {
        let mut moved_at = Instant::now();
        while self.all.iter().any(Reading::is_open) {
            if self.turn() {
                moved_at = Instant::now();
                continue;
            }
            let now = Instant::now();
            if now >= limit.deadline {
                return self.give_up(|_| true);
            }
            if now < moved_at + self.busy_poll() {
                std::hint::spin_loop();
            } else if !self.stall() {
                self.sleep(now, limit);
            }
        }
    }

    /// A turn of each connection; whether that got any of them on.
    fn turn(&mut self) -> bool {
        let mut moved = false;
        for reading in self.all.iter_mut().filter(|reading| reading.is_open()) {
            moved |= reading.turn(self.places, self.landings);
        }
        moved
    }

    /// How long it is looked again and again before it sleeps.
    fn busy_poll(&self) -> Duration {
        self.all.iter().map(|reading| reading.stream.busy_poll).max().unwrap_or_default()
    }

    /// Asks all to be woken, and looks once more; whether anything was there.
    fn stall(&mut self) -> bool {
        let mut any = false;
        for reading in self.all.iter_mut().filter(|reading| reading.is_open()) {
            any |= reading.stream.stall();
        }
        any
    }

    /// Until something may have come to one of them. Where nothing did, those are given up whose READs are not to go on.
    fn sleep(&mut self, now: Instant, limit: &ReadLimit<'_>) {
        let open = self.all.iter().filter(|reading| reading.is_open());
        let fds = open.flat_map(|reading| reading.stream.wakers());
        let came = wait_for_any(fds, limit.deadline.min(now + ASK));
        if !came.is_ok_and(|came| came.contains(&true)) {
            self.give_up(|at| !(limit.goes_on)(at));
        }
    }

    /// Gives up those that are open and of which that is so.
    fn give_up(&mut self, is_so: impl Fn(usize) -> bool) {
        for (at, reading) in self.all.iter_mut().enumerate() {
            if reading.is_open() && is_so(at) {
                reading.outcome = Err(ReadTrouble::Deadline);
            }
        }
    }

    /// Sees every request out, of all connections at one time: those that are not over are broken first.
    fn end(&mut self) {
        for reading in self.all.iter_mut().filter(|reading| reading.stream.reads.under_way() > 0) {
            reading.stream.break_off(Breakage::Ended);
        }
        for reading in &mut self.all {
            if reading.stream.end_reads(reading.outcome.is_ok(), reading.pieces) {
                continue;
            }
            for (at, place) in self.places.iter().enumerate() {
                let is_of = |piece: &BlockRead| piece.place == at && !piece.is_through;
                if let Some(keys) = place.keys.filter(|_| reading.pieces.iter().any(is_of)) {
                    reading.stream.take_back(keys);
                }
            }
            let share = reading.share.as_ref().and_then(|share| self.landings.get_mut(share.landing));
            share.into_iter().for_each(|landing| reading.stream.give_up_landing(landing));
        }
    }
}

impl Drop for Readings<'_, '_, '_> {
    fn drop(&mut self) {
        if self.all.iter().any(|reading| reading.stream.reads.under_way() > 0) {
            self.end();
        }
    }
}

impl<'s> Reading<'s> {
    fn of(stream: &'s mut Stream, pieces: &'s [BlockRead]) -> Self {
        Self {
            stream,
            pieces,
            share: None,
            stages: VecDeque::new(),
            requests: VecDeque::new(),
            landing: Vec::new(),
            posted: VecDeque::new(),
            outcome: Ok(()),
        }
    }

    fn goes_through(&self) -> bool {
        self.pieces.iter().any(|piece| piece.is_through)
    }

    /// Takes the part of a landing that the connection with that number has; so many have one landing.
    fn take_share(&mut self, landings: &mut [Landing], number: usize, sharers: usize) {
        let landing = number / sharers.max(1);
        let Some((memory, keys)) = landings.get_mut(landing).and_then(Landing::parts) else { return };
        let len = memory.len() / sharers.max(1);
        let from = (number % sharers.max(1)) * len;
        let memory = memory.get_mut(from..from + len).unwrap_or_default();
        let part = keys.part(memory, &self.stream.queue.protection);
        self.share = part.map(|part| Share { part, landing, from });
    }

    /// Checks every run, and cuts the work into stages.
    fn plan(&mut self, places: &[ReadPlace<'_>]) -> Result<(), ReadTrouble> {
        let mut through = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            let no_place =
                ReadTrouble::Outside { what: "array of a READ", value: piece.place as u64, limit: 0 };
            let place = places.get(piece.place).ok_or(no_place)?;
            piece.runs.iter().try_for_each(|run| check(run, piece.remote.len_bytes, place.memory.len()))?;
            match piece.is_through {
                false => self.stages.push_back(Stage::Straight(at)),
                true => through.extend(piece.runs.iter().map(|run| (at, *run))),
            }
        }
        if !through.is_empty() {
            let half = self.share.as_ref().map_or(0, |share| share.part.len / 2);
            let no_memory = ReadTrouble::Outside { what: "memory to read through", value: 0, limit: 1 };
            let stages = if half == 0 { Err(no_memory) } else { Ok(batches(&through, half)) };
            self.stages.extend(stages?.into_iter().map(Stage::Landed));
        }
        Ok(())
    }

    /// Whether there is something to post or to wait for.
    fn is_open(&self) -> bool {
        let is_over = self.stages.is_empty() && self.requests.is_empty() && self.posted.is_empty();
        self.outcome.is_ok() && !is_over
    }

    /// Takes what is complete, and posts what there is room for; whether there was anything.
    fn turn(&mut self, places: &mut [ReadPlace<'_>], landings: &mut [Landing]) -> bool {
        let mut moved = self.stream.progress();
        if let Some(breakage) = self.stream.broken {
            self.outcome = Err(ReadTrouble::broken(breakage));
            return true;
        }
        moved |= self.take_landed(places, landings);
        match self.post(places) {
            Ok(posted) => moved | posted,
            Err(trouble) => {
                self.outcome = Err(trouble);
                true
            }
        }
    }

    /// Copies out what stages that are over brought to the landing.
    fn take_landed(&mut self, places: &mut [ReadPlace<'_>], landings: &mut [Landing]) -> bool {
        let mut taken = false;
        while let Some((_, landed)) = self.posted.pop_front_if(|(number, _)| {
            self.stream.reads.under_way() <= self.stream.reads.posted.wrapping_sub(*number) as usize
        }) {
            taken = true;
            let Some(Share { landing, from, .. }) = &self.share else { continue };
            let Some((memory, _)) = landings.get_mut(*landing).and_then(Landing::parts) else { continue };
            let share = memory.get(*from..).unwrap_or_default();
            for landed in landed {
                let place = self.pieces.get(landed.piece).and_then(|piece| places.get_mut(piece.place));
                place.into_iter().for_each(|place| copy_out(share, place.memory, &landed));
            }
        }
        taken
    }

    /// Posts what there is room for: half of the queue at least, so that this comes seldom.
    fn post(&mut self, places: &mut [ReadPlace<'_>]) -> Result<bool, ReadTrouble> {
        let mut any = false;
        loop {
            while self.requests.is_empty() {
                if !self.begin_stage(places)? {
                    return Ok(any);
                }
            }
            let under_way = self.stream.reads.under_way();
            if under_way >= READS || (!any && under_way > READS / 2) {
                return Ok(any);
            }
            let Some((mut request, piece)) = self.requests.pop_front() else { return Ok(any) };
            let Some(remote) = self.pieces.get(piece).map(|piece| piece.remote) else { return Ok(any) };
            let address = remote.address.wrapping_add(request.source);
            let last = self.requests.is_empty();
            // SAFETY: the places were checked to be within memory that is registered. It is borrowed until `Readings`
            // is dropped, which sees the last request out. What lies in a half of the landing was copied out.
            unsafe { self.stream.post_read(&mut request.places, address, remote.key, last)? };
            any = true;
            if last {
                self.posted.push_back((self.stream.reads.posted, std::mem::take(&mut self.landing)));
            }
        }
    }

    /// Makes the requests of the next stage; `false` where there is none, or both halves of the landing are in use.
    fn begin_stage(&mut self, places: &mut [ReadPlace<'_>]) -> Result<bool, ReadTrouble> {
        let halves = self.posted.iter().filter(|(_, landed)| !landed.is_empty()).count();
        match self.stages.pop_front_if(|stage| matches!(stage, Stage::Straight(_)) || halves < 2) {
            None => Ok(false),
            Some(Stage::Straight(at)) => {
                self.straight(places, at)?;
                Ok(true)
            }
            Some(Stage::Landed(landed)) => {
                for of_piece in landed.chunk_by(|one, other| one.piece == other.piece) {
                    self.through(of_piece)?;
                }
                self.landing = landed;
                Ok(true)
            }
        }
    }

    fn straight(&mut self, places: &mut [ReadPlace<'_>], at: usize) -> Result<(), ReadTrouble> {
        let no_key = ReadTrouble::Outside { what: "registration of a destination", value: 0, limit: 1 };
        let Some(piece) = self.pieces.get(at) else { return Ok(()) };
        let place = places.get_mut(piece.place);
        let part = place.and_then(|place| place.keys?.part(place.memory, &self.stream.queue.protection));
        let made = requests(&piece.remote, &part.ok_or(no_key)?, &piece.runs, self.stream.queue.places)?;
        self.requests.extend(made.into_iter().map(|request| (request, at)));
        Ok(())
    }

    fn through(&mut self, landed: &[Landed]) -> Result<(), ReadTrouble> {
        let (Some(first), Some(share)) = (landed.first(), &self.share) else { return Ok(()) };
        let Some(piece) = self.pieces.get(first.piece) else { return Ok(()) };
        let to = |landed: &Landed| ReadRun { destination: landed.at, ..landed.run };
        let runs: Vec<ReadRun> = landed.iter().map(to).collect();
        let made = requests(&piece.remote, &share.part, &runs, self.stream.queue.places)?;
        self.requests.extend(made.into_iter().map(|request| (request, first.piece)));
        Ok(())
    }
}
