//! The machine of one publisher rank. This file takes what its coordinator hands in. What that means stands in the
//! files beside it: functions over the machine, one file for each concern.

mod assignment;
mod change;
mod condition;
mod contacts;
mod decision;
mod denied;
mod dispatch;
mod drain;
mod lead;
mod ledger;
mod log;
mod loss;
mod membership;
mod ready;
mod repeats;
mod reserve;
mod status;
mod steering;
mod steps;
mod tables;

pub use ledger::{PRECIOUS, RESERVE};

use crate::access::Denial;
use crate::cohort::{Cohort, Progress};
use crate::config::{PublisherConfig, QueuePolicy, StartAt, SubscriptionSpec, VariableSet};
use crate::effect::{DialTicket, DisconnectReason, Effect, Listing, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure};
use crate::let_go::LetGo;
use crate::message::{ChangeId, Decision, Message};
use crate::outcome::{LossReason, MemoryShortage};
use crate::status::answer;
use crate::status::questions::{ProcessFacts, Questions};
use crate::steering::SteeringOutcome;
use crate::time::{Earliest, Moment};
use crate::transition::TransitionSet;
use crate::wire::{Role, Wire};
use change::Changes;
use contacts::Contacts;
use drain::Draining;
use fp_types::{Contribution, PutChanges, Rank, StandingCondition, StepId, SubscriptionId};
use lead::{Lead, Served};
use ledger::{Ledger, Subscription};
use ready::Merging;
use std::sync::Arc;
use steering::Steering;
use tables::Tables;

/// Subscriptions that are looked at in next to no time as a step is decided.
const FEW: usize = 8;

/// Where the rank stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The cohort assembles.
    Opening,
    /// Steps are published.
    Streaming,
    /// The application has closed; steps are still held.
    Draining,
    /// A rank of the cohort is lost; `closing` once the application has closed.
    Lost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
        /// Whether the lead can still be heard.
        cut_off: bool,
    },
    /// Nothing more will happen.
    Closed,
}

/// The machine of one publisher rank for one stream.
pub struct PublisherMachine {
    pub(crate) config: PublisherConfig,
    pub(crate) wire: Wire,
    pub(crate) cohort: Cohort,
    pub(crate) phase: Phase,
    pub(crate) ledger: Ledger,
    /// Live bytes at which a step has to wait.
    pub(crate) room_bytes: u64,
    /// Why nobody may subscribe now.
    pub(crate) shortage: Option<MemoryShortage>,
    pub(crate) merging: Merging,
    pub(crate) changes: Changes,
    pub(crate) steering: Steering,
    pub(crate) tables: Tables,
    pub(crate) contacts: Contacts,
    pub(crate) draining: Draining,
    /// What only the lead has.
    pub(crate) lead: Option<Lead>,
    pub(crate) last_reported: Option<Arc<PutChanges>>,
    /// What this rank put last, and the same as it is reported.
    pub(crate) last_put: Option<(Contribution, Arc<PutChanges>)>,
    pub(crate) lagging: Option<(StepId, Rank)>,
    /// Entries of the log that were applied here and are not yet sent to the children.
    pub(crate) outgoing: Vec<Decision>,
    /// The number of the next entry to apply.
    pub(crate) serial: u64,
    /// Whether a step has ended since reports were looked at.
    pub(crate) unreported: bool,
    /// What `begin_step` waits for.
    pub(crate) waiting: status::Waiting,
    /// What observers asked.
    pub(crate) questions: Questions,
}

