//! Receiving the answers of several owners in turns. Boxes that lie beside one another in the array are then copied row by
//! row, also those of several owners. So the array is written from its beginning to its end.

use crate::data::taker::fetch::asking::{LIMIT_OPEN_BYTES, LIMIT_OPEN_REQUESTS};
use crate::data::taker::fetch::job::{Errand, Job, LIMIT_LATE_BYTES};
use crate::data::taker::fetch::scatter::count_copied;
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::{OwnerError, OwnerLink, Sink as _};
use crate::data::taker::piece_copies::PieceCopies;
use crate::error::ReadError;
use fp_types::CopyError;
use smallvec::SmallVec;
use std::io::IoSliceMut;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Bytes of a turn, of all owners: they stay in a core's cache until they are in their places.
const LIMIT_TURN_BYTES: usize = 512 << 10;

/// Owners whose answers may come at one time though they are long, and bytes of these answers.
const FEW_OWNERS: usize = 8;
const LIMIT_FEW_BYTES: usize = 256 << 20;

/// How long answers that come wait for those of other owners.
const PATIENCE_OTHERS: Duration = Duration::from_millis(20);

impl Job<'_, '_, '_> {
    /// Whether the answers of all owners are received in turns: the pieces of the one array are many short blocks, and
    /// come over connections. All owners are asked at one time then.
    pub(crate) fn is_received_in_turns(&self, errands: &[Errand]) -> bool {
        let ([get], 2..=LIMIT_OPEN_REQUESTS) = (&*self.gets, errands.len()) else { return false };
        let limit_bytes = if errands.len() <= FEW_OWNERS { LIMIT_FEW_BYTES } else { LIMIT_OPEN_BYTES };
        let comes = |errand: &Errand| errand.peer.as_ref().is_some_and(|peer| comes_as_bytes(peer));
        get.destination.len() <= limit_bytes
            && get.planned.copies().order_of_answers(errands.len()).is_some()
            && errands.iter().all(comes)
    }

    /// Receives the answers of all owners, if all of them come: a turn has the next pieces in the order of their places.
    /// Answers that have waited for others since then are received by themselves. Says until when they wait.
    pub(crate) fn receive_in_turns(
        &mut self,
        errands: &mut [Errand],
        since: Instant,
    ) -> Result<Option<Instant>, ReadError> {
        let (until, awaited) = (since + PATIENCE_OTHERS, errands.iter().any(Errand::is_awaited));
        if awaited && Instant::now() < until {
            return Ok(Some(until));
        }
        // What is missing after this is taken as it comes.
        self.takes_turns = false;
        let planned = self.gets.first().map(|get| get.planned.clone());
        let mut taken: SmallVec<[usize; FEW_OWNERS]> = SmallVec::from_elem(0, errands.len());
        let outcome = match planned.filter(|planned| !awaited && are_all_coming(planned, errands)) {
            Some(planned) => self.take_turns(&planned, errands, &mut taken),
            None => Ok(()),
        };
        // What is missing is what was asked for, in its order, wherever anything was taken.
        errands.iter_mut().zip(&taken).for_each(|(errand, taken)| drop(errand.missing.drain(..*taken)));
        if let Err((owner, error)) = outcome
            && let Some(errand) = errands.get_mut(owner)
        {
            let mut error = Some(error);
            self.guard(errand, |_, _| error.take().map_or(Ok(()), Err))?;
        }
        for (errand, taken) in errands.iter_mut().zip(taken) {
            // Of whoever is dialled again nothing comes.
            if std::mem::take(&mut errand.is_placed) {
                self.guard(errand, |job, errand| job.receive_rest(errand, taken))?;
            }
        }
        Ok(None)
    }

    /// Passes over an answer that comes and that nobody wants any more, if it is short and here.
    pub(crate) fn pass_over(errand: &mut Errand) {
        let is_short = errand.is_placed && errand.asked_bytes <= LIMIT_LATE_BYTES;
        let Some(peer) = errand.peer.as_mut().filter(|_| is_short) else { return };
        let mut aside = vec![0; errand.asked_bytes];
        while peer.link.recv_body(&mut [IoSliceMut::new(&mut aside)]).is_ok_and(|received| received > 0) {}
        if peer.link.body_remaining() == 0 {
            errand.request = None;
        }
    }

    /// Receives turn by turn, and counts of each owner what is in its place.
    fn take_turns(
        &mut self,
        planned: &FetchPlan,
        errands: &mut [Errand],
        taken: &mut [usize],
    ) -> Result<(), (usize, OwnerError)> {
        let copies = planned.copies();
        let (taker, limit) = (self.taker, self.limit);
        let Some(get) = self.gets.first_mut() else { return Ok(()) };
        let mut rest = copies.order_of_answers(errands.len()).unwrap_or_default();
        let mut aside = Vec::new();
        while !rest.is_empty() {
            let turn = Turn::of(copies, rest, errands.len());
            rest = rest.get(turn.pieces.len()..).unwrap_or_default();
            aside.resize(turn.len_bytes(), 0);
            let mut outcome = Ok(errands.len());
            for (owner, errand) in errands.iter_mut().enumerate() {
                let own = turn.bytes_of(owner);
                let (Some(peer), Some(own)) = (&mut errand.peer, aside.get_mut(own)) else { continue };
                let (len, patience) = (own.len(), taker.patience(errand.rank, limit));
                if let Err(error) = patience.receive(&mut peer.link, &mut [IoSliceMut::new(own)]) {
                    outcome = Err((owner, error));
                    break;
                }
                taker.counters.count_staged(&peer.link, len);
            }
            // Of a turn that fails, what came before is not asked for again.
            let came = *outcome.as_ref().unwrap_or_else(|(owner, _)| owner);
            let copied = turn.copy(came, &aside, get.destination);
            let copied = copied.map_err(|error| (0, OwnerError::Misbehaved(error.to_string())))?;
            count_copied(taker.counters, copied);
            turn.count(came, taken);
            outcome.map_err(|(owner, error)| (owner, error.into()))?;
        }
        Ok(())
    }

    /// Receives what is left of an answer that comes.
    fn receive_rest(&mut self, errand: &mut Errand, taken: usize) -> Result<(), OwnerError> {
        let asked = errand.asked.len();
        self.take_in(errand, |peer, sink, patience| {
            (taken..asked).try_for_each(|at| sink.requested(&mut peer.link, at, patience))?;
            match peer.link.body_remaining() {
                0 => Ok(Some(())),
                _ => Err(OwnerError::Misbehaved("a body that is longer than its pieces".to_owned())),
            }
        })?;
        errand.request = None;
        Ok(())
    }
}

