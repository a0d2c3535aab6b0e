//! A rank's handle on the receiving side.

use crate::derived::{Derived, canonical};
use crate::driver::{Clock, DataServer, Endpoint, Look, Role, Setup, State};
use crate::error::{CloseError, Misuse, OpenError, ReadError};
use crate::gathering::{Gathering, Ready, Side};
use crate::opening::Opening;
use crate::options::SubscriberOptions;
use crate::owners::Owners;
use crate::patience::after;
use crate::placing::Placed;
use crate::planned::Plans;
use crate::preparing::{cohort_config, prepare};
use crate::publisher::Events;
use crate::records::{KnownOffers, Types};
use crate::selected::Selected;
use crate::statistics::{Counters, Statistics};
use crate::step::StepReader;
use fp_proto::commands::Next;
use fp_proto::config::{ContactText, Placement, SubscriberConfig, SubscriptionSpec};
use fp_proto::effect::Effect;
use fp_proto::event::{CloseOutcome, Event, OpenFailure, ResolveOutcome};
use fp_proto::message::{Assignment, MemberId};
use fp_proto::outcome::{EndReason, StreamEnding};
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_transport::Link;
use fp_types::{Epoch, Selection, StepId, StepTable, SubscriptionId, TableId, validate_name};
use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What waiting for a step gave.
#[derive(Debug)]
pub enum NextStep {
    /// The step; dropping it, and the views made of it, releases it.
    Step(StepReader),
    /// None came within the time given.
    NotYet,
    /// No more will come.
    Ended(StreamEnding),
}

pub(crate) struct SubscriberRole {
    pub(crate) events: Events,
    pub(crate) opened: Option<Result<Epoch, OpenFailure>>,
    closed: Option<CloseOutcome>,
    pub(crate) failure: Option<String>,
    pub(crate) answers: HashMap<u64, ResolveOutcome>,
    owners: Arc<Owners>,
    selected: Arc<Selected>,
    placed: Arc<Placed>,
    /// Steps of the present epoch that readers and views hold.
    held: usize,
    ended: bool,
}

impl SubscriberRole {
    fn new(owners: Arc<Owners>, selected: Arc<Selected>, placed: Arc<Placed>) -> Self {
        Self {
            events: Events::default(),
            opened: None,
            closed: None,
            failure: None,
            answers: HashMap::new(),
            owners,
            selected,
            placed,
            held: 0,
            ended: false,
        }
    }
}

impl Role for SubscriberRole {
    type Machine = SubscriberMachine;

    fn effect(&mut self, effect: Effect) {
        let Effect::Event(event) = effect else { return };
        match &event {
            Event::Opened { epoch } => {
                self.owners.attached(Some(*epoch));
                self.opened = Some(Ok(*epoch));
            }
            Event::OpenFailed(failure) => self.opened = Some(Err(failure.clone())),
            Event::Closed(outcome) => self.closed = Some(outcome.clone()),
            Event::AwaitingRestart { .. } => {
                self.held = 0;
                self.owners.attached(None);
            }
            Event::Restarted { epoch, .. } => {
                self.selected.restart();
                self.owners.attached(Some(*epoch));
            }
            Event::Specified { first, spec } => {
                let (before, now) = self.selected.holds_from(*first, spec.clone());
                self.placed.changed(*first, &before, &now);
                return;
            }
            Event::Ended(StreamEnding { reason: EndReason::Lost { rank, .. }, .. }) => {
                self.owners.lost(*rank);
            }
            Event::Resolved { request, outcome } => {
                self.answers.insert(*request, outcome.clone());
                return;
            }
            Event::Contacts { request, contacts, left } => {
                self.owners.told(*request, contacts, *left);
                return;
            }
            _ => {}
        }
        self.ended |= matches!(event, Event::Ended(_));
        tracing::debug!(?event, "subscriber");
        self.events.push(event);
    }

    fn data_link(&mut self, _link: Link, _epoll: BorrowedFd<'_>) {
        // A subscriber serves no data: the link closes as it is dropped.
    }

    fn data_server(&self) -> Option<Arc<dyn DataServer>> {
        None
    }

    fn failed(&mut self, what: String) {
        self.failure.get_or_insert(what);
    }
}

