//! A step being read: gets, views, scalars. Dropping it, and its last view, releases it.

mod filling;
mod text;
mod viewing;

use crate::derived::Merged;
use crate::element::Element;
use crate::error::{Misuse, ReadError};
use crate::fetch::{self, Get, check_len};
use crate::patience::{Limit, after};
use crate::planned::{Planned, is_known};
use crate::records::{MadeOnce, MadeThere, Transformed};
use crate::registered::{Fillable, Filled, Place as _};
use crate::select::Select;
use crate::selected::Wants;
use crate::subscriber::SubscriberShared;
use crate::truth::{self, goes_with};
use fp_proto::message::{Assignment, ScalarValue};
use fp_types::{ArrayKind, Dtype, Epoch, MemoryOrder, Shape, StepId, StepTable, VariableDef};
use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A step that is held: its last handle releases it.
pub(crate) struct HeldStep {
    pub(crate) shared: Arc<SubscriberShared>,
    pub(crate) assignment: Assignment,
    epoch: Option<Epoch>,
    /// Whether it was only looked at, and is still to be taken.
    is_ahead: bool,
    /// What the subscription asks for in this step.
    pub(crate) wants: Arc<Wants>,
    /// Derived variables that were put together, by what they are called in the step.
    merged: Mutex<BTreeMap<String, Arc<Merged>>>,
    /// Records that went through transforms.
    pub(crate) transformed: Transformed,
    /// What publishers are otherwise asked to send through transforms.
    pub(crate) made: MadeOnce,
    /// What publishers made of it because somebody asked for its type.
    pub(crate) there: MadeThere,
}

impl HeldStep {
    fn new(
        shared: Arc<SubscriberShared>,
        assignment: Assignment,
        epoch: Option<Epoch>,
        is_ahead: bool,
    ) -> Arc<Self> {
        let wants = shared.selected.of(assignment.step);
        Arc::new(Self {
            shared,
            assignment,
            epoch,
            is_ahead,
            wants,
            merged: Mutex::default(),
            transformed: Transformed::default(),
            made: MadeOnce::default(),
            there: MadeThere::default(),
        })
    }

    pub(crate) fn merged(&self, variable: &str) -> Option<Arc<Merged>> {
        self.merged.lock().unwrap_or_else(PoisonError::into_inner).get(variable).cloned()
    }

    pub(crate) fn keep_merged(&self, variable: &str, merged: Arc<Merged>) {
        self.merged.lock().unwrap_or_else(PoisonError::into_inner).insert(variable.to_owned(), merged);
    }
}

impl Drop for HeldStep {
    fn drop(&mut self) {
        if !self.is_ahead {
            self.shared.release(self.assignment.step, self.epoch);
        }
    }
}

/// A step assigned to this cohort.
pub struct StepReader {
    pub(crate) held: Arc<HeldStep>,
}

impl std::fmt::Debug for StepReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepReader").field("step", &self.step()).finish()
    }
}

/// What a step says of one of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableInfo {
    /// Name, element type, kind, dimensions, unit, attributes.
    pub def: VariableDef,
    /// The global extent; none of local arrays.
    pub shape: Option<Shape>,
}

impl StepReader {
    pub(crate) fn new(shared: Arc<SubscriberShared>, assignment: Assignment, epoch: Option<Epoch>) -> Self {
        Self { held: HeldStep::new(shared, assignment, epoch, false) }
    }

    /// A step that is here and was not taken yet: for a look at what is in it.
    pub(crate) fn ahead(shared: Arc<SubscriberShared>, assignment: Assignment, epoch: Option<Epoch>) -> Self {
        Self { held: HeldStep::new(shared, assignment, epoch, true) }
    }

    /// Another handle on the step, which holds it as well.
    pub(crate) fn clone_handle(&self) -> Self {
        Self { held: self.held.clone() }
    }

    /// The stream's name.
    pub fn stream(&self) -> &str {
        &self.shared().stream
    }

    /// The step's number in its epoch.
    pub fn step(&self) -> StepId {
        self.held.assignment.step
    }

    /// The epoch of the publisher that published it.
    pub fn epoch(&self) -> Option<Epoch> {
        self.held.epoch
    }

