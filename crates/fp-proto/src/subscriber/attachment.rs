//! How a subscriber cohort finds its publisher, and finds it again (`docs/protocol.md`, sections 3, 6 and 9).

use super::{Phase, SubscriberMachine};
use crate::config::{CohortConfig, ContactText, OnLoss};
use crate::effect::{DialTicket, DisconnectReason, Listing, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure, OpenWait};
use crate::message::{MemberId, Message};
use crate::outcome::{EndReason, RefusalReason};
use crate::search::{Found, Search};
use crate::subscriber::{contacts, loss, questions, stream};
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
    /// Where this rank sends its questions, if not to its parent, once it has asked for that. The next fields say how
    /// many such publisher ranks the whole cohort has, and how many ranks ask them.
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

/// The own cohort is complete.
pub(crate) fn assembled(machine: &mut SubscriberMachine) {
    machine.phase = Phase::Attaching;
    let patience = machine.config.cohort.open_timeout;
    machine.attachment.give_up = Some(machine.now.after(patience));
    if machine.cohort.is_lead() {
        look_for_publisher(machine, None);
    }
}

fn look_for_publisher(machine: &mut SubscriberMachine, exclude: Option<Epoch>) {
    let direct = machine.config.publisher_contact.clone();
    let interval = machine.config.cohort.lookup_interval;
    let search = Search::start(&mut machine.wire, &machine.config.stream, direct, interval, exclude);
    machine.attachment.search = Some(search);
}

/// A candidate said who it is.
pub(crate) fn publisher_replied(
    machine: &mut SubscriberMachine,
    from: PeerId,
    epoch: Epoch,
    incumbent: bool,
) {
    let Some(search) = &mut machine.attachment.search else {
        machine.wire.disconnect(from, DisconnectReason::Done);
        return;
    };
    if let Found::Lead(found) = search.reply(machine.now, &mut machine.wire, from, epoch, incumbent) {
        ask(machine, from, found);
    }
}

fn ask(machine: &mut SubscriberMachine, publisher: PeerId, epoch: Epoch) {
    machine.wire.mark(Transition::SubscriberAsking);
    machine.wire.set_role(publisher, Role::Publisher);
    machine.attachment.publisher = Some(publisher);
    machine.attachment.asked = Some(epoch);
    let message = Message::Subscribe {
        spec: machine.config.spec.clone(),
        label: machine.config.cohort.name.clone(),
        cohort_size: machine.config.cohort.size,
        credit: u64::from(machine.config.credit_steps.max(1)),
    };
    machine.wire.send(machine.now, publisher, message);
}

/// The publisher's lead speaks.
pub(crate) fn hear_publisher(machine: &mut SubscriberMachine, from: PeerId, message: Message) {
    match message {
        Message::Subscribed { subscription, member, first, publisher_size }
            if machine.attachment.search.is_some() =>
        {
            let epoch = machine.attachment.asked.unwrap_or(Epoch(0));
            machine.attachment.publisher_size = publisher_size;
            share_answerers(machine);
            attached(machine, epoch, (subscription, member), first);
        }
        Message::Refused { reason } if machine.attachment.search.is_some() => {
            publisher_refused(machine, from, reason)
        }
        Message::Assign(assignment) => stream::assigned(machine, from, assignment),
        Message::Reselected { first, spec } => stream::reselected(machine, first, spec),
        // It is over before it began for us: another epoch may come within our patience.
        Message::StreamEnd { .. } if machine.attachment.search.is_some() => {
            machine.wire.disconnect(from, DisconnectReason::Done);
            search_on(machine);
        }
        Message::StreamEnd { reason, skipped } => loss::publisher_ended(machine, reason, skipped),
        Message::Resolved { request, encoded, owners } => {
            questions::resolved(machine, request, encoded, owners)
        }
        Message::Unresolved { request, reason } => questions::unresolved(machine, request, reason),
        Message::Contacts { request, contacts } => contacts::contacts_told(machine, from, request, contacts),
        other => machine.unexpected(from, &other),
    }
}

/// The cohort is attached, to this epoch.
fn attached(
    machine: &mut SubscriberMachine,
    epoch: Epoch,
    membership: (SubscriptionId, MemberId),
    first: StepId,
) {
    machine.wire.mark(Transition::SubscriberAttached);
    machine.attachment.search = None;
    machine.attachment.give_up = None;
    machine.attachment.epoch = Some(epoch);
    machine.attachment.membership = Some(membership);
    tell_attached(machine, epoch, membership, first);
    machine.stream.start(first);
    if machine.phase != Phase::Attaching {
        return;
    }
    machine.phase = Phase::Streaming;
    if machine.attachment.awaiting.take().is_some() {
        machine.wire.mark(Transition::SubscriberRestarted);
        machine.wire.event(Event::Restarted { epoch, first });
        stream::specify_again(machine, first);
    } else {
        machine.wire.event(Event::Opened { epoch });
    }
}

