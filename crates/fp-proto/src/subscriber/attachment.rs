//! How a subscriber cohort finds its publisher, and finds it again (`docs/protocol.md`, sections 3, 6 and 9).

use super::{Phase, SubscriberMachine};
use crate::config::{ContactText, OnLoss};
use crate::effect::{DialTicket, DisconnectReason, Misbehaviour, PeerId};
use crate::event::{Event, OpenFailure, OpenWait};
use crate::message::{MemberId, Message, Resumption};
use crate::outcome::{EndReason, RefusalReason};
use crate::search::Search;
use crate::subscriber::{loss, questions, stream};
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::{Role, Wire, mutated};
use fp_types::{Epoch, StepId, SubscriptionId};

/// Where attaching stands; only the lead has more than the epoch.
#[derive(Default)]
pub(crate) struct Attachment {
    pub(crate) search: Option<Search>,
    /// A candidate that was told the subscription before it said who it is.
    told: Option<PeerId>,
    /// The link that the subscription was sent on, and its epoch.
    pub(crate) publisher: Option<PeerId>,
    asked: Option<Epoch>,
    pub(crate) epoch: Option<Epoch>,
    /// How often this rank was attached: it may be more than once to one epoch.
    pub(crate) times: u32,
    pub(crate) membership: Option<(SubscriptionId, MemberId)>,
    /// Where this rank sends its questions, if not to its parent, once it has asked for that. The next fields say how
    /// many such publisher ranks the whole cohort has, and how many ranks ask them.
    pub(crate) answerer: Option<ContactText>,
    pub(crate) answerers: u32,
    pub(crate) askers: u32,
    pub(crate) publisher_size: u32,
    /// The first step that may be assigned.
    pub(crate) first: Option<StepId>,
    give_up: Option<Moment>,
    /// What a publisher said last that may have room later.
    refused: Option<RefusalReason>,
    /// Why the attachment before ended, while the next is awaited.
    awaiting: Option<EndReason>,
    /// At the lead: the lowest number that not all ranks have, by what the publisher's lead said; and the same of all
    /// that was assigned, once the epoch is over.
    lowest: Option<StepId>,
    resume: Option<StepId>,
    /// Whether the publisher goes on with the numbers of the one before.
    pub(crate) continues: bool,
}

