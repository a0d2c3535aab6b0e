//! Fetching: the pieces of one or several gets, from their owners straight into the caller's memory.
//!
//! First what the owners have placed already is copied; then, for what is missing, their placements and pushes are
//! awaited for a moment; then it is asked for. Everything happens on the caller's thread, on links that it has
//! checked out, and the call returns only when nothing can write into the caller's memory any more.

mod describing;
mod destination;
mod dialling;
mod inline;
mod locating;
mod offers;
mod questions;
mod reading;

use crate::derived::is_made_when_asked;
use crate::error::{Misuse, ReadError};
use crate::owners::{Checkout, LIMIT_LINKS, Owners};
use crate::patience::{Limit, Patience};
use crate::peer::{DataPeer, Heard, PeerError};
use crate::planned::{Planned, request_bytes};
use crate::statistics::Counters;
use crate::subscriber::SubscriberShared;
pub(crate) use describing::describe;
use destination::{Destination, count_copied, unpack};
use dialling::{dial, dial_all};
use fp_proto::data::GoneReason;
use fp_transport::{Keys, LinkError};
use fp_types::{Epoch, Rank, StepId};
pub(crate) use inline::{INLINE_BYTES, fetch_inline, locate_inline};
pub(crate) use locating::locate;
pub(crate) use offers::{offers, transform};
pub(crate) use reading::READ_BYTES;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a placement may be late before it is asked for.
const PATIENCE_PLACED: Duration = Duration::from_millis(1);
/// The same over verbs, where a request has the owner copy what could be READ.
const PATIENCE_REMOTE: Duration = Duration::from_millis(20);
/// How long a push may be late before it is asked for.
const PATIENCE_PUSHED: Duration = Duration::from_secs(5);

/// Bytes of one request, at most as many as fit a frame: of very many pieces the rest is asked for after the answer.
const LIMIT_REQUEST_BYTES: usize = 12 << 20;

/// One array to be filled.
pub(crate) struct Get<'a> {
    pub(crate) planned: Arc<Planned>,
    pub(crate) destination: &'a mut [u8],
    /// By what devices write there, if the memory is registered or may be.
    pub(crate) keys: Option<&'a Keys>,
}

impl<'a> Get<'a> {
    /// Into memory that no device writes to.
    pub(crate) fn new(planned: Arc<Planned>, destination: &'a mut [u8]) -> Self {
        Self { planned, destination, keys: None }
    }
}

/// A piece that is still to come: which get, which piece of its plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    get: usize,
    piece: usize,
}

/// An owner and what is missing from it.
struct Errand {
    rank: Rank,
    /// Whether the slot of the link is this fetch's.
    checked_out: bool,
    peer: Option<Box<DataPeer>>,
    missing: Vec<Missing>,
    /// The pieces of the request under way, in its order, which rises.
    asked: Vec<Missing>,
    request: Option<u64>,
    redialled: bool,
}

/// A fetch under way.
struct Job<'s, 'g, 'd> {
    shared: &'s SubscriberShared,
    step: StepId,
    epoch: Option<Epoch>,
    gets: &'g mut [Get<'d>],
    started: Instant,
    deadline: Instant,
    given_up: Option<&'s AtomicBool>,
}

