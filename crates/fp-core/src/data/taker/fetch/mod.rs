//! Fetching: the pieces of one or several gets, from their owners straight into the caller's memory.
//!
//! What the owners have placed already is copied first. For what is missing, placements and pushes are then awaited for
//! a moment. What is still missing is asked for, of all owners before the first answer is awaited (`asking`).
//!
//! Everything happens on the caller's thread, on links that it has checked out. The call returns only when nothing can
//! write into the caller's memory any more.

pub(crate) mod asking;
pub(crate) mod describe;
pub(crate) mod dial;
pub(crate) mod inline;
pub(crate) mod job;
pub(crate) mod locate;
pub(crate) mod offers;
pub(crate) mod question;
pub(crate) mod remote_read;
pub(crate) mod scatter;
pub(crate) mod together;
pub(crate) mod turns;

use crate::data::taker::block_locations::VariableBlocks;
use crate::data::taker::context::Taker;
use crate::data::taker::fetch::job::{Get, Job, errands};
use crate::data::taker::fetch::scatter::{count_copied, unpack};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::data::taker::owner_directory::LIMIT_LINKS;
use crate::data::taker::owner_link::{OwnerError, OwnerLink};
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use crate::value::stopwatch::Stopwatch;
use fp_proto::data::GoneReason;
use fp_transport::Payload;
use fp_types::StepId;

/// Fills every get of one step.
pub(crate) fn fetch(taker: Taker<'_>, gets: &mut [Get<'_>], limit: Limit<'_>) -> Result<(), ReadError> {
    let mut errands = errands(gets);
    let watch = Stopwatch::start(&taker.counters.fetch_ns);
    let mut job = Job::new(taker, gets, watch.started, limit);
    for wave in errands.chunks_mut(LIMIT_LINKS) {
        let outcome = job.run(wave);
        job.give_back(wave);
        outcome?;
    }
    Ok(())
}

fn gone(reason: GoneReason) -> &'static str {
    match reason {
        GoneReason::Step => "the step was released or the subscription expelled",
        GoneReason::Block => "the block was never stored: nobody had subscribed to it",
        GoneReason::Part => "the block has no such part",
        GoneReason::NoRoom => "no room to share it: limits of memory or descriptors",
        GoneReason::Unreadable => {
            "its bytes are in a file that could not be read: the publisher's log says why"
        }
    }
}

/// Copies a piece that was pushed before somebody wanted it; `false` if it was not.
fn take_staged(
    peer: &mut OwnerLink,
    step: StepId,
    get: &mut Get<'_>,
    piece: usize,
    counters: &Counters,
) -> Result<bool, OwnerError> {
    let Some(wanted) = get.planned.wanted.get(piece) else { return Ok(true) };
    let Some(bytes) = peer.staged(step, wanted) else { return Ok(false) };
    unpack(get, piece, &bytes).map_err(OwnerError::Misbehaved)?;
    count_copied(counters, bytes.len());
    Ok(true)
}

/// Copies a piece whose block is among these, and says how many bytes that was; `None`: it is still to come.
fn take_placed(
    blocks: &VariableBlocks<Payload>,
    get: &mut Get<'_>,
    piece: usize,
) -> Result<Option<usize>, OwnerError> {
    let (planned, copies) = (&*get.planned, get.planned.copies());
    let Some(block) = copies.block(piece).and_then(|block| blocks.find(block)) else { return Ok(None) };
    let copied = match copies.copy(piece, block.as_slice(), get.destination) {
        Some(copied) => copied,
        None => planned.copy_piece(piece, block.as_slice(), get.destination),
    };
    copied.map(Some).map_err(|error| OwnerError::Misbehaved(error.to_string()))
}

/// Whether a destination has the length that its plan wants.
pub(crate) fn check_len(step: StepId, planned: &FetchPlan, found: usize) -> Result<(), Misuse> {
    let expected = planned.element_count();
    if found as u64 != expected {
        let variable = planned.def.name.clone();
        let region = "the selection".to_owned();
        return Err(Misuse::WrongLen { step, variable, region, expected, found: found as u64 });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod turns_tests;
