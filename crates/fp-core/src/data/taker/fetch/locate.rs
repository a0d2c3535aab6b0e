//! Where a block lies that is looked at in place: a fetch that ends as soon as its owner has said so.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::job::{Errand, Get, Job, errands};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::{Heard, OwnerError, Sink};
use crate::data::taker::owner_wait::Patience;
use crate::error::ReadError;
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use fp_proto::data::BlockPart;
use fp_transport::{Link, LinkError, Payload};
use std::io::IoSliceMut;
use std::sync::Arc;
use std::time::Instant;

/// What a look at a block came to.
pub(crate) enum Located {
    /// The block, where it lies.
    Block(Payload),
    /// The selected part of it, which was sent: the owner has the block in no memory.
    Part(Payload),
}

/// Memory in which elements of every type may lie.
struct AlignedBytes {
    words: Vec<u128>,
    len: usize,
}

impl AlignedBytes {
    fn zeroed(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(size_of::<u128>())], len }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words).get_mut(..self.len).unwrap_or_default()
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.len).unwrap_or_default()
    }
}

/// Takes the only piece of a plan, where it is sent.
struct KeptPiece<'a> {
    planned: &'a FetchPlan,
    counters: &'a Counters,
    bytes: Option<AlignedBytes>,
}

impl Sink for KeptPiece<'_> {
    fn requested(&mut self, link: &mut Link, _at: usize, patience: &Patience<'_>) -> Result<(), LinkError> {
        let mut bytes = AlignedBytes::zeroed(self.planned.len_bytes().unwrap_or(usize::MAX));
        patience.receive(link, &mut [IoSliceMut::new(bytes.as_mut())])?;
        self.counters.count_received(link, bytes.len);
        Counters::add(&self.counters.payload_bytes, bytes.len);
        self.bytes = Some(bytes);
        Ok(())
    }

    fn pushed(&mut self, _: &mut Link, _: &BlockPart, _: &Patience<'_>) -> Result<bool, LinkError> {
        Ok(false)
    }
}

/// Where the block of a plan's only piece lies, if its owner shares memory with this rank; `None` if it does not.
pub(crate) fn locate(
    taker: Taker<'_>,
    planned: &Arc<FetchPlan>,
    limit: Limit<'_>,
) -> Result<Option<Located>, ReadError> {
    let mut gets = [Get::new(planned.clone(), &mut [])];
    let mut errands = errands(&gets);
    let mut job = Job::new(taker, &mut gets, Instant::now(), limit);
    let outcome = job.locate(&mut errands);
    job.give_back(&mut errands);
    outcome
}

impl Job<'_, '_, '_> {
    fn locate(&mut self, errands: &mut [Errand]) -> Result<Option<Located>, ReadError> {
        self.link_up(errands)?;
        let [errand] = errands else { return Ok(None) };
        if !errand.peer.as_ref().is_some_and(|peer| peer.shares_memory()) {
            return Ok(None);
        }
        let Some(planned) = self.gets.first().map(|get| get.planned.clone()) else { return Ok(None) };
        let since = Instant::now();
        let mut sent = None;
        loop {
            if let Some(found) = self.placed(errand) {
                return Ok(Some(Located::Block(found)));
            }
            self.guard(errand, |job, errand| {
                let counters = job.taker.counters;
                let mut kept = KeptPiece { planned: &planned, counters, bytes: None };
                job.hear_placement(errand, &mut kept)?;
                sent = kept.bytes;
                Ok(())
            })?;
            if let Some(bytes) = sent.take() {
                return Ok(Some(Located::Part(Payload::from_owner(bytes))));
            }
            if self.placed(errand).is_some() {
                continue;
            }
            self.guard(errand, Self::tell_wants)?;
            self.guard(errand, |job, errand| {
                let until = job.ask_when_late(errand, since)?;
                job.await_peer(errand, until)
            })?;
        }
    }

    /// Where the first piece of the first get lies, if its owner has said so.
    pub(crate) fn placed(&self, errand: &mut Errand) -> Option<Payload> {
        let wanted = self.gets.first()?.planned.wanted.first()?;
        let found = errand.peer.as_ref()?.placed(self.taker.step, &wanted.variable, wanted.block);
        if found.is_some() {
            // An answer that is still to come will say nothing new.
            errand.request = None;
        }
        found
    }

    /// Takes messages until the placement is here, or the piece itself, or nothing more is.
    fn hear_placement(&self, errand: &mut Errand, kept: &mut KeptPiece<'_>) -> Result<(), OwnerError> {
        let patience = self.taker.patience(errand.rank, self.limit);
        while kept.bytes.is_none() && self.placed(errand).is_none() {
            let Some(peer) = &mut errand.peer else { return Ok(()) };
            match peer.hear(kept, self.taker.step, &patience, self.taker.counters)? {
                None => return Ok(()),
                Some(Heard::Answered(request)) => drop(errand.request.take_if(|open| *open == request)),
                Some(Heard::News | Heard::Placed | Heard::Coming) => {}
            }
        }
        Ok(())
    }
}
