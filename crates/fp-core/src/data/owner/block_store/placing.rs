//! Telling subscribers where blocks are: as a step ends, as they say what they want, and when they ask.

use crate::data::owner::block::{BlockBytes, StoredBlock};
use crate::data::owner::block_store::stored_step::{StoredStep, was_seen_by};
use crate::data::owner::block_store::{BlockStore, Inner};
use crate::data::owner::subscriber_link::{SubscriberLink, Want};
use crate::value::counters::Counters;
use fp_proto::data::{EAGER_BYTES, GoneReason, InlineBlock, PlaceRef, PlacedRef};
use fp_proto::few::{self, Few};
use fp_transport::memory::Location;
use fp_transport::{Arena, InprocKey, LinkError, Payload, inproc};
use fp_types::{StepId, StepMap};
use std::sync::atomic::Ordering;

/// Bytes of small blocks that go along with their places to a peer that maps memory. Of many more each byte would be
/// copied twice on the way. So those are mapped that lie in shareable memory already.
const LIMIT_INLINE_BYTES: usize = 64 << 10;

impl BlockStore {
    /// The step is complete here: everybody who said so before is told where its blocks are.
    pub(crate) fn end(&self, step: StepId) {
        let tried = self.register_before_end(step);
        let mut inner = self.lock();
        let reads_remote = self.reads_remote.load(Ordering::SeqCst);
        let is_crowded = inner.is_crowded();
        let Inner { steps, links, .. } = &mut *inner;
        let Some(stored) = steps.get_mut(&step) else { return };
        stored.ended = true;
        let let_go = self.pool.drain_let_go();
        if is_crowded && let_go.is_empty() {
            return;
        }
        let mut lost = Vec::new();
        for (&token, served) in links.iter_mut() {
            let told = served.tell_let_go(&let_go);
            // Who said only just now what it wants is told when that is registered too.
            let was_tried = |key| tried.as_ref().is_some_and(|tried| tried.contains_key(key));
            let is_late = reads_remote && self.unregistered(stored, served).keys().any(|key| !was_tried(key));
            if is_late {
                self.place_later(token, vec![step]);
            }
            let placed = told.and_then(|()| match is_late {
                true => Ok(()),
                false => self.place_wanted(step, stored, served),
            });
            if placed.is_err() {
                lost.push(token);
            }
            self.watch(token, served);
        }
        inner.part_with(&lost);
    }

    pub(crate) fn place_wanted(
        &self,
        step: StepId,
        stored: &mut StoredStep,
        served: &mut SubscriberLink,
    ) -> Result<(), LinkError> {
        let chosen = stored.wanted_by(served);
        if chosen.is_empty() {
            return Ok(());
        }
        self.place(step, None, stored, &chosen, served)
    }

    /// Sends where blocks are; a link whose queue is full is told nothing, as placements are hints.
    pub(crate) fn place(
        &self,
        step: StepId,
        request: Option<u64>,
        stored: &mut StoredStep,
        chosen: &[usize],
        served: &mut SubscriberLink,
    ) -> Result<(), LinkError> {
        if let (None, &[at]) = (request, chosen)
            && let Some(one) = stored.blocks.get(at).and_then(|block| inline_block(step, block))
        {
            served.told_of(step);
            return hint(served.send_inline(&one));
        }
        let mut places: Few<(usize, Spot)> = Few::with_capacity(chosen.len());
        let mut inline_bytes = 0;
        for &at in chosen {
            let Some(spot) = self.spot_of(stored, at, served, inline_bytes)? else {
                return self.answer_gone(served, request, step, GoneReason::NoRoom);
            };
            if let (Spot::Inline, Some(block)) = (spot, stored.blocks.get(at)) {
                inline_bytes += block.payload().map_or(0, Payload::len);
            }
            places.push((at, spot));
        }
        served.told_of(step);
        let placed = places.iter().filter_map(|&(at, spot)| stored.blocks.get(at)?.placed(spot));
        let placed: Few<PlacedRef<'_>> = placed.collect();
        let sent = served.send_placed(step, request, &placed);
        if request.is_none() { hint(sent) } else { sent }
    }

