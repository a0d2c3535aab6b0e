//! A rank's handle on the sending side.

use crate::beginning::Beginning;
use crate::derived::{Deriver, vouch};
use crate::driver::{Clock, Endpoint, Look, Role, Setup, State};
use crate::error::{BeginError, CloseError, Misuse, OpenError};
use crate::gathering::{Gathering, Ready, Side};
use crate::opening::Opening;
use crate::options::PublisherOptions;
use crate::preparing::{cohort_config, prepare};
use crate::room::Room;
use crate::server::Server;
use crate::statistics::{Counters, Statistics};
use crate::writer::StepWriter;
use fp_proto::commands::BegunStep;
use fp_proto::config::{Placement, PublisherConfig};
use fp_proto::effect::Effect;
use fp_proto::event::{CloseOutcome, Event, OpenFailure};
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_transport::{Link, Pool, PoolOptions};
use fp_types::Epoch;
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Events that wait to be read; older ones give way, counted.
const LIMIT_EVENTS: usize = 1024;
/// A wait that the machine itself bounds (`max_wait`, silence) is not bounded a second time below this.
pub(crate) const BACKSTOP: Duration = Duration::from_secs(24 * 3600);

/// Events of a stream's life in order.
#[derive(Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        if self.queue.len() >= LIMIT_EVENTS {
            self.queue.pop_front();
        }
        self.queue.push_back(event);
    }

    pub(crate) fn take_one(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }

    pub(crate) fn take(&mut self) -> Vec<Event> {
        self.queue.drain(..).collect()
    }
}

pub(crate) struct PublisherRole {
    server: Arc<Server>,
    pub(crate) events: Events,
    pub(crate) opened: Option<Result<Epoch, OpenFailure>>,
    started: u32,
    ended: u32,
    closed: Option<CloseOutcome>,
    pub(crate) failure: Option<String>,
}

impl Role for PublisherRole {
    type Machine = PublisherMachine;

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Free { step, retire } => self.server.free(step, retire),
            Effect::Assigned { member, step, .. } => self.server.push(member, step),
            Effect::Event(event) => self.event(event),
            _ => {}
        }
    }

    fn data_link(&mut self, link: Link, epoll: BorrowedFd<'_>) {
        self.server.add_link(link, epoll);
    }

    fn data_server(&self) -> Option<Arc<dyn crate::driver::DataServer>> {
        Some(self.server.clone())
    }

    fn failed(&mut self, what: String) {
        self.failure.get_or_insert(what);
    }

    fn vouch(&self, message: &mut Message, uid: Option<u32>) {
        if let Message::Subscribe { spec, .. } | Message::Reselect { spec } = message {
            vouch(&mut spec.derivations, uid);
        }
    }
}

impl PublisherRole {
    /// Subscriptions that have started and not ended.
    pub(crate) fn present(&self) -> u32 {
        self.started.saturating_sub(self.ended)
    }

    fn event(&mut self, event: Event) {
        match &event {
            Event::Opened { epoch } => self.opened = Some(Ok(*epoch)),
            Event::OpenFailed(failure) => self.opened = Some(Err(failure.clone())),
            Event::SubscriptionStarted { .. } => self.started += 1,
            Event::SubscriptionEnded { .. } => self.ended += 1,
            Event::Closed(outcome) => self.closed = Some(outcome.clone()),
            _ => {}
        }
        tracing::debug!(?event, "publisher");
        self.events.push(event);
    }
}

/// What all handles on one publisher share.
pub(crate) struct PublisherShared {
    pub(crate) stream: String,
    pub(crate) endpoint: Arc<Endpoint<PublisherRole>>,
    pub(crate) server: Arc<Server>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) deriver: Deriver,
    pub(crate) options: PublisherOptions,
    /// Whether what came was heard after the last step.
    caught_up: AtomicBool,
}

/// A publisher rank of a stream. Dropped without [`Publisher::close`], it closes with what time `close_timeout`
/// leaves, and says nothing of how that went.
pub struct Publisher {
    pub(crate) shared: Arc<PublisherShared>,
    pub(crate) epoch: Epoch,
    pub(crate) closed: bool,
}