    /// Steps of those that its policy takes which the subscription did not get between the one before and this.
    pub fn skipped(&self) -> u64 {
        self.held.assignment.skipped
    }

    /// Whether another member of the work-sharing set had it before and is gone.
    pub fn is_redelivered(&self) -> bool {
        self.held.assignment.redelivered
    }

    /// Bytes of the step over all publisher ranks, as kept.
    pub fn len_bytes(&self) -> u64 {
        self.held.assignment.len_bytes
    }

    /// Steps that waited at the publisher behind this one when it was assigned.
    pub fn queued_steps(&self) -> u32 {
        self.held.assignment.queued_steps
    }

    /// Steps of different epochs have the same numbers.
    pub(crate) fn identity(&self) -> (StepId, Option<Epoch>) {
        (self.step(), self.held.epoch)
    }

    pub(crate) fn misuse(&self, source: Misuse) -> ReadError {
        self.shared().misuse(source)
    }

    pub(crate) fn shared(&self) -> &Arc<SubscriberShared> {
        &self.held.shared
    }

    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.shared().options.fetch_timeout
    }

    /// The step's variables, by name.
    ///
    /// # Errors
    /// The publisher does not answer in time.
    pub fn variables(&self) -> Result<Vec<VariableInfo>, ReadError> {
        self.table(self.deadline()).map(|table| self.infos(&table))
    }

    /// What a table says of the variables, derived ones among them.
    pub(crate) fn infos(&self, table: &StepTable) -> Vec<VariableInfo> {
        let mut infos = infos(table);
        let mut derived = self.derived_infos(table);
        derived.extend(self.received_infos(table));
        infos.retain(|info| derived.iter().all(|hides| hides.def.name != info.def.name));
        infos.extend(derived);
        infos.sort_by(|one, other| one.def.name.cmp(&other.def.name));
        infos
    }

    /// The definitions of the step's variables.
    pub(crate) fn table(&self, deadline: Instant) -> Result<Arc<StepTable>, ReadError> {
        self.shared().definitions(self.identity(), self.held.assignment.table, deadline)
    }

    /// The same, if they were asked for before.
    pub(crate) fn known_table(&self) -> Option<Arc<StepTable>> {
        self.shared().known_definitions(self.held.epoch, self.held.assignment.table)
    }

    /// The value of a global scalar; it came with the announcement, nothing is fetched.
    ///
    /// # Errors
    /// The step has no such scalar, or of another type.
    pub fn scalar<T: Element>(&self, variable: &str) -> Result<T, ReadError> {
        let value = self.value(variable)?;
        let (step, variable) = (self.step(), variable.to_owned());
        if !goes_with(value.dtype, T::DTYPE) {
            let (expected, found) = (value.dtype, T::DTYPE);
            return Err(self.misuse(Misuse::WrongDtype { step, variable, expected, found }));
        }
        bytemuck::try_pod_read_unaligned(&value.bytes).map_err(|_| {
            let (found, expected) = (value.bytes.len() as u64, size_of::<T>() as u64);
            let region = format!("a scalar of {} in bytes", T::DTYPE);
            self.misuse(Misuse::WrongLen { step, variable, region, expected, found })
        })
    }

    pub(crate) fn value(&self, variable: &str) -> Result<&ScalarValue, ReadError> {
        let values = &self.held.assignment.values;
        let found = values.iter().find(|value| value.name == variable);
        found.ok_or_else(|| {
            let known = values.iter().map(|value| value.name.clone()).collect();
            let (step, variable) = (self.step(), variable.to_owned());
            self.misuse(Misuse::UnknownVariable { step, variable, known })
        })
    }

    /// The global scalars of the step, by name, as bytes.
    pub fn scalars(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.held.assignment.values.iter().map(|value| (value.name.as_str(), value.bytes.as_slice()))
    }

    /// The selected elements, densely in the order that the selection asks for (row-major unless
    /// [`Select::with_order`] says otherwise), whatever the publisher's order.
    ///
    /// # Errors
    /// Unknown variable, wrong type, a selection that does not fit, a gap, a lost publisher, time.
    pub fn get<T: Element>(&self, variable: &str, selection: impl Into<Select>) -> Result<Vec<T>, ReadError> {
        self.get_within(variable, selection.into(), self.deadline().into())
    }

    pub(crate) fn get_within<T: Element>(
        &self,
        variable: &str,
        select: Select,
        limit: Limit<'_>,
    ) -> Result<Vec<T>, ReadError> {
        let planned = self.planned_as::<T>(variable, select, limit.deadline)?;
        let mut elements = vec![T::zeroed(); element_count(&planned.planned)];
        self.fill_as(&planned, elements.filled(), limit)?;
        Ok(elements)
    }

    /// The selected elements, with `fill` where no rank put any.
    ///
    /// # Errors
    /// As [`StepReader::get`], but for gaps.
    pub fn get_or_fill<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        fill: T,
    ) -> Result<Vec<T>, ReadError> {
        let planned = self.planned(variable, selection, true, Some(T::DTYPE), self.deadline())?;
        let mut elements = vec![fill; element_count(&planned)];
        self.fill(&planned, bytemuck::cast_slice_mut(&mut elements), self.deadline())?;
        Ok(elements)
    }

    /// The selected elements into the caller's memory, densely, in order as by [`StepReader::get`]. The call returns only
    /// when nothing can write there any more. Over RDMA memory that [`Subscriber::register`] guards is read into
    /// straight, other memory by way of the stream's own, with a copy (counted).
    ///
    /// [`Subscriber::register`]: crate::Subscriber::register
    ///
    /// # Errors
    /// As [`StepReader::get`], and a destination of another length.
    pub fn get_into<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        destination: &mut (impl Fillable<T> + ?Sized),
    ) -> Result<(), ReadError> {
        let destination = destination.filled();
        let planned = self.planned_as::<T>(variable, selection.into(), self.deadline())?;
        let checked = check_len(self.step(), &planned.planned, destination.elements.len());
        checked.map_err(|source| self.misuse(source))?;
        self.fill_as(&planned, destination, self.deadline().into())
    }

    /// The selected elements as an array of their shape, whose memory lies in the order that the selection asks for.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn get_array<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<ArrayD<T>, ReadError> {
        let planned = self.planned_as::<T>(variable, selection.into(), self.deadline())?;
        let shape: Vec<usize> =
            planned.planned.plan.result_shape().dims().iter().map(|&extent| extent as usize).collect();
        let mut elements = vec![T::zeroed(); element_count(&planned.planned)];
        self.fill_as(&planned, elements.filled(), self.deadline().into())?;
        let found = elements.len() as u64;
        let is_column_major = planned.planned.destination_order == MemoryOrder::ColumnMajor;
        ArrayD::from_shape_vec(IxDyn(&shape).set_f(is_column_major), elements).map_err(|_| {
            let (variable, region) = (variable.to_owned(), format!("an array of shape {shape:?}"));
            let expected = shape.iter().product::<usize>() as u64;
            self.misuse(Misuse::WrongLen { step: self.step(), variable, region, expected, found })
        })
    }

    /// The selected elements as bytes, with their type: for those who learn it at run time.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn get_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<(Dtype, Shape, Vec<u8>), ReadError> {
        let planned = self.planned(variable, selection, false, None, self.deadline())?;
        if planned.def.dtype.size_bytes().is_none() && planned.def.kind == ArrayKind::Scalar {
            // A text: it came with the announcement, and has its own length.
            let bytes = self.value(variable)?.bytes.clone();
            return Ok((planned.def.dtype, planned.plan.result_shape(), bytes));
        }
        let mut bytes = vec![0; planned.len_bytes().unwrap_or(usize::MAX)];
        self.fill(&planned, &mut bytes, self.deadline())?;
        Ok((planned.def.dtype, planned.plan.result_shape(), bytes))
    }

    /// Several gets that are fetched together: one message to each owner.
    pub fn fetch(&self) -> Fetch<'_> {
        Fetch { reader: self, gets: Vec::new(), failed: None }
    }

    pub(crate) fn fill(
        &self,
        planned: &Arc<Planned>,
        destination: &mut [u8],
        deadline: Instant,
    ) -> Result<(), ReadError> {
        self.fill_within(planned, destination, deadline.into())
    }

    pub(crate) fn fill_within(
        &self,
        planned: &Arc<Planned>,
        destination: &mut [u8],
        limit: Limit<'_>,
    ) -> Result<(), ReadError> {
        self.fill_all(vec![Get::new(planned.clone(), destination)], limit)
    }

    /// Global scalars came with the announcement; everything else is fetched.
    pub(crate) fn fill_all(&self, mut gets: Vec<Get<'_>>, limit: Limit<'_>) -> Result<(), ReadError> {
        let (mut wrong, mut copied) = (Ok(()), Ok(()));
        gets.retain_mut(|get| {
            if let Some(filled) = get.planned.fill_here(get.destination) {
                copied = std::mem::replace(&mut copied, Ok(())).and(filled);
                return false;
            }
            let is_told = self.fill_scalar(get);
            if is_told && wrong.is_ok() {
                wrong = truth::check(&get.planned.def, get.destination);
            }
            !is_told
        });
        copied.map_err(|error| self.no_copy(&error))?;
        fetch::fetch(self.shared(), self.identity(), &mut gets, limit)?;
        let fetched = gets.iter().try_for_each(|get| truth::check(&get.planned.def, get.destination));
        wrong.and(fetched).map_err(|misuse| self.misuse(misuse))
    }

    pub(crate) fn no_copy(&self, error: &fp_types::CopyError) -> ReadError {
        ReadError::Driver { stream: self.stream().to_owned(), what: error.to_string() }
    }

    fn fill_scalar(&self, get: &mut Get<'_>) -> bool {
        let def = &get.planned.def;
        let value = self.held.assignment.values.iter().find(|value| value.name == def.name);
        match value
            .filter(|value| def.kind == ArrayKind::Scalar && value.bytes.len() == get.destination.len())
        {
            Some(value) => {
                get.destination.copy_from_slice(&value.bytes);
                true
            }
            None => false,
        }
    }

    /// As [`Self::fill_all`], but only if nobody need be waited for: otherwise `false`.
    pub(crate) fn fill_inline(&self, mut gets: Vec<Get<'_>>) -> bool {
        if gets.iter().any(|get| get.planned.def.dtype == Dtype::Bool) {
            // They are checked by a thread.
            return false;
        }
        gets.retain_mut(|get| !self.fill_scalar(get));
        fetch::fetch_inline(self.shared(), self.identity(), &mut gets)
    }
}

