//! A subscriber rank's session: its role towards the coordinator, and the life of its opening.

use crate::coordinator::clock::Clock;
use crate::coordinator::{DataServer, Endpoint, Role, Setup};
use crate::data::taker::fetch_plan::FetchPlans;
use crate::data::taker::owner_directory::OwnerDirectory;
use crate::error::misuse::Misuse;
use crate::error::{CloseError, OpenError, ReadError};
use crate::options::subscriber::{SubscriberOptions, spec};
use crate::records::types::Types;
use crate::session::asked_condition::AskedCondition;
use crate::session::derived_variables::Derived;
use crate::session::gather::{Gathering, Ready, Side};
use crate::session::life::{Life, Living, Session};
use crate::session::offers::KnownOffers;
use crate::session::open_attempt::{Looks, OpenAttempt};
use crate::session::prepare::{Opener, check_bounds, cohort_config, prepare};
use crate::session::sides::Sides;
use crate::session::wants::WantsHistory;
use crate::value::counters::Counters;
use crate::value::spare::Spare;
use fp_proto::config::{CohortPosition, ContactText, QueuePolicy, SubscriberConfig};
use fp_proto::effect::Effect;
use fp_proto::event::{Event, ResolveOutcome};
use fp_proto::outcome::{EndReason, StreamEnding};
use fp_proto::status::report::LinkStatus;
use fp_proto::steering::SteeringOutcome;
use fp_proto::subscriber::{AttachmentId, SubscriberMachine};
use fp_transport::{Link, PeerProof};
use fp_types::{Epoch, StepId, StepTable, TableId, validate_name};
use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) struct SubscriberRole {
    pub(crate) life: Life,
    pub(crate) answers: HashMap<u64, ResolveOutcome>,
    /// Requests to the simulation that are waited for, and what became of them.
    pub(crate) steering: HashMap<u64, Option<SteeringOutcome>>,
    /// Another condition that is waited for.
    pub(crate) asked_condition: Option<AskedCondition>,
    owners: Arc<OwnerDirectory>,
    selected: Arc<WantsHistory>,
    sides: Arc<Sides>,
    counters: Arc<Counters>,
    /// How often this rank was attached, as its machine counts.
    times: u32,
}

impl SubscriberRole {
    fn attached(&mut self, epoch: Epoch) {
        self.times += 1;
        self.owners.attached(Some(AttachmentId { epoch, nth: self.times }));
    }
}

impl Living for SubscriberRole {
    fn life(&mut self) -> &mut Life {
        &mut self.life
    }
}

impl Role for SubscriberRole {
    type Machine = SubscriberMachine;

    fn effect(&mut self, effect: Effect) {
        let Effect::Event(event) = effect else { return };
        self.asked_condition.iter_mut().for_each(|asked| asked.hear(&event));
        match &event {
            Event::Opened { epoch } => self.attached(*epoch),
            Event::AwaitingRestart { .. } => self.owners.attached(None),
            Event::Restarted { epoch, .. } => {
                self.selected.restart();
                self.attached(*epoch);
            }
            Event::Specified { first, spec } => {
                let (before, now) = self.selected.holds_from(*first, spec.as_ref().clone());
                self.sides.changed(*first, &before, &now);
                return;
            }
            Event::Ended(StreamEnding { reason, skipped, .. }) => {
                Counters::add(&self.counters.skipped_steps, *skipped as usize);
                if let EndReason::Lost { rank, .. } = reason {
                    self.owners.lost(*rank);
                }
            }
            Event::Resolved { request, outcome } => {
                self.answers.insert(*request, outcome.clone());
                return;
            }
            Event::Steered { id, outcome } => {
                if let Some(waited_for) = self.steering.get_mut(id) {
                    *waited_for = Some(outcome.clone());
                }
                return;
            }
            Event::ConditionRefused { .. } => return,
            Event::Contacts { request, contacts, left } => {
                self.owners.told(*request, contacts, *left);
                return;
            }
            Event::OpenFailed(_)
            | Event::Closed(_)
            | Event::SubscriptionStarted { .. }
            | Event::MemberJoined { .. }
            | Event::MemberLeft { .. }
            | Event::SubscriptionEnded { .. }
            | Event::Denied(_)
            | Event::StepDropped { .. }
            | Event::StepRejected { .. }
            | Event::RankLagging { .. }
            | Event::RankLost { .. }
            | Event::Reselected { .. } => {}
        }
        tracing::debug!(?event, "subscriber");
        self.life.event(event);
    }

