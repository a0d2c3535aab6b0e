//! One fetch under way: which owners it needs, what is missing of each, and how that is waited for.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::dial::dial_all;
use crate::data::taker::fetch::scatter::{Destination, count_copied};
use crate::data::taker::fetch::{gone, take_placed, take_staged};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_directory::Checkout;
use crate::data::taker::owner_link::{Heard, OwnerError, OwnerLink};
use crate::data::taker::owner_wait::{OwnerFate as _, Patience};
use crate::error::ReadError;
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use fp_proto::few::Few;
use fp_transport::{Keys, LinkError, RemoteMemory};
use fp_types::{Rank, VariableOrigin};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of an answer that comes too late, where its link is kept. They fit a connection, so that no memory of the
/// owner's waits until somebody reads them.
pub(crate) const LIMIT_LATE_BYTES: usize = 64 << 10;

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
    /// Whether it has said where all that is missing lies, which is copied when all owners have; or its answer comes, which
    /// is received when those of all owners come.
    pub(crate) is_placed: bool,
    /// The pieces of the request under way, in its order, which rises.
    pub(crate) asked: Vec<Missing>,
    pub(crate) asked_bytes: usize,
    pub(crate) request: Option<u64>,
    /// When it is to be asked, as far as its link has been heard.
    pub(crate) due: Option<Instant>,
    /// Its bytes were waited for until the deadline.
    waited_for: bool,
    redialled: bool,
}

/// A fetch under way.
pub(crate) struct Job<'s, 'g, 'd> {
    pub(crate) taker: Taker<'s>,
    pub(crate) gets: &'g mut [Get<'d>],
    pub(crate) started: Instant,
    pub(crate) limit: Limit<'s>,
    /// Whether nothing is copied before all owners have said where their blocks lie.
    pub(crate) waits_for_all: bool,
    /// Whether the answers of all owners are received together.
    pub(crate) takes_turns: bool,
}

