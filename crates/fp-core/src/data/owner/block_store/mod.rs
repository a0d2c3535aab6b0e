//! The publisher's side of the data plane: blocks from put to reclaim, and the links over which they are asked for.
//! Payload never enters the machine's lock.

mod link_report;
mod made;
mod made_task;
mod placing;
mod reading;
mod reclaim;
mod registering;
mod stored_step;
#[cfg(test)]
mod testing;
mod unasked;

use crate::coordinator::{DATA_BIT, DataServer};
use crate::data::owner::block::StoredBlock;
use crate::data::owner::block_store::made::{Makings, Wish};
use crate::data::owner::block_store::stored_step::StoredStep;
use crate::data::owner::part::local_region;
use crate::data::owner::room::Room;
use crate::data::owner::subscriber_link::{SubscriberLink, Want};
use crate::records::types::Types;
use crate::value::counters::Counters;
use fp_proto::access::Denial;
use fp_proto::data::{BlockPart, DataMessage, GoneReason};
use fp_proto::few::Few;
use fp_proto::message::MemberId;
use fp_transform::Transforms;
use fp_transport::{Arena, Link, LinkError, OutFrame, Payload, Pool, TransportKind};
use fp_types::{DenseArray, NumberMap, Part, Run, Runs, StepId, StepMap, StridedRegion, SubscriptionId};
use rustix::event::epoll;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Steps that are gone and whose memory is kept for others.
const LIMIT_SPARE: usize = 16;

/// Runs at least this long are sent from where they lie; shorter ones are gathered first.
const GATHER_BYTES: u64 = 4096;

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) steps: StepMap<Box<StoredStep>>,
    pub(crate) links: NumberMap<u64, SubscriberLink>,
    /// The links of each member.
    of_member: BTreeSet<(MemberId, u64)>,
    /// Whether any link was one over which blocks are pushed.
    pushes: bool,
    next_token: u64,
    pub(crate) makings: Makings,
    /// Of steps that are gone: what the next ones take their memory from.
    #[expect(clippy::vec_box, reason = "a step goes from one list to the other by its address")]
    spare: Vec<Box<StoredStep>>,
}

/// Blocks and data links of one publisher rank.
pub(crate) struct BlockStore {
    inner: Mutex<Inner>,
    pub(crate) pool: Pool,
    pub(crate) room: Arc<Room>,
    /// Types of records that were put.
    pub(crate) types: Types,
    /// What blocks can be sent through.
    pub(crate) transforms: Option<Transforms>,
    pub(crate) counters: Arc<Counters>,
    epoll: Mutex<Option<OwnedFd>>,
    /// Whether peers of some links READ where blocks lie.
    reads_remote: AtomicBool,
    pub(crate) me: Weak<Self>,
}

