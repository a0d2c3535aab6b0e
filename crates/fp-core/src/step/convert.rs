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
        return Ok(ConvertedPlan { planned, conversion: None });
    };
    let planned = source::planned(held, Request::new(variable, &select, deadline))?;
    let found = planned.def.dtype;
    if goes_with(found, T::DTYPE) {
        return Ok(ConvertedPlan { planned, conversion: None });
    }
    let forms = (ElementForm::native(found), ElementForm::native(T::DTYPE));
    let conversion = ElementConversion::new(forms.0, forms.1, loss).map_err(|source| {
        let (step, variable) = (held.step(), variable.to_owned());
        held.misuse(Misuse::NoConversion { step, variable, source })
    })?;
    Ok(ConvertedPlan { planned, conversion: Some(conversion) })
}

/// Fills the elements. Elements that lie in one piece in memory that is shared are converted from there. Other elements
/// that are converted come by way of memory of the publisher's type.
pub(crate) fn fill_as<T: Element>(
    held: &HeldStep,
    planned: &ConvertedPlan,
    Filled { elements, keys }: Filled<'_, T>,
    limit: Limit<'_>,
) -> Result<(), ReadError> {
    let (conversion, planned) = (&planned.conversion, &planned.planned);
    let destination = bytemuck::cast_slice_mut(elements);
    let Some(conversion) = conversion else {
        return fill::fill_all(held, vec![Get { planned: planned.clone(), destination, keys }], limit);
    };
    let done = match locate::placed(held, planned, limit)? {
        Some(part) => {
            bool_check::check(&planned.def, part.as_slice()).map_err(|misuse| held.misuse(misuse))?;
            Counters::add(&held.shared.counters.get_copied_bytes, part.as_slice().len());
            conversion.run(part.as_slice(), destination)
        }
        None => {
            let mut between = vec![0; planned.len_bytes().unwrap_or(usize::MAX)];
            fill::fill(held, planned, &mut between, limit)?;
            conversion.run(&between, destination)
        }
    };
    done.map_err(|source| {
        let (step, variable) = (held.step(), planned.def.name.clone());
        held.misuse(Misuse::NoConversion { step, variable, source })
    })
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
    fill_as(held, &planned, elements.filled(), limit)?;
    Ok(elements)
}