pub(crate) fn errands(gets: &[Get<'_>]) -> SmallVec<[Errand; 1]> {
    if let [get] = gets
        && let [planned] = &get.planned.plan.pieces[..]
        && planned.element_count() > 0
    {
        let missing = Few::from_slice(&[Missing { get: 0, piece: 0 }]);
        return SmallVec::from_buf([Errand::new(planned.block.rank, missing)]);
    }
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
        Self {
            rank,
            checked_out: false,
            peer: None,
            missing,
            is_placed: false,
            asked: Vec::new(),
            asked_bytes: 0,
            request: None,
            due: None,
            waited_for: false,
            redialled: false,
        }
    }

    /// Whether something is to come from it.
    pub(crate) fn is_open(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Whether it has still to say something.
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_open() && !self.is_placed
    }

    /// The arrays of which something is missing, each once.
    pub(crate) fn gets<'j>(&self, gets: &'j [Get<'_>]) -> impl Iterator<Item = &'j Arc<FetchPlan>> {
        let of_one = self.missing.chunk_by(|one, other| one.get == other.get);
        of_one.filter_map(|missing| Some(&gets.get(missing.first()?.get)?.planned))
    }
}

impl<'s, 'g, 'd> Job<'s, 'g, 'd> {
    pub(crate) fn new(taker: Taker<'s>, gets: &'g mut [Get<'d>], started: Instant, limit: Limit<'s>) -> Self {
        Self { taker, gets, started, limit, waits_for_all: false, takes_turns: false }
    }
}

impl Job<'_, '_, '_> {
    pub(crate) fn run(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        self.link_up(errands)?;
        if self.limit.is_given_up() {
            return Err(self.timed_out("nobody, as it was given up".to_owned()));
        }
        self.waits_for_all = self.is_copied_together(errands);
        self.takes_turns = self.is_received_in_turns(errands);
        for errand in errands.iter_mut() {
            self.guard(errand, |job, errand| job.first_look(errand))?;
        }
        self.complete(errands)
    }

    pub(crate) fn give_back(&self, errands: &mut [Errand]) {
        for errand in errands.iter_mut().filter(|errand| errand.checked_out) {
            // An answer that nobody waits for any more is passed over when it comes: what came unasked settled the
            // request, or another owner failed. Whose answer was waited for in vain is dialled anew. So is who would
            // have to be heard for long.
            Self::pass_over(errand);
            let settled = errand.request.is_none() || errand.missing.is_empty();
            let is_short = !errand.waited_for && errand.asked_bytes <= LIMIT_LATE_BYTES;
            let may_come = |peer: &OwnerLink| is_short && !peer.is_answer_late();
            let idle = |peer: &OwnerLink| peer.link.body_remaining() == 0 && (settled || may_come(peer));
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
                errand.waited_for = true;
                Err(self.timed_out(format!("{waiting_for} from rank {}", errand.rank)))
            }
            Err(OwnerError::Link(error)) if errand.redialled => {
                errand.peer = None;
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
        (errand.peer, errand.request, errand.due) = (None, None, None);
        (errand.redialled, errand.is_placed) = (true, false);
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
        if errand.peer.as_ref().is_some_and(|peer| peer.knows_of(self.taker.step)) {
            self.copy_placed(errand)?;
        }
        self.hear_all(errand)?;
        if errand.is_awaited() { self.tell_wants(errand) } else { Ok(()) }
    }

    pub(crate) fn tell_wants(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        let Some(membership) = self.taker.subscription.membership() else { return Ok(()) };
        let one = |planned: &'_ Arc<FetchPlan>| {
            let name = planned.def.name.as_str();
            (name.to_owned(), planned.element_size, self.taker.subscription.standing(name))
        };
        // What is made when it is asked for never comes of itself.
        let planned = errand.gets(self.gets).filter(|planned| planned.def.origin != VariableOrigin::Made);
        let wanted: Vec<(String, usize, Option<fp_types::Selection>)> = planned.map(one).collect();
        let wanted = wanted.iter().map(|(name, size, push)| (name.as_str(), *size, push.clone()));
        let Some(peer) = &mut errand.peer else { return Ok(()) };
        peer.want(membership, wanted, self.limit.deadline)?;
        Ok(())
    }

    /// Takes the messages that are here and copies what they place, until nothing is missing. What was pushed for later
    /// steps is left in the connection, to go straight to its place when it is fetched.
    pub(crate) fn hear_all(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        while errand.is_awaited() || errand.request.is_some() {
            match self.hear(errand)? {
                None => return Ok(()),
                Some(Heard::News) => {}
                Some(Heard::Coming) => {
                    errand.is_placed = true;
                    return Ok(());
                }
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
        errand.due = None;
        let (step, counters) = (self.taker.step, self.taker.counters);
        self.take_in(errand, |peer, sink, patience| peer.hear(sink, step, patience, counters))
    }

    /// Has something of an owner go to its place.
    pub(crate) fn take_in<T>(
        &mut self,
        errand: &mut Errand,
        take: impl FnOnce(
            &mut OwnerLink,
            &mut Destination<'_, '_>,
            &Patience<'_>,
        ) -> Result<Option<T>, OwnerError>,
    ) -> Result<Option<T>, OwnerError> {
        let Some(peer) = &mut errand.peer else { return Ok(None) };
        let (taker, patience) = (self.taker, self.taker.patience(errand.rank, self.limit));
        let mut arrived = BTreeSet::new();
        let mut sink = Destination {
            gets: &mut *self.gets,
            missing: &errand.missing,
            by_block: None,
            arrived: &mut arrived,
            asked: &errand.asked,
            aside: Vec::new(),
            used_bytes: 0,
            takes_turns: self.takes_turns,
            counters: taker.counters,
        };
        let taken = take(peer, &mut sink, &patience);
        // Also where the link broke in the middle: what is here is not asked for again.
        if !arrived.is_empty() {
            errand.missing.retain(|missing| !arrived.contains(missing));
        }
        taken
    }

    /// Copies what the owner has placed or pushed before; while it waits for all owners it notes whether that is all of it.
    /// Where that fails, all that is not here stays missing.
    pub(crate) fn copy_placed(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        if self.waits_for_all {
            errand.is_placed = self.is_all_placed(errand);
            return Ok(());
        }
        let mut missing = std::mem::take(&mut errand.missing);
        let mut outcome = self.take_placed(errand, &mut missing);
        if outcome.is_ok() && !missing.is_empty() {
            outcome = self.take_staged(errand, &mut missing);
        }
        errand.missing = missing;
        outcome?;
        if errand.missing.is_empty() && errand.peer.as_ref().is_some_and(|peer| peer.shares_memory()) {
            // The answer to a request that came too late says nothing new.
            errand.request = None;
        }
        Ok(())
    }

    /// Copies those of which the owner has said where they are.
    fn take_placed(&mut self, errand: &Errand, missing: &mut Few<Missing>) -> Result<(), OwnerError> {
        let Some(peer) = &errand.peer else { return Ok(()) };
        let (gets, step) = (&mut *self.gets, self.taker.step);
        let (mut of, mut blocks, mut copied) = (usize::MAX, None, 0);
        let outcome = retain_untaken(missing, |one| {
            let Some(get) = gets.get_mut(one.get) else { return Ok(true) };
            if std::mem::replace(&mut of, one.get) != one.get {
                blocks = get.planned.variable().and_then(|variable| peer.placed_of(step, variable));
            }
            let Some(blocks) = blocks else { return Ok(false) };
            let taken = take_placed(blocks, get, one.piece)?;
            copied += taken.unwrap_or_default();
            Ok(taken.is_some())
        });
        count_copied(self.taker.counters, copied);
        outcome
    }

    /// Copies those that were pushed before anybody wanted them.
    fn take_staged(&mut self, errand: &mut Errand, missing: &mut Few<Missing>) -> Result<(), OwnerError> {
        let (gets, step, counters) = (&mut *self.gets, self.taker.step, self.taker.counters);
        let Some(peer) = errand.peer.as_mut().filter(|peer| peer.has_staged(step)) else { return Ok(()) };
        retain_untaken(missing, |one| match gets.get_mut(one.get) {
            Some(get) => take_staged(peer, step, get, one.piece, counters),
            None => Ok(true),
        })
    }

    /// Where a missing piece can be READ, if its owner has said so.
    pub(crate) fn remote(&self, errand: &Errand, missing: &Missing) -> Option<RemoteMemory> {
        let wanted = self.gets.get(missing.get)?.planned.wanted.get(missing.piece)?;
        errand.peer.as_ref()?.remote(self.taker.step, &wanted.variable, wanted.block)
    }

    pub(crate) fn lost(&self, rank: Rank, what: String) -> ReadError {
        ReadError::Lost { stream: self.taker.stream.to_owned(), step: self.taker.step, rank, what }
    }

    fn timed_out(&self, waits_for: String) -> ReadError {
        let (stream, waited) = (self.taker.stream.to_owned(), self.started.elapsed());
        ReadError::TimedOut { stream, step: self.taker.step, waited, waits_for }
    }
}

/// Takes one after the other, and leaves those of which it is said that they are still to come. From the first that
/// fails on all are left.
fn retain_untaken(
    missing: &mut Few<Missing>,
    mut take: impl FnMut(Missing) -> Result<bool, OwnerError>,
) -> Result<(), OwnerError> {
    // One block is most of what is asked for in small steps.
    if let [one] = missing[..] {
        if take(one)? {
            missing.clear();
        }
        return Ok(());
    }
    let mut outcome = Ok(());
    missing.retain(|&mut one| {
        let taken = if outcome.is_ok() { take(one) } else { Ok(false) };
        !taken.unwrap_or_else(|error| {
            outcome = Err(error);
            false
        })
    });
    outcome
}