impl PublisherMachine {
    /// A rank that starts to open its stream.
    pub fn new(config: PublisherConfig, now: Moment) -> Self {
        let mut wire = Wire::new(&config.cohort, now);
        #[cfg(feature = "mutations")]
        {
            wire.mutation = config.mutation;
        }
        let cohort = Cohort::start(&mut wire, config.cohort.clone(), config.epoch, true);
        let first = config.cohort.first_step.unwrap_or_default();
        let lead = cohort.is_lead().then(|| Lead {
            reserve_condition: config
                .reserve_when
                .as_deref()
                .and_then(|when| StandingCondition::decode(when).ok()),
            ..Lead::new(config.reserve_steps, config.cohort.size, first)
        });
        let mut machine = Self {
            wire,
            cohort,
            phase: Phase::Opening,
            ledger: Ledger::starting_at(first),
            room_bytes: config.limit_bytes,
            shortage: None,
            merging: Merging::default(),
            changes: Changes::default(),
            steering: Steering::default(),
            tables: Tables::default(),
            contacts: Contacts::new(None),
            draining: Draining::default(),
            lead,
            last_reported: None,
            last_put: None,
            lagging: None,
            outgoing: Vec::new(),
            serial: 0,
            unreported: false,
            waiting: None,
            questions: Questions::default(),
            config,
        };
        machine.add_standing();
        machine
    }

    fn add_standing(&mut self) {
        let standing = |limit_steps: u32| SubscriptionSpec {
            variables: VariableSet::All,
            policy: QueuePolicy::DropOldest,
            limit_steps,
            start_at: StartAt::Next,
            share: None,
            requests: Vec::new(),
            when: None,
        };
        let first = self.first_step();
        if self.config.reserve_steps > 0 {
            let mut spec = standing(self.config.reserve_steps);
            spec.when = self.config.reserve_when.clone();
            let reserve = Subscription::new(spec, Some(first));
            self.ledger.add(RESERVE, reserve);
        }
        if self.config.precious_first {
            let mut precious = Subscription::new(standing(1), Some(first));
            precious.ended = Some(StepId(first.0.saturating_add(1)));
            self.ledger.add(PRECIOUS, precious);
        }
    }

    /// The number of the epoch's first step.
    pub(crate) fn first_step(&self) -> StepId {
        self.config.cohort.first_step.unwrap_or_default()
    }

    /// The next thing for the coordinator to do. What follows of a step that has ended is found out here: `end_step`
    /// itself is short, however many subscriptions there are.
    pub fn poll(&mut self) -> Option<Effect> {
        self.report_ended();
        self.wire.poll()
    }

    /// Whether [`poll`](Self::poll) has anything to do.
    pub fn is_asking(&self) -> bool {
        self.unreported || self.wire.has_effects()
    }

    /// Whether this is the lead, and few subscriptions are looked at as it decides a step: those that are judged together are
    /// none of these.
    pub fn decides_briefly(&self) -> bool {
        self.lead.as_ref().is_some_and(|lead| lead.judging.one_by_one().len() <= FEW)
    }

    /// An input comes that may follow from what was ended before.
    pub(crate) fn enter(&mut self, now: Moment) {
        self.wire.enter(now);
        self.report_ended();
    }

    /// Reports the steps that have ended. Says whether there were any.
    #[inline]
    pub(crate) fn report_ended(&mut self) -> bool {
        let unreported = std::mem::take(&mut self.unreported);
        if unreported {
            self.report_all();
        }
        unreported
    }

    fn report_all(&mut self) {
        ready::send_ready(self);
        self.finish();
    }

    /// The transitions taken so far.
    pub fn transitions(&self) -> TransitionSet {
        self.wire.transitions()
    }

    /// Whether a subscription with a reader has started and not ended.
    pub fn has_subscribers(&self) -> bool {
        let live =
            |(id, known): (&SubscriptionId, &Subscription)| !ledger::is_standing(*id) && !known.removed;
        self.ledger.all().any(live)
    }

    /// What each subscription with a reader asks for of the next step, but for modules.
    pub fn asked(&self) -> Vec<SubscriptionSpec> {
        self.ledger.asked()
    }

    /// How many steps each subscription has queued or holds (at the lead), or how many are live for it here.
    pub fn queue_depth(&self) -> Vec<(SubscriptionId, usize)> {
        self.holders().into_iter().map(|(id, steps)| (id, steps.len())).collect()
    }

