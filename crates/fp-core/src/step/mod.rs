//! A step being read: gets, views, scalars. Dropping it, and its last view, releases it.
//!
//! [`StepReader`] is a thin face over the free functions of this folder. These take the held step, never the handle.

pub(crate) mod bytes;
pub(crate) mod convert;
pub(crate) mod fetch;
pub(crate) mod fill;
pub(crate) mod held;
pub(crate) mod hosts;
pub(crate) mod locate;
pub(crate) mod once;
pub(crate) mod peek;
pub(crate) mod plan;
pub(crate) mod record_reader;
pub(crate) mod records;
pub(crate) mod request;
pub(crate) mod resolve;
pub(crate) mod side_cost;
pub(crate) mod source;
pub(crate) mod verdict;
pub(crate) mod view;

use crate::data::taker::fetch::check_len;
use crate::data::taker::fetch_plan::element_count;
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::fetch::Fetch;
use crate::step::held::{HeldStep, VariableInfo};
use crate::step::request::Request;
use crate::value::bool_check::goes_with;
use crate::value::element::Element;
#[cfg(feature = "ndarray")]
use crate::value::fill_target::FillTarget as _;
use crate::value::fill_target::Fillable;
use crate::value::select::Select;
use crate::value::variable::Variable;
use crate::value::view::View;
use fp_proto::message::ScalarValue;
use fp_transport::HostId;
#[cfg(feature = "ndarray")]
use fp_types::MemoryOrder;
use fp_types::{BlockId, Dtype, Epoch, Judgement, Region, Shape, StepId};
#[cfg(feature = "ndarray")]
use ndarray::{ArrayD, IxDyn, ShapeBuilder as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A step assigned to this cohort. It is held until this and the views made of it are dropped.
///
/// In a work-sharing set whose [`Share::redeliver`](crate::Share) is set a step can be given to a member again. How a
/// step is let go decides that:
///
/// | let go by | the step |
/// |---|---|
/// | [`StepReader::done`] | is done |
/// | [`StepReader::give_back`] | goes to a member of the set again, be it this one |
/// | a panic that drops it | goes to a member of the set again |
/// | a plain drop, such as the end of a `for` body | is done; with [`SubscriberOptions::with_explicit_done`](crate::SubscriberOptions::with_explicit_done) it goes to a member again |
/// | the end of its process | goes to a member again |
///
/// So does a `?` that leaves the function: it is a plain drop. Who returns errors that way asks for
/// `with_explicit_done`, or gives the step back before.
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
/// for variable in step.variables()? {
///     println!("{} {:?}", variable.def.name, variable.shape);
/// }
/// let some = step.get::<f64>("temperature", "[1:3]")?;
/// assert_eq!(some, [301.0, 302.0]);
/// step.done(); // or its drop: the publisher may use its memory again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StepReader {
    pub(crate) held: Arc<HeldStep>,
}

impl Drop for StepReader {
    fn drop(&mut self) {
        HeldStep::leave(&mut self.held);
    }
}

impl std::fmt::Debug for StepReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepReader").field("step", &self.step()).finish()
    }
}

/// A variable that has no value for all ranks.
fn no_scalar(found: VariableInfo) -> Misuse {
    let (kind, elements) = (found.def.kind, found.def.dtype);
    let (what, instead) = match found.def.record {
        Some(_) => ("records".to_owned(), "read it by records or get_records"),
        None => (elements.to_string(), "read it by get, with that element type"),
    };
    Misuse::WrongKind { variable: found.def.name, kind: format!("{kind} of {what}"), instead }
}

impl StepReader {
    /// Every block of a variable, by rank and then in the order of its puts, each with its region. In a global or
    /// joined array the region is where the block lies; in a local one it begins at 0.
    ///
    /// Asks the publisher each time it is called, with one question. For what is read in every step, keep the layout of
    /// the step before as long as it is the same.
    ///
    /// # Errors
    /// Unknown variable, or one that was not subscribed to; a lost publisher; time.
    pub fn blocks(&self, variable: &str) -> Result<Vec<(BlockId, Region)>, ReadError> {
        source::blocks(&self.held, variable)
    }

