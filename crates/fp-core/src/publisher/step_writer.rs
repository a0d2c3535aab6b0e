//! A step being written: put what this rank has of it, then end it.

use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::publisher::loan::Loan;
use crate::publisher::open_step::OpenStep;
use crate::session::publisher::PublisherSession;
use crate::value::counters::Counters;
use crate::value::element::Element;
use crate::value::owned_bytes;
use crate::value::parameter_request::ParameterRequest;
use crate::value::variable::Variable;
use fp_proto::commands::{BegunStep, StepBytes};
use fp_types::{Dtype, Region, Shape, StepId};
use std::marker::PhantomData;
use std::sync::Arc;

/// A step of this rank, open until [`StepWriter::end`]. Dropped without it, the step is abandoned for the whole
/// cohort: nobody gets it, and the log warns of it.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// let cells = Variable::global::<f64>("cells", &[2, 4])?;
/// let time = Variable::scalar::<f64>("time")?;
/// let mut writer = publisher.begin_step()?;
/// writer.put(&cells, &Region::new([0, 0], [1, 4])?, vec![1.0; 4])?; // a block; a rank may put several
/// writer.put_copy(&cells, &Region::new([1, 0], [1, 4])?, &[2.0; 4])?;
/// writer.put_scalar(&time, 0.5)?;
/// writer.end()?;
/// # let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(10))? else { panic!("no step") };
/// # assert_eq!(step.get::<f64>("cells", "[:, 3]")?, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a step that is dropped without `end` is given up: nobody gets it"]
pub struct StepWriter {
    pub(crate) open: OpenStep,
}

impl StepWriter {
    pub(crate) fn new(shared: Arc<PublisherSession>, begun: BegunStep) -> Self {
        Self { open: OpenStep::new(shared, begun) }
    }

    /// The step's number.
    pub fn step(&self) -> StepId {
        self.open.step
    }

    /// Promises that these variables will be put: [`StepWriter::end`] fails without them.
    pub fn promise(&mut self, variables: impl IntoIterator<Item = impl Into<String>>) {
        self.open.promised.extend(variables.into_iter().map(Into::into));
    }

    /// Keeps something for as long as anybody needs the step, whatever was put of it: its drop says that nobody does any
    /// more. Where nobody needs it from the beginning, that is at once.
    pub fn keep(&mut self, what: impl Send + Sync + 'static) {
        self.open.shared.server.keep_beside(self.open.step, Box::new(what));
    }

    /// Lets this rank publish what several ranks put, in their order. A local scalar may have several values then, and a
    /// region may be put more than once. Of elements that were put more than once the last ones count.
    pub fn allow_repeated_puts(&mut self) {
        self.open.repeats = true;
    }

    /// Gives the step up: nobody gets it, and it counts as skipped. Its number is used up on all ranks. Dropping the
    /// writer does the same and warns of it.
    pub fn abandon(mut self) {
        self.open.abandon();
    }

    /// Says that something of this step could not be put, for a reason of the caller's own. Where
    /// [`PublisherOptions::refuse_incomplete`](crate::PublisherOptions::refuse_incomplete) is set,
    /// [`StepWriter::end`] fails then, as after a put that failed.
    pub fn note_failure(&mut self, what: impl Into<String>) {
        self.open.note_failure(|| what.into());
    }

    /// Puts a block of owned elements: no copy, unless a subscriber shares memory with this rank (1, counted).
    /// Elements lie densely in the variable's memory order.
    ///
    /// # Errors
    /// Wrong element type, region or length; a block put twice; no memory.
    pub fn put<T: Element>(
        &mut self,
        variable: &Variable,
        region: &Region,
        elements: Vec<T>,
    ) -> Result<(), PutError> {
        self.put_external(variable, region, elements)
    }

    /// Puts a block of memory that stays with its owner, whose drop is the release. Copies as [`StepWriter::put`].
    ///
    /// # Errors
    /// As [`StepWriter::put`].
    pub fn put_external<T: Element>(
        &mut self,
        variable: &Variable,
        region: &Region,
        owner: impl AsRef<[T]> + Send + Sync + 'static,
    ) -> Result<(), PutError> {
        self.open.admit::<T>(variable, region, owner.as_ref().len())?;
        self.open.put_owned(variable, region, owned_bytes::as_bytes(owner))
    }

    /// Puts a copy of these elements, made in the pool.
    ///
    /// # Errors
    /// As [`StepWriter::put`].
    pub fn put_copy<T: Element>(
        &mut self,
        variable: &Variable,
        region: &Region,
        elements: &[T],
    ) -> Result<(), PutError> {
        self.open.admit::<T>(variable, region, elements.len())?;
        self.open.put_slice(variable, region, bytemuck::cast_slice(elements))
    }

    /// Lends memory for a block: to be filled and given to [`StepWriter::put_loan`], without a copy. Its content is
    /// undefined until then.
    ///
    /// # Errors
    /// As [`StepWriter::put`].
    pub fn loan<T: Element>(&mut self, variable: &Variable, region: &Region) -> Result<Loan<T>, PutError> {
        self.open.check_dtype(variable, T::DTYPE)?;
        Ok(Loan { bytes: self.loan_bytes(variable, region)?, element: PhantomData })
    }

