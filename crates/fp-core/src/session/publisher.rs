//! A publisher rank's session: its role towards the coordinator, and the life of its opening.

use crate::coordinator::clock::Clock;
use crate::coordinator::dial::Mailbox;
use crate::coordinator::{DataServer, Endpoint, Look, Role, Setup, State};
use crate::data::owner::block_store::BlockStore;
use crate::data::owner::room::Room;
use crate::error::misuse::Misuse;
use crate::error::{CloseError, OpenError};
use crate::options::access::Access;
use crate::options::publisher::PublisherOptions;
use crate::session::admission::Admission;
use crate::session::delegation;
use crate::session::deriver::Deriver;
use crate::session::gather::{Gathering, Ready, Side};
use crate::session::life::{Life, Living, Session};
use crate::session::open_attempt::{Looks, OpenAttempt};
use crate::session::prepare::{
    Opener, check_bounds, check_first_step, check_parameters, check_reserve, cohort_config, prepare,
};
use crate::value::counters::Counters;
use crate::value::parameter_request::ParameterRequest;
use crate::value::puts::Puts;
use crate::value::request_delegate::RequestDelegate;
use fp_proto::access::{Action, Denial};
use fp_proto::bounds::LIMIT_SUBSCRIPTIONS;
use fp_proto::config::{CohortConfig, CohortPosition, PublisherConfig};
use fp_proto::effect::Effect;
use fp_proto::event::{CloseOutcome, Event};
use fp_proto::message::Message;
use fp_proto::outcome::MemoryShortage;
use fp_proto::publisher::PublisherMachine;
use fp_proto::request;
use fp_proto::status::report::LinkStatus;
use fp_proto::steering::{SteeringOutcome, SteeringRequest};
use fp_transform::ExactMeasures;
use fp_transport::{Arena, Link, PeerProof, Pool, PoolOptions};
use fp_types::{Condition, Epoch, StepId, SubscriptionId};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A wait that the machine itself bounds (`max_wait`, silence) is not bounded a second time below this.
pub(crate) const BACKSTOP: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct PublisherRole {
    server: Arc<BlockStore>,
    admission: Admission,
    /// Who answers requests in its place.
    delegate: Option<RequestDelegate>,
    /// Memory that newcomers leave to the steps of this rank.
    kept_bytes: u64,
    pub(crate) life: Life,
    started: u32,
    ended: u32,
}

impl Living for PublisherRole {
    fn life(&mut self) -> &mut Life {
        &mut self.life
    }
}

impl Role for PublisherRole {
    type Machine = PublisherMachine;

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Free { step, retire } => self.server.free(step, retire),
            Effect::Assigned { member, step, .. } => self.server.push(member, step),
            Effect::Event(event) => self.event(event),
            Effect::Send { .. }
            | Effect::Dial { .. }
            | Effect::Disconnect { .. }
            | Effect::PublishName { .. }
            | Effect::WithdrawName { .. }
            | Effect::LogRequest { .. }
            | Effect::Delegate { .. }
            | Effect::Lookup { .. } => {}
        }
    }

    fn data_link(&mut self, link: Link, proof: &PeerProof, epoll: BorrowedFd<'_>) {
        let denial = self.admission.check_action(Action::Subscribe, proof).err();
        denial.iter().for_each(|denial| self.event(Event::Denied(denial.clone())));
        self.server.add_link(link, denial, epoll);
    }

    fn data_server(&self) -> Option<Arc<dyn DataServer>> {
        Some(self.server.clone())
    }

    fn failed(&mut self, what: String) {
        self.life.failure.get_or_insert(what);
    }

    fn observed(&self) -> (Vec<(String, u64)>, Vec<LinkStatus>) {
        (self.server.counters.named(), self.server.link_statuses())
    }

    fn shortage(&self) -> Option<MemoryShortage> {
        let kept_bytes = self.kept_bytes;
        let left_bytes = self.server.room.left_bytes(kept_bytes)?;
        (left_bytes < kept_bytes).then_some(MemoryShortage { left_bytes, kept_bytes })
    }

    fn log_request(&self, asked: (&SteeringRequest, &SteeringOutcome), proof: Option<&PeerProof>) {
        self.admission.log_request(asked, proof);
    }

    fn hand_on(&self, request: ParameterRequest, mailbox: &Arc<Mailbox>) {
        if let Some(delegate) = &self.delegate {
            delegation::hand_on(delegate, request, mailbox);
        }
    }

    fn admit(&self, message: &mut Message, proof: &PeerProof) -> Result<(), Denial> {
        if let Message::Subscribe { spec, .. } | Message::Reselect { spec } = message {
            request::vouch(&mut spec.requests, proof.uid());
        }
        self.admission.check(message, proof)
    }
}

impl PublisherRole {
    /// Subscriptions that have started and not ended.
    pub(crate) fn present(&self) -> u32 {
        self.started.saturating_sub(self.ended)
    }

