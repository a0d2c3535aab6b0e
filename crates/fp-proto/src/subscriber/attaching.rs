//! How a subscriber cohort finds its publisher, and finds it again (`docs/protocol.md`, sections 3, 6 and 9).

use super::{Phase, SubscriberMachine};
use crate::config::{CohortConfig, ContactText, OnLoss};
use crate::effect::{DialTicket, DisconnectReason, Listing, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure, OpenWait};
use crate::message::{MemberId, Message};
use crate::outcome::{EndReason, RefusalReason};
use crate::search::{Found, Search};
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::{Role, Wire};
use fp_types::{Epoch, StepId, SubscriptionId};

/// Where attaching stands; only the lead has more than the epoch.
#[derive(Default)]
pub(crate) struct Attachment {
    search: Option<Search>,
    /// The link that the subscription was sent on, and its epoch.
    pub(crate) publisher: Option<PeerId>,
    asked: Option<Epoch>,
    epoch: Option<Epoch>,
    membership: Option<(SubscriptionId, MemberId)>,
    /// Where this rank sends its questions, if not to its parent, once it has asked for that; how many such publisher
    /// ranks the whole cohort has, and how many ranks that ask them.
    pub(crate) answerer: Option<ContactText>,
    pub(crate) answerers: u32,
    pub(crate) askers: u32,
    pub(crate) publisher_size: u32,
    give_up: Option<Moment>,
    /// Why the epoch before ended, while the next is awaited.
    awaiting: Option<EndReason>,
}

impl Attachment {
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        self.epoch
    }

    pub(crate) fn membership(&self) -> Option<(SubscriptionId, MemberId)> {
        self.membership
    }

    pub(crate) fn deadline(&self) -> Option<Moment> {
        let search = self.search.as_ref().and_then(Search::deadline);
        search.into_iter().chain(self.give_up).min()
    }

    pub(crate) fn listing(&mut self, now: Moment, wire: &mut Wire, listing: Vec<Listing>) {
        if let Some(search) = &mut self.search {
            search.listing(now, wire, listing);
        }
    }

    pub(crate) fn dialled(
        &mut self,
        now: Moment,
        wire: &mut Wire,
        ticket: DialTicket,
        peer: PeerId,
        epoch: Option<Epoch>,
    ) {
        match &mut self.search {
            Some(search) => search.dialled(now, wire, ticket, peer, epoch),
            None => drop(wire.disconnect(peer, DisconnectReason::Done)),
        }
    }

    pub(crate) fn dial_failed(&mut self, now: Moment, wire: &mut Wire, ticket: DialTicket) {
        if let Some(search) = &mut self.search {
            search.failed(now, wire, ticket);
        }
    }

    pub(crate) fn candidate_gone(&mut self, now: Moment, peer: PeerId) {
        if let Some(search) = &mut self.search {
            search.gone(now, peer);
        }
    }

    /// Stops looking and forgets the publisher.
    pub(crate) fn stop(&mut self, wire: &mut Wire) {
        if let Some(search) = self.search.take() {
            search.stop(wire);
        }
        self.give_up = None;
        self.publisher = None;
    }

    fn waits_for(&self) -> OpenWait {
        match &self.search {
            Some(search) if self.publisher.is_none() => search.waits_for(),
            _ => OpenWait::Publisher,
        }
    }
}

impl SubscriberMachine {
    /// The own cohort is complete.
    pub(crate) fn assembled(&mut self) {
        self.phase = Phase::Attaching;
        let patience = self.config.cohort.open_timeout;
        self.attachment.give_up = Some(self.now.after(patience));
        if self.cohort.is_lead() {
            self.look_for_publisher(None);
        }
    }

    fn look_for_publisher(&mut self, exclude: Option<Epoch>) {
        let direct = self.config.publisher_contact.clone();
        let interval = self.config.cohort.lookup_interval;
        let search = Search::start(&mut self.wire, &self.config.stream, direct, interval, exclude);
        self.attachment.search = Some(search);
    }

    /// A candidate said who it is.
    pub(crate) fn publisher_replied(&mut self, from: PeerId, epoch: Epoch, incumbent: bool) {
        let Some(search) = &mut self.attachment.search else {
            self.wire.disconnect(from, DisconnectReason::Done);
            return;
        };
        if let Found::Lead(found) = search.reply(self.now, &mut self.wire, from, epoch, incumbent) {
            self.ask(from, found);
        }
    }

    fn ask(&mut self, publisher: PeerId, epoch: Epoch) {
        self.wire.mark(Transition::SubscriberAsking);
        self.wire.set_role(publisher, Role::Publisher);
        self.attachment.publisher = Some(publisher);
        self.attachment.asked = Some(epoch);
        let message = Message::Subscribe {
            spec: self.config.spec.clone(),
            label: self.config.cohort.name.clone(),
            cohort_size: self.config.cohort.size,
            credit: u64::from(self.config.credit_steps.max(1)),
        };
        self.wire.send(self.now, publisher, message);
    }

    /// The publisher's lead speaks.
    pub(crate) fn hear_publisher(&mut self, from: PeerId, message: Message) {
        match message {
            Message::Subscribed { subscription, member, first, publisher_size }
                if self.attachment.search.is_some() =>
            {
                let epoch = self.attachment.asked.unwrap_or(Epoch(0));
                self.attachment.publisher_size = publisher_size;
                self.share_answerers();
                self.attached(epoch, (subscription, member), first);
            }
            Message::Refused { reason } if self.attachment.search.is_some() => {
                self.publisher_refused(from, reason)
            }
            Message::Assign(assignment) => self.assigned(from, assignment),
            Message::Reselected { first, spec } => self.reselected(first, spec),
            // It is over before it began for us: another epoch may come within our patience.
            Message::StreamEnd { .. } if self.attachment.search.is_some() => {
                self.wire.disconnect(from, DisconnectReason::Done);
                self.search_on();
            }
            Message::StreamEnd { reason, skipped } => self.publisher_ended(reason, skipped),
            Message::Resolved { request, encoded, owners } => self.resolved(request, encoded, owners),
            Message::Unresolved { request, reason } => self.unresolved(request, reason),
            Message::Contacts { request, contacts } => self.contacts_told(from, request, contacts),
            other => self.unexpected(from, &other),
        }
    }

