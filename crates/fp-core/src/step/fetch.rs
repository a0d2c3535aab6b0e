//! Several gets that are fetched together.

use crate::data::taker::fetch::check_len;
use crate::data::taker::fetch::job::Get;
use crate::data::taker::fetch_plan::element_count;
use crate::error::ReadError;
use crate::step::convert::{ConvertedGet, ConvertedPlan};
use crate::step::request::Request;
use crate::step::{StepReader, convert, fill, source};
use crate::value::element::Element;
use crate::value::fill_target::{FillTarget as _, Fillable, Filled};
use crate::value::limit::after;
use crate::value::select::Select;
use std::time::{Duration, Instant};

/// Gets that are fetched together into borrowed memory; nothing is sent before [`Fetch::wait`].
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
/// let (mut first, mut rest) = ([0.0; 1], Vec::new());
/// let fetch = step.fetch().get::<f64>("temperature", "[:1]", &mut first).get::<f64>("temperature", "[1:]", &mut rest);
/// fetch.wait(Duration::from_secs(10))?;
/// assert_eq!((first, rest), ([300.0], vec![301.0, 302.0, 303.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is fetched before `wait`"]
pub struct Fetch<'a> {
    reader: &'a StepReader,
    gets: Vec<Get<'a>>,
    converted: Vec<ConvertedGet<'a>>,
    failed: Option<ReadError>,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(reader: &'a StepReader) -> Self {
        Self { reader, gets: Vec::new(), converted: Vec::new(), failed: None }
    }

    /// Adds a get; an error waits for [`Fetch::wait`].
    pub fn get<T: Element>(
        self,
        variable: &str,
        selection: impl Into<Select>,
        destination: &'a mut (impl Fillable<T> + ?Sized),
    ) -> Self {
        let (held, select) = (&self.reader.held, selection.into());
        if self.failed.is_some() {
            return self;
        }
        let planned = convert::planned_as::<T>(held, variable, select, held.deadline());
        if let Ok(planned) = &planned {
            destination.fit(element_count(&planned.planned));
        }
        self.add(planned, destination.filled())
    }

    /// Adds a get with `fill` where no rank put an element; an error waits for [`Fetch::wait`]. The elements are of the
    /// variable's own type.
    pub fn get_or_fill<T: Element>(
        self,
        variable: &str,
        selection: impl Into<Select>,
        fill: T,
        destination: &'a mut [T],
    ) -> Self {
        let (held, select) = (&self.reader.held, selection.into());
        if self.failed.is_some() {
            return self;
        }
        let request = Request::new(variable, &select, held.deadline()).with_fill().of_type(T::DTYPE);
        let planned = source::planned(held, request).and_then(|planned| {
            check_len(held.step(), &planned, destination.len()).map_err(|source| held.misuse(source))?;
            destination.fill(fill);
            Ok(ConvertedPlan::as_it_is(planned))
        });
        self.add(planned, destination.filled())
    }

    fn add<T: Element>(mut self, planned: Result<ConvertedPlan, ReadError>, place: Filled<'a, T>) -> Self {
        let held = &self.reader.held;
        let checked = planned.and_then(|planned| {
            let checked = check_len(held.step(), &planned.planned, place.elements.len());
            checked.map(|()| planned).map_err(|source| held.misuse(source))
        });
        match checked.map(|planned| convert::into_get(planned, place)) {
            Ok(Ok(get)) => self.gets.push(get),
            Ok(Err(converted)) => self.converted.push(converted),
            Err(error) => self.failed = Some(error),
        }
        self
    }

    /// Fetches everything. Returns, also on time-out, only when nothing can write into the destinations any more.
    ///
    /// # Errors
    /// The first of the gets that is wrong; as [`StepReader::get`].
    pub fn wait(self, timeout: Duration) -> Result<(), ReadError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let (held, limit) = (&self.reader.held, after(Instant::now(), timeout).into());
        match self.converted.is_empty() {
            true => fill::fill_all(held, self.gets, limit),
            false => convert::fill_all_as(held, self.gets, self.converted, limit),
        }
    }
}
