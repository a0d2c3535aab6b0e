//! One fetch under way: which owners it needs, what is missing of each, and how that is waited for.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::dial::dial_all;
use crate::data::taker::fetch::remote_read;
use crate::data::taker::fetch::scatter::Destination;
use crate::data::taker::fetch::{
    LIMIT_REQUEST_BYTES, PATIENCE_PLACED, PATIENCE_PUSHED, PATIENCE_REMOTE, gone, take_known,
};
use crate::data::taker::fetch_plan::{FetchPlan, request_bytes};
use crate::data::taker::owner_directory::Checkout;
use crate::data::taker::owner_link::{Heard, OwnerError, OwnerLink};
use crate::data::taker::owner_wait::OwnerFate as _;
use crate::error::ReadError;
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use fp_proto::data::DataMessage;
use fp_proto::few::Few;
use fp_transport::{Keys, LinkError};
use fp_types::{Rank, VariableOrigin};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One array to be filled.
pub(crate) struct Get<'a> {
    pub(crate) planned: Arc<FetchPlan>,
    pub(crate) destination: &'a mut [u8],
    /// By what devices write there, if the memory is registered or may be.
    pub(crate) keys: Option<&'a Keys>,
}

impl<'a> Get<'a> {
    /// Into memory that no device writes to.
    pub(crate) fn new(planned: Arc<FetchPlan>, destination: &'a mut [u8]) -> Self {
        Self { planned, destination, keys: None }
    }
}

/// Arrays to be filled: one, as a rule.
pub(crate) type Gets<'a> = SmallVec<[Get<'a>; 1]>;

/// A piece that is still to come: which get, which piece of its plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Missing {
    pub(crate) get: usize,
    pub(crate) piece: usize,
}

/// An owner and what is missing from it.
pub(crate) struct Errand {
    pub(crate) rank: Rank,
    /// Whether the slot of the link is this fetch's.
    pub(crate) checked_out: bool,
    pub(crate) peer: Option<Box<OwnerLink>>,
    /// Rising.
    pub(crate) missing: Few<Missing>,
    /// The pieces of the request under way, in its order, which rises.
    asked: Vec<Missing>,
    pub(crate) request: Option<u64>,
    redialled: bool,
}

/// A fetch under way.
pub(crate) struct Job<'s, 'g, 'd> {
    pub(crate) taker: Taker<'s>,
    pub(crate) gets: &'g mut [Get<'d>],
    pub(crate) started: Instant,
    pub(crate) limit: Limit<'s>,
}

