//! The machine of one subscriber rank. This file takes what its coordinator hands in, `commands` what its application
//! asks for. What that means stands in the files beside it, which mirror the publisher's.

mod attachment;
mod commands;
mod contacts;
mod dispatch;
mod drain;
mod loss;
mod questions;
mod stream;

use crate::cohort::{Cohort, Progress};
use crate::config::SubscriberConfig;
use crate::effect::{DialTicket, DisconnectReason, Effect, Listing, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure};
use crate::message::{MemberId, Message};
use crate::outcome::LossReason;
use crate::time::Moment;
use crate::transition::{Transition, TransitionSet};
use crate::wire::{DialPurpose, Role, Wire};
use attachment::Attachment;
use contacts::Contacts;
use fp_types::{Epoch, Rank, SubscriptionId};
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
    pub(crate) now: Moment,
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
    /// When this rank's patience with closing ends.
    pub(crate) close_give_up: Option<Moment>,
}

impl SubscriberMachine {
    /// A rank that starts to attach.
    pub fn new(config: SubscriberConfig, now: Moment) -> Self {
        let mut wire = Wire::new(&config.cohort);
        let cohort = Cohort::start(now, &mut wire, config.cohort.clone(), config.epoch, false);
        let mut machine = Self {
            now,
            wire,
            cohort,
            phase: Phase::Assembling,
            attachment: Attachment::default(),
            stream: Stream::default(),
            resolving: Resolving::default(),
            contacts: Contacts::new(Some(config.cohort.open_timeout)),
            cohort_is_lost: false,
            left: std::collections::BTreeSet::new(),
            close_give_up: None,
            config,
        };
        let progress = machine.cohort.begin_alone(now, &mut machine.wire);
        machine.cohort_progress(progress);
        machine
    }

    /// The epoch of the publisher that this rank is attached to.
    pub fn epoch(&self) -> Option<Epoch> {
        self.attachment.epoch()
    }

    /// The subscription and membership at that publisher.
    pub fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        self.attachment.membership()
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
        if self.phase == Phase::Closed {
            return None;
        }
        let due = [
            self.wire.deadline(),
            self.cohort.deadline(),
            self.attachment.deadline(),
            self.contacts.deadline(),
            self.close_give_up,
        ];
        due.into_iter().flatten().min()
    }

    pub(crate) fn enter(&mut self, now: Moment) {
        self.now = self.now.max(now);
    }

    /// A peer dialled us.
    pub fn handle_accepted(&mut self, now: Moment, peer: PeerId) {
        self.enter(now);
        if self.phase == Phase::Closed {
            self.wire.push(Effect::Disconnect { peer, reason: DisconnectReason::Ended });
            return;
        }
        self.wire.connect(now, peer, Role::Fresh);
    }

    /// A dial came through.
    pub fn handle_dialled(&mut self, now: Moment, ticket: DialTicket, peer: PeerId) {
        self.enter(now);
        self.wire.connect(now, peer, Role::Fresh);
        match self.wire.take_dial(ticket) {
            Some(DialPurpose::Answerer) => questions::answerer_dialled(self, ticket, peer),
            Some(DialPurpose::Probe(epoch)) if self.cohort.is_open() => {
                self.attachment.dialled(now, &mut self.wire, ticket, peer, epoch);
            }
            Some(purpose) => {
                let progress = self.cohort.dialled(now, &mut self.wire, ticket, peer, purpose);
                self.cohort_progress(progress);
            }
            None => drop(self.wire.disconnect(peer, DisconnectReason::Done)),
        }
    }

    /// A dial failed.
    pub fn handle_dial_failed(&mut self, now: Moment, ticket: DialTicket) {
        self.enter(now);
        match self.wire.take_dial(ticket) {
            Some(DialPurpose::Answerer) => questions::answerer_unreachable(self, ticket),
            Some(DialPurpose::Probe(_)) if self.cohort.is_open() => {
                self.attachment.dial_failed(now, &mut self.wire, ticket);
            }
            Some(_) => {
                let progress = self.cohort.dial_failed(now, &mut self.wire, ticket);
                self.cohort_progress(progress);
            }
            None => {}
        }
    }

    /// The entries of the rendezvous that were asked for.
    pub fn handle_listing(&mut self, now: Moment, listing: Vec<Listing>) {
        self.enter(now);
        if self.cohort.is_open() {
            self.attachment.listing(now, &mut self.wire, listing);
        } else {
            let progress = self.cohort.listing(now, &mut self.wire, listing);
            self.cohort_progress(progress);
        }
    }

    /// The launcher has exchanged the contacts of so many ranks: for the lead of a cohort that is
    /// `CohortPosition::Gathered`.
    pub fn handle_gathered(&mut self, now: Moment, size: u32) {
        self.enter(now);
        let progress = self.cohort.gathered(now, &mut self.wire, size);
        self.cohort_progress(progress);
    }

    /// The coordinator lost a link.
    pub fn handle_disconnected(&mut self, now: Moment, peer: PeerId) {
        self.enter(now);
        if let Some(role) = self.wire.remove(peer) {
            loss::lost_link(self, peer, role, LossReason::Disconnected);
        }
    }

    /// A deadline passed.
    pub fn handle_timeout(&mut self, now: Moment) {
        self.enter(now);
        if self.phase == Phase::Closed {
            return;
        }
        self.tick_links();
        let progress = self.cohort.tick(now, &mut self.wire);
        self.cohort_progress(progress);
        attachment::tick_attaching(self);
        contacts::tick_contacts(self);
        drain::tick_close(self);
    }

    fn tick_links(&mut self) {
        let silent = self.wire.tick(self.now);
        #[cfg(feature = "mutations")]
        if self.mutated(crate::mutation::Mutation::SilenceIgnored) {
            silent.iter().for_each(|&peer| self.wire.heard(self.now, peer));
            self.wire.review_deadline();
            return;
        }
        let silence_ms = u64::try_from(self.config.cohort.silence.as_millis()).unwrap_or(u64::MAX);
        for peer in silent {
            self.wire.mark(Transition::LinkSilent);
            if let Some(role) = self.wire.disconnect(peer, DisconnectReason::Silent) {
                loss::lost_link(self, peer, role, LossReason::Silent { silence_ms });
            }
        }
    }

    /// Whether this mistake is switched on; never in production.
    #[cfg(feature = "mutations")]
    pub(crate) fn mutated(&self, mutation: crate::mutation::Mutation) -> bool {
        self.config.mutation == Some(mutation)
    }

    /// A message came.
    pub fn handle_message(&mut self, now: Moment, from: PeerId, message: Message) {
        self.enter(now);
        self.wire.heard(now, from);
        match self.wire.whole(from, message) {
            Ok(Some(message)) => dispatch::hear(self, from, message),
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

    pub(crate) fn cohort_progress(&mut self, progress: Progress) {
        match progress {
            Progress::None => {}
            Progress::Opened => attachment::assembled(self),
            Progress::Failed(failure) => self.open_failed(failure),
        }
    }

    pub(crate) fn open_failed(&mut self, failure: OpenFailure) {
        if self.phase == Phase::Closed {
            return;
        }
        self.phase = Phase::Closed;
        self.cohort.release_name(&mut self.wire);
        self.wire.event(Event::OpenFailed(failure));
        self.wire.disconnect_all(DisconnectReason::Ended);
    }

    /// Sends to every child.
    pub(crate) fn tell_children(&mut self, message: &Message) {
        let children: Vec<PeerId> = self.cohort.children().map(|(_, peer)| peer).collect();
        for child in children {
            self.wire.send(self.now, child, message.clone());
        }
    }
}