    /// Puts rows of a joined array: as many as `elements` makes, after those of lower ranks and earlier puts.
    ///
    /// # Errors
    /// As [`StepWriter::put`]; a number of elements that makes no whole rows.
    pub fn put_joined<T: Element>(&mut self, variable: &Variable, elements: Vec<T>) -> Result<(), PutError> {
        let region = self.open.rows(variable, elements.len())?;
        self.put(variable, &region, elements)
    }

    /// Puts a copy of rows of a joined array.
    ///
    /// # Errors
    /// As [`StepWriter::put_joined`].
    pub fn put_joined_copy<T: Element>(
        &mut self,
        variable: &Variable,
        elements: &[T],
    ) -> Result<(), PutError> {
        let region = self.open.rows(variable, elements.len())?;
        self.put_copy(variable, &region, elements)
    }

    /// Puts the value of a scalar. That of a global one rides with the announcement of the step.
    ///
    /// # Errors
    /// Wrong element type; not a scalar; put twice.
    pub fn put_scalar<T: Element>(&mut self, variable: &Variable, value: T) -> Result<(), PutError> {
        let region = Region::whole(&Shape::scalar());
        match variable.def.kind.is_scalar() {
            true => self.put_copy(variable, &region, &[value]),
            false => Err(self.open.wrong_kind(variable, "put it with a region")),
        }
    }

    /// Ends the step: it is reported to the cohort and, when every rank has ended it, announced. Returns at once.
    ///
    /// # Errors
    /// A promised variable is missing, or a put failed and the options refuse steps without it: the step is abandoned.
    /// A rank of the cohort is lost.
    pub fn end(mut self) -> Result<(), PutError> {
        let span =
            tracing::debug_span!("end_step", stream = %self.open.shared.stream, step = %self.open.step);
        let _entered = span.entered();
        if self.open.shared.endpoint.is_forked() {
            return Err(self.open.misuse(Misuse::Forked));
        }
        if let Some(missing) = self.open.promised.iter().find(|name| self.open.puts.get(name).is_none()) {
            let (step, rank, variable) = (self.open.step, self.open.rank(), missing.clone());
            return Err(self.open.misuse(Misuse::PromiseBroken { step, rank, variable }));
        }
        self.open.check_complete()?;
        self.open.derive();
        let (values, parts) = (std::mem::take(&mut self.open.values), std::mem::take(&mut self.open.parts));
        // Whoever takes the step may let go of it before this call is over: its memory is lent again then.
        self.open.arena = self.open.shared.no_arena.clone();
        if self.open.kept {
            self.open.shared.server.end(self.open.step);
        }
        let (step, len_bytes) = (self.open.step, self.open.len_bytes);
        let taken = StepBytes { memory: len_bytes, elsewhere: self.open.stored_bytes };
        let OpenStep { shared, puts, .. } = &mut self.open;
        let contribution = puts.contribution();
        let ended = shared.endpoint.drive_briefly(|state, now| {
            let measured = if parts.is_empty() { Ok(()) } else { state.machine.measured(step, parts) };
            measured.and_then(|()| state.machine.end_step(now, step, contribution, values, taken))
        });
        // A step that cannot end is abandoned as the writer is dropped.
        ended.map_err(|error| self.open.command_error(error))?;
        self.open.left = true;
        self.open.shared.ended(len_bytes, self.open.kept);
        tracing::debug!(len_bytes, "ended");
        Counters::add(&self.open.shared.counters.steps, 1);
        Ok(())
    }

    /// What subscribers ask of the simulation at this step, in the order in which they asked: the same on all ranks. What is
    /// not declined counts as taken when the step is ended or given up.
    pub fn requests(&self) -> &[ParameterRequest] {
        &self.open.requests
    }

    /// Whether somebody asks for that at this step, whatever the value: for parameters without one, such as *stop*.
    pub fn is_asked(&self, parameter: &str) -> bool {
        self.open.requests.iter().any(|request| request.parameter() == parameter)
    }

    /// Does not take what is asked for at this step: who asked is told so, and why. Other ranks may take it all the same.
    ///
    /// # Errors
    /// A request of another step; a rank of the cohort is lost.
    pub fn decline(&mut self, request: &ParameterRequest, reason: impl Into<String>) -> Result<(), PutError> {
        let (step, change, reason) = (self.open.step, request.change, reason.into());
        let declined = self.open.shared.endpoint.inspect(|state| state.machine.decline(step, change, reason));
        declined.map_err(|error| self.open.command_error(error))
    }

    /// Whether somebody wants this variable in this step, or something that is derived from it: otherwise there is no
    /// need to compute it.
    pub fn wanted(&self, variable: &str) -> bool {
        self.open.wants(variable)
    }

    /// Puts the value of a scalar that is a text, made by [`Variable::text`].
    ///
    /// # Errors
    /// Another type or kind of variable; put twice. Scalars that are longer than 4096 bytes together, names included,
    /// fail at the step's end.
    pub fn put_text(&mut self, variable: &Variable, text: &str) -> Result<(), PutError> {
        self.open.check_dtype(variable, Dtype::String)?;
        self.put_bytes(variable, &Region::whole(&Shape::scalar()), text.as_bytes())
    }
}