    /// The same with the steps themselves.
    pub(crate) fn holders(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        match &self.lead {
            Some(lead) => lead.holders(),
            None => self.ledger.holders(),
        }
    }

    /// At the lead: a subscription as it is served.
    pub(crate) fn served(&mut self, subscription: SubscriptionId) -> Option<&mut Served> {
        self.lead.as_mut()?.served.get_mut(&subscription)
    }

    /// When `handle_timeout` is due.
    pub fn deadline(&self) -> Option<Moment> {
        if matches!(self.phase, Phase::Closed) {
            return None;
        }
        let of_links = Earliest::of(self.wire.deadline()).and(self.cohort.deadline());
        let of_steps = of_links.and(ready::lag_deadline(self)).and(drain::drain_deadline(self));
        of_steps.and(self.questions.deadline()).moment()
    }

    /// A peer dialled us.
    pub fn handle_accepted(&mut self, now: Moment, peer: PeerId) {
        self.enter(now);
        self.wire.accepted(peer, self.phase == Phase::Closed);
    }

    /// Whose the link of that peer is, as the coordinator knows for sure: a user of this host, or an address. Its
    /// subscriptions are counted with theirs.
    pub fn set_origin(&mut self, peer: PeerId, origin: Arc<str>) {
        self.wire.set_origin(peer, origin);
    }

    /// A dial came through.
    pub fn handle_dialled(&mut self, now: Moment, ticket: DialTicket, peer: PeerId) {
        self.enter(now);
        self.wire.connect(peer);
        match self.wire.take_dial(ticket) {
            Some(purpose) => self.cohort.dialled(&mut self.wire, ticket, peer, purpose),
            None => drop(self.wire.disconnect(peer, DisconnectReason::Done)),
        }
        self.finish();
    }

    /// A dial failed.
    pub fn handle_dial_failed(&mut self, now: Moment, ticket: DialTicket) {
        self.enter(now);
        if self.wire.take_dial(ticket).is_some() {
            self.cohort.dial_failed(&mut self.wire, ticket);
        }
        self.finish();
    }

    /// The entries of the rendezvous that were asked for.
    pub fn handle_listing(&mut self, now: Moment, listing: Vec<Listing>) {
        self.enter(now);
        self.cohort.listing(&mut self.wire, listing);
        self.finish();
    }

    /// The launcher has exchanged the contacts of so many ranks: for the lead of a cohort that is
    /// `CohortPosition::Gathered`.
    pub fn handle_gathered(&mut self, now: Moment, size: u32) {
        self.enter(now);
        self.cohort.gathered(&mut self.wire, size);
        self.finish();
    }

    /// Whether the lead holds the stream's name: nobody else can open it any more.
    pub fn holds_name(&self) -> bool {
        self.phase != Phase::Closed && self.cohort.holds_name()
    }

    /// What the coordinator knows of its process, for observers: to be said before their questions are handed in.
    pub fn set_process(&mut self, facts: ProcessFacts) {
        self.questions.facts = facts;
    }

    /// The coordinator lost a link.
    pub fn handle_disconnected(&mut self, now: Moment, peer: PeerId) {
        self.enter(now);
        if let Some(role) = self.wire.remove(peer) {
            loss::lost_link(self, peer, role, LossReason::Disconnected);
        }
        self.finish();
    }

    /// A deadline passed.
    pub fn handle_timeout(&mut self, now: Moment) {
        self.enter(now);
        if self.phase == Phase::Closed {
            return;
        }
        for peer in self.wire.tick() {
            loss::silent_peer(self, peer);
        }
        self.cohort.tick(&mut self.wire);
        self.cohort_progress();
        ready::tick_lag(self);
        drain::tick_drain(self);
        answer::answer_due(self);
        self.finish();
    }

