//! The machine of one subscriber rank. This file takes what its coordinator hands in, `commands` what its application
//! asks for. What that means stands in the files beside it, which mirror the publisher's.

mod attachment;
mod commands;
mod contacts;
mod dispatch;
mod drain;
mod loss;
mod questions;
mod status;
mod stream;

use crate::cohort::{Cohort, Progress};
use crate::config::SubscriberConfig;
use crate::effect::{DialTicket, DisconnectReason, Effect, Listing, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure};
use crate::message::{MemberId, Message};
use crate::outcome::LossReason;
use crate::status::answer;
use crate::status::questions::{ProcessFacts, Questions};
use crate::time::{Earliest, Moment};
use crate::transition::TransitionSet;
use crate::wire::{DialPurpose, Role, Wire};
use attachment::Attachment;
use contacts::Contacts;
use fp_types::{Epoch, Rank, StepId, SubscriptionId};
use questions::Resolving;
use stream::Stream;

/// Where the rank stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The own cohort assembles.
    Assembling,
    /// The lead looks for the publisher, or for its next epoch.
    Attaching,
    /// Steps come.
    Streaming,
    /// No more will come.
    Ended,
    /// The application has closed.
    Closing,
    /// Nothing more will happen.
    Closed,
}

/// The machine of one subscriber rank for one stream.
pub struct SubscriberMachine {
    pub(crate) config: SubscriberConfig,
    pub(crate) wire: Wire,
    pub(crate) cohort: Cohort,
    pub(crate) phase: Phase,
    pub(crate) attachment: Attachment,
    pub(crate) stream: Stream,
    pub(crate) resolving: Resolving,
    pub(crate) contacts: Contacts,
    /// Whether this rank knows, and has told its neighbours, that a rank of the own cohort is lost.
    pub(crate) cohort_is_lost: bool,
    /// Children whose subtrees have closed.
    pub(crate) left: std::collections::BTreeSet<Rank>,
    /// The number of the next request to the simulation.
    pub(crate) steered: u64,
    /// When this rank's patience with closing ends.
    pub(crate) close_give_up: Option<Moment>,
    /// Since when it looks for a publisher, or closes.
    pub(crate) phase_since: Moment,
    /// What observers asked.
    pub(crate) questions: Questions,
}

/// Tells attachments of one subscriber rank apart. What was learnt in one holds in no other, and numbers of requests and
/// releases neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttachmentId {
    /// The epoch of the publisher.
    pub epoch: Epoch,
    /// Which of this rank's attachments, from 1.
    pub nth: u32,
}

impl SubscriberMachine {
    /// A rank that starts to attach.
    pub fn new(config: SubscriberConfig, now: Moment) -> Self {
        let mut wire = Wire::new(&config.cohort, now);
        #[cfg(feature = "mutations")]
        {
            wire.mutation = config.mutation;
        }
        let cohort = Cohort::start(&mut wire, config.cohort.clone(), config.epoch, false);
        let mut machine = Self {
            wire,
            cohort,
            phase: Phase::Assembling,
            attachment: Attachment::default(),
            stream: Stream::default(),
            resolving: Resolving::default(),
            contacts: Contacts::new(Some(config.cohort.open_timeout)),
            cohort_is_lost: false,
            left: std::collections::BTreeSet::new(),
            steered: 0,
            close_give_up: None,
            phase_since: now,
            questions: Questions::default(),
            config,
        };
        machine.cohort.review(&mut machine.wire);
        machine.cohort_progress();
        machine
    }

    /// The epoch of the publisher that this rank is attached to.
    pub fn epoch(&self) -> Option<Epoch> {
        self.attachment.epoch
    }

    /// The first step of it that the subscription holds for.
    pub fn first_step(&self) -> Option<StepId> {
        self.attachment.first
    }

    /// The same epoch, as one of several attachments: whoever comes back after the way was lost may find the same epoch.
    pub fn attachment(&self) -> Option<AttachmentId> {
        Some(AttachmentId { epoch: self.attachment.epoch?, nth: self.attachment.times })
    }

    /// Whether the publisher goes on with the numbers of the one before.
    pub fn continues(&self) -> bool {
        self.attachment.continues
    }

    /// Whether it is attached, and more may come.
    pub fn is_streaming(&self) -> bool {
        self.phase == Phase::Streaming
    }

    /// The canonical bytes of the condition that it asked for last, unless that was refused.
    pub fn condition(&self) -> Option<&[u8]> {
        self.config.spec.when.as_deref()
    }