    /// The shape of the array that a get of this selection gives; the array has as many elements as that makes.
    ///
    /// # Errors
    /// As [`StepReader::get`], but that gaps do not matter.
    pub fn selected_shape(&self, variable: &str, selection: impl Into<Select>) -> Result<Shape, ReadError> {
        let select = selection.into();
        let request = Request::new(variable, &select, self.held.deadline()).with_fill();
        Ok(source::planned(&self.held, request)?.plan.result_shape())
    }

    /// The stream's name.
    pub fn stream(&self) -> &str {
        &self.held.shared.stream
    }

    /// The step's number in its epoch.
    pub fn step(&self) -> StepId {
        self.held.assignment.step
    }

    /// The epoch of the publisher that published it.
    pub fn epoch(&self) -> Option<Epoch> {
        self.held.epoch.map(|attachment| attachment.epoch)
    }

    /// Of which attachment of its subscriber it is, counted from 1. Each time that the publisher, or the way to it, is lost
    /// and comes back, there is another one.
    pub fn attachment(&self) -> u32 {
        self.held.epoch.map_or(0, |attachment| attachment.nth)
    }

    /// Whether the publisher of that attachment goes on with the numbers of the one before, as
    /// [`Subscriber::continues`](crate::Subscriber::continues) said when the step came.
    pub fn continues(&self) -> bool {
        self.held.continues
    }

    /// The host of each rank of the publisher, by rank, as its contact says; zero where that does not say it.
    ///
    /// Asks the publisher for the contacts that this rank has not needed yet. They are known from then on, as long as
    /// this opening of the stream lasts.
    ///
    /// # Errors
    /// That opening of the stream is over; a lost publisher; time.
    pub fn publisher_hosts(&self) -> Result<Vec<HostId>, ReadError> {
        hosts::publisher_hosts(&self.held)
    }

    /// Steps that the subscription did not get between the one before and this, of those that its policy takes.
    pub fn skipped(&self) -> u64 {
        self.held.assignment.skipped
    }

    /// The step is done: no member of a work-sharing set gets it again. It is released with the last view of it.
    pub fn done(self) {
        HeldStep::judge(&self.held, false);
    }

    /// The step goes back to its work-sharing set: a member gets it again, with [`StepReader::is_redelivered`]. That may
    /// be this one. It goes back with the last view of it. Where the cohort has several ranks one that gives it back is
    /// enough, and it goes back when all have let go of it. All members may be gone, or the publisher. Then nobody gets
    /// it.
    ///
    /// A step that fails each time is given again each time. So count what [`StepReader::is_redelivered`] says, and call
    /// [`StepReader::done`] when it was often enough.
    ///
    /// # Errors
    /// The subscriber is no member of a set that redelivers: the step is released then, as by a drop. The subscriber was
    /// closed, and has let go of the step before.
    pub fn give_back(self) -> Result<(), ReadError> {
        self.held.shared.check_open()?;
        if !self.held.shared.options.redelivers() {
            return Err(self.held.misuse(Misuse::NotRedelivered { step: self.step() }));
        }
        HeldStep::judge(&self.held, true);
        Ok(())
    }

    /// Whether a member of the work-sharing set had it before, and gave it back or is gone.
    pub fn is_redelivered(&self) -> bool {
        self.held.assignment.redelivered
    }

    /// Why the step is one that the subscription's condition asks for: the numbers that were measured for it, or why it was
    /// not judged. `None` without a condition. One that looks at variables alone has no numbers.
    pub fn judgement(&self) -> Option<&Judgement> {
        self.held.assignment.judgement.as_deref()
    }