    fn data_link(&mut self, _link: Link, _proof: &PeerProof, _epoll: BorrowedFd<'_>) {
        // A subscriber serves no data: the link closes as it is dropped.
    }

    fn data_server(&self) -> Option<Arc<dyn DataServer>> {
        None
    }

    fn observed(&self) -> (Vec<(String, u64)>, Vec<LinkStatus>) {
        (self.counters.named(), self.owners.link_statuses())
    }

    fn failed(&mut self, what: String) {
        self.life.failure.get_or_insert(what);
    }
}

/// Tables, definitions alone, by the epoch that they belong to.
type Tables = HashMap<(Option<AttachmentId>, TableId), Arc<StepTable>>;

/// What the handle, its steps and their views share.
pub(crate) struct SubscriberSession {
    pub(crate) stream: String,
    pub(crate) endpoint: Arc<Endpoint<SubscriberRole>>,
    pub(crate) owners: Arc<OwnerDirectory>,
    pub(crate) plans: FetchPlans,
    pub(crate) counters: Arc<Counters>,
    pub(crate) options: SubscriberOptions,
    /// The same with what was asked for since.
    pub(crate) asking: Mutex<SubscriberOptions>,
    pub(crate) selected: Arc<WantsHistory>,
    pub(crate) sides: Arc<Sides>,
    pub(crate) types: Types,
    /// The transforms that the publisher offers.
    pub(crate) offers: KnownOffers,
    pub(crate) derived: Derived,
    pub(crate) tables: Mutex<Tables>,
    closed: AtomicBool,
    /// Memory of the last step for the next.
    pub(crate) spare_step: Spare,
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
    config.credit_steps = options.credit();
    config.on_loss = options.on_loss;
    config.takes_held_again = options.held_again;
    config.resumption = options.resumption;
    config.gives_back_held = options.explicit_done;
    config
}

/// Steps are said to be done only where they could be given again.
fn check_done(stream: &str, options: &SubscriberOptions) -> Result<(), OpenError> {
    if options.explicit_done && !options.redelivers() {
        return Err(OpenError::NotRedelivered { stream: stream.to_owned() });
    }
    Ok(())
}

impl SubscriberSession {
    /// Has the machine begin to attach; the second is where it looks for the publisher. Ranks of a cohort listen before.
    /// Calls the launcher's collectives, if there are any.
    pub(crate) fn start(stream: &str, options: SubscriberOptions) -> Result<(Arc<Self>, String), OpenError> {
        let name = options.name.clone().unwrap_or_else(default_name);
        let named = validate_name(&name).map_err(OpenError::from);
        let every = if let QueuePolicy::EveryKth { every, .. } = options.policy { every } else { 1 };
        let (limit_steps, credit_steps) = (options.limit_steps.into(), options.credit().into());
        let bounds =
            [("limit_steps", limit_steps), ("credit_steps", credit_steps), ("EveryKth::every", every)];
        let prepared = named
            .and_then(|()| check_bounds(stream, &bounds))
            .and_then(|()| check_done(stream, &options))
            .and_then(|()| prepare(&options.link, stream, Opener::Subscriber));
        let Some(gathering) = Gathering::of(&options.link, stream, Side::Subscriber) else {
            return Self::begin_opening(stream, &name, options, prepared?, CohortPosition::Searched);
        };
        let (prepared, gathered) = gathering.exchange(prepared, Ready::of)?;
        let begun = Self::begin_opening(stream, &name, options, prepared, gathered.position())?;
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
        position: CohortPosition,
    ) -> Result<(Arc<Self>, String), OpenError> {
        let mut config = config(&options, stream, name, setup.contact.to_string(), epoch);
        config.cohort.position = position;
        let owners = Arc::new(OwnerDirectory::default());
        let (selected, sides) = (Arc::new(WantsHistory::new(spec(&options))), Arc::new(Sides::new(&options)));
        let counters = Arc::new(Counters::default());
        let role = SubscriberRole {
            life: Life::default(),
            answers: HashMap::new(),
            steering: HashMap::new(),
            asked_condition: None,
            owners: owners.clone(),
            selected: selected.clone(),
            sides: sides.clone(),
            counters: counters.clone(),
            times: 0,
        };
        let directory = setup.rendezvous.to_string();
        let clock = Clock::start();
        let machine = SubscriberMachine::new(config, clock.now());
        let endpoint = Endpoint::start(clock, setup, machine, role);
        let endpoint = endpoint.map_err(|source| OpenError::Io { stream: stream.to_owned(), source })?;
        let shared = Arc::new(SubscriberSession {
            stream: stream.to_owned(),
            endpoint,
            owners,
            plans: FetchPlans::default(),
            derived: Derived::new(options.derived(), &options.modules),
            counters,
            asking: Mutex::new(options.clone()),
            options,
            selected,
            sides,
            types: Types::default(),
            offers: KnownOffers::default(),
            tables: Mutex::new(HashMap::new()),
            closed: AtomicBool::new(false),
            spare_step: Spare::default(),
        });
        Ok((shared, directory))
    }