impl BlockStore {
    pub(crate) fn new(
        pool: Pool,
        room: Arc<Room>,
        counters: Arc<Counters>,
        transforms: Option<&Transforms>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            inner: Mutex::new(Inner::default()),
            pool,
            room,
            types: Types::default(),
            transforms: transforms.cloned(),
            counters,
            epoll: Mutex::new(None),
            reads_remote: AtomicBool::new(false),
            me: me.clone(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A subscriber rank opened a data link.
    pub(crate) fn add_link(&self, link: Link, denial: Option<Denial>, set: BorrowedFd<'_>) {
        self.reads_remote.fetch_or(link.reads_remote(), Ordering::SeqCst);
        let mut inner = self.lock();
        let token = inner.next_token | DATA_BIT;
        inner.next_token += 1;
        self.remember_set(set);
        let data = epoll::EventData::new_u64(token);
        let mut link = link;
        // What waits to be sent is pinned by its step and bounded with it; nothing is copied for waiting.
        link.set_send_limit_bytes(u64::MAX);
        if epoll::add(set, link.as_fd(), data, epoll::EventFlags::IN).is_ok() {
            inner.pushes |= link.transport() == TransportKind::Tcp;
            inner.links.insert(token, SubscriberLink::new(link, denial));
        }
    }

    fn remember_set(&self, set: BorrowedFd<'_>) {
        let mut known = self.epoll.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = set.try_clone_to_owned().ok();
        }
    }

    /// A step begins; its blocks will be stored for these, of which some hear nothing of it before it is assigned. Watches
    /// hear nothing either.
    pub(crate) fn begin(
        &self,
        step: StepId,
        mut kept: Few<SubscriptionId>,
        unjudged: Few<SubscriptionId>,
        watches: Arc<[SubscriptionId]>,
    ) -> Arena {
        kept.sort_unstable();
        let mut inner = self.lock();
        let spare = inner.spare.pop();
        let mut stored = spare.unwrap_or_else(|| Box::new(StoredStep::new(self.pool.arena())));
        let arena = stored.arena.clone();
        (stored.kept, stored.unjudged, stored.watches) = (kept, unjudged, watches);
        inner.steps.insert(step, stored);
        arena
    }

    /// Whether a subscriber that has this step reads the variable over shared memory: owned memory is made shareable in
    /// `put` then.
    pub(crate) fn is_shared(&self, step: StepId, variable: &str) -> bool {
        let inner = self.lock();
        let Some(stored) = inner.steps.get(&step) else { return false };
        let shares = |served: &&SubscriberLink| served.is_placed_to() && !served.link.is_inproc();
        let mut wants = inner.links.values().filter(shares).filter_map(|served| served.want.as_ref());
        wants.any(|want| stored.keeps(want) && want.variables.iter().any(|wanted| wanted.name == variable))
    }

    /// Keeps something beside the blocks of a step, if these are kept.
    pub(crate) fn keep_beside(&self, step: StepId, what: Box<dyn Any + Send + Sync>) {
        let mut inner = self.lock();
        let Some(stored) = inner.steps.get_mut(&step) else {
            // Dropped without the lock.
            drop(inner);
            return drop(what);
        };
        stored.beside.push(what);
    }

    pub(crate) fn store(&self, step: StepId, block: StoredBlock) {
        if let Some(stored) = self.lock().steps.get_mut(&step) {
            self.room.store(block.memory_bytes());
            stored.add(block);
        }
    }

    pub(crate) fn answer_gone(
        &self,
        served: &mut SubscriberLink,
        request: Option<u64>,
        step: StepId,
        reason: GoneReason,
    ) -> Result<(), LinkError> {
        let Some(request) = request else { return Ok(()) };
        served.tell(DataMessage::Gone { request, step, reason })
    }

    /// The bytes of a part of a block, in the block's own memory order, from where they lie if the runs are long.
    fn gather(&self, block: &StoredBlock, payload: &Payload, part: &Part) -> Option<Vec<Payload>> {
        let size = block.size();
        let local = local_region(&block.region)?;
        if *part == Part::Region(local) && payload.len() as u64 == local.element_count() * size as u64 {
            return Some(vec![payload.clone()]);
        }
        let source = DenseArray::new(local, block.def.order);
        let runs: Vec<Run> = match part {
            Part::Points(points) => {
                let one = |point: &fp_types::SelectedPoint| {
                    Some(Run { source_offset: source.offset(&point.point)?, destination_offset: 0, len: 1 })
                };
                points.iter().map(one).collect::<Option<_>>()?
            }
            Part::Region(_) | Part::Strided(_) => {
                let elements: StridedRegion = part.as_strided()?;
                let destination = DenseArray::new(elements, block.def.order);
                Runs::between(&source, &destination, &elements).ok()?.iter().collect()
            }
        };
        let bytes =
            |run: &Run| (run.source_offset as usize * size)..((run.source_offset + run.len) as usize * size);
        let long = runs.iter().all(|run| run.len * size as u64 >= GATHER_BYTES) || runs.len() == 1;
        if long {
            return runs.iter().map(|run| payload.slice(bytes(run))).collect();
        }
        let whole = payload.as_slice();
        let mut gathered = Vec::with_capacity(runs.iter().map(|run| run.len as usize * size).sum());
        for run in &runs {
            gathered.extend_from_slice(whole.get(bytes(run))?);
        }
        Counters::add(&self.counters.gathered_bytes, gathered.len());
        Some(vec![Payload::from_owner(gathered)])
    }

    pub(crate) fn watch(&self, token: u64, served: &mut SubscriberLink) {
        let wants = served.link.wants_write();
        if wants == served.writing {
            return;
        }
        let set = self.epoll.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(set) = &*set else { return };
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, wants);
        if epoll::modify(set, served.link.as_fd(), epoll::EventData::new_u64(token), flags).is_ok() {
            served.writing = wants;
        }
    }

