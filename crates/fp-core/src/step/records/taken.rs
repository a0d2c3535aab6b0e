//! The selected records as they were put, or converted.

use crate::data::taker::fetch_plan::element_count;
use crate::error::ReadError;
use crate::records::set::{Memory, RecordSet};
use crate::step::held::HeldStep;
use crate::step::records::matched::Matched;
use crate::step::records::{matched, whole};
use crate::step::request::RecordRequest;
use crate::step::{fill, locate};
use crate::value::counters::Counters;
use std::sync::Arc;

/// The selected records as they were put, or converted.
pub(crate) fn take_as_put(held: &Arc<HeldStep>, request: RecordRequest<'_>) -> Result<RecordSet, ReadError> {
    let matched = matched::matched(held, request)?;
    taken(held, request, matched)
}

/// Fetches the records of a plan, and converts them where the types differ.
pub(crate) fn taken(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
    matched: Matched,
) -> Result<RecordSet, ReadError> {
    let (planned, count) = (matched.planned.clone(), element_count(&matched.planned));
    let memory = if !matched.found.is_plain() {
        Memory::Own(whole::whole_records(held, request, &matched)?)
    } else {
        plain_records(held, request, &matched)?
    };
    let (shape, held) = (planned.plan.result_shape(), held.hold());
    Ok(RecordSet { schema: matched.given, count, shape, memory, held })
}

/// The bytes of records without lists and texts: where they lie, if they can be looked at there, else a copy.
pub(crate) fn plain_records(
    held: &HeldStep,
    request: RecordRequest<'_>,
    matched: &Matched,
) -> Result<Memory, ReadError> {
    let memory = match locate::placed(held, &matched.planned, request.limit)? {
        Some(payload) => Memory::Shared(payload),
        None => {
            let mut bytes = vec![0; matched.planned.len_bytes().unwrap_or(usize::MAX)];
            fill::fill(held, &matched.planned, &mut bytes, request.limit.deadline)?;
            Memory::Own(bytes)
        }
    };
    if matched.conversion.is_none() {
        Counters::add(&held.shared.counters.views, usize::from(matches!(memory, Memory::Shared(_))));
        return Ok(memory);
    }
    let bytes = match &memory {
        Memory::Shared(payload) | Memory::Computed(payload) => payload.as_slice(),
        Memory::Own(bytes) => bytes,
    };
    matched::converted(held, request.variable, matched, bytes, element_count(&matched.planned))
        .map(Memory::Own)
}
