//! Copying many pieces, also of several owners, by their places in the array. Boxes that lie beside one another there are
//! copied row by row, so the array is written from its beginning to its end.

use crate::data::taker::block_locations::VariableBlocks;
use crate::data::taker::fetch::job::{Errand, Job};
use crate::data::taker::fetch::scatter::count_copied;
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::OwnerError;
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
    while !rest.is_empty() {
        let (beside, behind) = rest.split_at(copies.beside(rest));
        rest = behind;
        let outcome = match all_beside(planned, beside, placed) {
            Some(blocks) => copies.copy_beside(beside, &blocks, destination),
            None => copy_each(planned, beside, placed, destination),
        };
        match outcome {
            Ok(len_bytes) => copied += len_bytes,
            Err((number, error)) => {
                let owner = beside.get(number).and_then(|piece| copies.owner(*piece as usize));
                return (copied, Err((owner.unwrap_or(0), error)));
            }
        }
    }
    (copied, Ok(()))
}

/// The block of a piece, if it is known.
fn block_of<'p>(planned: &FetchPlan, piece: u32, placed: &[&'p VariableBlocks<Payload>]) -> Option<&'p [u8]> {
    let copies = planned.copies();
    let (owner, block) = (copies.owner(piece as usize)?, copies.block(piece as usize)?);
    placed.get(owner)?.find(block).map(Payload::as_slice)
}

/// The blocks of several pieces beside one another, if all are known.
fn all_beside<'p>(
    planned: &FetchPlan,
    beside: &[u32],
    placed: &[&'p VariableBlocks<Payload>],
) -> Option<SmallVec<[&'p [u8]; 64]>> {
    (beside.len() > 1).then(|| beside.iter().map(|piece| block_of(planned, *piece, placed)).collect())?
}

/// Copies those pieces that are known. An error is of the piece of that number.
fn copy_each(
    planned: &FetchPlan,
    pieces: &[u32],
    placed: &[&VariableBlocks<Payload>],
    destination: &mut [u8],
) -> Result<usize, (usize, CopyError)> {
    let mut copied = 0;
    for (number, piece) in pieces.iter().enumerate() {
        let Some(block) = block_of(planned, *piece, placed) else { continue };
        let outcome = planned.copy_piece(*piece as usize, block, destination);
        copied += outcome.map_err(|error| (number, error))?;
    }
    Ok(copied)
}
