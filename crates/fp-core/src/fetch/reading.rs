//! Over verbs: what of a piece is READ from its owner's memory, straight into the runs of the caller's array.

use super::Get;
use crate::peer::{DataPeer, PeerError};
use crate::statistics::Counters;
use fp_transport::{LinkError, ReadRun};
use fp_types::StepId;
use std::time::Instant;

/// Pieces at least this long are READ. To register the caller's memory costs system calls and a walk of its pages, which
/// a shorter piece does not earn: its owner gathers it and sends it.
const READ_BYTES: usize = 32 << 10;
/// Runs at least this long are READ: each takes a place of a request, and shorter ones are gathered faster by a processor.
const READ_RUN_BYTES: usize = 512;
/// Most runs of one piece that are READ.
const LIMIT_RUNS: usize = 1 << 16;

/// READs a piece whose place is known, if that is worth it; `false`: it is to be asked for.
pub(super) fn read_placed(
    peer: &mut DataPeer,
    step: StepId,
    get: &mut Get<'_>,
    piece: usize,
    counters: &Counters,
    deadline: Instant,
) -> Result<bool, PeerError> {
    let Some(wanted) = get.planned.wanted.get(piece) else { return Ok(false) };
    let Some(remote) = peer.remote(step, &wanted.variable, wanted.block) else { return Ok(false) };
    let Some((mut runs, len)) = runs(get, piece) else { return Ok(false) };
    // Only what is written is registered.
    let start = runs.iter().map(|run| run.destination).min().unwrap_or(0);
    let end = runs.iter().map(|run| run.destination.saturating_add(run.len_bytes)).max().unwrap_or(0);
    runs.iter_mut().for_each(|run| run.destination -= start);
    let Some(place) = get.destination.get_mut(start..end) else { return Ok(false) };
    let mut destination = match peer.link.register(place) {
        Ok(destination) => destination,
        Err(trouble) => {
            tracing::warn!(%trouble, "an array cannot be READ into: its pieces are asked for");
            return Ok(false);
        }
    };
    match peer.link.read_remote(&remote, &mut destination, &runs, deadline) {
        Ok(()) => {}
        Err(LinkError::Malformed { what, value, limit }) => {
            return Err(PeerError::Misbehaved(format!("{what}: {value} of {limit}")));
        }
        Err(error) => return Err(error.into()),
    }
    Counters::add(&counters.received_bytes, len);
    Counters::add(&counters.payload_bytes, len);
    Ok(true)
}

/// The runs of a piece in bytes, and their sum; `None` if it is too small or too badly strided.
fn runs(get: &Get<'_>, piece: usize) -> Option<(Vec<ReadRun>, usize)> {
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
    let runs = runs.series().flat_map(|series| series.iter()).map(one).collect::<Option<_>>()?;
    Some((runs, len))
}
