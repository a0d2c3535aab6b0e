//! Looking at a step without a thread of one's own: its variables, and elements where they lie.

use crate::asynchronous::errand::{Call, on_a_thread};
use crate::asynchronous::fetch::{AsyncFetch, Fetched};
use crate::error::ReadError;
use crate::step::held::VariableInfo;
use crate::step::{StepReader, convert, source, view};
use crate::value::element::Element;
use crate::value::limit::{Limit, after};
use crate::value::select::Select;
use crate::value::view::View;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

impl StepReader {
    /// As [`StepReader::get`], for a task; at most `fetch_timeout`, from the first poll.
    ///
    /// Cancel safe, as [`AsyncFetch::wait`] is.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn get_async<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<T>, ReadError>> + Send>> {
        let (timeout, select) = (self.held.shared.options.fetch_timeout, selection.into());
        if select.loss().is_some() {
            let (reader, variable) = (self.clone_handle(), variable.to_owned());
            let call = move |reader: &StepReader, limit: Limit<'_>| {
                convert::get_within(&reader.held, &variable, select, limit)
            };
            return Box::pin(async move {
                let deadline = after(Instant::now(), timeout);
                on_a_thread(reader.clone_handle(), Call(reader, call), deadline).await
            });
        }
        let fetched = self.fetch_async().get(variable, select, Vec::new()).wait(timeout);
        Box::pin(async move {
            let (outcome, (elements,)) = fetched.await;
            outcome.map(|()| elements)
        })
    }

    /// The selected elements into memory that the call owns and gives back with the outcome, densely, in order as by
    /// [`StepReader::get`]. The memory is made as long as the selection, and is used again where that is enough. After
    /// an error its elements are as they happen to be.
    ///
    /// Takes at most `fetch_timeout`, from the first poll. Cancel safe, as [`AsyncFetch::wait`] is, but a dropped call
    /// gives nothing back.
    ///
    /// # Errors
    /// In the outcome, as [`StepReader::get`].
    pub fn get_into_async<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        elements: Vec<T>,
    ) -> Pin<Box<dyn Future<Output = Fetched<Vec<T>>> + Send>> {
        let timeout = self.held.shared.options.fetch_timeout;
        let fetched = self.fetch_async().get(variable, selection, elements).wait(timeout);
        Box::pin(async move {
            let (outcome, (elements,)) = fetched.await;
            (outcome, elements)
        })
    }

    /// Several gets that are fetched together, for a task: one message to each owner.
    pub fn fetch_async(&self) -> AsyncFetch<()> {
        AsyncFetch::new(self.clone_handle())
    }

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
            let deadline = after(Instant::now(), reader.held.shared.options.fetch_timeout);
            match reader.held.known_table() {
                Some(table) => Ok(source::infos(&reader.held, &table)),
                None => {
                    let call = |reader: &StepReader, limit: Limit<'_>| {
                        reader.held.table(limit.deadline).map(|table| source::infos(&reader.held, &table))
                    };
                    on_a_thread(reader.clone_handle(), Call(reader, call), deadline).await
                }
            }
        }
    }

    /// As [`StepReader::view`], for a task; at most `fetch_timeout`, from the first poll. The first poll gives the view
    /// itself where the owner has said where the block lies.
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
            let deadline = after(Instant::now(), reader.held.shared.options.fetch_timeout);
            match view::view_inline(&reader.held, &variable, &select) {
                Ok(Some(view)) => Ok(view),
                Err(error) => Err(error),
                Ok(None) => {
                    let call = move |reader: &StepReader, limit: Limit<'_>| {
                        view::view_within(&reader.held, &variable, select, limit)
                    };
                    on_a_thread(reader.clone_handle(), Call(reader, call), deadline).await
                }
            }
        })
    }
}
