//! Copying the pieces of several owners by their places in the array. Boxes that lie beside one another there have lines
//! of memory in common, and so each is touched once.

use crate::data::taker::block_locations::VariableBlocks;
use crate::data::taker::fetch::job::{Errand, Job};
use crate::data::taker::fetch::scatter::count_copied;
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_link::{Heard, OwnerError};
use crate::error::ReadError;
use fp_transport::Payload;
use fp_types::{CopyError, StepId};

impl Job<'_, '_, '_> {
    /// Copies all pieces of an array, if they lie among one another and all of them are placed. Otherwise each owner's are
    /// looked at for themselves.
    pub(crate) fn copy_together(&mut self, errands: &mut [Errand]) -> Result<(), ReadError> {
        let [get] = &*self.gets else { return Ok(()) };
        let planned = get.planned.clone();
        let Some(order) = planned.copies().order_of(errands.len()) else { return Ok(()) };
        let step = self.taker.step;
        for errand in errands.iter_mut() {
            self.guard(errand, |job, errand| job.hear_places(errand, step, &planned))?;
        }
        let placed: Option<Vec<_>> =
            errands.iter().map(|errand| all_placed(errand, step, &planned)).collect();
        let ([get], Some(placed)) = (&mut *self.gets, placed) else { return Ok(()) };
        let (copied, outcome) = copy_in_order(&planned, order, &placed, get.destination);
        count_copied(self.taker.counters, copied);
        match outcome {
            Ok(()) => errands.iter_mut().for_each(|errand| errand.missing.clear()),
            Err((owner, error)) => {
                if let Some(errand) = errands.get_mut(owner) {
                    self.guard(errand, |_, _| Err(OwnerError::Misbehaved(error.to_string())))?;
                }
            }
        }
        Ok(())
    }

    /// Takes messages until as many blocks are known as are missing, or nothing more is here.
    fn hear_places(
        &mut self,
        errand: &mut Errand,
        step: StepId,
        planned: &FetchPlan,
    ) -> Result<(), OwnerError> {
        let known = |errand: &Errand| placed(errand, step, planned).map_or(0, VariableBlocks::len);
        while known(errand) < errand.missing.len() {
            match self.hear(errand)? {
                None => return Ok(()),
                Some(Heard::Answered(request)) => drop(errand.request.take_if(|open| *open == request)),
                Some(Heard::News | Heard::Placed) => {}
            }
        }
        Ok(())
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
    let (copies, mut copied) = (planned.copies(), 0);
    for &piece in order {
        let piece = piece as usize;
        let (Some(owner), Some(block)) = (copies.owner(piece), copies.block(piece)) else { continue };
        let Some(block) = placed.get(owner).and_then(|blocks| blocks.find(block)) else { continue };
        match planned.copy_piece(piece, block.as_slice(), destination) {
            Ok(len_bytes) => copied += len_bytes,
            Err(error) => return (copied, Err((owner, error))),
        }
    }
    (copied, Ok(()))
}
