//! Taking elements without a thread of one's own. The poll copies what is small and in memory that is here. A thread of
//! the process fetches everything else, into memory that it owns meanwhile.

use crate::asynchronous::arrays::{Append, Arrays};
use crate::asynchronous::errand::{Errand, on_a_thread};
use crate::data::taker::fetch::inline::INLINE_BYTES;
use crate::data::taker::fetch::job::Get;
use crate::data::taker::fetch_plan::{FetchPlan, element_count};
use crate::error::ReadError;
use crate::step::held::HeldStep;
use crate::step::request::Request;
use crate::step::{fill, source};
use crate::value::element::Element;
use crate::value::limit::{Limit, after};
use crate::value::select::Select;
use fp_types::Dtype;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What became of a fetch, and its arrays, which are given back whatever became of it.
pub type Fetched<A> = (Result<(), ReadError>, A);

/// What one get takes.
struct OwnedGet {
    variable: String,
    selection: Select,
    dtype: Dtype,
}

/// Gets that are fetched together into owned memory; nothing happens before what [`AsyncFetch::wait`] returns is
/// polled. The step is held until then and while it lasts.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// # let temperature = Variable::global::<f64>("temperature", &[4])?;
/// # let mut writer = publisher.begin_step()?;
/// # writer.put(&temperature, &Region::new([0], [4])?, vec![300.0, 301.0, 302.0, 303.0])?;
/// # writer.end()?;
/// # let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(10))? else { panic!("no step") };
/// # let task = async {
/// let fetch = step.fetch_async().get::<f64>("temperature", "[:1]", vec![]).get::<f64>("temperature", "[1:]", vec![]);
/// let (outcome, (first, rest)) = fetch.wait(Duration::from_secs(10)).await;
/// outcome?;
/// # let _: (Vec<f64>, Vec<f64>) = (first, rest);
/// # Ok::<(), flexpath::ReadError>(())
/// # };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is fetched before `wait` is awaited"]
pub struct AsyncFetch<A: Arrays> {
    held: Arc<HeldStep>,
    asked: Vec<OwnedGet>,
    arrays: A,
}

impl AsyncFetch<()> {
    pub(crate) fn new(held: Arc<HeldStep>) -> Self {
        Self { held, asked: Vec::new(), arrays: () }
    }
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
        self.asked.push(OwnedGet { variable, selection, dtype });
        AsyncFetch { held: self.held, asked: self.asked, arrays: self.arrays.append(array) }
    }

    /// Fetches everything within `timeout`, from the first poll. Gives the outcome, and the arrays in the order of the
    /// gets, which are given back after an error too.
    ///
    /// The first poll copies what the owners have placed in memory that this rank shares, up to 64 KiB in all. A thread
    /// of the process fetches all else. There are at most eight such threads, two for each stream, and none when
    /// nothing was fetched for a few seconds.
    ///
    /// Cancel safe. Dropped before a thread has begun, nothing is fetched. Dropped later, the thread takes the bytes
    /// that come, until all are here or none come for 100 ms. Where none come it closes the data link that it waited
    /// for, and the next fetch dials anew. What other owners send later is passed over. The arrays, and the step, are released when nothing can write there any more.
    ///
    /// # Errors
    /// In the outcome: the first of the gets that is wrong; as [`StepReader::get`](crate::StepReader::get).
    pub async fn wait(mut self, timeout: Duration) -> Fetched<A> {
        let deadline = after(Instant::now(), timeout);
        match self.fill_inline() {
            Some(outcome) => (outcome, self.arrays),
            None => on_a_thread(self.held.clone(), self, deadline).await,
        }
    }

    /// The gets of these plans.
    fn gets(&mut self, plans: Vec<Arc<FetchPlan>>) -> Vec<Get<'_>> {
        let lens: Vec<usize> = plans.iter().map(|planned| element_count(planned)).collect();
        let destinations = self.arrays.fit(&lens);
        let get = |(planned, destination)| Get::new(planned, destination);
        plans.into_iter().zip(destinations).map(get).collect()
    }

    /// Copies what is here, if it is little; `None` where a thread must see to it.
    fn fill_inline(&mut self) -> Option<Result<(), ReadError>> {
        let known = |asked: &OwnedGet| {
            let request =
                Request::new(&asked.variable, &asked.selection, Instant::now()).of_type(asked.dtype);
            source::known_plan(&self.held, request).transpose()
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
        let held = self.held.clone();
        fill::fill_inline(&held, self.gets(plans)).then_some(Ok(()))
    }

    /// Fetches everything, on a thread that may wait.
    fn fill(&mut self, limit: Limit<'_>) -> Result<(), ReadError> {
        let plan = |asked: &OwnedGet| {
            let request = Request::new(&asked.variable, &asked.selection, limit.deadline);
            source::planned(&self.held, request.of_type(asked.dtype))
        };
        let plans = self.asked.iter().map(plan).collect::<Result<_, _>>()?;
        let held = self.held.clone();
        fill::fill_all(&held, self.gets(plans), limit)
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