fn comes_as_bytes(peer: &OwnerLink) -> bool {
    !peer.shares_memory() && !peer.link.reads_remote()
}

/// Whether every piece comes, and nothing came in another way.
fn are_all_coming(planned: &FetchPlan, errands: &[Errand]) -> bool {
    let is_asked = |errand: &Errand| errand.is_placed && *errand.asked == *errand.missing;
    let asked: usize = errands.iter().map(|errand| errand.asked.len()).sum();
    asked == planned.plan.pieces.len() && errands.iter().all(is_asked)
}

/// Pieces that follow one another in the order of their places, and are received together.
struct Turn<'p> {
    copies: &'p PieceCopies,
    pieces: &'p [u32],
    /// Where the bytes of each owner end, and those of the next begin.
    ends: SmallVec<[usize; FEW_OWNERS]>,
}

impl<'p> Turn<'p> {
    /// The first of these pieces: at least one, and as many as there is room for.
    fn of(copies: &'p PieceCopies, rest: &'p [u32], owners: usize) -> Self {
        let mut lens: SmallVec<[usize; FEW_OWNERS]> = SmallVec::from_elem(0, owners);
        let mut all = 0usize;
        let fits = |(number, piece): &(usize, &u32)| {
            let len = copies.len_bytes(**piece);
            all = all.saturating_add(len);
            let fits = *number == 0 || all <= LIMIT_TURN_BYTES;
            if let Some(own) = copies.owner(**piece as usize).and_then(|owner| lens.get_mut(owner))
                && fits
            {
                *own += len;
            }
            fits
        };
        let count = rest.iter().enumerate().take_while(fits).count();
        let ends = lens.iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        Self { copies, pieces: rest.get(..count).unwrap_or_default(), ends: ends.collect() }
    }

    fn len_bytes(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Where the bytes of an owner are.
    fn bytes_of(&self, owner: usize) -> Range<usize> {
        let end = |owner: usize| self.ends.get(owner).copied().unwrap_or_default();
        owner.checked_sub(1).map_or(0, end)..end(owner)
    }

    /// Copies the pieces of the first owners, and says how many bytes that was.
    fn copy(&self, owners: usize, bytes: &[u8], destination: &mut [u8]) -> Result<usize, CopyError> {
        let mut next: SmallVec<[usize; FEW_OWNERS]> =
            (0..self.ends.len()).map(|owner| self.bytes_of(owner).start).collect();
        let block = |piece: u32| {
            let owner = self.copies.owner(piece as usize).filter(|owner| *owner < owners)?;
            let next = next.get_mut(owner)?;
            let start = *next;
            *next += self.copies.len_bytes(piece);
            bytes.get(start..*next)
        };
        self.copies.copy_in_order(self.pieces, block, destination)
    }

    /// Adds the pieces of the first owners to what was taken of each.
    fn count(&self, owners: usize, taken: &mut [usize]) {
        let owner = |piece: &u32| self.copies.owner(*piece as usize);
        for owner in self.pieces.iter().filter_map(owner).filter(|owner| *owner < owners) {
            if let Some(taken) = taken.get_mut(owner) {
                *taken += 1;
            }
        }
    }
}