/// Tables, definitions alone, by the epoch that they belong to.
type Tables = HashMap<(Option<Epoch>, TableId), Arc<StepTable>>;

/// What the handle, its steps and their views share.
pub(crate) struct SubscriberShared {
    pub(crate) stream: String,
    pub(crate) endpoint: Arc<Endpoint<SubscriberRole>>,
    pub(crate) owners: Arc<Owners>,
    pub(crate) plans: Plans,
    pub(crate) counters: Arc<Counters>,
    pub(crate) options: SubscriberOptions,
    /// The same with what was asked for since.
    pub(crate) asking: Mutex<SubscriberOptions>,
    pub(crate) selected: Arc<Selected>,
    pub(crate) placed: Arc<Placed>,
    pub(crate) types: Types,
    /// The transforms that the publisher offers.
    pub(crate) offers: KnownOffers,
    pub(crate) derived: Derived,
    tables: Mutex<Tables>,
}

/// A subscriber rank of a stream. Dropped without [`Subscriber::close`], it leaves just the same.
pub struct Subscriber {
    pub(crate) shared: Arc<SubscriberShared>,
    pub(crate) closed: bool,
}

/// Tables (definitions alone) that are kept.
const LIMIT_TABLES: usize = 64;

impl Subscriber {
    /// Attaches to the stream, waiting up to `open_timeout` for it to appear.
    ///
    /// # Errors
    /// A bad name, a stream that does not come (with what was seen instead), a refusal, ranks that do not come;
    /// types that the options want and the stream does not have.
    pub fn open(stream: &str, options: SubscriberOptions) -> Result<Self, OpenError> {
        let (shared, directory) = SubscriberShared::start(stream, options)?;
        shared.finish_opening(&directory)?;
        Ok(Self { shared, closed: false })
    }

    /// The stream's name.
    pub fn stream(&self) -> &str {
        &self.shared.stream
    }

    /// The epoch of the publisher that it is attached to.
    pub fn epoch(&self) -> Option<Epoch> {
        self.shared.endpoint.inspect(|state| state.machine.epoch())
    }

    /// The next step, waiting up to `timeout` for one. All ranks of the cohort see the same steps.
    ///
    /// # Errors
    /// The handle was forked, or the driver failed. The end of the stream is no error.
    pub fn next_step(&mut self, timeout: Duration) -> Result<NextStep, ReadError> {
        self.shared.check_fork().map_err(|source| self.shared.misuse(source))?;
        let next = self.shared.endpoint.wait(after(Instant::now(), timeout), look_for_step);
        self.shared.taken(next)
    }

    /// What happened on the stream since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        self.shared.endpoint.inspect(|state| state.role.events.take())
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.shared.count_placements(&self.shared.counters);
        self.shared.counters.read(&self.shared.endpoint.dial.domain)
    }

    /// What the data links to the owners run over, and why nothing better.
    pub fn transports(&self) -> Vec<(fp_types::Rank, String)> {
        self.shared.owners.transports()
    }

    /// Leaves the stream. Readers and views that are still there stay valid: the publisher is then left without a
    /// word, so that it never writes to that memory again.
    ///
    /// # Errors
    /// The handle was forked, or the driver failed.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.closed = true;
        self.shared.close()
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        if !self.closed {
            // Who wants to know how it went calls `close`.
            let _ = self.shared.close();
        }
    }
}

fn default_name() -> String {
    let program = std::env::args().next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    let clean: String =
        program.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(100).collect();
    format!("{clean}-{}", std::process::id())
}

fn config(
    options: &SubscriberOptions,
    stream: &str,
    name: &str,
    contact: String,
    epoch: Epoch,
) -> SubscriberConfig {
    let mut config = SubscriberConfig::new(cohort_config(&options.link, name, contact), epoch, stream);
    config.publisher_contact =
        options.publisher_contact.as_ref().map(|contact| ContactText(contact.to_string()));
    config.spec = spec(options);
    config.credit_steps = options.credit_steps;
    config.on_loss = options.on_loss;
    config
}

