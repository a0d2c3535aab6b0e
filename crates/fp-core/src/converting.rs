//! Elements as another type than the publisher's, where that was asked for.

use crate::element::Element;
use crate::error::{Misuse, ReadError};
use crate::fetch::Get;
use crate::patience::Limit;
use crate::planned::Planned;
use crate::registered::Filled;
use crate::select::Select;
use crate::statistics::Counters;
use crate::step::StepReader;
use crate::truth::{self, goes_with};
use fp_types::record::{ElementConversion, ElementForm};
use std::sync::Arc;
use std::time::Instant;

/// A plan, and what becomes of the elements that it brings.
pub(crate) struct PlannedAs {
    pub(crate) planned: Arc<Planned>,
    conversion: Option<ElementConversion>,
}

impl PlannedAs {
    /// Whether elements come as they are.
    pub(crate) fn is_same(&self) -> bool {
        self.conversion.is_none()
    }
}

impl StepReader {
    /// The plan for elements of that type, which the variable has or, where the selection says so, becomes.
    pub(crate) fn planned_as<T: Element>(
        &self,
        variable: &str,
        select: Select,
        deadline: Instant,
    ) -> Result<PlannedAs, ReadError> {
        let Some(loss) = select.loss() else {
            let planned = self.planned(variable, select, false, Some(T::DTYPE), deadline)?;
            return Ok(PlannedAs { planned, conversion: None });
        };
        let planned = self.planned(variable, select, false, None, deadline)?;
        let found = planned.def.dtype;
        if goes_with(found, T::DTYPE) {
            return Ok(PlannedAs { planned, conversion: None });
        }
        let forms = (ElementForm::native(found), ElementForm::native(T::DTYPE));
        let conversion = ElementConversion::new(forms.0, forms.1, loss).map_err(|source| {
            let (step, variable) = (self.step(), variable.to_owned());
            self.misuse(Misuse::NoConversion { step, variable, source })
        })?;
        Ok(PlannedAs { planned, conversion: Some(conversion) })
    }

    /// Fills the elements. Where they are converted, they are from where they lie, if that is one piece in memory that is
    /// shared; else by way of memory of the publisher's type.
    pub(crate) fn fill_as<T: Element>(
        &self,
        planned: &PlannedAs,
        Filled { elements, keys }: Filled<'_, T>,
        limit: Limit<'_>,
    ) -> Result<(), ReadError> {
        let (conversion, planned) = (&planned.conversion, &planned.planned);
        let destination = bytemuck::cast_slice_mut(elements);
        let Some(conversion) = conversion else {
            return self.fill_all(vec![Get { planned: planned.clone(), destination, keys }], limit);
        };
        let done = match self.placed(planned, limit)? {
            Some(part) => {
                truth::check(&planned.def, part.as_slice()).map_err(|misuse| self.misuse(misuse))?;
                Counters::add(&self.shared().counters.get_copied_bytes, part.as_slice().len());
                conversion.run(part.as_slice(), destination)
            }
            None => {
                let mut between = vec![0; planned.len_bytes().unwrap_or(usize::MAX)];
                self.fill_within(planned, &mut between, limit)?;
                conversion.run(&between, destination)
            }
        };
        done.map_err(|source| {
            let (step, variable) = (self.step(), planned.def.name.clone());
            self.misuse(Misuse::NoConversion { step, variable, source })
        })
    }
}
