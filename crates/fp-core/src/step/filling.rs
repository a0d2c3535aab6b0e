//! Gets that put a value where no rank put any, together with others.

use super::Fetch;
use crate::element::Element;
use crate::fetch::{Get, check_len};
use crate::select::Select;

impl<'a> Fetch<'a> {
    /// Adds a get with `fill` where no rank put an element; an error waits for [`Fetch::wait`].
    #[must_use]
    pub fn get_or_fill<T: Element>(
        mut self,
        variable: &str,
        selection: impl Into<Select>,
        fill: T,
        destination: &'a mut [T],
    ) -> Self {
        if self.failed.is_some() {
            return self;
        }
        let reader = self.reader;
        let planned = reader.planned(variable, selection, true, Some(T::DTYPE), reader.deadline());
        let checked = planned.and_then(|planned| {
            check_len(reader.step(), &planned, destination.len()).map_err(|source| reader.misuse(source))?;
            Ok(planned)
        });
        match checked {
            Ok(planned) => {
                destination.fill(fill);
                self.gets.push(Get::new(planned, bytemuck::cast_slice_mut(destination)));
            }
            Err(error) => self.failed = Some(error),
        }
        self
    }
}