pub(crate) fn spec(options: &SubscriberOptions) -> SubscriptionSpec {
    SubscriptionSpec {
        variables: options.kept_variables(),
        policy: options.policy,
        limit_steps: options.limit_steps,
        start_at: options.start_at,
        share: options.share.clone(),
        derivations: canonical(options),
    }
}

/// What came, and of which epoch; or how the driver failed.
pub(crate) type Came = Result<(Next, Option<Epoch>), String>;

/// Takes the next step, if it is here.
pub(crate) fn look_for_step(state: &mut State<SubscriberRole>, now: Moment) -> Look<Came> {
    if let Some(what) = &state.role.failure {
        return Ok(Err(what.clone()));
    }
    match state.machine.next_step(now) {
        Next::NotYet => Err(None),
        next => {
            state.role.held += usize::from(matches!(next, Next::Step(_)));
            Ok(Ok((next, state.machine.epoch())))
        }
    }
}

/// Whether the machine has closed.
pub(crate) fn look_closed(state: &mut State<SubscriberRole>) -> Look<Result<(), String>> {
    match (&state.role.closed, &state.role.failure) {
        (Some(_), _) => Ok(Ok(())),
        (None, _) if state.role.opened.as_ref().is_some_and(Result::is_err) => Ok(Ok(())),
        (None, Some(what)) => Ok(Err(what.clone())),
        (None, None) => Err(None),
    }
}

impl SubscriberShared {
    /// Listens, and has the machine begin to attach; the second is where it looks for the publisher. Calls the
    /// launcher's collectives, if there are any.
    pub(crate) fn start(stream: &str, options: SubscriberOptions) -> Result<(Arc<Self>, String), OpenError> {
        let name = options.name.clone().unwrap_or_else(default_name);
        let named = validate_name(&name).map_err(OpenError::from);
        let prepared = named.and_then(|()| prepare(&options.link, stream));
        let Some(gathering) = Gathering::of(&options.link, stream, Side::Subscriber) else {
            return Self::begin_opening(stream, &name, options, prepared?, Placement::Searched);
        };
        let (prepared, gathered) = gathering.exchange(prepared, Ready::of)?;
        let begun = Self::begin_opening(stream, &name, options, prepared, gathered.placement())?;
        if gathering.is_lead() {
            begun.0.endpoint.drive(|state, now| state.machine.handle_gathered(now, gathered.size()));
        }
        Ok(begun)
    }

    fn begin_opening(
        stream: &str,
        name: &str,
        options: SubscriberOptions,
        (setup, epoch): (Setup, Epoch),
        placement: Placement,
    ) -> Result<(Arc<Self>, String), OpenError> {
        let mut config = config(&options, stream, name, setup.contact.to_string(), epoch);
        config.cohort.placement = placement;
        let owners = Arc::new(Owners::default());
        let (selected, placed) = (Arc::new(Selected::new(spec(&options))), Arc::new(Placed::new(&options)));
        let role = SubscriberRole::new(owners.clone(), selected.clone(), placed.clone());
        let directory = setup.rendezvous.directory().display().to_string();
        let clock = Clock::start();
        let machine = SubscriberMachine::new(config, clock.now());
        let endpoint = Endpoint::start(clock, setup, machine, role);
        let endpoint = endpoint.map_err(|source| OpenError::Io { stream: stream.to_owned(), source })?;
        let shared = Arc::new(SubscriberShared {
            stream: stream.to_owned(),
            endpoint,
            owners,
            plans: Plans::default(),
            derived: Derived::new(&options.derivations, &options.modules),
            counters: Arc::new(Counters::default()),
            asking: Mutex::new(options.clone()),
            options,
            selected,
            placed,
            types: Types::default(),
            offers: KnownOffers::default(),
            tables: Mutex::new(HashMap::new()),
        });
        Ok((shared, directory))
    }

    /// What was waited for is the caller's from now on.
    pub(crate) fn taken(self: &Arc<Self>, came: Option<Came>) -> Result<NextStep, ReadError> {
        match came {
            None | Some(Ok((Next::NotYet, _))) => Ok(NextStep::NotYet),
            Some(Ok((Next::Step(assignment), epoch))) => Ok(NextStep::Step(self.step(assignment, epoch))),
            Some(Ok((Next::Ended(ending), _))) => Ok(NextStep::Ended(ending)),
            Some(Err(what)) => Err(ReadError::Driver { stream: self.stream.clone(), what }),
        }
    }