    /// When the publisher decided the step, by the clock of its rank 0. `None` without a condition.
    pub fn decided_at(&self) -> Option<SystemTime> {
        let since = Duration::from_micros(self.judgement()?.decided_at_micros);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    /// Bytes of the step over all publisher ranks, as kept.
    pub fn len_bytes(&self) -> u64 {
        self.held.assignment.len_bytes
    }

    /// Steps that waited at the publisher behind this one when it was assigned.
    pub fn queued_steps(&self) -> u32 {
        self.held.assignment.queued_steps
    }

    /// Whether the subscription asked for the variable in this step. Of others it is told what they are, and no more.
    pub fn is_selected(&self, variable: &str) -> bool {
        self.held.wants.contains(variable)
    }

    /// The step's variables, by name.
    ///
    /// # Errors
    /// The publisher does not answer in time.
    pub fn variables(&self) -> Result<Vec<VariableInfo>, ReadError> {
        source::variables(&self.held, self.held.deadline().into())
    }

    /// A variable of the step as a publisher defines it, with its shape in this step: what puts it once more, on
    /// another stream. Asks the publisher for the type of records that is not known yet.
    ///
    /// # Errors
    /// Unknown variable; a lost publisher; time.
    pub fn variable(&self, name: &str) -> Result<Variable, ReadError> {
        let table = self.held.table(self.held.deadline())?;
        let info = source::infos(&self.held, &table).into_iter().find(|info| info.def.name == name);
        let VariableInfo { def, shape } = info.ok_or_else(|| self.held.unknown(&table, name))?;
        let records = def.record.is_some().then(|| self.record_schema(name)).transpose()?;
        Ok(Variable::of_definition(def, shape, records))
    }

    /// The value of a global scalar; it came with the announcement, nothing is fetched.
    ///
    /// # Errors
    /// The step has no such scalar, or of another type.
    pub fn scalar<T: Element>(&self, variable: &str) -> Result<T, ReadError> {
        let value = self.scalar_value(variable)?;
        let (step, variable) = (self.step(), variable.to_owned());
        if !goes_with(value.dtype, T::DTYPE) {
            let (expected, found) = (value.dtype, T::DTYPE);
            return Err(self.held.misuse(Misuse::WrongDtype { step, variable, expected, found }));
        }
        bytemuck::try_pod_read_unaligned(&value.bytes).map_err(|_| {
            let (found, expected) = (value.bytes.len() as u64, size_of::<T>() as u64);
            let region = format!("a scalar of {} in bytes", T::DTYPE);
            self.held.misuse(Misuse::WrongLen { step, variable, region, expected, found })
        })
    }

    /// The value that came with the announcement. Where there is none of that name, an array may have it.
    fn scalar_value(&self, variable: &str) -> Result<&ScalarValue, ReadError> {
        self.held.value(variable).map_err(|error| {
            if let Err(forked_or_closed) = self.held.shared.check_open() {
                return forked_or_closed;
            }
            let known = self.variables().unwrap_or_default();
            let found = known.into_iter().find(|known| known.def.name == variable);
            found.map_or(error, |found| self.held.misuse(no_scalar(found)))
        })
    }

    /// The element type of a global scalar; `None` if the step has none of that name. Nothing is asked.
    pub fn scalar_dtype(&self, variable: &str) -> Option<Dtype> {
        self.held.value(variable).ok().map(|value| value.dtype)
    }

    /// The global scalars of the step, by name, as bytes.
    pub fn scalars(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.held.assignment.values.iter().map(|value| (value.name.as_str(), value.bytes.as_slice()))
    }

    /// The selected elements, densely in the order that the selection asks for (row-major unless
    /// [`Select::with_order`] says otherwise), whatever the publisher's order. A text such as `"[0:10, ::2]"` is a
    /// selection too: [`SelectionExpression`](crate::SelectionExpression) has what may stand there.
    ///
    /// # Errors
    /// Unknown variable, wrong type, a selection that does not fit, a gap, a lost publisher, time.
    pub fn get<T: Element>(&self, variable: &str, selection: impl Into<Select>) -> Result<Vec<T>, ReadError> {
        convert::get_within(&self.held, variable, selection.into(), self.held.deadline().into())
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
        let select = selection.into();
        let request = Request::new(variable, &select, self.held.deadline()).with_fill().of_type(T::DTYPE);
        let planned = source::planned(&self.held, request)?;
        let mut elements = vec![fill; element_count(&planned)];
        fill::fill(&self.held, &planned, bytemuck::cast_slice_mut(&mut elements), self.held.deadline())?;
        Ok(elements)
    }

    /// The selected elements into the caller's memory, densely, in order as by [`StepReader::get`]. A `Vec` is made as
    /// long as the selection, and other memory must be so long. The call returns only when nothing can write there any
    /// more. Over RDMA, memory that [`Subscriber::register`] guards is read into straight. Other memory is filled by way
    /// of the stream's own, with a copy (counted).
    ///
    /// [`Subscriber::register`]: crate::Subscriber::register
    ///
    /// # Errors
    /// As [`StepReader::get`], and a destination of another length that is no `Vec`.
    pub fn get_into<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        destination: &mut (impl Fillable<T> + ?Sized),
    ) -> Result<(), ReadError> {
        let deadline = self.held.deadline();
        let planned = convert::planned_as::<T>(&self.held, variable, selection.into(), deadline)?;
        destination.fit(element_count(&planned.planned));
        let destination = destination.filled();
        let checked = check_len(self.step(), &planned.planned, destination.elements.len());
        checked.map_err(|source| self.held.misuse(source))?;
        convert::fill_as(&self.held, planned, destination, deadline.into())
    }

