//! Copying many pieces, also of several owners, by their places in the array. Boxes that lie beside one another there are
//! copied row by row, so the array is written from its beginning to its end.

use crate::data::taker::block_locations::VariableBlocks;
use crate::data::taker::fetch::job::{Errand, Job};
use crate::data::taker::fetch::scatter::count_copied;
use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use fp_transport::Payload;
use fp_types::StepId;

impl Job<'_, '_, '_> {
    /// Whether all pieces of an array are copied together: they are many and short, and all owners share memory. Those that
    /// have not said yet where their blocks lie are waited for until they are late.
    pub(crate) fn is_copied_together(&self, errands: &[Errand]) -> bool {
        let [get] = &*self.gets else { return false };
        let shares = |errand: &Errand| errand.peer.as_ref().is_some_and(|peer| peer.shares_memory());
        get.planned.copies().order_of(errands.len()).is_some() && errands.iter().all(shares)
    }

    /// Whether an owner has said where all lies that is missing of the one array.
    pub(crate) fn is_all_placed(&self, errand: &Errand) -> bool {
        let [get] = &*self.gets else { return false };
        let Some(blocks) = placed(errand, self.taker.step, &get.planned) else { return false };
        let copies = get.planned.copies();
        let is_known = |piece: usize| copies.block(piece).is_some_and(|block| blocks.find(block).is_some());
        errand.missing.iter().all(|missing| is_known(missing.piece))
    }

    /// Copies all pieces in the order of their places in the array, if all owners have said where they lie.
    pub(crate) fn copy_together(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        if errands.iter().any(Errand::is_awaited) {
            return Ok(());
        }
        let [get] = &mut *self.gets else { return Ok(()) };
        let (planned, step) = (&*get.planned, self.taker.step);
        let placed = errands.iter().map(|errand| placed(errand, step, planned)).collect::<Option<Vec<_>>>();
        let copied = placed.and_then(|placed| copy_in_order(planned, &placed, get.destination));
        let Some(copied) = copied else {
            // It finds out whose block does not fit.
            return self.copy_apart(errands);
        };
        count_copied(self.taker.counters, copied);
        self.waits_for_all = false;
        for errand in errands {
            errand.missing.clear();
            // The answer to a request that came too late says nothing new.
            errand.request = None;
        }
        Ok(())
    }

    /// Waits for all owners no more: what is known is copied.
    pub(crate) fn copy_apart(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        self.waits_for_all = false;
        errands.iter_mut().try_for_each(|errand| {
            errand.is_placed = false;
            self.guard(errand, Self::copy_placed)
        })
    }
}

/// What an owner has said of the array.
fn placed<'e>(errand: &'e Errand, step: StepId, planned: &FetchPlan) -> Option<&'e VariableBlocks<Payload>> {
    errand.peer.as_ref()?.placed_of(step, planned.variable()?)
}

/// Copies what is known of all owners. Says how many bytes that was; nothing, if a block does not fit.
fn copy_in_order(
    planned: &FetchPlan,
    placed: &[&VariableBlocks<Payload>],
    destination: &mut [u8],
) -> Option<usize> {
    let copies = planned.copies();
    let known = |piece: u32| {
        let (owner, block) = (copies.owner(piece as usize)?, copies.block(piece as usize)?);
        Some(placed.get(owner)?.find(block)?.as_slice())
    };
    copies.copy_in_order(copies.order_of(placed.len())?, known, destination).ok()
}