    fn event(&mut self, event: Event) {
        self.started += u32::from(matches!(event, Event::SubscriptionStarted { .. }));
        self.ended += u32::from(matches!(event, Event::SubscriptionEnded { .. }));
        tracing::debug!(?event, "publisher");
        self.life.event(event);
    }
}

/// What all handles on one publisher share.
pub(crate) struct PublisherSession {
    pub(crate) stream: String,
    pub(crate) endpoint: Arc<Endpoint<PublisherRole>>,
    pub(crate) server: Arc<BlockStore>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) deriver: Deriver,
    pub(crate) options: PublisherOptions,
    /// Whether what came was heard after the last step.
    pub(crate) caught_up: AtomicBool,
    /// Memory of the last step for the next.
    pub(crate) spare_puts: Mutex<Puts>,
    /// From which nothing is lent: what a step has that is over.
    pub(crate) no_arena: Arena,
}

/// The pool is bounded by what the machine lets live: up to the bound before a step, and one step of at most as much.
fn pool_options(options: &PublisherOptions) -> PoolOptions {
    let rounding = options.limit_bytes / 16 + 2 * options.segment_len_bytes as u64;
    PoolOptions::default()
        .with_segment_len_bytes(options.segment_len_bytes)
        .with_limit_bytes(options.limit_bytes.saturating_mul(2).saturating_add(rounding))
}

fn check_subscriptions(stream: &str, options: &PublisherOptions) -> Result<(), OpenError> {
    let (found, most) = (options.limit_subscriptions, LIMIT_SUBSCRIPTIONS);
    if found <= most {
        return Ok(());
    }
    let (stream, option) = (stream.to_owned(), "limit_subscriptions");
    Err(OpenError::BoundTooHigh { stream, option, found: found.into(), most: most.into() })
}

/// The access list is that of the environment, unless the options have one.
fn fill_access_list(options: &mut PublisherOptions) -> Result<(), OpenError> {
    if options.access.is_none() {
        options.access = Access::from_environment()?;
    }
    Ok(())
}

