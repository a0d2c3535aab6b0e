//! Looking at a step without a thread of one's own: its variables, and elements where they lie.

use super::errand::{Call, on_a_thread};
use crate::element::Element;
use crate::error::ReadError;
use crate::fetch;
use crate::patience::{Limit, after};
use crate::select::Select;
use crate::statistics::Counters;
use crate::step::{StepReader, VariableInfo};
use crate::view::View;
use fp_types::ArrayKind;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

impl StepReader {
    /// As [`StepReader::variables`], for a task; at most `fetch_timeout`, from the first poll. Asks the publisher only
    /// where the layout has changed.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// As [`StepReader::variables`].
    pub fn variables_async(
        &self,
    ) -> impl Future<Output = Result<Vec<VariableInfo>, ReadError>> + Send + use<> {
        let reader = self.clone_handle();
        async move {
            let deadline = after(Instant::now(), reader.shared().options.fetch_timeout);
            match reader.known_table() {
                Some(table) => Ok(reader.infos(&table)),
                None => {
                    let call = |reader: &StepReader, limit: Limit<'_>| {
                        reader.table(limit.deadline).map(|table| reader.infos(&table))
                    };
                    on_a_thread(reader.clone_handle(), Call(reader, call), deadline).await
                }
            }
        }
    }

    /// As [`StepReader::view`], for a task; at most `fetch_timeout`, from the first poll, which gives the view itself
    /// where the owner has said where the block lies.
    ///
    /// Cancel safe, as [`AsyncFetch::wait`](crate::AsyncFetch::wait) is.
    ///
    /// # Errors
    /// As [`StepReader::view`].
    pub fn view_async<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Pin<Box<dyn Future<Output = Result<View<T>, ReadError>> + Send>> {
        let (reader, variable, select) = (self.clone_handle(), variable.to_owned(), selection.into());
        Box::pin(async move {
            let deadline = after(Instant::now(), reader.shared().options.fetch_timeout);
            match reader.view_inline(&variable, &select) {
                Ok(Some(view)) => Ok(view),
                Err(error) => Err(error),
                Ok(None) => {
                    let call = move |reader: &StepReader, limit: Limit<'_>| {
                        reader.view_within(&variable, select, limit)
                    };
                    on_a_thread(reader.clone_handle(), Call(reader, call), deadline).await
                }
            }
        })
    }

    /// The view, if the plan is known and the block is here.
    fn view_inline<T: Element>(&self, variable: &str, select: &Select) -> Result<Option<View<T>>, ReadError> {
        let Some(planned) = self.known_plan(variable, select, T::DTYPE)? else { return Ok(None) };
        let Some((_, range)) = planned.contiguous().filter(|_| planned.def.kind != ArrayKind::Scalar) else {
            return Ok(None);
        };
        let placed = fetch::locate_inline(self.shared(), self.identity(), &planned);
        let part = placed.and_then(|block| block.slice(range));
        let view = part.and_then(|part| View::of_payload(part, self.held.clone()));
        Counters::add(&self.shared().counters.views, usize::from(view.is_some()));
        Ok(view)
    }
}