/// Fills every get of one step.
pub(crate) fn fetch(
    shared: &SubscriberShared,
    (step, epoch): (StepId, Option<Epoch>),
    gets: &mut [Get<'_>],
    Limit { deadline, given_up }: Limit<'_>,
) -> Result<(), ReadError> {
    let mut errands = errands(gets);
    let mut job = Job { shared, step, epoch, gets, started: Instant::now(), deadline, given_up };
    for wave in errands.chunks_mut(LIMIT_LINKS) {
        let outcome = job.run(wave);
        job.give_back(wave);
        outcome?;
    }
    Ok(())
}

fn errands(gets: &[Get<'_>]) -> Vec<Errand> {
    let pieces = |get: usize| gets[get].planned.plan.pieces.iter().enumerate().map(move |it| (get, it));
    let mut all: Vec<(Rank, Missing)> = (0..gets.len())
        .flat_map(pieces)
        .filter(|(_, (_, planned))| planned.element_count() > 0)
        .map(|(get, (piece, planned))| (planned.block.rank, Missing { get, piece }))
        .collect();
    all.sort_by_key(|(rank, _)| *rank);
    let errand = |of_rank: &[(Rank, Missing)]| {
        Some(Errand::new(of_rank.first()?.0, of_rank.iter().map(|(_, missing)| *missing).collect()))
    };
    all.chunk_by(|one, other| one.0 == other.0).filter_map(errand).collect()
}

impl Errand {
    fn new(rank: Rank, missing: Vec<Missing>) -> Self {
        let asked = Vec::new();
        Self { rank, checked_out: false, peer: None, missing, asked, request: None, redialled: false }
    }
}

impl Job<'_, '_, '_> {
    fn run(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        self.link_up(errands)?;
        if self.given_up.is_some_and(|given_up| given_up.load(Ordering::Relaxed)) {
            return Err(self.timed_out("nobody, as it was given up".to_owned()));
        }
        for errand in errands.iter_mut() {
            self.guard(errand, |job, errand| job.first_look(errand))?;
        }
        for errand in errands.iter_mut() {
            while !errand.missing.is_empty() {
                self.guard(errand, |job, errand| job.complete(errand))?;
            }
        }
        Ok(())
    }

    fn give_back(&self, errands: &mut [Errand]) {
        for errand in errands.iter_mut().filter(|errand| errand.checked_out) {
            // A link on which something is still under way cannot be used again, but for the answer to a request
            // that was settled by what came unasked: that is passed over when it comes.
            let settled = errand.request.is_none() || errand.missing.is_empty();
            let idle = |peer: &DataPeer| settled && peer.link.body_remaining() == 0;
            let peer = errand.peer.take().filter(|peer| idle(peer));
            self.shared.owners.give_back(errand.rank, self.epoch, peer);
        }
    }

    /// Where an owner is that was never fetched from is asked for, and with it where all others of this fetch are.
    fn checkout(&self, rank: Rank) -> Result<Checkout, ReadError> {
        let owners = &self.shared.owners;
        let found = owners.checkout(rank, self.epoch, self.deadline);
        if !matches!(found, Checkout::NoContact) {
            return Ok(found);
        }
        let pieces = self.gets.iter().flat_map(|get| get.planned.plan.pieces.iter());
        let ranks = pieces.map(|piece| piece.block.rank).chain([rank]);
        self.shared.learn_contacts((self.step, self.epoch), ranks, self.deadline)?;
        Ok(owners.checkout(rank, self.epoch, self.deadline))
    }

    /// Checks the links out, dialling those that are not there, several at a time.
    fn link_up(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        let mut dials = Vec::new();
        for (at, errand) in errands.iter_mut().enumerate() {
            match self.checkout(errand.rank)? {
                Checkout::Link(peer) => {
                    errand.peer = Some(peer);
                    errand.checked_out = true;
                }
                Checkout::Dial(contact) => {
                    errand.checked_out = true;
                    dials.push((at, errand.rank, contact));
                }
                Checkout::NoContact => {
                    return Err(self.lost(errand.rank, "its contact is not known".to_owned()));
                }
                Checkout::OtherEpoch => {
                    return Err(self.lost(errand.rank, "its opening of the stream is over".to_owned()));
                }
                Checkout::Busy => return Err(self.timed_out(format!("the link to rank {}", errand.rank))),
            }
        }
        if dials.is_empty() {
            return Ok(());
        }
        let contacts: Vec<&str> = dials.iter().map(|(_, _, contact)| &*contact.0).collect();
        let dialled = dial_all(self.shared, &contacts, self.deadline);
        for ((at, _, _), outcome) in dials.iter().zip(dialled) {
            let Some(errand) = errands.get_mut(*at) else { continue };
            let link = outcome.map_err(|what| self.lost(errand.rank, what))?;
            Counters::add(&self.shared.counters.data_links, 1);
            errand.peer = Some(Box::new(DataPeer::new(link)));
        }
        Ok(())
    }

    /// Runs a stage for one owner; a lost link is dialled again once, as fetches repeat safely.
    fn guard(
        &mut self,
        errand: &mut Errand,
        stage: impl Fn(&mut Self, &mut Errand) -> Result<(), PeerError>,
    ) -> Result<(), ReadError> {
        match stage(self, errand) {
            Ok(()) => Ok(()),
            Err(PeerError::Link(LinkError::Deadline { waiting_for })) => {
                Err(self.timed_out(format!("{waiting_for} from rank {}", errand.rank)))
            }
            Err(PeerError::Link(error)) if errand.redialled => Err(self.lost(errand.rank, error.to_string())),
            Err(PeerError::Link(error)) => self.redial(errand, &error),
            Err(PeerError::Misbehaved(what)) => {
                errand.peer = None;
                let stream = self.shared.stream.clone();
                Err(ReadError::PeerMisbehaved { stream, step: self.step, rank: errand.rank, what })
            }
            Err(PeerError::Gone(reason)) => {
                errand.request = None;
                let (stream, what) = (self.shared.stream.clone(), gone(reason));
                Err(ReadError::Gone { stream, step: self.step, rank: errand.rank, what })
            }
        }
    }

    /// The slot stays this fetch's meanwhile: to wait for it again could wait for ever for one who waits for ours.
    fn redial(&mut self, errand: &mut Errand, error: &LinkError) -> Result<(), ReadError> {
        tracing::debug!(%error, rank = %errand.rank, "data link lost, dialling again");
        (errand.peer, errand.request, errand.redialled) = (None, None, true);
        errand.asked.clear();
        let owners = &self.shared.owners;
        let contact = owners.contact(errand.rank, self.epoch);
        let Some(contact) = contact.filter(|_| !owners.is_lost(errand.rank, self.epoch)) else {
            return Err(self.lost(errand.rank, error.to_string()));
        };
        let link = dial(self.shared, &contact.0, self.deadline);
        let link = link.map_err(|what| self.lost(errand.rank, what))?;
        Counters::add(&self.shared.counters.data_links, 1);
        errand.peer = Some(Box::new(DataPeer::new(link)));
        Ok(())
    }

    fn patience_for(&self, rank: Rank) -> Patience<'_> {
        let owners: &Owners = &self.shared.owners;
        let limit = Limit { deadline: self.deadline, given_up: self.given_up };
        Patience { owners, rank, epoch: self.epoch, limit }
    }

    /// Copies what is here, and tells the owner what will be wanted again.
    fn first_look(&mut self, errand: &mut Errand) -> Result<(), PeerError> {
        self.copy_placed(errand)?;
        self.hear_all(errand)?;
        if errand.missing.is_empty() { Ok(()) } else { self.tell_wants(errand) }
    }

    fn tell_wants(&mut self, errand: &mut Errand) -> Result<(), PeerError> {
        let Some(peer) = &mut errand.peer else { return Ok(()) };
        let Some(membership) = self.shared.membership() else { return Ok(()) };
        let gets = &self.gets;
        let planned =
            errand.missing.iter().filter_map(|missing| gets.get(missing.get)).map(|get| &get.planned);
        let one = |planned: &'_ Arc<Planned>| {
            let name = planned.def.name.as_str();
            (name.to_owned(), planned.element_size, self.shared.standing(name))
        };
        // What is made when it is asked for never comes of itself.
        let planned = planned.filter(|planned| !is_made_when_asked(&planned.def.name));
        let wanted: Vec<(String, usize, Option<fp_types::Selection>)> = planned.map(one).collect();
        let wanted = wanted.iter().map(|(name, size, push)| (name.as_str(), *size, push.clone()));
        peer.want(membership, wanted, self.deadline)?;
        Ok(())
    }

    /// Waits for the missing pieces of one owner, and asks for them when they are late.
    fn complete(&mut self, errand: &mut Errand) -> Result<(), PeerError> {
        let since = Instant::now();
        while !errand.missing.is_empty() {
            self.hear_all(errand)?;
            if errand.missing.is_empty() && errand.request.is_none() {
                return Ok(());
            }
            let until = self.ask_when_late(errand, since)?;
            if !errand.missing.is_empty() || errand.request.is_some() {
                self.await_peer(errand, until)?;
            }
        }
        Ok(())
    }

    /// When the owner is to be asked, at the latest; asks if that is now.
    fn ask_when_late(&mut self, errand: &mut Errand, since: Instant) -> Result<Instant, PeerError> {
        if errand.request.is_some() {
            return Ok(self.deadline);
        }
        let patience = self.patience(errand);
        let due = since + patience;
        if Instant::now() < due {
            return Ok(due.min(self.deadline));
        }
        let Some(peer) = &mut errand.peer else { return Ok(self.deadline) };
        let gets = &self.gets;
        let wanted = |missing: &Missing| gets.get(missing.get)?.planned.wanted.get(missing.piece);
        let (mut pieces, mut len_bytes) = (Vec::new(), 0);
        errand.asked.clear();
        for (missing, piece) in errand.missing.iter().filter_map(|missing| Some((missing, wanted(missing)?)))
        {
            len_bytes += request_bytes(piece);
            if len_bytes > LIMIT_REQUEST_BYTES && !pieces.is_empty() {
                break;
            }
            errand.asked.push(*missing);
            pieces.push(piece.clone());
        }
        Counters::add(&self.shared.counters.requests, 1);
        // The pieces stay missing until they are here: whatever becomes of the request, they are asked for again.
        errand.request = Some(peer.request(self.step, pieces, self.deadline)?);
        Ok(self.deadline)
    }

    fn patience(&self, errand: &Errand) -> Duration {
        let Some(peer) = &errand.peer else { return Duration::ZERO };
        let names = || {
            errand
                .missing
                .iter()
                .filter_map(|missing| self.gets.get(missing.get))
                .map(|get| &get.planned.def.name)
        };
        if peer.shares_memory() {
            return if names().all(|name| peer.wants(name)) { PATIENCE_PLACED } else { Duration::ZERO };
        }
        if peer.link.reads_remote() {
            // What was placed and is not READ has to be asked for: nothing more will come of itself.
            let placed = |missing: &Missing| {
                let wanted = self.gets.get(missing.get).and_then(|get| get.planned.wanted.get(missing.piece));
                wanted.is_some_and(|piece| peer.remote(self.step, &piece.variable, piece.block).is_some())
            };
            let comes = names().all(|name| peer.wants(name)) && !errand.missing.iter().any(placed);
            return if comes { PATIENCE_REMOTE } else { Duration::ZERO };
        }
        let comes = names().any(|name| peer.pushes(name)) && !peer.pushes_done(self.step);
        if comes { PATIENCE_PUSHED } else { Duration::ZERO }
    }

    fn await_peer(&self, errand: &mut Errand, until: Instant) -> Result<(), PeerError> {
        let patience = self.patience_for(errand.rank);
        let Some(peer) = &mut errand.peer else { return Ok(()) };
        if peer.link.has_buffered() {
            return Ok(());
        }
        Ok(patience.await_bytes(&mut peer.link, until)?)
    }

    /// Takes the messages that are here and copies what they place, until nothing is missing: what was pushed for
    /// later steps is left in the connection, to go straight to its place when it is fetched.
    fn hear_all(&mut self, errand: &mut Errand) -> Result<(), PeerError> {
        while !errand.missing.is_empty() || errand.request.is_some() {
            match self.hear(errand)? {
                None => return Ok(()),
                Some(Heard::News) => {}
                Some(Heard::Placed) => self.copy_placed(errand)?,
                Some(Heard::Answered(request)) => {
                    errand.request.take_if(|open| *open == request);
                    self.copy_placed(errand)?;
                }
            }
        }
        Ok(())
    }

    fn hear(&mut self, errand: &mut Errand) -> Result<Option<Heard>, PeerError> {
        let Some(peer) = &mut errand.peer else { return Ok(None) };
        let (missing, asked) = (&mut errand.missing, &errand.asked);
        let (shared, rank) = (self.shared, errand.rank);
        let limit = Limit { deadline: self.deadline, given_up: self.given_up };
        let patience = Patience { owners: &shared.owners, rank, epoch: self.epoch, limit };
        let mut sink = Destination { gets: &mut *self.gets, missing, asked, counters: &shared.counters };
        peer.hear(&mut sink, self.step, &patience, &shared.counters)
    }

    /// Copies what the owner has placed or pushed before. Where that fails, all that is not here stays missing.
    fn copy_placed(&mut self, errand: &mut Errand) -> Result<(), PeerError> {
        let mut missing = std::mem::take(&mut errand.missing);
        let mut outcome = Ok(());
        missing.retain(|&one| {
            let taken = if outcome.is_ok() { self.take_piece(errand, one) } else { Ok(false) };
            !taken.unwrap_or_else(|error| {
                outcome = Err(error);
                false
            })
        });
        errand.missing = missing;
        outcome?;
        if errand.missing.is_empty() && errand.peer.as_ref().is_some_and(|peer| peer.shares_memory()) {
            // The answer to a request that came too late says nothing new.
            errand.request = None;
        }
        Ok(())
    }

    /// Takes a piece that is known or can be READ; `false`: it is still to come.
    fn take_piece(&mut self, errand: &mut Errand, missing: Missing) -> Result<bool, PeerError> {
        let Some(peer) = &mut errand.peer else { return Ok(false) };
        let Some(get) = self.gets.get_mut(missing.get) else { return Ok(true) };
        let (step, piece, counters) = (self.step, missing.piece, &self.shared.counters);
        if take_known(peer, step, get, piece, counters)? {
            return Ok(true);
        }
        // What was asked for is on its way: READ now, it would come twice.
        let comes = || errand.request.is_some() && errand.asked.binary_search(&missing).is_ok();
        Ok(peer.link.reads_remote()
            && !comes()
            && reading::read_placed(peer, step, get, piece, counters, self.deadline)?)
    }

    fn lost(&self, rank: Rank, what: String) -> ReadError {
        ReadError::Lost { stream: self.shared.stream.clone(), step: self.step, rank, what }
    }

    fn timed_out(&self, waits_for: String) -> ReadError {
        let (stream, waited) = (self.shared.stream.clone(), self.started.elapsed());
        ReadError::TimedOut { stream, step: self.step, waited, waits_for }
    }
}