    /// Where one block is for this link; `None` if there is no room to make it shareable. Of the blocks before it so many
    /// bytes go along themselves.
    fn spot_of(
        &self,
        stored: &mut StoredStep,
        at: usize,
        served: &mut SubscriberLink,
        inline_bytes: usize,
    ) -> Result<Option<Spot>, LinkError> {
        let Some(block) = stored.blocks.get_mut(at) else { return Ok(None) };
        let Some(payload) = block.payload() else { return Ok(None) };
        let is_small = payload.len() as u64 <= EAGER_BYTES;
        let is_one_of_many = served.maps_memory() && inline_bytes >= LIMIT_INLINE_BYTES;
        if is_small && !(is_one_of_many && payload.location().is_some()) {
            return Ok(Some(Spot::Inline));
        }
        if served.link.is_inproc() {
            let key = *stored.exported.entry(at).or_insert_with(|| inproc::export(payload.clone()));
            return Ok(Some(Spot::Inproc(key)));
        }
        let Some(location) = self.located(&stored.arena, block) else { return Ok(None) };
        if let Some(watch) = served.link.watch() {
            was_seen_by(&mut stored.seen, watch);
        }
        if !self.announce(location.segment, served)? {
            // What is small needs no room but that of the message.
            return Ok(is_small.then_some(Spot::Inline));
        }
        Ok(Some(Spot::Segment(location)))
    }

    /// Where a peer finds a block, once it is in shareable memory; `None` if there is no room for that, or it is in no
    /// memory.
    pub(crate) fn located(&self, arena: &Arena, block: &mut StoredBlock) -> Option<Location> {
        let payload = block.payload()?;
        if payload.location().is_none() {
            block.bytes = BlockBytes::Memory(self.shareable(arena, payload.as_slice())?);
        }
        block.payload()?.location()
    }

    /// Copies owned memory into the pool, counted.
    pub(crate) fn shareable(&self, arena: &Arena, bytes: &[u8]) -> Option<Payload> {
        let mut loan = arena.loan(bytes.len(), 64).ok()?;
        loan.copy_from_slice(bytes);
        Counters::add(&self.counters.shared_copied_bytes, bytes.len());
        Some(loan.freeze())
    }

    /// What a new `Want` would have brought for the steps that are here already.
    pub(crate) fn catch_up(
        &self,
        steps: &mut StepMap<Box<StoredStep>>,
        (token, served): (u64, &mut SubscriberLink),
    ) -> Result<(), LinkError> {
        let Some(member) = served.want.as_ref().map(|want| want.member) else { return Ok(()) };
        let mut later = Vec::new();
        for (&step, stored) in steps.iter_mut().filter(|(_, stored)| stored.ended) {
            match self.unregistered(stored, served).is_empty() {
                true => self.place_wanted(step, stored, served)?,
                false => later.push(step),
            }
            if stored.assigned.contains(&member) && served.is_pushed_to(member) {
                self.push_to(step, stored, served)?;
            }
        }
        self.place_later(token, later);
        Ok(())
    }
}

/// What is sent without being asked for: where there is no room it is left out.
fn hint(sent: Result<(), LinkError>) -> Result<(), LinkError> {
    match sent {
        Err(LinkError::Full { .. }) => Ok(()),
        sent => sent,
    }
}

/// A block that is so small that it goes along with its place, whatever the link is.
fn inline_block(step: StepId, block: &StoredBlock) -> Option<InlineBlock<'_>> {
    let payload = block.payload().filter(|payload| payload.len() as u64 <= EAGER_BYTES)?;
    Some(InlineBlock { step, variable: &block.def.name, block: block.index, bytes: payload.as_slice() })
}

/// Where a block is for one link.
#[derive(Clone, Copy)]
enum Spot {
    Segment(Location),
    Inproc(InprocKey),
    /// It goes along with its place.
    Inline,
}

impl StoredBlock {
    /// What is said of it; `None` if it is in no memory.
    fn placed(&self, spot: Spot) -> Option<PlacedRef<'_>> {
        let place = match spot {
            Spot::Segment(Location { segment, offset, len }) => {
                PlaceRef::Segment { segment: segment.0, offset, len }
            }
            Spot::Inproc(key) => PlaceRef::Inproc { key: key.0 },
            Spot::Inline => PlaceRef::Inline { bytes: self.payload()?.as_slice() },
        };
        Some(PlacedRef { variable: &self.def.name, block: self.index, place })
    }
}

impl StoredStep {
    /// The blocks that this subscriber is told of without asking.
    pub(crate) fn wanted_by(&self, served: &SubscriberLink) -> Few<usize> {
        let kept = |want: &&Want| self.is_told_of(want);
        let Some(want) = served.want.as_ref().filter(kept).filter(|_| served.takes_hints()) else {
            return Few::new();
        };
        let shares = served.is_placed_to();
        let wanted = |block: &StoredBlock| want.variables.iter().any(|wanted| wanted.name == block.def.name);
        let places =
            |block: &StoredBlock| block.payload().is_some() && (shares || block.len_bytes() <= EAGER_BYTES);
        let is_told = |block: &StoredBlock| wanted(block) && places(block);
        few::gather((0..).zip(&self.blocks).filter(|(_, block)| is_told(block)).map(|(at, _)| at))
    }
}