    /// The cohort is attached, to this epoch.
    fn attached(&mut self, epoch: Epoch, membership: (SubscriptionId, MemberId), first: StepId) {
        self.wire.mark(Transition::SubscriberAttached);
        self.attachment.search = None;
        self.attachment.give_up = None;
        self.attachment.epoch = Some(epoch);
        self.attachment.membership = Some(membership);
        self.tell_attached(epoch, membership, first);
        self.stream.start(first);
        if self.phase != Phase::Attaching {
            return;
        }
        self.phase = Phase::Streaming;
        if self.attachment.awaiting.take().is_some() {
            self.wire.mark(Transition::SubscriberRestarted);
            self.wire.event(Event::Restarted { epoch, first });
            self.specify_again(first);
        } else {
            self.wire.event(Event::Opened { epoch });
        }
    }

    /// At the lead: how many ranks ask, and how many publisher ranks answer them.
    fn share_answerers(&mut self) {
        let CohortConfig { size, .. } = self.config.cohort;
        self.attachment.answerers = self.attachment.publisher_size.min(size);
        let most = self.attachment.answerers.saturating_mul(self.config.askers_each.max(1));
        self.attachment.askers = size.min(most);
    }

    /// Tells every child. Where a rank's answerer is it asks its parent once it has a question.
    fn tell_attached(
        &mut self,
        epoch: Epoch,
        (subscription, member): (SubscriptionId, MemberId),
        first: StepId,
    ) {
        self.attachment.answerer = None;
        let Attachment { publisher_size, answerers, askers, .. } = self.attachment;
        let news =
            Message::Attached { subscription, member, epoch, first, publisher_size, answerers, askers };
        self.tell_children(&news);
    }

    fn publisher_refused(&mut self, from: PeerId, reason: RefusalReason) {
        self.wire.disconnect(from, DisconnectReason::Done);
        self.attachment.publisher = None;
        if reason == RefusalReason::Closing {
            self.search_on();
        } else {
            self.attaching_failed(OpenFailure::Refused(reason));
        }
    }

    /// Goes on looking, after the publisher that was found was not the one.
    pub(crate) fn search_on(&mut self) {
        self.attachment.publisher = None;
        if let Some(search) = &mut self.attachment.search {
            search.resume(self.now);
        }
    }

    /// News from the lead, for this rank and all below.
    pub(crate) fn news_from_above(&mut self, from: PeerId, message: Message) {
        match message {
            Message::Attached { subscription, member, epoch, first, publisher_size, answerers, askers } => {
                let asked = 1..=publisher_size;
                if !asked.contains(&answerers) || !(1..=self.config.cohort.size).contains(&askers) {
                    self.misbehaved(from, Misbehaviour::OutOfBounds("Attached.askers"));
                    return;
                }
                self.attachment.publisher_size = publisher_size;
                (self.attachment.answerers, self.attachment.askers) = (answerers, askers);
                self.attached(epoch, (subscription, member), first);
            }
            Message::AwaitingRestart { reason } => self.await_restart(reason),
            Message::StreamEnd { reason, skipped } => self.ended(reason, skipped),
            _ => {}
        }
    }

    /// The old epoch is over and the new one awaited: nothing of the old is handed out any more.
    pub(crate) fn await_restart(&mut self, reason: EndReason) {
        self.wire.mark(Transition::SubscriberAwaiting);
        self.tell_children(&Message::AwaitingRestart { reason: reason.clone() });
        if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::RestartHeard);
        }
        #[cfg(feature = "mutations")]
        let keep = self.mutated(crate::mutation::Mutation::RestartKeepsQueue);
        #[cfg(not(feature = "mutations"))]
        let keep = false;
        self.stream.reset(keep, self.cohort.children().map(|(rank, _)| rank));
        if self.phase == Phase::Closing {
            // This rank awaits nothing any more; it only waits for the others to leave.
            self.drop_answerer();
            return;
        }
        self.attachment.awaiting = Some(reason.clone());
        self.phase = Phase::Attaching;
        self.wire.event(Event::AwaitingRestart { reason });
        self.drop_answerer();
        let OnLoss::AwaitRestart(patience) = self.config.on_loss else { return };
        if self.cohort.is_lead() {
            let ended = self.attachment.epoch;
            self.attachment.stop(&mut self.wire);
            self.attachment.give_up = Some(self.now.after(patience));
            self.look_for_publisher(ended);
        }
    }

    pub(crate) fn tick_attaching(&mut self) {
        let now = self.now;
        if let Some(search) = &mut self.attachment.search {
            search.tick(now, &mut self.wire);
        }
        if self.attachment.give_up.is_some_and(|due| now >= due) {
            self.wire.mark(Transition::OpenTimedOut);
            let wait = self.attachment.waits_for();
            self.attaching_failed(OpenFailure::TimedOut(wait));
        }
    }

    /// Attaching failed for good: an error at first, the end of the stream after a restart was awaited.
    fn attaching_failed(&mut self, failure: OpenFailure) {
        // Whoever was asked and has not answered must not answer now.
        self.drop_publisher();
        match self.attachment.awaiting.take() {
            Some(reason) => self.ended(reason, 0),
            None => self.open_failed(failure),
        }
    }
}
