//! Pieces that are READ from their owner's memory, over verbs. They go straight into the runs of an array that is
//! registered, and by way of the stream's own memory into any other. No read registers memory once these are.
//!
//! An owner sends gathered pieces; it does not write them with immediate data. A write saves a copy only where the
//! destination is registered. For that the subscriber would have to hand out keys to write to its process.

use crate::data::taker::fetch::job::{Errand, Get, Job, Missing};
use crate::data::taker::owner_link::{OwnerError, OwnerLink};
use crate::error::ReadError;
use crate::value::counters::Counters;
use fp_transport::{BlockRead, Landing, Link, LinkError, ReadLimit, ReadPlace, ReadRun, VerbsTrouble};
use fp_types::Rank;

/// Pieces at least this long are READ. Short blocks come beside their placement. Short pieces are asked for, all of an
/// owner's at once. Measured in emulation: docs/transports.md.
pub(crate) const READ_BYTES: usize = 8 << 10;

/// Runs at least this long are READ: each takes a request, and shorter ones are gathered faster by a processor.
const READ_RUN_BYTES: usize = 512;

/// Most runs of one piece that are READ.
const LIMIT_RUNS: usize = 1 << 16;

/// Registered memory through which pieces are READ whose own place is not registered. One half is copied while the
/// other is READ into.
const LANDING_BYTES: usize = 1 << 20;

/// The most such memories that one fetch has; owners share them where they are more.
const LIMIT_LANDINGS: usize = 16;

/// What is READ of one owner.
struct Order {
    /// The owner, by its place among the errands.
    errand: usize,
    missing: Vec<Missing>,
    pieces: Vec<BlockRead>,
}

impl Order {
    fn len_bytes(&self, is_through: bool) -> usize {
        let pieces = self.pieces.iter().filter(|piece| piece.is_through == is_through);
        pieces.flat_map(|piece| &piece.runs).map(|run| run.len_bytes).sum()
    }
}

impl Job<'_, '_, '_> {
    /// READs the pieces whose places are known, if that is worth it: of all owners at once. The others are to be asked
    /// for. When it returns, no device writes into the destinations any more.
    pub(crate) fn read_placed(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        let order = |(at, errand): (usize, &Errand)| self.order(at, errand);
        let mut orders: Vec<Order> = errands.iter().enumerate().filter_map(order).collect();
        if orders.is_empty() {
            return Ok(());
        }
        let mut landings = landings(errands, &orders);
        drop_unlanded(errands, &mut orders, &mut landings);
        let outcomes = self.read_all(errands, &orders, &mut landings);
        let mut failed = Ok(());
        for (order, outcome) in orders.into_iter().zip(outcomes) {
            let Some(errand) = errands.get_mut(order.errand) else { continue };
            let settled = self.settle(errand, order, outcome, failed.is_err());
            failed = failed.and(settled);
        }
        failed
    }

    /// What of an owner is to be READ, if anything is.
    fn order(&self, at: usize, errand: &Errand) -> Option<Order> {
        let peer = errand.peer.as_ref().filter(|peer| peer.link.reads_remote())?;
        let mut order = Order { errand: at, missing: Vec::new(), pieces: Vec::new() };
        // What was asked for is on its way: READ now, it would come twice.
        let comes = |missing| errand.request.is_some() && errand.asked.binary_search(missing).is_ok();
        for missing in errand.missing.iter().filter(|missing| !comes(missing)) {
            let Some(get) = self.gets.get(missing.get) else { continue };
            let Some(remote) = self.remote(errand, missing) else { continue };
            let Some(runs) = runs(get, missing.piece) else { continue };
            let is_straight = get.keys.is_some_and(|keys| is_usable(peer.link.register_keys(keys)));
            order.missing.push(*missing);
            order.pieces.push(BlockRead { remote, place: missing.get, is_through: !is_straight, runs });
        }
        (!order.pieces.is_empty()).then_some(order)
    }

    fn read_all(
        &mut self,
        errands: &mut [Errand],
        orders: &[Order],
        landings: &mut [Landing],
    ) -> Vec<Result<(), LinkError>> {
        let (taker, limit) = (self.taker, self.limit);
        let ranks: Vec<Rank> =
            orders.iter().filter_map(|order| Some(errands.get(order.errand)?.rank)).collect();
        let goes_on =
            |at: usize| ranks.get(at).is_none_or(|rank| taker.patience(*rank, limit).go_on().is_ok());
        let gets = self.gets.iter_mut();
        let mut places: Vec<ReadPlace<'_>> =
            gets.map(|get| ReadPlace { memory: &mut *get.destination, keys: get.keys }).collect();
        // Orders are in the order of the errands.
        let mut left = orders.iter().peekable();
        let links = errands.iter_mut().enumerate().filter_map(|(at, errand)| {
            let order = left.next_if(|order| order.errand == at)?;
            Some((&mut errand.peer.as_mut()?.link, &order.pieces[..]))
        });
        let limit = ReadLimit { deadline: limit.deadline, goes_on: &goes_on };
        Link::read_remote_all(links.collect(), &mut places, landings, &limit)
    }

    /// What was READ is missing no more. A link over which something failed is of no more use.
    fn settle(
        &mut self,
        errand: &mut Errand,
        order: Order,
        outcome: Result<(), LinkError>,
        is_over: bool,
    ) -> Result<(), ReadError> {
        let Err(error) = outcome else {
            errand.missing.retain(|missing| order.missing.binary_search(missing).is_err());
            if let Some(peer) = &errand.peer {
                self.count(peer, &order);
            }
            return Ok(());
        };
        if is_over || !matches!(error, LinkError::Malformed { .. }) {
            (errand.peer, errand.request) = (None, None);
        }
        if is_over {
            return Ok(());
        }
        let mut failed = Some(self.trouble(errand.rank, error));
        self.guard(errand, |_, _| failed.take().map_or(Ok(()), Err))
    }

    /// What a READ that failed says of its owner.
    fn trouble(&self, rank: Rank, error: LinkError) -> OwnerError {
        if let LinkError::Malformed { what, value, limit } = error {
            return OwnerError::Misbehaved(format!("{what}: {value} of {limit}"));
        }
        // It may have been given up before the deadline.
        let is_late = matches!(error, LinkError::Deadline { .. });
        let why = is_late.then(|| self.taker.patience(rank, self.limit).go_on().err()).flatten();
        why.unwrap_or(error).into()
    }

    fn count(&self, peer: &OwnerLink, order: &Order) {
        let (counters, straight, through) =
            (self.taker.counters, order.len_bytes(false), order.len_bytes(true));
        Counters::add(&counters.received_bytes, straight);
        counters.count_staged(&peer.link, through);
        Counters::add(&counters.get_copied_bytes, through);
        Counters::add(&counters.payload_bytes, straight + through);
    }
}