/// The pool is bounded by what the machine lets live: up to the bound before a step, and one step of at most as much.
fn pool_options(options: &PublisherOptions) -> PoolOptions {
    let rounding = options.limit_bytes / 16 + 2 * options.segment_len_bytes as u64;
    PoolOptions::default()
        .with_segment_len_bytes(options.segment_len_bytes)
        .with_limit_bytes(options.limit_bytes.saturating_mul(2).saturating_add(rounding))
}

impl Publisher {
    /// Opens the stream: claims its name (lead) or joins its cohort (other ranks), and waits for
    /// `min_subscribers`.
    ///
    /// # Errors
    /// A bad name, a name that is taken, a rendezvous that cannot be used, ranks or subscribers that do not come.
    pub fn open(stream: &str, options: PublisherOptions) -> Result<Self, OpenError> {
        let (shared, directory) = PublisherShared::start(stream, options)?;
        shared.finish_opening(&directory)
    }

    /// The stream's name.
    pub fn stream(&self) -> &str {
        &self.shared.stream
    }

    /// The epoch of this opening.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Where this rank is reached.
    pub fn contact(&self) -> &fp_transport::Contact {
        &self.shared.endpoint.contact
    }

    /// Begins the next step. Waits while a subscription holds as much as it may, as long as its policy allows, and
    /// while this rank is too far ahead of its cohort.
    ///
    /// # Errors
    /// A step is open, a rank of the cohort is lost, the wait for the cohort took `skew_timeout`.
    pub fn begin_step(&mut self) -> Result<StepWriter, BeginError> {
        let begun = self.shared.begin()?;
        Ok(StepWriter::new(self.shared.clone(), begun))
    }

    /// Whether a subscription has started and not ended: what is put would be kept.
    pub fn has_subscribers(&self) -> bool {
        self.shared.endpoint.inspect(|state| state.machine.has_subscribers())
    }

    /// What happened on the stream since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        self.shared.endpoint.inspect(|state| state.role.events.take())
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.shared.counters.read(&self.shared.endpoint.dial.domain)
    }

    /// The pool's counters: segments made, recycled, retired.
    pub fn pool_statistics(&self) -> fp_transport::PoolStats {
        self.shared.server.pool.stats()
    }

    /// Steps that wait for each subscription and are held by its members, at the lead; on other ranks what is live
    /// there.
    pub fn queue_depth(&self) -> Vec<(fp_types::SubscriptionId, usize)> {
        self.shared.endpoint.inspect(|state| state.machine.queue_depth())
    }

    /// What each data link of this rank runs over, and why nothing better.
    pub fn transports(&self) -> Vec<String> {
        self.shared
            .server
            .transports()
            .into_iter()
            .map(|(peer, text)| format!("pid {}: {text}", peer.pid))
            .collect()
    }

    /// Closes the stream: what was published is still delivered, at most as long as `close_timeout`.
    ///
    /// # Errors
    /// Steps still held at the deadline, a rank lost.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.closed = true;
        self.shared.close()
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if !self.closed {
            // Who wants to know how it went calls `close`.
            let _ = self.shared.close();
        }
    }
}

impl PublisherShared {
    /// Listens, and has the machine begin to open; the second is where it looks for others. Calls the launcher's
    /// collectives, if there are any.
    pub(crate) fn start(stream: &str, options: PublisherOptions) -> Result<(Arc<Self>, String), OpenError> {
        let prepared = prepare(&options.link, stream);
        match Gathering::of(&options.link, stream, Side::Publisher) {
            None => Self::begin_opening(stream, options, prepared?, Placement::Searched),
            Some(gathering) if gathering.is_lead() => Self::start_lead(stream, options, prepared, &gathering),
            Some(gathering) => {
                let (prepared, gathered) = gathering.exchange(prepared, Ready::of)?;
                Self::begin_opening(stream, options, prepared, gathered.placement())
            }
        }
    }

