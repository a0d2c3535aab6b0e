//! Several gets that are fetched together.

use crate::data::taker::fetch::check_len;
use crate::data::taker::fetch::job::Get;
use crate::data::taker::fetch_plan::element_count;
use crate::error::ReadError;
use crate::step::request::Request;
use crate::step::{StepReader, fill, source};
use crate::value::element::Element;
use crate::value::fill_target::{FillTarget as _, Fillable, Filled};
use crate::value::limit::after;
use crate::value::select::Select;
use std::time::{Duration, Instant};

/// Gets that are fetched together into borrowed memory; nothing is sent before [`Fetch::wait`].
#[must_use = "nothing is fetched before `wait`"]
pub struct Fetch<'a> {
    reader: &'a StepReader,
    gets: Vec<Get<'a>>,
    failed: Option<ReadError>,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(reader: &'a StepReader) -> Self {
        Self { reader, gets: Vec::new(), failed: None }
    }

    /// Adds a get; an error waits for [`Fetch::wait`].
    pub fn get<T: Element>(
        self,
        variable: &str,
        selection: impl Into<Select>,
        destination: &'a mut (impl Fillable<T> + ?Sized),
    ) -> Self {
        let select = selection.into();
        let request = Request::new(variable, &select, self.reader.held.deadline());
        self.add(
            request,
            move |len| {
                destination.fit(len);
                destination.filled()
            },
            None,
        )
    }

    /// Adds a get with `fill` where no rank put an element; an error waits for [`Fetch::wait`].
    pub fn get_or_fill<T: Element>(
        self,
        variable: &str,
        selection: impl Into<Select>,
        fill: T,
        destination: &'a mut [T],
    ) -> Self {
        let select = selection.into();
        let request = Request::new(variable, &select, self.reader.held.deadline()).with_fill();
        self.add(request, |_| destination.filled(), Some(fill))
    }

    /// Adds a get into the place that there is for so many elements.
    fn add<T: Element>(
        mut self,
        request: Request<'_>,
        place: impl FnOnce(usize) -> Filled<'a, T>,
        fill: Option<T>,
    ) -> Self {
        if self.failed.is_some() {
            return self;
        }
        let held = &self.reader.held;
        let planned = source::planned(held, request.of_type(T::DTYPE)).and_then(|planned| {
            let place = place(element_count(&planned));
            let checked = check_len(held.step(), &planned, place.elements.len());
            checked.map(|()| (planned, place)).map_err(|source| held.misuse(source))
        });
        match planned {
            Ok((planned, Filled { elements, keys })) => {
                fill.into_iter().for_each(|fill| elements.fill(fill));
                self.gets.push(Get { planned, destination: bytemuck::cast_slice_mut(elements), keys });
            }
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
        fill::fill_all(&self.reader.held, self.gets, after(Instant::now(), timeout).into())
    }
}
