//! What of a fetch a poll may do by itself: copying a little from memory that is here, without waiting for anybody.

use crate::data::taker::context::Taker;
use crate::data::taker::fetch::job::{Errand, Get, Job, errands};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_directory::Checkout;
use crate::data::taker::owner_link::OwnerError;
use fp_transport::Payload;
use std::sync::Arc;
use std::time::Instant;

/// Bytes that a poll copies at most. Copying them takes less time than handing them to a thread and back: such a get
/// takes 13 us, and a blocking one 9.
pub(crate) const INLINE_BYTES: usize = 64 << 10;

/// Fills every get if all owners share memory with this rank, their links are there and unused, and they have said
/// where the blocks lie. Otherwise `false`: nothing was copied, and [`super::fetch`] does it all.
pub(crate) fn fetch_inline(taker: Taker<'_>, gets: &mut [Get<'_>]) -> bool {
    let mut errands = errands(gets);
    let now = Instant::now();
    let mut job = Job::new(taker, gets, now, now.into());
    let done = job.link_up_inline(&mut errands)
        && errands.iter_mut().all(|errand| job.is_here(errand))
        && errands.iter_mut().all(|errand| job.copy_placed(errand).is_ok() && errand.missing.is_empty());
    job.give_back(&mut errands);
    done
}

/// Where the block of a plan's only piece lies, if its owner shares memory with this rank and has said so.
pub(crate) fn locate_inline(taker: Taker<'_>, planned: &Arc<FetchPlan>) -> Option<Payload> {
    let mut gets = [Get::new(planned.clone(), &mut [])];
    let mut errands = errands(&gets);
    let now = Instant::now();
    let mut job = Job::new(taker, &mut gets, now, now.into());
    let here = job.link_up_inline(&mut errands) && errands.iter_mut().all(|errand| job.is_here(errand));
    let placed = errands.first_mut().filter(|_| here).and_then(|errand| job.placed(errand));
    job.give_back(&mut errands);
    placed
}

impl Job<'_, '_, '_> {
    fn link_up_inline(&self, errands: &mut [Errand]) -> bool {
        errands.iter_mut().all(|errand| {
            let checkout = self.taker.owners.checkout(errand.rank, self.taker.epoch, self.limit.deadline);
            errand.checked_out = matches!(checkout, Checkout::Link(_) | Checkout::Dial(_));
            if let Checkout::Link(peer) = checkout {
                errand.peer = Some(peer);
            }
            errand.peer.as_ref().is_some_and(|peer| peer.shares_memory())
        })
    }

    /// Hears what the owner has said; over shared memory no bytes need be waited for. Says whether the owner has placed
    /// all that is missing. A link that fails is left to the fetch proper, which dials again and says what is wrong.
    fn is_here(&mut self, errand: &mut Errand) -> bool {
        if self.all_placed(errand) {
            return true;
        }
        match self.hear_out(errand) {
            Ok(()) => self.all_placed(errand),
            Err(error) => {
                tracing::debug!(?error, rank = %errand.rank, "data link lost");
                errand.peer = None;
                false
            }
        }
    }

    fn hear_out(&mut self, errand: &mut Errand) -> Result<(), OwnerError> {
        while self.hear(errand)?.is_some() {}
        Ok(())
    }

    fn all_placed(&self, errand: &Errand) -> bool {
        let Some(peer) = &errand.peer else { return false };
        errand.missing.iter().all(|missing| {
            let planned = self.gets.get(missing.get).map(|get| &get.planned);
            let wanted = planned.and_then(|planned| planned.wanted.get(missing.piece));
            wanted
                .is_some_and(|wanted| peer.placed(self.taker.step, &wanted.variable, wanted.block).is_some())
        })
    }
}
