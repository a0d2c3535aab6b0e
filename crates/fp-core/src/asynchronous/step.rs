//! Looking at a step without a thread of one's own: its variables, and elements where they lie.

use crate::asynchronous::errand::call;
use crate::asynchronous::fetch::{AsyncFetch, Fetched};
use crate::error::ReadError;
use crate::step::held::VariableInfo;
use crate::step::{StepReader, convert, source, view};
use crate::value::element::Element;
use crate::value::limit::after;
use crate::value::select::Select;
use crate::value::view::View;
use fp_types::record::Record;
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
            let (held, variable) = (self.held.clone(), variable.to_owned());
            return Box::pin(async move {
                let deadline = after(Instant::now(), timeout);
                call(held, deadline, move |held, limit| convert::get_within(held, &variable, select, limit))
                    .await
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

    /// As [`StepReader::get_or_fill`], for a task. A thread of the process does it, as of [`AsyncFetch::wait`]. It begins
    /// within `fetch_timeout` of the first poll, and takes at most that time.
    ///
    /// Cancel safe. Dropped before the thread has begun, nothing is done. Dropped later, the thread ends its work, for
    /// nobody, and holds the step meanwhile.
    ///
    /// # Errors
    /// As [`StepReader::get_or_fill`].
    pub fn get_or_fill_async<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        fill: T,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<T>, ReadError>> + Send>> {
        self.entrusted(variable, selection, move |step, name, select| step.get_or_fill(name, select, fill))
    }

    /// As [`StepReader::get_array`], for a task; by a thread, as [`StepReader::get_or_fill_async`].
    ///
    /// # Errors
    /// As [`StepReader::get_array`].
    #[cfg(feature = "ndarray")]
    pub fn get_array_async<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Pin<Box<dyn Future<Output = Result<ndarray::ArrayD<T>, ReadError>> + Send>> {
        self.entrusted(variable, selection, |step, name, select| step.get_array(name, select))
    }

    /// As [`StepReader::get_records`], for a task; by a thread, as [`StepReader::get_or_fill_async`].
    ///
    /// # Errors
    /// As [`StepReader::get_records`].
    pub fn get_records_async<T: Record + Send + 'static>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<T>, ReadError>> + Send>> {
        self.entrusted(variable, selection, |step, name, select| step.get_records(name, select))
    }

    /// Has a thread make a call that waits.
    fn entrusted<R, F>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        get: F,
    ) -> Pin<Box<dyn Future<Output = Result<R, ReadError>> + Send>>
    where
        R: Send + 'static,
        F: FnOnce(&Self, &str, Select) -> Result<R, ReadError> + Send + 'static,
    {
        let (held, variable, select) = (self.held.clone(), variable.to_owned(), selection.into());
        Box::pin(async move {
            let deadline = after(Instant::now(), held.shared.options.fetch_timeout);
            call(held, deadline, move |held, _| get(&Self { held: held.clone() }, &variable, select)).await
        })
    }

    /// Several gets that are fetched together, for a task: one message to each owner.
    pub fn fetch_async(&self) -> AsyncFetch<()> {
        AsyncFetch::new(self.held.clone())
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
        let held = self.held.clone();
        async move {
            let deadline = after(Instant::now(), held.shared.options.fetch_timeout);
            match held.known_table() {
                Some(table) => Ok(source::infos(&held, &table)),
                None => call(held, deadline, |held, limit| source::variables(held, limit)).await,
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
        let (held, variable, select) = (self.held.clone(), variable.to_owned(), selection.into());
        Box::pin(async move {
            let deadline = after(Instant::now(), held.shared.options.fetch_timeout);
            if let Some(view) = view::view_inline(&held, &variable, &select)? {
                return Ok(view);
            }
            call(held, deadline, move |held, limit| view::view_within(held, &variable, select, limit)).await
        })
    }
}
