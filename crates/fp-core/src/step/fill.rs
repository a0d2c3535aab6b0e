//! Filling the memory of gets: from what came with the announcement, from what is here, and from owners.

use crate::data::taker::fetch;
use crate::data::taker::fetch::inline;
use crate::data::taker::fetch::job::{Get, Gets};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::step::held::HeldStep;
use crate::value::bool_check;
use crate::value::limit::Limit;
use fp_types::{ArrayKind, Dtype};
use std::sync::Arc;

/// Fills one array.
pub(crate) fn fill<'l>(
    held: &HeldStep,
    planned: &Arc<FetchPlan>,
    destination: &mut [u8],
    limit: impl Into<Limit<'l>>,
) -> Result<(), ReadError> {
    fill_all(held, [Get::new(planned.clone(), destination)], limit.into())
}

/// Global scalars came with the announcement; everything else is fetched.
pub(crate) fn fill_all<'d>(
    held: &HeldStep,
    gets: impl Into<Gets<'d>>,
    limit: Limit<'_>,
) -> Result<(), ReadError> {
    let mut gets = gets.into();
    let _span = tracing::debug_span!("get", stream = held.stream(), step = %held.step()).entered();
    let (mut wrong, mut copied) = (Ok(()), Ok(()));
    gets.retain_mut(|get| {
        if let Some(filled) = get.planned.fill_here(get.destination) {
            copied = std::mem::replace(&mut copied, Ok(())).and(filled);
            return false;
        }
        let is_told = fill_scalar(held, get);
        if is_told && wrong.is_ok() {
            wrong = bool_check::check(&get.planned.def, get.destination);
        }
        !is_told
    });
    copied.map_err(|error| held.failed(error))?;
    tracing::debug!(gets = gets.len(), "fetch");
    fetch::fetch(held.taker(), &mut gets, limit)?;
    let fetched = gets.iter().try_for_each(|get| bool_check::check(&get.planned.def, get.destination));
    wrong.and(fetched).map_err(|misuse| held.misuse(misuse))
}

/// Copies a scalar that came with the announcement; `false` if none of this length did.
pub(crate) fn fill_scalar(held: &HeldStep, get: &mut Get<'_>) -> bool {
    let def = &get.planned.def;
    let value = held.assignment.values.iter().find(|value| value.name == def.name);
    match value.filter(|value| def.kind == ArrayKind::Scalar && value.bytes.len() == get.destination.len()) {
        Some(value) => {
            get.destination.copy_from_slice(&value.bytes);
            true
        }
        None => false,
    }
}

/// As [`fill_all`], but only if nobody need be waited for: otherwise `false`.
pub(crate) fn fill_inline(held: &HeldStep, mut gets: Vec<Get<'_>>) -> bool {
    if gets.iter().any(|get| get.planned.def.dtype == Dtype::Bool) {
        // They are checked by a thread.
        return false;
    }
    gets.retain_mut(|get| !fill_scalar(held, get));
    inline::fetch_inline(held.taker(), &mut gets)
}