    /// The lead claims the name before it tells anybody where it is: if somebody has it, all ranks learn that.
    fn start_lead(
        stream: &str,
        options: PublisherOptions,
        prepared: Result<(Setup, Epoch), OpenError>,
        gathering: &Gathering,
    ) -> Result<(Arc<Self>, String), OpenError> {
        let epoch = prepared.as_ref().map_or(Epoch(0), |(_, epoch)| *epoch);
        let begun = prepared.and_then(|it| Self::begin_opening(stream, options, it, Placement::Gathered));
        let begun = begun.and_then(|(shared, directory)| Ok((shared.claimed(&directory)?, directory)));
        let ready =
            |(shared, _): &(Arc<Self>, String)| Ready { contact: shared.endpoint.contact.clone(), epoch };
        let claimed = begun.as_ref().ok().map(|(shared, _)| shared.clone());
        let exchanged = gathering.exchange(begun, ready);
        if let (Err(_), Some(shared)) = (&exchanged, claimed) {
            // Gives the name back; how closing went says nothing new.
            let _ = shared.close();
        }
        let ((shared, directory), gathered) = exchanged?;
        shared.endpoint.drive(|state, now| state.machine.handle_gathered(now, gathered.size()));
        Ok((shared, directory))
    }

    /// Waits until the lead holds the stream's name.
    fn claimed(self: Arc<Self>, directory: &str) -> Result<Arc<Self>, OpenError> {
        let (deadline, opening) = self.opening(Instant::now(), directory);
        let held = self.endpoint.wait(deadline, |state, _| match state.machine.holds_name() {
            true => Ok(Ok(Epoch(0))),
            false => opening.look_at_publisher(state),
        });
        let outcome = opening.outcome(held);
        if outcome.is_err() {
            let _ = self.close();
        }
        outcome.map(|_| self.clone())
    }

    /// Has the machine begin to open; the second is where it looks for others.
    fn begin_opening(
        stream: &str,
        options: PublisherOptions,
        (setup, epoch): (Setup, Epoch),
        placement: Placement,
    ) -> Result<(Arc<Self>, String), OpenError> {
        let mut config =
            PublisherConfig::new(cohort_config(&options.link, stream, setup.contact.to_string()), epoch);
        config.cohort.placement = placement;
        config.skew_steps = options.skew_steps;
        config.limit_bytes = options.limit_bytes;
        config.reserve_steps = options.reserve_steps;
        config.precious_first = options.precious_first;
        let counters = Arc::new(Counters::default());
        let pool = Pool::new(pool_options(&options));
        let room = Room::of_stream(pool.clone(), options.limit_bytes);
        let server = Server::new(pool, room, counters.clone(), options.transforms.as_ref());
        let role = PublisherRole {
            server: server.clone(),
            events: Events::default(),
            opened: None,
            started: 0,
            ended: 0,
            closed: None,
            failure: None,
        };
        let directory = setup.rendezvous.directory().display().to_string();
        let clock = Clock::start();
        let machine = PublisherMachine::new(config, clock.now());
        let endpoint = Endpoint::start(clock, setup, machine, role);
        let endpoint = endpoint.map_err(|source| OpenError::Io { stream: stream.to_owned(), source })?;
        server.room.wake_by(endpoint.mailbox());
        let (stream, deriver) = (stream.to_owned(), Deriver::new(&options));
        let caught_up = AtomicBool::new(false);
        let shared = PublisherShared { stream, endpoint, server, counters, deriver, options, caught_up };
        Ok((Arc::new(shared), directory))
    }

    fn finish_opening(self: Arc<Self>, directory: &str) -> Result<Publisher, OpenError> {
        let started = Instant::now();
        let (deadline, opening) = self.opening(started, directory);
        let opened = self.endpoint.wait(deadline, |state, _| opening.look_at_publisher(state));
        let epoch = opening.outcome(opened)?;
        let publisher = Publisher { shared: self, epoch, closed: false };
        publisher.shared.wait_for_subscribers(started)?;
        Ok(publisher)
    }

