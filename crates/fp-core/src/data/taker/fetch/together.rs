//! Copying many pieces, also of several owners, by their places in the array. Boxes that lie beside one another there are
//! copied row by row, so the array is written from its beginning to its end.

use crate::data::taker::block_locations::VariableBlocks;
use crate::data::taker::fetch::job::{Errand, Job};
use crate::data::taker::fetch::scatter::count_copied;
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::OwnerError;
use crate::data::taker::piece_copies::LIMIT_BESIDE;
use crate::error::ReadError;
use fp_transport::Payload;
use fp_types::{CopyError, StepId};
use smallvec::SmallVec;

impl Job<'_, '_, '_> {
    /// Copies all pieces of an array together, if they are many and short, and all owners share memory. Those that have not
    /// said yet where their blocks lie are waited for until they are late.
    pub(crate) fn begin_together(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        let [get] = &*self.gets else { return Ok(()) };
        let shares = |errand: &Errand| errand.peer.as_ref().is_some_and(|peer| peer.shares_memory());
        if get.planned.copies().order_of(errands.len()).is_none() || !errands.iter().all(shares) {
            return Ok(());
        }
        self.waits_for_all = true;
        self.copy_together(errands)
    }

    /// Copies all pieces in the order of their places in the array, if it is known where all of them lie.
    pub(crate) fn copy_together(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        let [get] = &mut *self.gets else { return Ok(()) };
        let (planned, step) = (&*get.planned, self.taker.step);
        let Some(order) = planned.copies().order_of(errands.len()) else { return Ok(()) };
        let placed = errands.iter().map(|errand| all_placed(errand, step, planned));
        let Some(placed) = placed.collect::<Option<Vec<_>>>() else { return Ok(()) };
        let (copied, outcome) = copy_in_order(planned, order, &placed, get.destination);
        count_copied(self.taker.counters, copied);
        self.waits_for_all = false;
        match outcome {
            Ok(()) => errands.iter_mut().for_each(|errand| {
                errand.missing.clear();
                // The answer to a request that came too late says nothing new.
                errand.request = None;
            }),
            Err((owner, error)) => {
                if let Some(errand) = errands.get_mut(owner) {
                    self.guard(errand, |_, _| Err(OwnerError::Misbehaved(error.to_string())))?;
                }
            }
        }
        Ok(())
    }

    /// Waits for all owners no more: what is known is copied.
    pub(crate) fn copy_apart(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        self.waits_for_all = false;
        errands.iter_mut().try_for_each(|errand| self.guard(errand, Self::copy_placed))
    }
}

fn placed<'e>(errand: &'e Errand, step: StepId, planned: &FetchPlan) -> Option<&'e VariableBlocks<Payload>> {
    errand.peer.as_ref()?.placed_of(step, planned.variable()?)
}

/// The blocks of an owner, if all that is missing is among them.
fn all_placed<'e>(
    errand: &'e Errand,
    step: StepId,
    planned: &FetchPlan,
) -> Option<&'e VariableBlocks<Payload>> {
    let (blocks, copies) = (placed(errand, step, planned)?, planned.copies());
    let is_known = |piece: usize| copies.block(piece).is_some_and(|block| blocks.find(block).is_some());
    errand.missing.iter().all(|missing| is_known(missing.piece)).then_some(blocks)
}

/// Copies what is known in that order of pieces. Says how many bytes that was, and whose piece did not fit.
fn copy_in_order(
    planned: &FetchPlan,
    order: &[u32],
    placed: &[&VariableBlocks<Payload>],
    destination: &mut [u8],
) -> (usize, Result<(), (usize, CopyError)>) {
    let (copies, mut copied, mut rest) = (planned.copies(), 0, order);
    let owner = |piece: &u32| copies.owner(*piece as usize);
    let known =
        |piece: &u32| Some(placed.get(owner(piece)?)?.find(copies.block(*piece as usize)?)?.as_slice());
    while !rest.is_empty() {
        let beside = rest.iter().take(copies.beside(rest));
        let blocks: SmallVec<[&[u8]; LIMIT_BESIDE]> = beside.map_while(known).collect();
        // At least one: of a block that is not known nothing is copied.
        let (beside, behind) = rest.split_at(blocks.len().max(1));
        rest = behind;
        match copies.copy_beside(beside, &blocks, destination) {
            Ok(len_bytes) => copied += len_bytes,
            Err((number, error)) => {
                return (copied, Err((beside.get(number).and_then(owner).unwrap_or_default(), error)));
            }
        }
    }
    (copied, Ok(()))
}