/// What a table says of its variables.
fn infos(table: &StepTable) -> Vec<VariableInfo> {
    let info = |entry: &fp_types::TableEntry| VariableInfo {
        def: (*entry.def).clone(),
        shape: entry.layout.shape().copied(),
    };
    table.entries().iter().filter(|entry| is_known(&entry.def)).map(info).collect()
}

pub(crate) fn element_count(planned: &Planned) -> usize {
    usize::try_from(planned.plan.element_count()).unwrap_or(usize::MAX)
}

/// Gets that are fetched together into borrowed memory; nothing is sent before [`Fetch::wait`].
pub struct Fetch<'a> {
    reader: &'a StepReader,
    gets: Vec<Get<'a>>,
    failed: Option<ReadError>,
}

impl<'a> Fetch<'a> {
    /// Adds a get; an error waits for [`Fetch::wait`].
    #[must_use]
    pub fn get<T: Element>(
        mut self,
        variable: &str,
        selection: impl Into<Select>,
        destination: &'a mut (impl Fillable<T> + ?Sized),
    ) -> Self {
        if self.failed.is_some() {
            return self;
        }
        let reader = self.reader;
        let Filled { elements, keys } = destination.filled();
        let planned = reader.planned(variable, selection, false, Some(T::DTYPE), reader.deadline());
        let checked = planned.and_then(|planned| {
            check_len(reader.step(), &planned, elements.len()).map_err(|source| reader.misuse(source))?;
            Ok(planned)
        });
        match checked {
            Ok(planned) => {
                self.gets.push(Get { planned, destination: bytemuck::cast_slice_mut(elements), keys })
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
        self.reader.fill_all(self.gets, after(Instant::now(), timeout).into())
    }
}