    /// Until when opening may take, and who opens.
    pub(crate) fn opening<'a>(&'a self, started: Instant, directory: &'a str) -> (Instant, Opening<'a>) {
        let deadline = started + self.options.link.open_timeout + Duration::from_secs(5);
        (deadline, Opening { stream: &self.stream, rank: self.options.link.cohort.rank(), directory })
    }

    fn wait_for_subscribers(&self, started: Instant) -> Result<(), OpenError> {
        let deadline = started + self.options.link.open_timeout;
        let came = self.endpoint.wait(deadline, |state, _| self.look_for_subscribers(state));
        came.ok_or_else(|| self.too_few_subscribers(started))
    }

    pub(crate) fn look_for_subscribers(&self, state: &mut State<PublisherRole>) -> Look<()> {
        if state.role.started >= self.options.min_subscribers { Ok(()) } else { Err(None) }
    }

    pub(crate) fn too_few_subscribers(&self, started: Instant) -> OpenError {
        let (stream, wanted) = (self.stream.clone(), self.options.min_subscribers);
        let present = self.endpoint.inspect(|state| state.role.started);
        OpenError::TooFewSubscribers { stream, present, wanted, waited: started.elapsed() }
    }

    fn begin(&self) -> Result<BegunStep, BeginError> {
        let mut beginning = self.beginning()?;
        if !self.caught_up.swap(false, Ordering::Relaxed) || !self.begins_freely() {
            self.endpoint.catch_up();
        }
        let begun = self.endpoint.wait(beginning.started + BACKSTOP, |state, now| beginning.look(state, now));
        beginning.outcome(begun)
    }

    fn begins_freely(&self) -> bool {
        self.endpoint.inspect(|state| state.machine.begins_freely())
    }

    /// After a small step: what came meanwhile is heard now, when the step is on its way, and not before the next one.
    pub(crate) fn ended(&self, len_bytes: u64) {
        self.server.room.ended(len_bytes);
        if self.server.room.is_light() {
            self.endpoint.catch_up();
            self.caught_up.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn beginning(&self) -> Result<Beginning<'_>, BeginError> {
        if self.endpoint.is_forked() {
            return Err(BeginError::Misuse { stream: self.stream.clone(), source: Misuse::Forked });
        }
        Ok(Beginning::new(self))
    }

    pub(crate) fn close(&self) -> Result<(), CloseError> {
        let started = Instant::now();
        let deadline = self.start_closing()?;
        let closed = self.endpoint.wait(deadline, |state, _| look_closed(state));
        self.close_outcome(closed, started)
    }

    /// Has the machine begin to close; until when that may take.
    pub(crate) fn start_closing(&self) -> Result<Instant, CloseError> {
        if self.endpoint.is_forked() {
            return Err(Misuse::Forked.into());
        }
        self.endpoint.drive(|state, now| state.machine.close(now));
        Ok(Instant::now() + self.options.link.close_timeout + Duration::from_secs(5))
    }

    pub(crate) fn close_outcome(
        &self,
        closed: Option<Result<CloseOutcome, String>>,
        started: Instant,
    ) -> Result<(), CloseError> {
        let stream = self.stream.clone();
        match closed {
            Some(Ok(CloseOutcome::Clean)) => Ok(()),
            Some(Ok(CloseOutcome::Held(held))) => {
                let held = held.iter().map(|(id, steps)| format!("subscription {id}: steps {}", list(steps)));
                let held = held.collect::<Vec<_>>().join("; ");
                Err(CloseError::Held { stream, waited: started.elapsed(), held })
            }
            Some(Ok(CloseOutcome::Lost { rank, reason })) => Err(CloseError::Lost { stream, rank, reason }),
            Some(Err(what)) => Err(CloseError::Driver { stream, what }),
            None => Err(CloseError::Driver { stream, what: "the driver made no progress".to_owned() }),
        }
    }
}

/// Whether the machine has closed, and how.
pub(crate) fn look_closed(state: &mut State<PublisherRole>) -> Look<Result<CloseOutcome, String>> {
    match (&state.role.closed, &state.role.failure) {
        (Some(closed), _) => Ok(Ok(closed.clone())),
        (None, _) if state.role.opened.as_ref().is_some_and(Result::is_err) => Ok(Ok(CloseOutcome::Clean)),
        (None, Some(what)) => Ok(Err(what.clone())),
        (None, None) => Err(None),
    }
}

fn list(steps: &[fp_types::StepId]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
