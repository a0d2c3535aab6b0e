//! What a step has as bytes, for those who learn types at run time.

use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::held::HeldStep;
use crate::step::records::take;
use crate::step::request::{RecordRequest, Request};
use crate::step::{fill, locate, source};
use crate::value::counters::Counters;
use crate::value::select::Select;
use crate::value::view::View;
use fp_types::{ArrayKind, Dtype, Shape};
use std::sync::Arc;

/// The selected elements, copied.
pub(crate) fn copied(
    held: &Arc<HeldStep>,
    variable: &str,
    select: &Select,
) -> Result<(Dtype, Shape, Vec<u8>), ReadError> {
    let planned = source::planned(held, Request::new(variable, select, held.deadline()))?;
    if planned.def.dtype.size_bytes().is_none() && planned.def.kind == ArrayKind::Scalar {
        // A text or a record: it came with the announcement, and has its own length.
        let bytes = held.value(variable)?.bytes.clone();
        return Ok((planned.def.dtype, planned.plan.result_shape(), bytes));
    }
    if planned.def.dtype == Dtype::Bytes {
        let limit = held.deadline().into();
        let records = take::take_records(held, RecordRequest { variable, select, wanted: None, limit })?;
        return Ok((planned.def.dtype, *records.shape(), records.into_bytes()));
    }
    let mut bytes = vec![0; planned.len_bytes().unwrap_or(usize::MAX)];
    fill::fill(held, &planned, &mut bytes, held.deadline())?;
    Ok((planned.def.dtype, planned.plan.result_shape(), bytes))
}

/// The selected elements, copied into memory of the caller's.
pub(crate) fn copied_into(
    held: &HeldStep,
    variable: &str,
    select: &Select,
    memory: &mut [u8],
) -> Result<(), ReadError> {
    let planned = source::planned(held, Request::new(variable, select, held.deadline()))?;
    let expected = planned.len_bytes().filter(|_| planned.def.dtype.size_bytes().is_some());
    if expected != Some(memory.len()) {
        let (step, variable, region) = (held.step(), variable.to_owned(), "the selection".to_owned());
        let (expected_bytes, found_bytes) = (expected.unwrap_or(0) as u64, memory.len() as u64);
        let wrong = Misuse::WrongLenBytes { step, variable, region, expected_bytes, found_bytes };
        return Err(held.misuse(wrong));
    }
    fill::fill(held, &planned, memory, held.deadline())
}

/// The selected elements, where they lie if that can be.
pub(crate) fn viewed(
    held: &Arc<HeldStep>,
    variable: &str,
    select: &Select,
) -> Result<(Dtype, View<u8>), ReadError> {
    let planned = source::planned(held, Request::new(variable, select, held.deadline()))?;
    if planned.def.dtype.size_bytes().is_some() {
        let placed = locate::placed(held, &planned, held.deadline().into())?;
        let shape = planned.plan.result_shape();
        if let Some(view) = placed.and_then(|part| View::of_payload(part, shape, held.hold())) {
            Counters::add(&held.shared.counters.views, 1);
            return Ok((planned.def.dtype, view));
        }
    }
    let (dtype, shape, bytes) = copied(held, variable, select)?;
    Ok((dtype, View::of_vec(bytes, shape, held.hold())))
}