    /// The selected elements as an array of their shape, whose memory lies in the order that the selection asks for.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    #[cfg(feature = "ndarray")]
    pub fn get_array<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<ArrayD<T>, ReadError> {
        let planned = convert::planned_as::<T>(&self.held, variable, selection.into(), self.held.deadline())?;
        let shape: Vec<usize> =
            planned.planned.plan.result_shape().dims().iter().map(|&extent| extent as usize).collect();
        let is_column_major = planned.planned.destination_order == MemoryOrder::ColumnMajor;
        let mut elements = vec![T::zeroed(); element_count(&planned.planned)];
        convert::fill_as(&self.held, planned, elements.filled(), self.held.deadline().into())?;
        let found = elements.len() as u64;
        ArrayD::from_shape_vec(IxDyn(&shape).set_f(is_column_major), elements).map_err(|_| {
            let (variable, region) = (variable.to_owned(), format!("an array of shape {shape:?}"));
            let expected = shape.iter().product::<usize>() as u64;
            self.held.misuse(Misuse::WrongLen { step: self.step(), variable, region, expected, found })
        })
    }

    /// The selected elements as bytes, with their type and the shape of the array that they are: for those who learn it
    /// at run time. They lie densely in the order that the selection asks for.
    ///
    /// Records have the type [`Dtype::Bytes`], and their bytes are those of [`StepReader::records`]: fixed parts first,
    /// and then what their lists and texts refer to. Those of a text are UTF-8.
    /// [`StepWriter::put_bytes`](crate::StepWriter::put_bytes) takes them.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn get_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<(Dtype, Shape, Vec<u8>), ReadError> {
        bytes::copied(&self.held, variable, &selection.into())
    }

    /// As [`StepReader::get_bytes`], into memory of the caller's. Neither records nor texts go there.
    ///
    /// # Errors
    /// As [`StepReader::get`]; memory of another length than the elements have, of which texts and records have none.
    pub fn get_bytes_into(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        memory: &mut [u8],
    ) -> Result<(), ReadError> {
        bytes::copied_into(&self.held, variable, &selection.into(), memory)
    }

    /// As [`StepReader::get_bytes`], where they lie: without a copy on the terms of [`StepReader::view`]. Records and
    /// texts are copied.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn view_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<(Dtype, View<u8>), ReadError> {
        bytes::viewed(&self.held, variable, &selection.into())
    }

    /// Several gets that are fetched together: one message to each owner.
    pub fn fetch(&self) -> Fetch<'_> {
        Fetch::new(self)
    }

    /// The value of a global scalar that is a text; it came with the announcement, nothing is fetched.
    ///
    /// # Errors
    /// The step has no such scalar, or of another type; it is no UTF-8.
    pub fn text(&self, variable: &str) -> Result<String, ReadError> {
        let value = self.scalar_value(variable)?;
        if value.dtype != Dtype::String {
            let (step, variable) = (self.step(), variable.to_owned());
            let (expected, found) = (value.dtype, Dtype::String);
            return Err(self.held.misuse(Misuse::WrongDtype { step, variable, expected, found }));
        }
        String::from_utf8(value.bytes.clone()).map_err(|_| ReadError::PeerMisbehaved {
            stream: self.stream().to_owned(),
            step: self.step(),
            rank: value.rank,
            what: format!("the text of {variable:?}, which is no UTF-8"),
        })
    }

    /// A view of the selected elements where they lie. It makes 0 copies if they are a contiguous part of one block
    /// that is shared or in this process. They must also lie there in the order asked for (row-major unless
    /// [`Select::with_order`] says otherwise). Otherwise they are received into memory of the view's own (counted).
    /// Over RDMA that memory stays registered, and is the next view's when this one is gone.
    ///
    /// # Errors
    /// As [`StepReader::get`].
    pub fn view<T: Element>(
        &self,
        variable: &str,
        selection: impl Into<Select>,
    ) -> Result<View<T>, ReadError> {
        view::view_within(&self.held, variable, selection.into(), self.held.deadline().into())
    }
}
