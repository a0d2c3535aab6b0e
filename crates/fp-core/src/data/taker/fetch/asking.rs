//! Asking for what is late, and waiting for what comes. All owners of a fetch are asked before the first answer is
//! awaited, and answers are taken as they come. So a fetch from many owners costs one round trip, not one for each.

use crate::data::taker::fetch::job::{Errand, Job};
use crate::data::taker::fetch_plan::request_bytes;
use crate::data::taker::owner_link::OwnerError;
use crate::error::ReadError;
use crate::value::counters::Counters;
use fp_proto::data::DataMessage;
use fp_transport::{Link, LinkError};
use smallvec::SmallVec;
use std::time::{Duration, Instant};

/// How long a placement may be late before it is asked for, and how much longer it may be by each block, and by all.
const PATIENCE_PLACED: Duration = Duration::from_millis(1);
const PATIENCE_BLOCK: Duration = Duration::from_micros(1);
const LIMIT_PATIENCE_PLACED: Duration = Duration::from_millis(20);

/// The same over verbs, where a request has the owner copy what could be READ.
const PATIENCE_REMOTE: Duration = Duration::from_millis(20);

/// How long a push may be late before it is asked for.
const PATIENCE_PUSHED: Duration = Duration::from_secs(5);

/// Bytes of one request, at most as many as fit a frame: of very many pieces the rest is asked for after the answer.
const LIMIT_REQUEST_BYTES: usize = 12 << 20;

/// Requests of one fetch that are open at one time, one for each owner.
pub(crate) const LIMIT_OPEN_REQUESTS: usize = 128;

/// No owner is asked while so many bytes are to come. They are on a wire, or wait in sockets: answers that come all at
/// once are more than a switch has room for. Answers that are received in turns have bounds of their own.
pub(crate) const LIMIT_OPEN_BYTES: usize = 64 << 20;

/// What a fetch has asked for and not got.
#[derive(Default)]
struct Open {
    requests: usize,
    len_bytes: usize,
}

impl Open {
    fn add(&mut self, errand: &Errand) {
        if errand.request.is_some() {
            self.requests += 1;
            self.len_bytes += errand.asked_bytes;
        }
    }

    fn has_room(&self) -> bool {
        self.requests < LIMIT_OPEN_REQUESTS && self.len_bytes < LIMIT_OPEN_BYTES
    }
}