    fn step(self: &Arc<Self>, assignment: Assignment, epoch: Option<Epoch>) -> StepReader {
        Counters::add(&self.counters.steps, 1);
        Counters::add(&self.counters.skipped_steps, assignment.skipped as usize);
        self.owners.took(assignment.step);
        StepReader::new(self.clone(), assignment, epoch)
    }

    pub(crate) fn misuse(&self, source: Misuse) -> ReadError {
        ReadError::Misuse { stream: self.stream.clone(), source }
    }

    pub(crate) fn check_fork(&self) -> Result<(), Misuse> {
        if self.endpoint.is_forked() { Err(Misuse::Forked) } else { Ok(()) }
    }

    /// Until when opening may take, and who opens.
    pub(crate) fn opening<'a>(&'a self, directory: &'a str) -> (Instant, Opening<'a>) {
        let deadline = Instant::now() + self.options.link.open_timeout * 2 + Duration::from_secs(5);
        (deadline, Opening { stream: &self.stream, rank: self.options.link.cohort.rank(), directory })
    }

    pub(crate) fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        self.endpoint.inspect(|state| state.machine.membership())
    }

    /// The standing selection of a variable, if the options name one.
    pub(crate) fn standing(&self, variable: &str) -> Option<Selection> {
        let is_it = |name: &str| {
            name == variable || self.derived.find(name).is_some_and(|(asked, _)| asked.variable == variable)
        };
        let of_it = self.options.selections.iter().find(|(name, _)| is_it(name));
        of_it.map(|(_, selection)| selection.clone())
    }

    /// The variables of a table, without blocks.
    pub(crate) fn definitions(
        &self,
        (step, epoch): (StepId, Option<Epoch>),
        id: TableId,
        deadline: Instant,
    ) -> Result<Arc<StepTable>, ReadError> {
        if let Some(table) = self.known_definitions(epoch, id) {
            return Ok(table);
        }
        let table = Arc::new(self.resolve((step, epoch), id, Vec::new(), deadline)?);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= LIMIT_TABLES {
            tables.clear();
        }
        tables.insert((epoch, id), table.clone());
        Ok(table)
    }

    /// The same, if they were asked for before.
    pub(crate) fn known_definitions(&self, epoch: Option<Epoch>, id: TableId) -> Option<Arc<StepTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).get(&(epoch, id)).cloned()
    }

    pub(crate) fn release(&self, step: StepId, epoch: Option<Epoch>) {
        if self.endpoint.is_forked() {
            return;
        }
        self.owners.released(step, epoch);
        self.endpoint.drive(|state, now| {
            if state.machine.epoch() == epoch {
                state.role.held = state.role.held.saturating_sub(1);
                // After a restart was announced the step is not held any more, and that is as well.
                let _ = state.machine.release(now, step);
            }
        });
    }

    pub(crate) fn close(&self) -> Result<(), CloseError> {
        let deadline = self.start_closing()?;
        let closed = self.endpoint.wait(deadline, |state, _| look_closed(state));
        self.close_outcome(closed)
    }

    /// Has the machine begin to leave; until when that may take.
    pub(crate) fn start_closing(&self) -> Result<Instant, CloseError> {
        if self.endpoint.is_forked() {
            return Err(Misuse::Forked.into());
        }
        // To close is to release what is held, which the publisher would then write to while somebody looks at it.
        if self.endpoint.inspect(|state| state.role.held > 0 && !state.role.ended) {
            self.endpoint.cut();
        }
        self.endpoint.drive(|state, now| state.machine.close(now));
        Ok(Instant::now() + self.options.link.close_timeout + Duration::from_secs(5))
    }

    pub(crate) fn close_outcome(&self, closed: Option<Result<(), String>>) -> Result<(), CloseError> {
        let stream = self.stream.clone();
        match closed {
            Some(Ok(())) => Ok(()),
            Some(Err(what)) => Err(CloseError::Driver { stream, what }),
            None => Err(CloseError::Driver { stream, what: "the driver made no progress".to_owned() }),
        }
    }
}