/// At the lead: how many ranks ask, and how many publisher ranks answer them.
fn share_answerers(machine: &mut SubscriberMachine) {
    let CohortConfig { size, .. } = machine.config.cohort;
    machine.attachment.answerers = machine.attachment.publisher_size.min(size);
    let most = machine.attachment.answerers.saturating_mul(machine.config.askers_each.max(1));
    machine.attachment.askers = size.min(most);
}

/// Tells every child. Where a rank's answerer is it asks its parent once it has a question.
fn tell_attached(
    machine: &mut SubscriberMachine,
    epoch: Epoch,
    (subscription, member): (SubscriptionId, MemberId),
    first: StepId,
) {
    machine.attachment.answerer = None;
    let Attachment { publisher_size, answerers, askers, .. } = machine.attachment;
    let news = Message::Attached { subscription, member, epoch, first, publisher_size, answerers, askers };
    machine.tell_children(&news);
}

fn publisher_refused(machine: &mut SubscriberMachine, from: PeerId, reason: RefusalReason) {
    machine.wire.disconnect(from, DisconnectReason::Done);
    machine.attachment.publisher = None;
    if reason == RefusalReason::Closing {
        search_on(machine);
    } else {
        attaching_failed(machine, OpenFailure::Refused(reason));
    }
}

/// Goes on looking, after the publisher that was found was not the one.
pub(crate) fn search_on(machine: &mut SubscriberMachine) {
    machine.attachment.publisher = None;
    if let Some(search) = &mut machine.attachment.search {
        search.resume(machine.now);
    }
}

/// News from the lead, for this rank and all below.
pub(crate) fn news_from_above(machine: &mut SubscriberMachine, from: PeerId, message: Message) {
    match message {
        Message::Attached { subscription, member, epoch, first, publisher_size, answerers, askers } => {
            let asked = 1..=publisher_size;
            if !asked.contains(&answerers) || !(1..=machine.config.cohort.size).contains(&askers) {
                machine.misbehaved(from, Misbehaviour::OutOfBounds("Attached.askers"));
                return;
            }
            machine.attachment.publisher_size = publisher_size;
            (machine.attachment.answerers, machine.attachment.askers) = (answerers, askers);
            attached(machine, epoch, (subscription, member), first);
        }
        Message::AwaitingRestart { reason } => await_restart(machine, reason),
        Message::StreamEnd { reason, skipped } => loss::ended(machine, reason, skipped),
        _ => {}
    }
}

/// The old epoch is over and the new one awaited: nothing of the old is handed out any more.
pub(crate) fn await_restart(machine: &mut SubscriberMachine, reason: EndReason) {
    machine.wire.mark(Transition::SubscriberAwaiting);
    machine.tell_children(&Message::AwaitingRestart { reason: reason.clone() });
    if let Some(parent) = machine.cohort.parent() {
        machine.wire.send(machine.now, parent, Message::RestartHeard);
    }
    #[cfg(feature = "mutations")]
    let keep = machine.mutated(crate::mutation::Mutation::RestartKeepsQueue);
    #[cfg(not(feature = "mutations"))]
    let keep = false;
    machine.stream.reset(keep, machine.cohort.children().map(|(rank, _)| rank));
    if machine.phase == Phase::Closing {
        // This rank awaits nothing any more; it only waits for the others to leave.
        questions::drop_answerer(machine);
        return;
    }
    machine.attachment.awaiting = Some(reason.clone());
    machine.phase = Phase::Attaching;
    machine.wire.event(Event::AwaitingRestart { reason });
    questions::drop_answerer(machine);
    let OnLoss::AwaitRestart(patience) = machine.config.on_loss else { return };
    if machine.cohort.is_lead() {
        let ended = machine.attachment.epoch;
        machine.attachment.stop(&mut machine.wire);
        machine.attachment.give_up = Some(machine.now.after(patience));
        look_for_publisher(machine, ended);
    }
}

pub(crate) fn tick_attaching(machine: &mut SubscriberMachine) {
    let now = machine.now;
    if let Some(search) = &mut machine.attachment.search {
        search.tick(now, &mut machine.wire);
    }
    if machine.attachment.give_up.is_some_and(|due| now >= due) {
        machine.wire.mark(Transition::OpenTimedOut);
        let wait = machine.attachment.waits_for();
        attaching_failed(machine, OpenFailure::TimedOut(wait));
    }
}

/// Attaching failed for good: an error at first, the end of the stream after a restart was awaited.
fn attaching_failed(machine: &mut SubscriberMachine, failure: OpenFailure) {
    // Whoever was asked and has not answered must not answer now.
    loss::drop_publisher(machine);
    match machine.attachment.awaiting.take() {
        Some(reason) => loss::ended(machine, reason, 0),
        None => machine.open_failed(failure),
    }
}