impl Attachment {
    pub(crate) fn deadline(&self) -> Option<Moment> {
        let search = self.search.as_ref().and_then(Search::deadline);
        search.into_iter().chain(self.give_up).min()
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
    machine.phase_since = machine.wire.now;
    let patience = machine.config.cohort.open_timeout;
    machine.attachment.give_up = Some(machine.wire.now.after(patience));
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

/// A candidate was dialled, and is asked who it is. The only one there is hears at once what is wanted of it: it answers both
/// together. One that is not the publisher's lead, or not yet, is left before it has answered the second.
pub(crate) fn candidate_dialled(machine: &mut SubscriberMachine, ticket: DialTicket, peer: PeerId) {
    let Some(search) = &mut machine.attachment.search else { return };
    search.dialled(&mut machine.wire, ticket, peer);
    if search.is_alone(peer) {
        machine.wire.mark(Transition::SubscriberAskingAtOnce);
        machine.attachment.told = Some(peer);
        send_subscription(machine, peer);
    }
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
    if search.reply(&mut machine.wire, from, epoch, incumbent) {
        ask(machine, from, epoch);
    }
}

fn ask(machine: &mut SubscriberMachine, publisher: PeerId, epoch: Epoch) {
    machine.wire.mark(Transition::SubscriberAsking);
    machine.wire.set_role(publisher, Role::Publisher);
    machine.attachment.publisher = Some(publisher);
    machine.attachment.asked = Some(epoch);
    if machine.attachment.told.take() != Some(publisher) {
        send_subscription(machine, publisher);
    }
}

fn send_subscription(machine: &mut SubscriberMachine, publisher: PeerId) {
    let message = Message::Subscribe {
        spec: Box::new(machine.config.spec.clone()),
        label: machine.config.cohort.name.clone(),
        cohort_size: machine.config.cohort.size,
        credit: u64::from(machine.config.credit_steps.max(1)),
        resume: resume(machine),
    };
    machine.wire.send(publisher, message);
}

/// With what this cohort goes on, if it was attached before, or another one for which it goes on.
fn resume(machine: &SubscriberMachine) -> Option<Resumption> {
    let late = u64::from(mutated!(machine.wire, ResumeOneTooLate));
    let Attachment { resume, epoch, .. } = machine.attachment;
    let Some(epoch) = epoch else {
        return machine.config.resumption.map(|(epoch, from)| Resumption { epoch, from });
    };
    Some(Resumption { epoch, from: StepId(resume?.0 + late) })
}

/// The publisher's lead has made this cohort a member.
fn subscribed(
    machine: &mut SubscriberMachine,
    membership: (SubscriptionId, MemberId),
    first: StepId,
    publisher_size: u32,
    continues: bool,
) {
    let epoch = machine.attachment.asked.unwrap_or(Epoch(0));
    let asked = match resume(machine) {
        Some(resume) => continues.then_some(resume.from),
        None => machine.config.spec.start_at.lowest(),
    };
    machine.attachment.lowest = Some(asked.unwrap_or(first));
    machine.attachment.publisher_size = publisher_size;
    share_answerers(machine);
    attached(machine, epoch, membership, first, continues);
}

/// The publisher's lead speaks of the subscription.
pub(crate) fn hear_publisher(machine: &mut SubscriberMachine, from: PeerId, message: Message) {
    match (message, machine.attachment.search.is_some()) {
        (Message::Subscribed { subscription, member, first, publisher_size, continues }, true) => {
            subscribed(machine, (subscription, member), first, publisher_size, continues)
        }
        (Message::Refused { reason }, true) => publisher_refused(machine, from, reason),
        (Message::Refused { reason }, false) => stream::condition_refused(machine, from, reason),
        // It is over before it began for us: another epoch may come within our patience.
        (Message::StreamEnd { .. }, true) => {
            machine.wire.disconnect(from, DisconnectReason::Done);
            search_on(machine);
        }
        (Message::StreamEnd { reason, skipped }, false) => loss::publisher_ended(machine, reason, skipped),
        (other, _) => machine.unexpected(from, &other),
    }
}

/// The cohort is attached, to this epoch: every child is told. Where a rank's answerer is it asks its parent once it
/// has a question.
fn attached(
    machine: &mut SubscriberMachine,
    epoch: Epoch,
    (subscription, member): (SubscriptionId, MemberId),
    first: StepId,
    continues: bool,
) {
    machine.wire.mark(Transition::SubscriberAttached);
    machine.attachment.search = None;
    machine.attachment.give_up = None;
    machine.attachment.refused = None;
    machine.attachment.answerer = None;
    machine.attachment.epoch = Some(epoch);
    machine.attachment.membership = Some((subscription, member));
    machine.attachment.first = Some(first);
    machine.attachment.continues = continues;
    let Attachment { publisher_size, answerers, askers, .. } = machine.attachment;
    machine.cohort.tell_children(&mut machine.wire, || Message::Attached {
        subscription,
        member,
        epoch,
        first,
        publisher_size,
        answerers,
        askers,
        continues,
    });
    machine.stream.start(continues);
    if machine.phase != Phase::Attaching {
        return;
    }
    machine.phase = Phase::Streaming;
    machine.attachment.times += 1;
    if machine.attachment.awaiting.take().is_some() {
        machine.wire.mark(match continues {
            true => Transition::SubscriberContinued,
            false => Transition::SubscriberRestarted,
        });
        machine.wire.event(Event::Restarted { epoch, first, continues });
        stream::specify_again(machine, first);
    } else {
        machine.wire.event(Event::Opened { epoch });
    }
}

/// At the lead: how many ranks ask, and how many publisher ranks answer them.
fn share_answerers(machine: &mut SubscriberMachine) {
    let size = machine.config.cohort.size;
    machine.attachment.answerers = machine.attachment.publisher_size.min(size);
    let most = machine.attachment.answerers.saturating_mul(machine.config.askers_each.max(1));
    machine.attachment.askers = size.min(most);
}

fn publisher_refused(machine: &mut SubscriberMachine, from: PeerId, reason: RefusalReason) {
    machine.wire.disconnect(from, DisconnectReason::Done);
    machine.attachment.publisher = None;
    let comes_back = machine.attachment.awaiting.is_some();
    let may_pass = reason.may_pass() && !mutated!(machine.wire, ShortageIsFinal);
    let asks_again = may_pass || comes_back && reason.counts_subscriptions();
    if !asks_again {
        return attaching_failed(machine, OpenFailure::Refused(reason));
    }
    machine.attachment.refused = Some(reason).filter(|reason| *reason != RefusalReason::Closing);
    search_on(machine);
}

/// Goes on looking, after the publisher that was found was not the one.
pub(crate) fn search_on(machine: &mut SubscriberMachine) {
    machine.attachment.publisher = None;
    if let Some(search) = &mut machine.attachment.search {
        search.resume(&machine.wire);
    }
}

/// The cohort is attached, says the lead to this rank and all below.
pub(crate) fn attached_above(machine: &mut SubscriberMachine, from: PeerId, news: Message) {
    #[rustfmt::skip]
    let Message::Attached {
        subscription, member, epoch, first, publisher_size, answerers, askers, continues,
    } = news else { return };
    let asked = 1..=publisher_size;
    if !asked.contains(&answerers) || !(1..=machine.config.cohort.size).contains(&askers) {
        machine.misbehaved(from, Misbehaviour::OutOfBounds("Attached.askers"));
        return;
    }
    machine.attachment.publisher_size = publisher_size;
    (machine.attachment.answerers, machine.attachment.askers) = (answerers, askers);
    attached(machine, epoch, (subscription, member), first, continues);
}

/// This attachment is over and the next awaited: nothing of it is handed out any more. The next is to another epoch if
/// this one `is_over`. Otherwise it may be to the same: only the way there was lost.
pub(crate) fn await_restart(machine: &mut SubscriberMachine, reason: EndReason, is_over: bool) {
    machine.wire.mark(Transition::SubscriberAwaiting);
    let news = || Message::AwaitingRestart { reason: reason.clone() };
    machine.cohort.tell_children(&mut machine.wire, news);
    machine.cohort.tell_parent(&mut machine.wire, Message::RestartHeard);
    if machine.cohort.is_lead() {
        machine.attachment.resume = machine.stream.oldest_missing().or(machine.attachment.lowest);
    }
    stream::keep_condition(machine);
    let keep = mutated!(machine.wire, RestartKeepsQueue);
    if machine.config.takes_held_again && !mutated!(machine.wire, HeldPassedOver) {
        machine.stream.take_held_again();
    }
    machine.stream.reset(keep, machine.cohort.children().map(|(rank, _)| rank));
    if machine.phase == Phase::Closing {
        // This rank awaits nothing any more; it only waits for the others to leave.
        questions::drop_answerer(machine);
        return;
    }
    machine.attachment.awaiting = Some(reason.clone());
    machine.phase = Phase::Attaching;
    machine.phase_since = machine.wire.now;
    machine.wire.event(Event::AwaitingRestart { reason });
    questions::drop_answerer(machine);
    let OnLoss::AwaitRestart(patience) = machine.config.on_loss else { return };
    if machine.cohort.is_lead() {
        let ended = machine.attachment.epoch.filter(|_| is_over);
        machine.attachment.stop(&mut machine.wire);
        machine.attachment.give_up = Some(machine.wire.now.after(patience));
        look_for_publisher(machine, ended);
    }
}

pub(crate) fn tick_attaching(machine: &mut SubscriberMachine) {
    if let Some(search) = &mut machine.attachment.search {
        search.tick(&mut machine.wire);
    }
    if machine.attachment.give_up.is_some_and(|due| machine.wire.now >= due) {
        machine.wire.mark(Transition::OpenTimedOut);
        let failure = match machine.attachment.refused.take() {
            Some(reason) => OpenFailure::Refused(reason),
            None => OpenFailure::TimedOut(machine.attachment.waits_for()),
        };
        attaching_failed(machine, failure);
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