/// Memory to read through, as much as is of use: each owner needs two halves that take all of its pieces, or one memory.
fn landings(errands: &[Errand], orders: &[Order]) -> Vec<Landing> {
    let wanted = orders.iter().map(|order| (2 * order.len_bytes(true)).min(LANDING_BYTES));
    let count = wanted.sum::<usize>().div_ceil(LANDING_BYTES).min(LIMIT_LANDINGS);
    let first = orders.first().and_then(|order| errands.get(order.errand)?.peer.as_ref());
    let lend = |_| first.map(|peer| peer.link.landing(LANDING_BYTES));
    let usable = |landing: Result<Landing, VerbsTrouble>| {
        landing.inspect_err(|trouble| tracing::warn!(%trouble, "no memory to READ through")).ok()
    };
    (0..count).filter_map(lend).filter_map(usable).collect()
}

/// Has every landing registered for every owner that needs one. Where that fails, its pieces are asked for.
fn drop_unlanded(errands: &[Errand], orders: &mut Vec<Order>, landings: &mut [Landing]) {
    for order in orders.iter_mut().filter(|order| order.len_bytes(true) > 0) {
        let peer = errands.get(order.errand).and_then(|errand| errand.peer.as_ref());
        let is_registered = |landing: &mut Landing| {
            let (Some((_, keys)), Some(peer)) = (landing.parts(), peer) else { return false };
            peer.link
                .register_keys(keys)
                .inspect_err(|trouble| tracing::warn!(%trouble, "nothing can be READ: pieces are asked for"))
                .is_ok()
        };
        if landings.is_empty() || !landings.iter_mut().all(is_registered) {
            let kept = order.pieces.iter().map(|piece| !piece.is_through).collect::<Vec<bool>>();
            let mut keeps = kept.iter();
            order.missing.retain(|_| keeps.next() == Some(&true));
            order.pieces.retain(|piece| !piece.is_through);
        }
    }
    orders.retain(|order| !order.pieces.is_empty());
}

fn is_usable(registered: Result<(), VerbsTrouble>) -> bool {
    registered
        .inspect_err(|trouble| tracing::warn!(%trouble, "an array cannot be READ into straight"))
        .is_ok()
}

/// The runs of a piece in bytes; `None` if it is too small or too badly strided.
fn runs(get: &Get<'_>, piece: usize) -> Option<Vec<ReadRun>> {
    let planned = &get.planned;
    let (of_plan, size) = (planned.plan.pieces.get(piece)?, planned.element_size);
    let len = usize::try_from(of_plan.element_count()).ok()?.checked_mul(size)?;
    let runs = planned.plan.runs(of_plan, planned.order(), planned.destination_order).ok()?;
    let count: u64 = runs.series().take(LIMIT_RUNS).map(|series| series.count).sum();
    let count = usize::try_from(count).ok().filter(|count| (1..=LIMIT_RUNS).contains(count))?;
    if len < READ_BYTES || len / count < READ_RUN_BYTES {
        return None;
    }
    let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(size);
    let one = |run: fp_types::Run| {
        let at = run.destination_offset.checked_add(of_plan.destination_offset)?;
        let source = u64::try_from(bytes(run.source_offset)?).ok()?;
        Some(ReadRun { source, destination: bytes(at)?, len_bytes: bytes(run.len)? })
    };
    runs.series().flat_map(|series| series.iter()).map(one).collect()
}