    pub(crate) fn misuse(&self, source: Misuse) -> ReadError {
        ReadError::Misuse { stream: self.stream.clone(), source }
    }

    /// Waits until somebody has answered, but no longer than this attachment lasts: then there is no answer. `None` at the
    /// deadline.
    pub(crate) fn await_answer<T>(
        &self,
        attachment: Option<AttachmentId>,
        deadline: Instant,
        mut take: impl FnMut(&mut SubscriberRole) -> Option<T>,
    ) -> Option<Option<T>> {
        self.endpoint.wait(deadline, |state, _| {
            if let Some(answer) = take(&mut state.role) {
                return Ok(Some(answer));
            }
            let goes_on = state.machine.is_streaming() && state.machine.attachment() == attachment;
            if goes_on { Err(None) } else { Ok(None) }
        })
    }

    pub(crate) fn check_fork(&self) -> Result<(), ReadError> {
        if self.endpoint.is_forked() { Err(self.misuse(Misuse::Forked)) } else { Ok(()) }
    }

    /// Until when opening may take, and who opens.
    pub(crate) fn opening<'a>(&'a self, directory: &'a str) -> (Instant, OpenAttempt<'a>) {
        let deadline = Instant::now() + self.options.link.open_timeout * 2 + Duration::from_secs(5);
        let (stream, rank) = (self.stream.as_str(), self.options.link.cohort.rank());
        let looks = match rank.is_lead() {
            true => Looks::of(stream, self.options.publisher_contact.as_ref()),
            false => Looks::Nobody,
        };
        (deadline, OpenAttempt { stream, rank, directory, looks })
    }

    /// Whether a step that is held can still be read.
    pub(crate) fn check_open(&self) -> Result<(), ReadError> {
        self.check_fork()?;
        if self.closed.load(Ordering::Acquire) { Err(self.misuse(Misuse::Closed)) } else { Ok(()) }
    }

    /// What becomes of a step that is still looked at, should the subscriber close first.
    pub(crate) fn judge(&self, step: StepId, epoch: Option<AttachmentId>, given_back: bool) {
        if self.endpoint.is_forked() {
            return;
        }
        self.endpoint.drive(|state, _| {
            if state.machine.attachment() == epoch {
                // After a restart was announced, or the close, the step is not held any more.
                let _ = state.machine.set_verdict(step, given_back);
            }
        });
    }

    pub(crate) fn let_go(&self, step: StepId, epoch: Option<AttachmentId>, given_back: bool) {
        if self.endpoint.is_forked() {
            return;
        }
        self.owners.released(step, epoch);
        self.endpoint.drive(|state, now| {
            if state.machine.attachment() == epoch {
                // After a restart was announced, or the close, the step is not held any more, and that is as well.
                let _ = match given_back {
                    true => state.machine.give_back(now, step),
                    false => state.machine.release(now, step),
                };
            }
        });
    }
}

impl Session for SubscriberSession {
    type Role = SubscriberRole;

    fn stream(&self) -> &str {
        &self.stream
    }

    fn endpoint(&self) -> &Endpoint<SubscriberRole> {
        &self.endpoint
    }

    fn start_closing(&self) -> Result<Instant, CloseError> {
        if self.endpoint.is_forked() {
            return Err(CloseError::Misuse { stream: self.stream.clone(), source: Misuse::Forked });
        }
        self.closed.store(true, Ordering::Release);
        self.spare_step.close();
        self.endpoint.drive(|state, now| state.machine.close(now));
        Ok(Instant::now() + self.options.link.close_timeout + Duration::from_secs(5))
    }
}
