//! A rank's handle on the receiving side.

pub(crate) mod attach;
pub(crate) mod find;

use crate::error::condition::ConditionError;
use crate::error::misuse::Misuse;
use crate::error::record_block::RecordBlockError;
use crate::error::request::RequestError;
use crate::error::{CloseError, OpenError, ReadError};
use crate::options::subscriber::SubscriberOptions;
use crate::records::fit::Provided;
use crate::session::life::Session as _;
use crate::session::peek::{Came, CameBy, look_ahead, look_for_step};
use crate::session::sides::VariablePlacement;
use crate::session::subscriber::SubscriberSession;
use crate::step::StepReader;
use crate::step::held::HeldStep;
use crate::step::peek;
use crate::step::records::provide;
use crate::value::counters::{Counters, Statistics};
use crate::value::element::Element;
use crate::value::event::Event;
use crate::value::fill_target::Registered;
use crate::value::limit::after;
use crate::value::stopwatch::Stopwatch;
use fp_proto::commands::Next;
use fp_proto::config::VariableSet;
use fp_proto::message::Assignment;
use fp_proto::outcome::StreamEnding;
use fp_proto::parameter::Parameter;
use fp_proto::steering::Urgency;
use fp_transform::CohortSide;
use fp_types::record::{Record, RecordSchema};
use fp_types::{AttributeValue, Condition, Epoch, ParseConditionError, StepId};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What waiting for a step gave.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// # publisher.close()?;
/// loop {
///     match subscriber.next_step(Duration::from_secs(10))? {
///         NextStep::Step(step) => println!("step {}", step.step()),
///         NextStep::NotYet => println!("nothing within 10 s"),
///         NextStep::Ended(ending) => break println!("{}", ending.reason),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum NextStep {
    /// The step; dropping it, and the views made of it, releases it.
    Step(StepReader),
    /// None came within the time given.
    NotYet,
    /// No more will come.
    Ended(StreamEnding),
}

/// A subscriber rank of a stream. Dropped without [`Subscriber::close`], it leaves just the same, but waits for that at
/// most half a second.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{Publisher, PublisherOptions, Rendezvous};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # drop(publisher.begin_step()?);
/// use flexpath::{NextStep, Subscriber, SubscriberOptions};
///
/// # let options = SubscriberOptions::default().with_rendezvous(rendezvous);
/// let mut subscriber = Subscriber::open("heat", options)?; // such as SubscriberOptions::default()
/// while let NextStep::Step(step) = subscriber.next_step(Duration::from_millis(1))? {
///     println!("step {}: {:?}", step.step(), step.get::<f64>("temperature", "[:10]")?);
/// }
/// subscriber.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Subscriber {
    pub(crate) shared: Arc<SubscriberSession>,
    pub(crate) closed: bool,
}

impl Subscriber {
    /// Asks the simulation for a value of a parameter that it declared ([`PublisherOptions::with_parameter`]), and waits for
    /// the answer. All its ranks see it at the same step, and the answer comes when all have left that one: it is the step.
    /// Only rank 0 of a cohort may ask, and only under a policy that may drop steps: none is read while it waits.
    ///
    /// [`PublisherOptions::with_parameter`]: crate::PublisherOptions::with_parameter
    ///
    /// # Errors
    /// The publisher does not take it; a rank declined it; the time was up, or the stream over, before there was an answer.
    pub fn request(
        &mut self,
        parameter: &str,
        value: impl Into<AttributeValue>,
        patience: Duration,
    ) -> Result<StepId, RequestError> {
        self.shared.request(parameter, value.into(), Urgency::Ahead, patience)
    }

    /// The parameters that the simulation lets be asked for, each with the values that it takes and what it is. None where
    /// it declares none. Only rank 0 of a cohort may ask; the simulation is not disturbed.
    ///
    /// # Errors
    /// The access list does not let this subscriber ask for anything; or no answer came in time, or before the end.
    pub fn parameters(&mut self, patience: Duration) -> Result<Vec<Parameter>, RequestError> {
        self.shared.parameters(patience)
    }

    /// As [`request`](Self::request), but the simulation sees it at the next step that no rank has begun. For that its ranks
    /// wait for one another at the beginning of that step, for two passes of messages.
    ///
    /// # Errors
    /// As of `request`.
    pub fn request_now(
        &mut self,
        parameter: &str,
        value: impl Into<AttributeValue>,
        patience: Duration,
    ) -> Result<StepId, RequestError> {
        self.shared.request(parameter, value.into(), Urgency::Now, patience)
    }