impl PublisherSession {
    /// Listens, and has the machine begin to open; the second is where it looks for others. Calls the launcher's
    /// collectives, if there are any.
    pub(crate) fn start(
        stream: &str,
        mut options: PublisherOptions,
    ) -> Result<(Arc<Self>, String), OpenError> {
        let bounds = [
            ("skew_steps", options.skew_steps.into()),
            ("limit_bytes", options.limit_bytes),
            ("limit_subscriptions", options.limit_subscriptions.into()),
            ("limit_peer_subscriptions", options.limit_peer_subscriptions.into()),
            ("limit_requests_per_second", options.limit_requests_per_second.into()),
        ];
        let checked = check_bounds(stream, &bounds).and_then(|()| check_subscriptions(stream, &options));
        let checked = checked.and_then(|()| check_first_step(stream, options.first_step));
        let checked = checked.and_then(|()| check_reserve(stream, &options));
        let checked = checked.and_then(|()| check_parameters(stream, &options.parameters));
        let checked = checked.and_then(|()| fill_access_list(&mut options));
        let tokens = options.access.as_ref().map_or_else(Vec::new, Access::tokens);
        let prepared = checked.and_then(|()| prepare(&options.link, stream, Opener::Publisher(tokens)));
        let gathering = Gathering::of(&options.link, stream, Side::Publisher);
        match gathering.map(|gathering| gathering.with_first_step(options.first_step)) {
            None => Self::begin_opening(stream, options, prepared?, CohortPosition::Searched),
            Some(gathering) if gathering.is_lead() => Self::start_lead(stream, options, prepared, &gathering),
            Some(gathering) => {
                let (prepared, gathered) = gathering.exchange(prepared, Ready::of)?;
                Self::begin_opening(stream, options, prepared, gathered.position())
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
        let begun =
            prepared.and_then(|it| Self::begin_opening(stream, options, it, CohortPosition::Gathered));
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
        let held = self.endpoint.wait(deadline, |state, _| match opening.look_at(state) {
            Err(_) if state.machine.holds_name() => Ok(Ok(Epoch(0))),
            look => look,
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
        position: CohortPosition,
    ) -> Result<(Arc<Self>, String), OpenError> {
        let cohort = cohort_config(&options.link, stream, setup.contact.to_string());
        let clock = Clock::start();
        let config = config(&options, cohort, (epoch, position), clock);
        let counters = Arc::new(Counters::default());
        let pool = Pool::new(pool_options(&options));
        let room = Room::of_stream(pool.clone(), options.limit_bytes);
        let transforms = options.transforms.as_ref().filter(|_| options.derivations);
        let server = BlockStore::new(pool, room, counters.clone(), transforms);
        let admission = Admission::new(options.access.clone(), stream, setup.token.is_some());
        let life = Life::default();
        let (of_role, delegate, kept_bytes) =
            (server.clone(), options.request_delegate.clone(), options.kept_bytes);
        let role =
            PublisherRole { server: of_role, admission, delegate, kept_bytes, life, started: 0, ended: 0 };
        let directory = setup.rendezvous.to_string();
        let machine = PublisherMachine::new(config, clock.now());
        let endpoint = Endpoint::start(clock, setup, machine, role);
        let endpoint = endpoint.map_err(|source| OpenError::Io { stream: stream.to_owned(), source })?;
        server.room.wake_by(endpoint.mailbox());
        let (stream, deriver) = (stream.to_owned(), Deriver::new(&options));
        let caught_up = AtomicBool::new(false);
        let (spare_puts, no_arena) = (Mutex::default(), server.pool.arena());
        let shared = PublisherSession {
            stream,
            endpoint,
            server,
            counters,
            deriver,
            options,
            caught_up,
            spare_puts,
            no_arena,
        };
        Ok((Arc::new(shared), directory))
    }

    /// Until when opening may take, and who opens.
    pub(crate) fn opening<'a>(&'a self, started: Instant, directory: &'a str) -> (Instant, OpenAttempt<'a>) {
        let deadline = started + self.options.link.open_timeout + Duration::from_secs(5);
        let (stream, link) = (self.stream.as_str(), &self.options.link);
        let looks = match link.cohort.rank().is_lead() {
            true => Looks::Nobody,
            false => Looks::of(stream, link.lead_contact.as_ref()),
        };
        (deadline, OpenAttempt { stream, rank: link.cohort.rank(), directory, looks })
    }

    pub(crate) fn wait_for_subscribers(&self, started: Instant) -> Result<(), OpenError> {
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

    pub(crate) fn lock_spare_puts(&self) -> MutexGuard<'_, Puts> {
        self.spare_puts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After a small step: what came meanwhile is heard now, when the step is on its way, and not before the next one.
    /// Hearing is a fifth of a small step's cost, and would delay the next step's data. Larger steps hear first: memory
    /// that came back last is still in the caches.
    /// A step that nobody kept says nothing of how large the next one will be. A crowd is heard in the background.
    pub(crate) fn ended(&self, len_bytes: u64, is_kept: bool) {
        if is_kept {
            self.server.room.ended(len_bytes);
        }
        if self.endpoint.is_crowded() {
            return;
        }
        if !is_kept || self.server.room.is_light() {
            self.endpoint.catch_up();
            self.caught_up.store(true, Ordering::Relaxed);
        }
    }
}

impl Session for PublisherSession {
    type Role = PublisherRole;

    fn stream(&self) -> &str {
        &self.stream
    }

    fn endpoint(&self) -> &Endpoint<PublisherRole> {
        &self.endpoint
    }

    fn start_closing(&self) -> Result<Instant, CloseError> {
        if self.endpoint.is_forked() {
            return Err(CloseError::Misuse { stream: self.stream.clone(), source: Misuse::Forked });
        }
        self.endpoint.drive(|state, now| state.machine.close(now));
        Ok(Instant::now() + self.options.link.close_timeout + Duration::from_secs(5))
    }

    fn told(&self, closed: CloseOutcome, started: Instant) -> Result<(), CloseError> {
        let stream = self.stream.clone();
        match closed {
            CloseOutcome::Clean => Ok(()),
            CloseOutcome::Held(held) => {
                Err(CloseError::Held { stream, waited: started.elapsed(), held: self::held(&held) })
            }
            CloseOutcome::Lost { rank, reason } => Err(CloseError::Lost { stream, rank, reason }),
        }
    }
}

/// Who holds what, in words.
pub(crate) fn held(holders: &[(SubscriptionId, Vec<StepId>)]) -> String {
    let list = |steps: &[StepId]| steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let held = holders.iter().map(|(id, steps)| format!("subscription {id}: steps {}", list(steps)));
    held.collect::<Vec<_>>().join("; ")
}

/// What the machine is to keep to.
fn config(
    options: &PublisherOptions,
    cohort: CohortConfig,
    (epoch, position): (Epoch, CohortPosition),
    clock: Clock,
) -> PublisherConfig {
    let mut config = PublisherConfig::new(cohort, epoch);
    config.clock_origin_micros = clock.origin_micros();
    config.cohort.position = position;
    config.cohort.first_step = options.first_step.map(StepId);
    config.skew_steps = options.skew_steps;
    config.limit_bytes = options.limit_bytes;
    config.limit_subscriptions = options.limit_subscriptions;
    config.limit_peer_subscriptions = options.limit_peer_subscriptions;
    config.limit_wait = options.limit_wait;
    config.reserve_steps = match (options.reserve_steps, options.reserve_bytes) {
        (0, bytes) if bytes != u64::MAX => u32::MAX,
        (steps, _) => steps,
    };
    config.reserve_bytes = options.reserve_bytes;
    config.reserve_when = options.reserve_condition.as_ref().map(Condition::encode);
    config.precious_first = options.precious_first;
    config.parameters = options.parameters.clone();
    config.limit_requests_per_second = options.limit_requests_per_second;
    config.delegates_requests = options.request_delegate.is_some();
    if options.derivations {
        config.measures = Arc::new(ExactMeasures);
    }
    config.least_limit_steps = options.least_limit_steps;
    config
}
