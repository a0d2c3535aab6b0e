//! Elements as another type than the publisher's, where that was asked for.

use crate::data::taker::fetch::job::Get;
use crate::data::taker::fetch_plan::{FetchPlan, element_count};
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::held::HeldStep;
use crate::step::request::Request;
use crate::step::{fill, locate, source};
use crate::value::bool_check;
use crate::value::bool_check::goes_with;
use crate::value::counters::Counters;
use crate::value::element::Element;
use crate::value::fill_target::FillTarget as _;
use crate::value::fill_target::Filled;
use crate::value::limit::Limit;
use crate::value::select::Select;
use fp_types::record::{ElementConversion, ElementForm};
use std::sync::Arc;
use std::time::Instant;

/// A plan, and what becomes of the elements that it brings.
pub(crate) struct ConvertedPlan {
    pub(crate) planned: Arc<FetchPlan>,
    conversion: Option<ElementConversion>,
}

impl ConvertedPlan {
    /// Of elements that come as they are.
    pub(crate) fn as_it_is(planned: Arc<FetchPlan>) -> Self {
        Self { planned, conversion: None }
    }

    /// Whether elements come as they are.
    pub(crate) fn is_same(&self) -> bool {
        self.conversion.is_none()
    }
}

/// The plan for elements of that type, which the variable has or, where the selection says so, becomes.
pub(crate) fn planned_as<T: Element>(
    held: &HeldStep,
    variable: &str,
    select: Select,
    deadline: Instant,
) -> Result<ConvertedPlan, ReadError> {
    let Some(loss) = select.loss() else {
        let planned = source::planned(held, Request::new(variable, &select, deadline).of_type(T::DTYPE))?;
        return Ok(ConvertedPlan::as_it_is(planned));
    };
    let planned = source::planned(held, Request::new(variable, &select, deadline))?;
    let found = planned.def.dtype;
    if goes_with(found, T::DTYPE) {
        return Ok(ConvertedPlan::as_it_is(planned));
    }
    let forms = (ElementForm::native(found), ElementForm::native(T::DTYPE));
    let conversion = ElementConversion::new(forms.0, forms.1, loss).map_err(|source| {
        let (step, variable) = (held.step(), variable.to_owned());
        held.misuse(Misuse::NoConversion { step, variable, source })
    })?;
    Ok(ConvertedPlan { planned, conversion: Some(conversion) })
}

/// A get whose elements become another type.
pub(crate) struct ConvertedGet<'a> {
    planned: Arc<FetchPlan>,
    conversion: ElementConversion,
    destination: &'a mut [u8],
    /// The elements as they came; empty where they could be converted from where they lie.
    between: Vec<u8>,
}

impl ConvertedGet<'_> {
    fn convert(&mut self, held: &HeldStep, elements: &[u8]) -> Result<(), ReadError> {
        self.conversion.run(elements, self.destination).map_err(|source| {
            let (step, variable) = (held.step(), self.planned.def.name.clone());
            held.misuse(Misuse::NoConversion { step, variable, source })
        })
    }

    /// Converts elements that lie in one piece in memory that is shared from there; `false` where they do not.
    fn convert_in_place(&mut self, held: &HeldStep, limit: Limit<'_>) -> Result<bool, ReadError> {
        let Some(part) = locate::placed(held, &self.planned, limit)? else { return Ok(false) };
        bool_check::check(&self.planned.def, part.as_slice()).map_err(|misuse| held.misuse(misuse))?;
        Counters::add(&held.shared.counters.get_copied_bytes, part.as_slice().len());
        self.convert(held, part.as_slice()).map(|()| true)
    }
}

/// What a plan gives: a get of elements as they are, or one that converts them.
pub(crate) fn into_get<'a, T: Element>(
    planned: ConvertedPlan,
    Filled { elements, keys }: Filled<'a, T>,
) -> Result<Get<'a>, ConvertedGet<'a>> {
    let (ConvertedPlan { planned, conversion }, destination) = (planned, bytemuck::cast_slice_mut(elements));
    match conversion {
        None => Ok(Get { planned, destination, keys }),
        Some(conversion) => Err(ConvertedGet { planned, conversion, destination, between: Vec::new() }),
    }
}

/// Fills the elements of all gets, with one message to each owner. Elements that are converted, and do not lie where
/// they can be converted from, come by way of memory of the publisher's type.
pub(crate) fn fill_all_as(
    held: &HeldStep,
    gets: Vec<Get<'_>>,
    converted: Vec<ConvertedGet<'_>>,
    limit: Limit<'_>,
) -> Result<(), ReadError> {
    let mut sent = Vec::new();
    for mut get in converted {
        if !get.convert_in_place(held, limit)? {
            get.between = vec![0; get.planned.len_bytes().unwrap_or(usize::MAX)];
            sent.push(get);
        }
    }
    let into_between = sent.iter_mut().map(|get| Get::new(get.planned.clone(), &mut get.between));
    let all: Vec<Get<'_>> = gets.into_iter().chain(into_between).collect();
    if !all.is_empty() {
        fill::fill_all(held, all, limit)?;
    }
    sent.into_iter().try_for_each(|mut get| {
        let came = std::mem::take(&mut get.between);
        get.convert(held, &came)
    })
}

/// Fills the elements of one get.
pub(crate) fn fill_as<T: Element>(
    held: &HeldStep,
    planned: ConvertedPlan,
    filled: Filled<'_, T>,
    limit: Limit<'_>,
) -> Result<(), ReadError> {
    match into_get(planned, filled) {
        Ok(get) => fill::fill_all(held, [get], limit),
        Err(converted) => fill_all_as(held, Vec::new(), vec![converted], limit),
    }
}

/// The selected elements in memory of their own, until the limit; what `get` and its like call.
pub(crate) fn get_within<T: Element>(
    held: &HeldStep,
    variable: &str,
    select: Select,
    limit: Limit<'_>,
) -> Result<Vec<T>, ReadError> {
    let planned = planned_as::<T>(held, variable, select, limit.deadline)?;
    let mut elements = vec![T::zeroed(); element_count(&planned.planned)];
    fill_as(held, planned, elements.filled(), limit)?;
    Ok(elements)
}