fn gone(reason: GoneReason) -> &'static str {
    match reason {
        GoneReason::Step => "the step was released or the subscription expelled",
        GoneReason::Block => "the block was never stored: nobody had subscribed to it",
        GoneReason::Part => "the block has no such part",
        GoneReason::NoRoom => "no room to share it: limits of memory or descriptors",
    }
}

/// Copies a piece whose bytes are known; `false` if they are not.
fn take_known(
    peer: &mut DataPeer,
    step: StepId,
    get: &mut Get<'_>,
    piece: usize,
    counters: &Counters,
) -> Result<bool, PeerError> {
    let planned = get.planned.clone();
    let (Some(of_plan), Some(wanted)) = (planned.plan.pieces.get(piece), planned.wanted.get(piece)) else {
        return Ok(true);
    };
    if let Some(block) = peer.placed(step, &wanted.variable, wanted.block) {
        let copied = planned.copy_piece(piece, block.as_slice(), get.destination);
        copied.map_err(|error| PeerError::Misbehaved(error.to_string()))?;
        count_copied(counters, of_plan.element_count() as usize * planned.element_size);
        return Ok(true);
    }
    if let Some(bytes) = peer.staged(step, wanted) {
        unpack(get, piece, &bytes).map_err(PeerError::Misbehaved)?;
        count_copied(counters, bytes.len());
        return Ok(true);
    }
    Ok(false)
}

/// Whether a destination has the length that its plan wants.
pub(crate) fn check_len(step: StepId, planned: &Planned, found: usize) -> Result<(), Misuse> {
    let expected = planned.plan.element_count();
    if found as u64 != expected {
        let variable = planned.def.name.clone();
        let region = "the selection".to_owned();
        return Err(Misuse::WrongLen { step, variable, region, expected, found: found as u64 });
    }
    Ok(())
}