    /// The subscription and membership at that publisher.
    pub fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        self.attachment.membership
    }

    /// Whether [`poll`](Self::poll) has anything to do.
    pub fn is_asking(&self) -> bool {
        self.wire.has_effects()
    }

    /// The next thing for the coordinator to do.
    pub fn poll(&mut self) -> Option<Effect> {
        self.wire.poll()
    }

    /// The transitions taken so far.
    pub fn transitions(&self) -> TransitionSet {
        self.wire.transitions()
    }

    /// When `handle_timeout` is due.
    pub fn deadline(&self) -> Option<Moment> {
        if matches!(self.phase, Phase::Closed) {
            return None;
        }
        let of_links = Earliest::of(self.wire.deadline()).and(self.cohort.deadline());
        let of_stream = of_links.and(self.attachment.deadline()).and(self.close_give_up);
        of_stream.and(self.contacts.deadline()).and(self.questions.deadline()).moment()
    }

    /// A peer dialled us.
    pub fn handle_accepted(&mut self, now: Moment, peer: PeerId) {
        self.wire.enter(now);
        self.wire.accepted(peer, self.phase == Phase::Closed);
    }

    /// A dial came through.
    pub fn handle_dialled(&mut self, now: Moment, ticket: DialTicket, peer: PeerId) {
        self.wire.enter(now);
        self.wire.connect(peer);
        match (self.wire.take_dial(ticket), &mut self.attachment.search) {
            (Some(DialPurpose::Answerer), _) => questions::answerer_dialled(self, ticket, peer),
            (Some(DialPurpose::Probe), Some(_)) => attachment::candidate_dialled(self, ticket, peer),
            (Some(purpose), _) => self.cohort.dialled(&mut self.wire, ticket, peer, purpose),
            (None, _) => drop(self.wire.disconnect(peer, DisconnectReason::Done)),
        }
        self.cohort_progress();
    }

    /// A dial failed.
    pub fn handle_dial_failed(&mut self, now: Moment, ticket: DialTicket) {
        self.wire.enter(now);
        match (self.wire.take_dial(ticket), &mut self.attachment.search) {
            (Some(DialPurpose::Answerer), _) => questions::answerer_unreachable(self, ticket),
            (Some(DialPurpose::Probe), Some(search)) => search.failed(&mut self.wire, ticket),
            (Some(_), _) => self.cohort.dial_failed(&mut self.wire, ticket),
            (None, _) => {}
        }
        self.cohort_progress();
    }

    /// The entries of the rendezvous that were asked for.
    pub fn handle_listing(&mut self, now: Moment, listing: Vec<Listing>) {
        self.wire.enter(now);
        match &mut self.attachment.search {
            Some(search) => search.listing(&mut self.wire, listing),
            None => self.cohort.listing(&mut self.wire, listing),
        }
        self.cohort_progress();
    }

    /// The launcher has exchanged the contacts of so many ranks: for the lead of a cohort that is
    /// `CohortPosition::Gathered`.
    pub fn handle_gathered(&mut self, now: Moment, size: u32) {
        self.wire.enter(now);
        self.cohort.gathered(&mut self.wire, size);
        self.cohort_progress();
    }

    /// What the coordinator knows of its process, for observers: to be said before their questions are handed in.
    pub fn set_process(&mut self, facts: ProcessFacts) {
        self.questions.facts = facts;
    }

    /// The coordinator lost a link.
    pub fn handle_disconnected(&mut self, now: Moment, peer: PeerId) {
        self.wire.enter(now);
        if let Some(role) = self.wire.remove(peer) {
            loss::lost_link(self, peer, role, LossReason::Disconnected);
        }
    }

    /// A deadline passed.
    pub fn handle_timeout(&mut self, now: Moment) {
        self.wire.enter(now);
        if self.phase == Phase::Closed {
            return;
        }
        for peer in self.wire.tick() {
            loss::silent_peer(self, peer);
        }
        self.cohort.tick(&mut self.wire);
        self.cohort_progress();
        attachment::tick_attaching(self);
        contacts::tick_contacts(self);
        drain::tick_close(self);
        answer::answer_due(self);
    }

    /// A message came.
    pub fn handle_message(&mut self, now: Moment, from: PeerId, message: Message) {
        self.wire.enter(now);
        let is_usual = matches!(message, Message::Assign(_)) && message.check().is_ok();
        let usual = if is_usual { self.wire.hear_usual(from) } else { None };
        match (usual, message) {
            // The short way of what comes with every step.
            (Some(Role::Publisher), Message::Assign(assignment)) => stream::assigned(self, from, assignment),
            (_, message) => self.hear(from, message),
        }
        self.cohort_progress();
    }

    fn hear(&mut self, from: PeerId, message: Message) {
        match self.wire.hear(from, message) {
            Ok(Some((role, message))) => dispatch::dispatch(self, from, role, message),
            Ok(None) => {}
            Err(what) => self.misbehaved(from, what),
        }
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
            Some(Progress::Opened) => attachment::assembled(self),
            Some(Progress::Failed(failure)) => self.open_failed(failure),
        }
    }

    pub(crate) fn open_failed(&mut self, failure: OpenFailure) {
        if self.phase == Phase::Closed {
            return;
        }
        self.phase = Phase::Closed;
        self.cohort.end(&mut self.wire, Event::OpenFailed(failure));
    }
}
