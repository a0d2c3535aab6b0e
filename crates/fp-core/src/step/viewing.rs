//! Views of what a step has: where it lies, or received into memory of the view's own.

use super::{StepReader, element_count};
use crate::element::Element;
use crate::error::ReadError;
use crate::fetch::{self, Get};
use crate::patience::Limit;
use crate::planned::Planned;
use crate::registered::Place as _;
use crate::select::Select;
use crate::statistics::Counters;
use crate::view::View;
use fp_transport::Payload;
use fp_types::ArrayKind;
use std::sync::Arc;

impl StepReader {
    /// A view of the selected elements where they lie: 0 copies if they are a contiguous part of one block that is
    /// shared or in this process, and lie there in the order asked for (row-major unless [`Select::with_order`] says
    /// otherwise); received into memory of the view's own otherwise (counted), over RDMA into memory that stays registered
    /// and is the next view's when this one is gone.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn view<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<View<T>, ReadError> {
        self.view_within(variable, selection.into(), self.deadline().into())
    }

    pub(crate) fn view_within<T: Element>(
        &self,
        variable: &str,
        select: Select,
        limit: Limit<'_>,
    ) -> Result<View<T>, ReadError> {
        let planned = self.planned_as::<T>(variable, select, limit.deadline)?;
        let part = if planned.is_same() { self.placed(&planned.planned, limit)? } else { None };
        if let Some(view) = part.and_then(|part| View::of_payload(part, self.held.clone())) {
            Counters::add(&self.shared().counters.views, 1);
            return Ok(view);
        }
        if let Some(mut landing) = self.landing(&planned) {
            if let Some((destination, keys)) = landing.parts() {
                let get = Get { planned: planned.planned.clone(), destination, keys: Some(keys) };
                self.fill_all(vec![get], limit)?;
            }
            return Ok(View::of_landing(landing, self.held.clone()));
        }
        let mut elements = vec![T::zeroed(); element_count(&planned.planned)];
        self.fill_as(&planned, elements.filled(), limit)?;
        Ok(View::of_vec(elements, self.held.clone()))
    }

    /// The selected elements where they lie, if they are a contiguous part of one block in memory that is shared.
    pub(crate) fn placed(
        &self,
        planned: &Arc<Planned>,
        limit: Limit<'_>,
    ) -> Result<Option<Payload>, ReadError> {
        let is_elsewhere =
            planned.here.is_none() && planned.made.is_none() && planned.def.kind != ArrayKind::Scalar;
        let Some((_, range)) = planned.contiguous().filter(|_| is_elsewhere) else {
            return Ok(None);
        };
        let placed = fetch::locate(self.shared(), self.identity(), planned, limit)?;
        Ok(placed.and_then(|block| block.slice(range)))
    }
}
