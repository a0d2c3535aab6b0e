//! Taking records: as they lie where the types are equal, converted where they are compatible.

use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::held::HeldStep;
use crate::step::records::record_type;
use crate::step::request::RecordRequest;
use crate::step::source;
use crate::value::counters::Counters;
use fp_types::record::{Conversion, RecordSchema, Records};
use std::borrow::Cow;
use std::sync::Arc;

/// What there is and what is wanted of a variable.
pub(crate) struct Matched {
    pub(crate) planned: Arc<FetchPlan>,
    pub(crate) found: RecordSchema,
    /// From the one to the other; none where bytes stay as they are.
    pub(crate) conversion: Option<Arc<Conversion>>,
    /// The type of what is given.
    pub(crate) given: RecordSchema,
}

/// So many records as the type that is wanted.
pub(crate) fn converted(
    held: &HeldStep,
    variable: &str,
    matched: &Matched,
    bytes: &[u8],
    count: usize,
) -> Result<Vec<u8>, ReadError> {
    let records = Records::new(&matched.found, bytes, count);
    let records = records.map_err(|error| held.problem(variable, error.into()))?;
    let Some(conversion) = &matched.conversion else { return Ok(bytes.to_vec()) };
    Counters::add(&held.shared.counters.handled_records, count);
    let converted = conversion.convert(&records).map(Cow::into_owned);
    converted.map_err(|error| held.problem(variable, error.into()))
}

/// What is there and what is wanted, with the conversion from the one to the other.
pub(crate) fn matched(held: &HeldStep, request: RecordRequest<'_>) -> Result<Matched, ReadError> {
    let planned = source::planned(held, request.elements())?;
    request.wanted.into_iter().for_each(|wanted| held.shared.types.learn_anyway(wanted));
    let rank = planned.plan.pieces.first().map(|piece| piece.block.rank);
    let found = record_type::type_of(held, &planned.def, rank, request.limit)?;
    let given = request.wanted.unwrap_or(&found).clone();
    if request.wanted.is_none_or(|wanted| *wanted == found) {
        return Ok(Matched { planned, found, conversion: None, given });
    }
    let conversion = record_type::conversion(held, &found, &given, request.loss());
    let conversion = conversion.map_err(|source| held.incompatible(request.variable, source))?;
    let conversion = Some(conversion).filter(|conversion| !conversion.is_identity());
    Ok(Matched { planned, found, conversion, given })
}

/// Whether records of another type, and perhaps of another shape, could be what was asked for.
pub(crate) fn may_be_of_type(error: &ReadError) -> bool {
    let is_of_selection =
        |source: &Misuse| matches!(source, Misuse::Selection { .. } | Misuse::SelectionText { .. });
    matches!(error, ReadError::Incompatible { .. } | ReadError::Plan { .. })
        || matches!(error, ReadError::Misuse { source, .. } if is_of_selection(source))
}
