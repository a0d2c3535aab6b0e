//! Views of what a step has: where it lies, or received into memory of the view's own.

use crate::data::taker::fetch::inline;
use crate::data::taker::fetch::job::Get;
use crate::data::taker::fetch::remote_read::READ_BYTES;
use crate::data::taker::fetch_plan::element_count;
use crate::error::ReadError;
use crate::step::convert::ConvertedPlan;
use crate::step::held::HeldStep;
use crate::step::request::Request;
use crate::step::{convert, fill, locate, source};
use crate::value::counters::Counters;
use crate::value::element::Element;
use crate::value::fill_target::FillTarget as _;
use crate::value::limit::Limit;
use crate::value::select::Select;
use crate::value::view::View;
use fp_transport::Landing;
use fp_types::ArrayKind;
use std::sync::Arc;

/// The view, if the plan is known and the block is here.
pub(crate) fn view_inline<T: Element>(
    held: &Arc<HeldStep>,
    variable: &str,
    select: &Select,
) -> Result<Option<View<T>>, ReadError> {
    let Some(planned) =
        source::known_plan(held, Request::new(variable, select, held.deadline()).of_type(T::DTYPE))?
    else {
        return Ok(None);
    };
    let Some((_, range)) = planned.contiguous().filter(|_| planned.def.kind != ArrayKind::Scalar) else {
        return Ok(None);
    };
    let placed = inline::locate_inline(held.taker(), &planned);
    let part = placed.and_then(|block| block.slice(range));
    let view = part.and_then(|part| View::of_payload(part, planned.plan.result_shape(), held.hold()));
    Counters::add(&held.shared.counters.views, usize::from(view.is_some()));
    Ok(view)
}

/// Memory of the stream's for a view of elements that come as they are, where a device may write to it.
pub(crate) fn landing(held: &HeldStep, planned: &ConvertedPlan) -> Option<Landing> {
    let domain = &held.shared.endpoint.dial.domain;
    let len_bytes = planned.planned.len_bytes()?;
    let is_read = planned.is_same() && len_bytes >= READ_BYTES;
    (is_read && domain.is_used()).then(|| domain.landing(len_bytes).ok()).flatten()
}

/// A view of the selected elements, until the limit; what `view` and its like call.
pub(crate) fn view_within<T: Element>(
    held: &Arc<HeldStep>,
    variable: &str,
    select: Select,
    limit: Limit<'_>,
) -> Result<View<T>, ReadError> {
    let planned = convert::planned_as::<T>(held, variable, select, limit.deadline)?;
    let part = if planned.is_same() { locate::placed(held, &planned.planned, limit)? } else { None };
    let shape = planned.planned.plan.result_shape();
    if let Some(view) = part.and_then(|part| View::of_payload(part, shape, held.hold())) {
        Counters::add(&held.shared.counters.views, 1);
        return Ok(view);
    }
    if let Some(mut landing) = landing(held, &planned) {
        if let Some((destination, keys)) = landing.parts() {
            let get = Get { planned: planned.planned.clone(), destination, keys: Some(keys) };
            fill::fill_all(held, [get], limit)?;
        }
        return Ok(View::of_landing(landing, shape, held.hold()));
    }
    let mut elements = vec![T::zeroed(); element_count(&planned.planned)];
    convert::fill_as(held, planned, elements.filled(), limit)?;
    Ok(View::of_vec(elements, shape, held.hold()))
}
