//! Taking elements without a thread of one's own: the poll copies what is small and here; everything else a thread of
//! the process fetches, into memory that it owns meanwhile.

use super::arrays::{Append, Arrays};
use super::errand::{Call, Errand, on_a_thread};
use crate::element::Element;
use crate::error::ReadError;
use crate::fetch::{Get, INLINE_BYTES};
use crate::patience::{Limit, after};
use crate::planned::Planned;
use crate::select::Select;
use crate::step::{StepReader, element_count};
use fp_types::Dtype;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What became of a fetch, and its arrays, which are given back whatever became of it.
pub type Fetched<A> = (Result<(), ReadError>, A);

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
        let (timeout, select) = (self.shared().options.fetch_timeout, selection.into());
        if select.loss().is_some() {
            let (reader, variable) = (self.clone_handle(), variable.to_owned());
            let call =
                move |reader: &StepReader, limit: Limit<'_>| reader.get_within(&variable, select, limit);
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
    /// [`StepReader::get`]. It is made as long as the selection, and its memory is used again where that is enough. After an error
    /// its elements are as they happen to be.
    ///
    /// Takes at most `fetch_timeout`, from the first poll. Cancel safe, as [`AsyncFetch::wait`] is: but what is dropped
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
        let timeout = self.shared().options.fetch_timeout;
        let fetched = self.fetch_async().get(variable, selection, elements).wait(timeout);
        Box::pin(async move {
            let (outcome, (elements,)) = fetched.await;
            (outcome, elements)
        })
    }

    /// Several gets that are fetched together, for a task: one message to each owner.
    pub fn fetch_async(&self) -> AsyncFetch<()> {
        AsyncFetch { reader: self.clone_handle(), asked: Vec::new(), arrays: () }
    }
}

/// What one get takes.
struct Asked {
    variable: String,
    selection: Select,
    dtype: Dtype,
}

/// Gets that are fetched together into owned memory; nothing happens before what [`AsyncFetch::wait`] returns is
/// polled. The step is held until then and while it lasts.
#[must_use = "nothing is fetched before `wait` is awaited"]
pub struct AsyncFetch<A: Arrays> {
    reader: StepReader,
    asked: Vec<Asked>,
    arrays: A,
}

impl<A: Arrays> AsyncFetch<A> {
    /// Adds a get, at most eight in all. The array is made as long as the selection; its memory is used again where
    /// that is enough. An error waits for [`AsyncFetch::wait`].
    pub fn get<T: Element>(
        mut self,
        variable: &str,
        selection: impl Into<Select>,
        array: Vec<T>,
    ) -> AsyncFetch<A::Longer>
    where
        A: Append<T>,
    {
        let (variable, selection, dtype) = (variable.to_owned(), selection.into(), T::DTYPE);
        self.asked.push(Asked { variable, selection, dtype });
        AsyncFetch { reader: self.reader, asked: self.asked, arrays: self.arrays.append(array) }
    }

    /// Fetches everything within `timeout`, from the first poll. Gives the outcome, and the arrays in the order of the
    /// gets, which are given back after an error too.
    ///
    /// What the owners have placed in memory that this rank shares, up to 64 KiB in all, the first poll copies. All
    /// else is fetched by a thread of the process: of those there are at most eight, two for each stream, and none
    /// when nothing was fetched for a few seconds.
    ///
    /// Cancel safe. Dropped before a thread has begun, nothing is fetched. Dropped later, the thread takes what bytes
    /// come, until all are here or none come for 100 ms: then it closes the data link, which the next fetch dials
    /// anew. The arrays, and the step, are released when nothing can write there any more.
    ///
    /// # Errors
    /// In the outcome: the first of the gets that is wrong; as [`StepReader::get`].
    pub async fn wait(mut self, timeout: Duration) -> Fetched<A> {
        let deadline = after(Instant::now(), timeout);
        match self.fill_inline() {
            Some(outcome) => (outcome, self.arrays),
            None => on_a_thread(self.reader.clone_handle(), self, deadline).await,
        }
    }

    /// The gets of these plans.
    fn gets(&mut self, plans: Vec<Arc<Planned>>) -> Vec<Get<'_>> {
        let lens: Vec<usize> = plans.iter().map(|planned| element_count(planned)).collect();
        let destinations = self.arrays.fit(&lens);
        let get = |(planned, destination)| Get::new(planned, destination);
        plans.into_iter().zip(destinations).map(get).collect()
    }

    /// Copies what is here, if it is little; `None` where a thread must see to it.
    fn fill_inline(&mut self) -> Option<Result<(), ReadError>> {
        let known = |asked: &Asked| {
            self.reader.known_plan(&asked.variable, &asked.selection, asked.dtype).transpose()
        };
        let plans: Option<Result<Vec<_>, ReadError>> = self.asked.iter().map(known).collect();
        let plans = match plans? {
            Ok(plans) => plans,
            Err(error) => return Some(Err(error)),
        };
        let lens = plans.iter().map(|planned| planned.len_bytes().unwrap_or(usize::MAX));
        if lens.fold(0, usize::saturating_add) > INLINE_BYTES {
            return None;
        }
        let reader = self.reader.clone_handle();
        reader.fill_inline(self.gets(plans)).then_some(Ok(()))
    }

    /// Fetches everything, on a thread that may wait.
    fn fill(&mut self, limit: Limit<'_>) -> Result<(), ReadError> {
        let plan = |asked: &Asked| {
            let dtype = Some(asked.dtype);
            self.reader.planned(&asked.variable, &asked.selection, false, dtype, limit.deadline)
        };
        let plans = self.asked.iter().map(plan).collect::<Result<_, _>>()?;
        let reader = self.reader.clone_handle();
        reader.fill_all(self.gets(plans), limit)
    }
}

impl<A: Arrays> Errand for AsyncFetch<A> {
    type Outcome = Fetched<A>;

    fn run(mut self, limit: Limit<'_>) -> Fetched<A> {
        (self.fill(limit), self.arrays)
    }

    fn refuse(self, error: ReadError) -> Fetched<A> {
        (Err(error), self.arrays)
    }

    fn lost(error: ReadError) -> Fetched<A> {
        (Err(error), A::default())
    }
}