    /// Ends an input: the machine goes on where the cohort has, and what the log grew by is sent to the children. That
    /// is one message, unless many modules go with it.
    pub(crate) fn finish(&mut self) {
        self.cohort_progress();
        if self.outgoing.is_empty() {
            return;
        }
        let entries = std::mem::take(&mut self.outgoing);
        let mut serial = self.serial - entries.len() as u64;
        for entries in log::split(entries) {
            self.cohort.tell_children(&mut self.wire, || Message::Log { serial, entries: entries.clone() });
            serial += entries.len() as u64;
        }
    }

    /// A message came.
    pub fn handle_message(&mut self, now: Moment, from: PeerId, message: Message) {
        self.enter(now);
        if let Message::Release { step, retire, given_back } = message
            && let Some(Role::Member(member)) = self.wire.hear_usual(from)
        {
            // The short way of what comes with every step.
            assignment::member_released(self, from, member, (step, LetGo { retire, given_back }));
        } else {
            self.hear(from, message);
        }
        self.finish();
    }

    fn hear(&mut self, from: PeerId, message: Message) {
        match self.wire.hear(from, message) {
            Ok(Some((role, message))) => dispatch::dispatch(self, from, role, message),
            Ok(None) => {}
            Err(what) => self.misbehaved(from, what),
        }
    }

    /// Sets whether this process is short of memory: while it is, newcomers are refused.
    pub fn set_shortage(&mut self, shortage: Option<MemoryShortage>) {
        self.shortage = shortage;
    }

    /// A message came that the access list does not allow: whoever sent it is told.
    pub fn handle_denied(&mut self, now: Moment, from: PeerId, message: Message, denial: Denial) {
        self.enter(now);
        match self.wire.hear(from, message) {
            Ok(Some((role, message))) => denied::deny(self, from, role, message, denial),
            Ok(None) => {}
            Err(what) => self.misbehaved(from, what),
        }
        self.finish();
    }

    /// Says what became of a request that was handed on (`Effect::Delegate`). Reasons are cut to
    /// [`LIMIT_STEERING_TEXT_BYTES`](crate::bounds::LIMIT_STEERING_TEXT_BYTES).
    pub fn answer_delegated(&mut self, now: Moment, change: ChangeId, outcome: SteeringOutcome) {
        self.enter(now);
        steering::delegate_answered(self, change, outcome);
        self.finish();
    }

    /// Whether the link is to a rank of the own cohort.
    pub fn is_of_cohort(&self, peer: PeerId) -> bool {
        matches!(self.wire.role(peer), Some(Role::Parent | Role::Child(_) | Role::Lead | Role::Joiner(_)))
    }

    pub(crate) fn unexpected(&mut self, from: PeerId, message: &Message) {
        self.misbehaved(from, Misbehaviour::Unexpected(message.name()));
    }

    pub(crate) fn misbehaved(&mut self, from: PeerId, what: Misbehaviour) {
        if let Some(role) = self.wire.misbehaved(from, what) {
            loss::lost_link(self, from, role, LossReason::Misbehaved);
        }
    }

    pub(crate) fn cohort_progress(&mut self) {
        match self.cohort.progress.take() {
            None => {}
            Some(Progress::Opened) => self.opened(),
            Some(Progress::Failed(failure)) => self.open_failed(failure),
        }
    }

    fn opened(&mut self) {
        self.config.epoch = self.cohort.epoch;
        if self.phase != Phase::Opening {
            return;
        }
        self.phase = Phase::Streaming;
        self.wire.event(Event::Opened { epoch: self.cohort.epoch });
        if let Some(lead) = &mut self.lead {
            let early = std::mem::take(&mut lead.early);
            for (peer, ask) in early {
                membership::subscribe(self, peer, ask);
            }
        }
    }

    pub(crate) fn open_failed(&mut self, failure: OpenFailure) {
        self.phase = Phase::Closed;
        self.cohort.end(&mut self.wire, Event::OpenFailed(failure));
    }
}