    fn serve(
        &self,
        (steps, makings): (&mut StepMap<Box<StoredStep>>, &mut Makings),
        (token, served): (u64, &mut SubscriberLink),
    ) -> Result<(), LinkError> {
        served.link.flush()?;
        for step in served.drained() {
            if let Some(stored) = steps.get(&step) {
                self.push_to(step, stored, served)?;
            }
        }
        while let Some(frame) = served.link.recv()? {
            let Ok(message) = DataMessage::decode(&frame.head) else {
                return Err(LinkError::Malformed {
                    what: "data message",
                    value: frame.head.len() as u64,
                    limit: 0,
                });
            };
            match message {
                DataMessage::Want { subscription, member, variables } => {
                    served.want = Some(Want { subscription, member, variables });
                    self.catch_up(steps, (token, served))?;
                }
                DataMessage::Fetch { request, step, pieces } => {
                    served.count_answer()?;
                    self.fetch(steps, (token, served), request, step, pieces)?
                }
                DataMessage::Describe { request, fingerprint } => {
                    served.count_answer()?;
                    Counters::add(&self.counters.types, 1);
                    let schema = self.types.find(fingerprint).map(|schema| schema.to_bytes().to_vec());
                    served.tell(DataMessage::Described { request, schema })?;
                }
                DataMessage::AskOffers { request } => {
                    served.count_answer()?;
                    self.tell_offers(served, request)?;
                }
                DataMessage::Transform { request, step, variable, blocks, transforms } => {
                    served.count_answer()?;
                    let wish = Wish { token, request, step, variable, blocks, transforms };
                    self.wish((steps, makings), served, wish)?;
                }
                DataMessage::SegmentIs { .. }
                | DataMessage::SegmentGone { .. }
                | DataMessage::Placed { .. }
                | DataMessage::Pieces { .. }
                | DataMessage::Pushed { .. }
                | DataMessage::Gone { .. }
                | DataMessage::Described { .. }
                | DataMessage::Offers { .. }
                | DataMessage::Denied(_)
                | DataMessage::Transformed { .. } => {
                    return Err(LinkError::Malformed { what: "message of a subscriber", value: 0, limit: 0 });
                }
            }
        }
        Ok(())
    }

    fn fetch(
        &self,
        steps: &mut StepMap<Box<StoredStep>>,
        (token, served): (u64, &mut SubscriberLink),
        request: u64,
        step: StepId,
        pieces: Vec<BlockPart>,
    ) -> Result<(), LinkError> {
        let Some(stored) = steps.get_mut(&step).filter(|stored| stored.ended) else {
            return self.answer_gone(served, Some(request), step, GoneReason::Step);
        };
        let Some(found) = stored.find(&pieces) else {
            return self.answer_gone(served, Some(request), step, GoneReason::Block);
        };
        if stored.are_stored(&found) {
            return self.read_later((step, stored), (token, served), request, pieces);
        }
        if served.link.transport().shares_memory() {
            let mut chosen = found;
            chosen.sort_unstable();
            chosen.dedup();
            return self.place(step, Some(request), stored, &chosen, served);
        }
        self.send_pieces((step, stored), served, request, (&pieces, &BTreeMap::new()))
    }

    /// Answers with the parts of blocks that were asked for, copied or from where they lie.
    fn send_pieces(
        &self,
        (step, stored): (StepId, &StoredStep),
        served: &mut SubscriberLink,
        request: u64,
        (pieces, read): (&[BlockPart], &BTreeMap<usize, Payload>),
    ) -> Result<(), LinkError> {
        let Some(found) = stored.find(pieces) else {
            return self.answer_gone(served, Some(request), step, GoneReason::Block);
        };
        let gathered = pieces.iter().zip(found).map(|(piece, at)| {
            let block = stored.blocks.get(at)?;
            self.gather(block, block.payload().or_else(|| read.get(&at))?, &piece.part)
        });
        let Some(body) = gathered.collect::<Option<Vec<_>>>() else {
            return self.answer_gone(served, Some(request), step, GoneReason::Part);
        };
        let message = DataMessage::Pieces { request, step };
        let frame = OutFrame::new(message.encode()).with_body(body.into_iter().flatten().collect());
        self.counters.count_sent(&served.link, &frame);
        served.link.send(frame)
    }
}

impl DataServer for BlockStore {
    fn ready(&self, token: u64) {
        let mut inner = self.lock();
        let Inner { steps, links, makings, of_member, .. } = &mut *inner;
        let Some(served) = links.get_mut(&token) else { return };
        let before = served.member();
        let served_all = match served.is_denied() {
            Ok(false) => self.serve((steps, makings), (token, served)),
            told => told.map(|_| ()),
        };
        if served.member() != before {
            before.map(|member| of_member.remove(&(member, token)));
            served.member().map(|member| of_member.insert((member, token)));
        }
        match served_all {
            Ok(()) => self.watch(token, served),
            Err(error) => {
                tracing::debug!(%error, "data link closed");
                inner.part_with(&[token]);
            }
        }
    }
}