pub(crate) fn errands(gets: &[Get<'_>]) -> SmallVec<[Errand; 1]> {
    let pieces = |get: usize| gets[get].planned.plan.pieces.iter().enumerate().map(move |it| (get, it));
    let mut all: Few<(Rank, Missing)> = (0..gets.len())
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
    pub(crate) fn new(rank: Rank, missing: Few<Missing>) -> Self {
        let asked = Vec::new();
        Self { rank, checked_out: false, peer: None, missing, asked, request: None, redialled: false }
    }
}

impl Job<'_, '_, '_> {
    pub(crate) fn run(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        self.link_up(errands)?;
        if self.limit.is_given_up() {
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

    pub(crate) fn give_back(&self, errands: &mut [Errand]) {
        for errand in errands.iter_mut().filter(|errand| errand.checked_out) {
            // A link on which something is still under way cannot be used again. It can where what came unasked settled
            // the request: the answer is then passed over when it comes.
            let settled = errand.request.is_none() || errand.missing.is_empty();
            let idle = |peer: &OwnerLink| settled && peer.link.body_remaining() == 0;
            let peer = errand.peer.take().filter(|peer| idle(peer));
            self.taker.owners.give_back(errand.rank, self.taker.epoch, peer);
        }
    }

    /// Checks out the link to an owner. If nobody has said yet where that rank is, asks for it, and with it for all
    /// others of this fetch.
    fn checkout(&self, rank: Rank) -> Result<Checkout, ReadError> {
        let owners = self.taker.owners;
        let found = owners.checkout(rank, self.taker.epoch, self.limit.deadline);
        if !matches!(found, Checkout::NoContact) {
            return Ok(found);
        }
        let pieces = self.gets.iter().flat_map(|get| get.planned.plan.pieces.iter());
        let ranks = pieces.map(|piece| piece.block.rank).chain([rank]);
        self.taker.subscription.learn_contacts(
            (self.taker.step, self.taker.epoch),
            ranks.collect(),
            self.limit.deadline,
        )?;
        Ok(owners.checkout(rank, self.taker.epoch, self.limit.deadline))
    }

    /// Checks the links out, dialling those that are not there, several at a time.
    pub(crate) fn link_up(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
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
        let dialled = dial_all(self.taker, &contacts, self.limit.deadline);
        for ((at, _, _), outcome) in dials.iter().zip(dialled) {
            let Some(errand) = errands.get_mut(*at) else { continue };
            let link = outcome.map_err(|what| self.lost(errand.rank, what))?;
            Counters::add(&self.taker.counters.data_links, 1);
            errand.peer = Some(Box::new(OwnerLink::new(link)));
        }
        Ok(())
    }

    /// Runs a stage for one owner; a lost link is dialled again once, as fetches repeat safely.
    pub(crate) fn guard(
        &mut self,
        errand: &mut Errand,
        mut stage: impl FnMut(&mut Self, &mut Errand) -> Result<(), OwnerError>,
    ) -> Result<(), ReadError> {
        match stage(self, errand) {
            Ok(()) => Ok(()),
            Err(OwnerError::Link(LinkError::Deadline { waiting_for })) => {
                Err(self.timed_out(format!("{waiting_for} from rank {}", errand.rank)))
            }
            Err(OwnerError::Link(error)) if errand.redialled => {
                Err(self.lost(errand.rank, error.to_string()))
            }
            Err(OwnerError::Link(error)) => self.redial(errand, &error),
            Err(OwnerError::Misbehaved(what)) => {
                errand.peer = None;
                Err(self.taker.misbehaved(errand.rank, what))
            }
            Err(OwnerError::Denied(denial)) => {
                errand.peer = None;
                let (stream, step) = (self.taker.stream.to_owned(), self.taker.step);
                Err(ReadError::Denied { stream, step, rank: errand.rank, denial })
            }
            Err(OwnerError::Gone(reason)) => {
                errand.request = None;
                let (stream, what) = (self.taker.stream.to_owned(), gone(reason));
                Err(ReadError::Gone { stream, step: self.taker.step, rank: errand.rank, what })
            }
        }
    }

    /// The slot stays this fetch's meanwhile: to wait for it again could wait for ever for one who waits for ours.
    fn redial(&mut self, errand: &mut Errand, error: &LinkError) -> Result<(), ReadError> {
        tracing::debug!(%error, rank = %errand.rank, "data link lost, dialling again");
        (errand.peer, errand.request, errand.redialled) = (None, None, true);
        let owners = self.taker.owners;
        let contact = owners.contact(errand.rank, self.taker.epoch);
        let Some(contact) = contact.filter(|_| !owners.is_lost(errand.rank, self.taker.epoch)) else {
            return Err(self.lost(errand.rank, error.to_string()));
        };
        let link = self.taker.dial(&contact.0, self.limit.deadline);
        let link = link.map_err(|what| self.lost(errand.rank, what))?;
        Counters::add(&self.taker.counters.data_links, 1);
        errand.peer = Some(Box::new(OwnerLink::new(link)));
        Ok(())
    }

    /// Copies what is here, and tells the owner what will be wanted again.
    fn first_look(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        self.copy_placed(errand)?;
        self.hear_all(errand)?;
        if errand.missing.is_empty() { Ok(()) } else { self.tell_wants(errand) }
    }

    pub(crate) fn tell_wants(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        let Some(peer) = &mut errand.peer else { return Ok(()) };
        let Some(membership) = self.taker.subscription.membership() else { return Ok(()) };
        let gets = &self.gets;
        let planned =
            errand.missing.iter().filter_map(|missing| gets.get(missing.get)).map(|get| &get.planned);
        let one = |planned: &'_ Arc<FetchPlan>| {
            let name = planned.def.name.as_str();
            (name.to_owned(), planned.element_size, self.taker.subscription.standing(name))
        };
        // What is made when it is asked for never comes of itself.
        let planned = planned.filter(|planned| planned.def.origin != VariableOrigin::Made);
        let wanted: Vec<(String, usize, Option<fp_types::Selection>)> = planned.map(one).collect();
        let wanted = wanted.iter().map(|(name, size, push)| (name.as_str(), *size, push.clone()));
        peer.want(membership, wanted, self.limit.deadline)?;
        Ok(())
    }

    /// Waits for the missing pieces of one owner, and asks for them when they are late.
    fn complete(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
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
    pub(crate) fn ask_when_late(
        &mut self,
        errand: &mut Errand,
        since: Instant,
    ) -> Result<Instant, OwnerError> {
        if errand.request.is_some() {
            return Ok(self.limit.deadline);
        }
        let patience = self.patience(errand);
        let due = since + patience;
        if Instant::now() < due {
            return Ok(due.min(self.limit.deadline));
        }
        let Some(peer) = &mut errand.peer else { return Ok(self.limit.deadline) };
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
        Counters::add(&self.taker.counters.requests, 1);
        // The pieces stay missing until they are here: whatever becomes of the request, they are asked for again.
        let (step, len) = (self.taker.step, pieces.len());
        let question = |request| DataMessage::Fetch { request, step, pieces };
        errand.request = Some(peer.ask(len, question, self.limit.deadline)?);
        Ok(self.limit.deadline)
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
                wanted
                    .is_some_and(|piece| peer.remote(self.taker.step, &piece.variable, piece.block).is_some())
            };
            let comes = names().all(|name| peer.wants(name)) && !errand.missing.iter().any(placed);
            return if comes { PATIENCE_REMOTE } else { Duration::ZERO };
        }
        let comes = names().any(|name| peer.pushes(name)) && !peer.pushes_done(self.taker.step);
        if comes { PATIENCE_PUSHED } else { Duration::ZERO }
    }

    pub(crate) fn await_peer(&self, errand: &mut Errand, until: Instant) -> Result<(), OwnerError> {
        let patience = self.taker.patience(errand.rank, self.limit);
        let Some(peer) = &mut errand.peer else { return Ok(()) };
        if peer.link.has_buffered() {
            return Ok(());
        }
        Ok(patience.await_bytes(&mut peer.link, until)?)
    }

    /// Takes the messages that are here and copies what they place, until nothing is missing. What was pushed for later
    /// steps is left in the connection, to go straight to its place when it is fetched.
    fn hear_all(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
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

    pub(crate) fn hear(&mut self, errand: &mut Errand) -> Result<Option<Heard>, OwnerError> {
        let Some(peer) = &mut errand.peer else { return Ok(None) };
        let (taker, patience) = (self.taker, self.taker.patience(errand.rank, self.limit));
        let mut arrived = BTreeSet::new();
        let mut sink = Destination {
            gets: &mut *self.gets,
            missing: &errand.missing,
            by_block: None,
            arrived: &mut arrived,
            asked: &errand.asked,
            counters: taker.counters,
        };
        let heard = peer.hear(&mut sink, self.taker.step, &patience, taker.counters);
        // Also where the link broke in the middle: what is here is not asked for again.
        if !arrived.is_empty() {
            errand.missing.retain(|missing| !arrived.contains(missing));
        }
        heard
    }

    /// Copies what the owner has placed or pushed before. Where that fails, all that is not here stays missing.
    pub(crate) fn copy_placed(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        let mut missing = std::mem::take(&mut errand.missing);
        let mut outcome = Ok(());
        missing.retain(|&mut one| {
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
    fn take_piece(&mut self, errand: &mut Errand, missing: Missing) -> Result<bool, OwnerError> {
        let Some(peer) = &mut errand.peer else { return Ok(false) };
        let Some(get) = self.gets.get_mut(missing.get) else { return Ok(true) };
        let (step, piece, counters) = (self.taker.step, missing.piece, self.taker.counters);
        if take_known(peer, step, get, piece, counters)? {
            return Ok(true);
        }
        // What was asked for is on its way: READ now, it would come twice.
        let comes = || errand.request.is_some() && errand.asked.binary_search(&missing).is_ok();
        Ok(peer.link.reads_remote()
            && !comes()
            && remote_read::read_placed(peer, step, get, piece, counters, self.limit.deadline)?)
    }

    fn lost(&self, rank: Rank, what: String) -> ReadError {
        ReadError::Lost { stream: self.taker.stream.to_owned(), step: self.taker.step, rank, what }
    }

    fn timed_out(&self, waits_for: String) -> ReadError {
        let (stream, waited) = (self.taker.stream.to_owned(), self.started.elapsed());
        ReadError::TimedOut { stream, step: self.taker.step, waited, waits_for }
    }
}