    /// Asks for other variables, for the whole cohort; only the lead's call is sent. From which step on they come is
    /// told by `Event::Reselected`. What is derived stays as it is.
    ///
    /// # Errors
    /// The stream is not attached.
    pub fn select_variables(
        &mut self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<(), ReadError> {
        self.select(VariableSet::named(names))
    }

    /// The same, also for all variables of the stream.
    ///
    /// # Errors
    /// As [`Subscriber::select_variables`].
    pub fn select(&mut self, variables: VariableSet) -> Result<(), ReadError> {
        self.shared.check_fork()?;
        self.shared.ask(|asking| asking.variables = variables)
    }

    /// Wants other steps than until now, for the whole cohort: `max(T) > 9` in place of `max(T) > 5`. It waits until the
    /// publisher's lead has said from which step on, and gives that step. Those before are judged by the condition that was.
    /// What a condition remembers of earlier steps begins anew. Only rank 0 of a cohort may ask. The subscriber was opened
    /// with a condition, and with the modules that this one names.
    ///
    /// # Errors
    /// A text that cannot be read; a condition that the publisher refuses; the time was up, or the stream over, before there
    /// was an answer.
    pub fn set_condition<C>(&mut self, condition: C, patience: Duration) -> Result<StepId, ConditionError>
    where
        C: TryInto<Condition>,
        ParseConditionError: From<C::Error>,
    {
        self.shared.set_condition(condition, patience)
    }

    /// Has a derived or transformed variable of [`SubscriberOptions`] made on another side from now on, for the whole
    /// cohort: only the lead's call is sent. `Event::Reselected` says from which step on it is so; steps before that
    /// are read as they were asked for. No step is lost by it. Gets are the same on either side, but for the rows that
    /// a deployed module gives. A publisher gives one for each block of a rank, and a subscriber one for the whole
    /// array.
    ///
    /// # Errors
    /// Nothing is derived by that name; a transform that this process does not know; the stream is not attached.
    pub fn place(&mut self, variable: &str, placement: CohortSide) -> Result<(), ReadError> {
        self.shared.check_fork()?;
        self.shared.check_place(variable, placement).map_err(|source| self.shared.misuse(source))?;
        self.shared.ask(|asking| asking.place(variable, placement))
    }

    /// Where each derived and each transformed variable is made, in the order of the options.
    pub fn placements(&self) -> Vec<VariablePlacement> {
        self.shared.placements()
    }

    /// The variables that provide records of this Rust type, those that fit best first: as they are, converted, or
    /// through transforms. This process registered these transforms
    /// ([`SubscriberOptions::with_transforms`](crate::SubscriberOptions::with_transforms)) or the publisher did
    /// ([`PublisherOptions::with_transforms`](crate::PublisherOptions::with_transforms)). Waits until the first step is
    /// here, at most `open_timeout`; that step is still the next one.
    ///
    /// # Errors
    /// No variable does: the error says of each, field by field, why not. No step came, or the publisher did not say
    /// what is in it.
    pub fn of<T: Record>(&mut self) -> Result<Vec<Provided>, ReadError> {
        let wanted = T::schema().map_err(|error| self.no_type(error.into()))?;
        self.of_schema(&wanted)
    }

    /// As [`Subscriber::of`], for a type that was made at run time.
    ///
    /// # Errors
    /// As [`Subscriber::of`].
    pub fn of_schema(&mut self, wanted: &RecordSchema) -> Result<Vec<Provided>, ReadError> {
        self.shared.check_fork()?;
        let started = Instant::now();
        let deadline = after(started, self.shared.options.link.open_timeout);
        let came = self.shared.endpoint.wait(deadline, look_ahead);
        let step = peek::ahead(&self.shared, came, started)?;
        provide::provided(&step, wanted, None, deadline.into())
    }

    pub(crate) fn no_type(&self, source: RecordBlockError) -> ReadError {
        let variable = String::new();
        self.shared.misuse(Misuse::NoRecords { variable, source: Box::new(source) })
    }

    /// Lets RDMA devices write to this memory for as long as the guard lives. Gets into it then need neither a copy nor
    /// a registration of their own. Nothing is registered before the first read over a device, and over other
    /// transports never.
    ///
    /// Where a device cannot register it, gets go by way of the stream's own memory, with a copy. The limit of locked
    /// memory is the most frequent reason.
    pub fn register<'a, T: Element>(&self, memory: &'a mut [T]) -> Registered<'a, T> {
        Registered::new(memory)
    }

    /// Attaches to the stream, waiting up to `open_timeout` for it to appear.
    ///
    /// # Errors
    /// A bad name, a stream that does not come (with what was seen instead), a refusal, ranks that do not come. Types
    /// that the options want and the stream does not have.
    pub fn open(stream: &str, options: SubscriberOptions) -> Result<Self, OpenError> {
        let (shared, directory) = SubscriberSession::start(stream, options)?;
        shared.finish_opening(&directory)?;
        Ok(Self { shared, closed: false })
    }

    /// The stream's name.
    pub fn stream(&self) -> &str {
        &self.shared.stream
    }

    /// How it attached.
    pub fn options(&self) -> &SubscriberOptions {
        &self.shared.options
    }

    /// The epoch of the publisher that it is attached to.
    pub fn epoch(&self) -> Option<Epoch> {
        self.shared.endpoint.inspect(|state| state.machine.epoch())
    }

    /// The first step that this subscription holds for, in the epoch that it is attached to. No step from there on is passed
    /// over in silence. A condition is looked at from there on. None before it is attached.
    pub fn first_step(&self) -> Option<StepId> {
        self.shared.endpoint.inspect(|state| state.machine.first_step())
    }

    /// Whether that publisher goes on with the numbers of the one before: that it was attached to itself, or that
    /// [`with_resumption`](SubscriberOptions::with_resumption) names. Of a step that came before that publisher did,
    /// [`StepReader::continues`] tells.
    pub fn continues(&self) -> bool {
        self.shared.endpoint.inspect(|state| state.machine.continues())
    }

    /// The next step, waiting up to `timeout` for one. All ranks of the cohort see the same steps.
    ///
    /// # Errors
    /// The handle was forked, or the coordinator failed. The end of the stream is no error.
    pub fn next_step(&mut self, timeout: Duration) -> Result<NextStep, ReadError> {
        self.shared.check_fork()?;
        let watch = Stopwatch::start(&self.shared.counters.next_step_ns);
        let deadline = after(watch.started, timeout);
        let next = self.shared.endpoint.wait_since(watch.started, deadline, look_for_step);
        drop(watch);
        taken(&self.shared, next)
    }

    /// What happened on the stream since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        self.shared.endpoint.inspect(|state| state.role.life.events.take())
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.shared.count_placements(&self.shared.counters);
        self.shared.counters.read(&self.shared.endpoint.dial.domain, &self.shared.endpoint.listened)
    }

    /// What the data links to the owners run over, and why nothing better.
    pub fn transports(&self) -> Vec<(fp_types::Rank, String)> {
        self.shared.owners.transports()
    }

    /// Leaves the stream. Views that are still there stay valid: the publisher never writes to their memory again.
    /// What a reader was not asked for before can be read no more.
    ///
    /// The ranks of a cohort close together: this returns when all have. A rank that has waited for
    /// [`crate::SubscriberOptions::with_close_timeout`] goes by itself, and those that read on lose it.
    ///
    /// # Errors
    /// The handle was forked, or the coordinator failed.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.closed = true;
        self.shared.close()
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        if !self.closed {
            // Who wants to know how it went calls `close`.
            self.shared.close_dropped();
        }
    }
}

/// What was waited for is the caller's from now on.
pub(crate) fn taken(shared: &Arc<SubscriberSession>, came: Option<Came>) -> Result<NextStep, ReadError> {
    match came {
        None | Some(Ok((Next::NotYet, _))) => Ok(NextStep::NotYet),
        Some(Ok((Next::Step(assignment), by))) => Ok(NextStep::Step(take(shared, assignment, by))),
        Some(Ok((Next::Ended(ending), _))) => Ok(NextStep::Ended(ending)),
        Some(Err(what)) => Err(ReadError::Coordinator { stream: shared.stream.clone(), what }),
    }
}

fn take(shared: &Arc<SubscriberSession>, assignment: Assignment, by: CameBy) -> StepReader {
    Counters::add(&shared.counters.steps, 1);
    Counters::add(&shared.counters.skipped_steps, assignment.skipped as usize);
    shared.owners.took(assignment.step);
    StepReader { held: HeldStep::new(shared.clone(), assignment, by, false) }
}
