//! Pieces that are READ from their owner's memory, over verbs. They go straight into the runs of an array that is
//! registered, and by way of the stream's own memory into any other. No read registers memory once these are.
//!
//! An owner sends gathered pieces; it does not write them with immediate data. A write saves a copy only where the
//! destination is registered. For that the subscriber would have to hand out keys to write to its process.

use crate::data::taker::fetch::job::Get;
use crate::data::taker::owner_link::{OwnerError, OwnerLink};
use crate::value::counters::Counters;
use fp_transport::{LinkError, ReadRun, VerbsTrouble};
use fp_types::StepId;
use std::time::Instant;

/// Pieces at least this long are READ. Short blocks come beside their placement. Short pieces are asked for, all of an
/// owner's at once; they would be READ one after the other. Measured in emulation: docs/transports.md.
pub(crate) const READ_BYTES: usize = 8 << 10;

/// Runs at least this long are READ: each takes a request, and shorter ones are gathered faster by a processor.
const READ_RUN_BYTES: usize = 512;

/// Most runs of one piece that are READ.
const LIMIT_RUNS: usize = 1 << 16;

/// Registered memory through which pieces are READ whose own place is not registered. One half is copied while the
/// other is READ into.
const LANDING_BYTES: usize = 1 << 20;

/// READs a piece whose place is known, if that is worth it; `false`: it is to be asked for.
pub(crate) fn read_placed(
    peer: &mut OwnerLink,
    step: StepId,
    get: &mut Get<'_>,
    piece: usize,
    counters: &Counters,
    deadline: Instant,
) -> Result<bool, OwnerError> {
    let Some(wanted) = get.planned.wanted.get(piece) else { return Ok(false) };
    let Some(remote) = peer.remote(step, &wanted.variable, wanted.block) else { return Ok(false) };
    let Some((runs, len)) = runs(get, piece) else { return Ok(false) };
    let straight = get.keys.filter(|keys| is_usable(peer.link.register_keys(keys)));
    let read = match straight {
        Some(keys) => peer.link.read_remote_into(&remote, (&mut *get.destination, keys), &runs, deadline),
        None => {
            let mut landing = match peer.link.landing(LANDING_BYTES) {
                Ok(landing) => landing,
                Err(trouble) => {
                    tracing::warn!(%trouble, "nothing can be READ: pieces are asked for");
                    return Ok(false);
                }
            };
            let through = (&mut *get.destination, &runs[..]);
            peer.link.read_remote_through(&remote, &mut landing, through, deadline)
        }
    };
    match read {
        Ok(()) => {}
        Err(LinkError::Malformed { what, value, limit }) => {
            return Err(OwnerError::Misbehaved(format!("{what}: {value} of {limit}")));
        }
        Err(error) => return Err(error.into()),
    }
    match straight {
        Some(_) => Counters::add(&counters.received_bytes, len),
        None => {
            counters.count_staged(&peer.link, len);
            Counters::add(&counters.get_copied_bytes, len);
        }
    }
    Counters::add(&counters.payload_bytes, len);
    Ok(true)
}

fn is_usable(registered: Result<(), VerbsTrouble>) -> bool {
    registered
        .inspect_err(|trouble| tracing::warn!(%trouble, "an array cannot be READ into straight"))
        .is_ok()
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