impl Job<'_, '_, '_> {
    /// READs what can be READ, asks for what is late, and waits for what is missing.
    pub(crate) fn complete(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        if !errands.iter().any(Errand::is_open) {
            return Ok(());
        }
        let since = Instant::now();
        loop {
            if self.waits_for_all {
                self.copy_together(errands)?;
            }
            let turns = match self.takes_turns {
                true => self.receive_in_turns(errands, since)?,
                false => None,
            };
            self.read_placed(errands)?;
            if !errands.iter().any(Errand::is_open) {
                return Ok(());
            }
            let until = self.ask_the_late(errands, since)?;
            self.take_what_comes(errands, turns.map_or(until, |turns| turns.min(until)))?;
        }
    }

    /// Asks every owner that is late, as far as there is room. Says when the next one is.
    fn ask_the_late(&mut self, errands: &mut [Errand], since: Instant) -> Result<Instant, ReadError> {
        let now = Instant::now();
        let mut awaited = errands.iter_mut().filter(|errand| errand.is_awaited());
        if self.waits_for_all && awaited.any(|errand| now >= self.due(errand, since)) {
            self.copy_apart(errands)?;
        }
        let (mut until, mut open) = (self.limit.deadline, Open::default());
        errands.iter().filter(|errand| errand.is_open()).for_each(|errand| open.add(errand));
        for errand in errands.iter_mut().filter(|errand| errand.is_awaited() && errand.request.is_none()) {
            if !self.takes_turns && !open.has_room() {
                // An answer comes first: room is made by what is awaited.
                break;
            }
            self.guard(errand, |job, errand| {
                until = until.min(job.ask_when_late(errand, since)?);
                Ok(())
            })?;
            open.add(errand);
        }
        Ok(until)
    }

    /// When the owner is to be asked, at the latest; asks if that is now.
    pub(crate) fn ask_when_late(
        &mut self,
        errand: &mut Errand,
        since: Instant,
    ) -> Result<Instant, OwnerError> {
        if errand.request.is_some() {
            return Ok(self.limit.deadline);
        }
        let due = self.due(errand, since);
        if Instant::now() < due {
            return Ok(due.min(self.limit.deadline));
        }
        self.ask(errand)?;
        Ok(self.limit.deadline)
    }

    /// Asks for what is missing. It stays missing until it is here: whatever becomes of the request, it is asked for
    /// again.
    fn ask(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        let Some(peer) = &mut errand.peer else { return Ok(()) };
        let (mut pieces, mut len_bytes) = (Vec::new(), 0);
        errand.asked.clear();
        errand.asked_bytes = 0;
        for &missing in &errand.missing {
            let Some(planned) = self.gets.get(missing.get).map(|get| &get.planned) else { continue };
            let Some(piece) = planned.wanted.get(missing.piece) else { continue };
            len_bytes += request_bytes(piece);
            if len_bytes > LIMIT_REQUEST_BYTES && !pieces.is_empty() {
                break;
            }
            errand.asked.push(missing);
            pieces.push(piece.clone());
            // Where memory is shared the answer only says where the bytes are.
            if !peer.shares_memory() {
                let len = (piece.part.element_count() as usize).saturating_mul(planned.element_size);
                errand.asked_bytes = errand.asked_bytes.saturating_add(len);
            }
        }
        Counters::add(&self.taker.counters.requests, 1);
        let (step, len) = (self.taker.step, pieces.len());
        let question = |request| DataMessage::Fetch { request, step, pieces };
        errand.request = Some(peer.ask(len, question, self.limit.deadline)?);
        Ok(())
    }

    /// When an owner is late that was first heard then.
    fn due(&self, errand: &mut Errand, since: Instant) -> Instant {
        if let Some(due) = errand.due {
            return due;
        }
        let left = self.limit.deadline.saturating_duration_since(since);
        *errand.due.insert(since + self.patience(errand, left))
    }

    fn patience(&self, errand: &Errand, left: Duration) -> Duration {
        let Some(peer) = &errand.peer else { return Duration::ZERO };
        let names = || errand.gets(self.gets).map(|planned| &planned.def.name);
        if peer.shares_memory() {
            // Of many blocks it takes longer to say.
            let of_blocks = PATIENCE_BLOCK.saturating_mul(errand.missing.len() as u32);
            let comes = names().all(|name| peer.wants(name));
            // And time is left for an answer.
            let long = (PATIENCE_PLACED + of_blocks).min(LIMIT_PATIENCE_PLACED).min(left / 2);
            return if comes { long } else { Duration::ZERO };
        }
        if peer.link.reads_remote() {
            // What was placed and is not READ has to be asked for: nothing more will come of itself.
            let placed = |missing: &_| self.remote(errand, missing).is_some();
            let comes = names().all(|name| peer.wants(name)) && !errand.missing.iter().any(placed);
            return if comes { PATIENCE_REMOTE } else { Duration::ZERO };
        }
        let comes = names().any(|name| peer.pushes(name)) && !peer.pushes_done(self.taker.step);
        if comes { PATIENCE_PUSHED } else { Duration::ZERO }
    }

    /// Waits until one of the owners says something, or until then, and hears those that did.
    fn take_what_comes(&mut self, errands: &mut [Errand], until: Instant) -> Result<(), ReadError> {
        let open = errands.iter_mut().filter(|errand| errand.is_awaited());
        let mut open: SmallVec<[&mut Errand; 1]> = open.collect();
        if let [errand] = &mut open[..] {
            return self.guard(errand, |job, errand| {
                job.await_peer(errand, until)?;
                job.hear_all(errand)
            });
        }
        let came = self.await_any(&mut open, until)?;
        let heard = open.into_iter().zip(&came).filter(|(_, came)| **came);
        for (errand, _) in heard {
            self.guard(errand, Self::hear_all)?;
        }
        Ok(())
    }

    /// Waits for several owners; says of each whether it has said something.
    fn await_any(&mut self, open: &mut [&mut Errand], until: Instant) -> Result<Vec<bool>, ReadError> {
        let Some(first) = open.first_mut() else { return Ok(Vec::new()) };
        let mut wake = until;
        self.guard(first, |job, errand| {
            wake = job.taker.patience(errand.rank, job.limit).wake(until)?;
            Ok(())
        })?;
        let links = open.iter_mut().filter_map(|errand| Some(&mut errand.peer.as_mut()?.link));
        let came = Link::await_any(&mut links.collect::<Vec<_>>(), wake);
        let came = came.unwrap_or_else(|error| {
            // Each is then heard, and says what is wrong with it.
            tracing::warn!(%error, "links cannot be awaited together");
            vec![true; open.len()]
        });
        if !came.contains(&true) {
            for errand in open.iter_mut() {
                let rank = errand.rank;
                self.guard(errand, |job, _| Ok(job.taker.patience(rank, job.limit).go_on()?))?;
            }
        }
        Ok(came)
    }

    pub(crate) fn await_peer(&self, errand: &mut Errand, until: Instant) -> Result<(), OwnerError> {
        let patience = self.taker.patience(errand.rank, self.limit);
        let Some(peer) = &mut errand.peer else { return Err(LinkError::Closed.into()) };
        if peer.link.has_buffered() {
            return Ok(());
        }
        Ok(patience.await_bytes(&mut peer.link, until)?)
    }
}
