//! What coordinators do for their machines: effects become messages, dials, entries and events.

use crate::simulator::application::App;
use crate::simulator::falsification::Falsification;
use crate::simulator::machine::{Input, Machine};
use crate::simulator::names::{CohortId, SlotId};
use crate::simulator::oracle::Rule;
use crate::simulator::steering::answered_elsewhere;
use crate::simulator::world::observers::is_status;
use crate::simulator::world::{Due, Life, World};
use fp_proto::bounds::FRAGMENT_BYTES;
use fp_proto::codec;
use fp_proto::config::ContactText;
use fp_proto::effect::{DialTicket, DisconnectReason, Effect, PeerId};
use fp_proto::event::Event;
use fp_proto::message::{Assignment, Message};
use fp_proto::outcome::{EndReason, ExpulsionCause, RefusalReason};
use fp_types::{Epoch, Rank};

impl World {
    /// Does whatever the machine asks for.
    pub(crate) fn drain(&mut self, slot: SlotId) {
        while let Some(effect) = self.slot_mut(slot).machine.as_mut().and_then(Machine::poll) {
            self.falsified(slot, effect).into_iter().for_each(|effect| self.do_effect(slot, effect));
        }
    }

    /// What was held up happens.
    pub(crate) fn late_effect(&mut self, slot: SlotId, effect: Effect) {
        self.do_effect(slot, effect);
        self.settle(slot);
    }

    fn do_effect(&mut self, slot: SlotId, effect: Effect) {
        if self.is_observed {
            self.check_observed(slot, &effect);
        }
        match effect {
            Effect::Send { to, message } => self.send(slot, to, &message),
            Effect::Dial { ticket, contact, epoch } => self.dial(slot, ticket, contact, epoch),
            Effect::Disconnect { peer, reason } => {
                self.note(slot, || format!("closes link {}: {reason:?}", peer.0));
                self.check_blame(slot, peer, &reason);
                self.disconnect(peer);
            }
            Effect::PublishName { name, epoch } => {
                self.note(slot, || format!("publishes {name} {epoch}"));
                let contact = self.slot(slot).contact.clone();
                self.rendezvous.publish(&name, epoch, contact);
            }
            Effect::WithdrawName { name, epoch } => {
                self.note(slot, || format!("withdraws {name} {epoch}"));
                self.rendezvous.withdraw(&name, epoch);
            }
            Effect::Lookup { name } => {
                let at = self.now.after(self.prng.micros(30, 400));
                self.queue.push(at, Due::Listing { slot, name });
            }
            Effect::Assigned { subscription, member, step } => {
                self.note(slot, || format!("hears that step {step} of {subscription} goes to {member:?}"));
                let (cohort, rank) = self.place(slot);
                self.oracle.assigned(cohort, rank, subscription, member, step);
            }
            Effect::Free { step, retire } => {
                self.note(slot, || format!("frees step {step}{}", if retire { ", retired" } else { "" }));
                let (cohort, rank) = self.place(slot);
                self.oracle.freed(cohort, rank, step, retire);
                self.slot_mut(slot).store.free(step.0, retire);
            }
            Effect::LogRequest { request, outcome, .. } => {
                self.note(slot, || format!("logs that {} asked for {}: {outcome}", request.by, request.name));
            }
            Effect::Delegate { change, request, .. } => {
                self.note(slot, || format!("hands on that {} asks for {}", request.by, request.name));
                self.oracle.handed_on(self.slot(slot).cohort, change, &request);
                let outcome = answered_elsewhere(&request.name, &request.value);
                let at = self.now.after(self.prng.micros(50, 60_000));
                self.queue.push(at, Due::Input(slot, Input::Answered(change, outcome)));
            }
            Effect::Event(event) => self.event(slot, event),
        }
    }

    /// What comes of a question of an observer, or of an answer to it, is about status alone.
    fn check_observed(&mut self, slot: SlotId, effect: &Effect) {
        let alone = match effect {
            Effect::Send { message, .. } => is_status(message),
            Effect::Disconnect { peer, .. } => {
                self.other_end(*peer).is_some_and(|other| self.observer_at(other).is_some())
            }
            Effect::Dial { .. }
            | Effect::PublishName { .. }
            | Effect::WithdrawName { .. }
            | Effect::Lookup { .. }
            | Effect::Assigned { .. }
            | Effect::Free { .. }
            | Effect::LogRequest { .. }
            | Effect::Delegate { .. }
            | Effect::Event(_) => false,
        };
        let who = self.slot(slot).who.clone();
        self.oracle.demand(alone, Rule::ObserverDelaysNoStep, || format!("{who}: {effect:?}"));
    }

    /// Our own machines keep to the protocol: none may say of another that it does not.
    fn check_blame(&mut self, slot: SlotId, peer: PeerId, reason: &DisconnectReason) {
        let DisconnectReason::PeerMisbehaved(what) = reason else { return };
        let Some(other) = self.other_end(peer) else { return };
        let other = self.slot(other);
        let honest = matches!(other.machine, Some(Machine::Publisher(_) | Machine::Subscriber(_)));
        let (accuser, accused) = (self.slot(slot).who.clone(), other.who.clone());
        self.oracle.demand(!honest, Rule::WhoKeepsToProtocolIsNotBlamed, || {
            format!("{accuser} says that {accused} broke it: {what:?}")
        });
    }

    /// Cohort and rank of a process.
    pub(crate) fn place(&self, slot: SlotId) -> (CohortId, Rank) {
        (self.slot(slot).cohort, self.slot(slot).rank)
    }

    /// The process at the other end of a link.
    pub(crate) fn other_end(&self, peer: PeerId) -> Option<SlotId> {
        let (link, side) = self.network.side(peer)?;
        Some(self.network.link(link).ends[1 - side].slot)
    }

    fn send(&mut self, slot: SlotId, to: PeerId, message: &Message) {
        let mut bytes = codec::encode(message).into_vec();
        if self.falsifies(Falsification::MessageCut) {
            bytes.pop();
        }
        self.trace.word(slot.0 as u64 ^ self.now.as_micros() << 16);
        self.trace.bytes(&bytes);
        let times = if self.falsifies(Falsification::ThousandfoldTraffic) { 1_000 } else { 1 };
        (0..times).for_each(|_| self.oracle.traffic.sent(message, bytes.len() as u64 * times));
        let Some(other) = self.other_end(to) else { return };
        if *message != Message::Heartbeat {
            let whom = self.trace.is_recording().then(|| self.slot(other).who.clone());
            self.note(slot, || format!("-> {} ({}): {message:?}", whom.unwrap_or_default(), to.0));
        }
        self.said(slot, other, message);
        self.said_of_tables(slot, message);
        if matches!(message, Message::AskContacts { .. }) {
            self.question_on_its_way(other);
        }
        let Some((link, side)) = self.network.side(to) else { return };
        if let Some(at) = self.network.send(self.now, link, side) {
            self.queue.push(at, Due::Message { link, side: 1 - side, bytes });
        }
    }

    /// What the oracles learn from a message about layouts. Of those in fragments they see nothing.
    fn said_of_tables(&mut self, slot: SlotId, message: &Message) {
        let (cohort, rank) = self.place(slot);
        if let Message::TableRequest { table } = message {
            self.oracle.table_asked(cohort, rank, *table);
        }
        if let (
            Message::Ready { again, report, .. } | Message::ReadyMeasured { again, report, .. },
            FRAGMENT_BYTES,
        ) = (message, self.scenario.fragment_bytes)
        {
            self.oracle.put_told(cohort, rank, *again, report);
        }
    }

    /// What the oracles learn from a message when it is sent.
    fn said(&mut self, slot: SlotId, other: SlotId, message: &Message) {
        let (from, to) = (self.slot(slot).cohort, self.slot(other).cohort);
        if !matches!((from, to), (CohortId::Publisher(_), CohortId::Subscriber(_))) {
            return;
        }
        match message {
            Message::Subscribed { .. } if self.falsifies(Falsification::MembersUnheard) => {}
            Message::Subscribed { subscription, member, first, continues, .. } => {
                self.oracle.subscribed(from, to, *subscription, *member, *first);
                self.oracle.check_continues(to, *continues);
            }
            Message::Assign(assignment) => {
                if let Some(member) = self.oracle.member_of(from, to) {
                    self.oracle.assignment_sent(from, member, assignment);
                }
            }
            Message::AssignJudged { assignment, judgement } => {
                if let Some(member) = self.oracle.member_of(from, to) {
                    let judgement = Some(judgement.clone());
                    let assignment = Assignment { judgement, ..Assignment::clone(assignment) };
                    self.oracle.assignment_sent(from, member, &assignment);
                }
            }
            // To a member it says that its condition is refused, which its lead is asked about as it hears of it.
            Message::Refused { reason: RefusalReason::Condition(_) }
                if self.oracle.member_of(from, to).is_some() => {}
            // Who comes back may be counted still, and asks again.
            Message::Refused { reason } if reason.counts_subscriptions() => {}
            Message::Refused { .. } => self.oracle.refused(to),
            Message::Reselected { first, spec } => self.oracle.reselected(to, *first, spec),
            Message::StreamEnd { reason, skipped } => {
                let Some(member) = self.oracle.member_of(from, to) else { return };
                if let EndReason::Expelled { rank, cause: ExpulsionCause::Unreleased { waited } } = reason {
                    self.oracle.check_expulsion(from, member, *rank, *waited);
                }
                self.oracle.end_sent(from, member, reason, *skipped);
            }
            #[rustfmt::skip]
            Message::Heartbeat | Message::Probe { .. } | Message::ProbeReply { .. } | Message::Join { .. }
            | Message::Welcome { .. } | Message::TreeHello { .. }
            | Message::SubtreeOpen | Message::CohortOpen | Message::RankLost { .. }
            | Message::Ready { .. } | Message::Prepared { .. } | Message::Expire { .. }
            | Message::Closing { .. } | Message::Late { .. } | Message::TableRequest { .. }
            | Message::TableReply { .. } | Message::Log { .. } | Message::Subscribe { .. }
            | Message::Release { .. } | Message::Reselect { .. } | Message::Unsubscribe | Message::Leaving
            | Message::Attached { .. } | Message::AwaitingRestart { .. } | Message::Left
            | Message::Resolve { .. } | Message::Resolved { .. } | Message::Fragment { .. }
            | Message::TableRefused { .. } | Message::Unresolved { .. } | Message::RestartHeard
            | Message::AskContacts { .. } | Message::Contacts { .. } | Message::AskStatus { .. }
            | Message::Status { .. } | Message::StatusRefused { .. } | Message::ReadyMeasured { .. }
            | Message::Steer { .. } | Message::Steered { .. } | Message::SteeringAnswer { .. } => {}
        }
    }

    /// What the oracles learn from an input before the machine does.
    pub(crate) fn heard(&mut self, slot: SlotId, input: &Input) {
        if let Input::Message(from, message) = input {
            self.heard_message(slot, *from, message);
        }
        if let Input::Disconnected(peer) = input {
            self.note(slot, || format!("lost link {}", peer.0));
        }
    }

    fn heard_message(&mut self, slot: SlotId, from: PeerId, message: &Message) {
        let Some(other) = self.other_end(from) else { return };
        let (own, rank) = self.place(slot);
        let reader = self.slot(other).cohort;
        let from_reader = matches!((own, reader), (CohortId::Publisher(_), CohortId::Subscriber(_)));
        if let (Message::Release { step, given_back, .. }, true) = (message, from_reader) {
            self.oracle.release_heard(own, reader, *step, *given_back);
        }
        if let (Message::Subscribe { resume, .. }, true) = (message, from_reader) {
            self.oracle.asked(reader, *resume);
        }
        if let Message::Log { entries, .. } = message {
            self.oracle.tables_decided(own, rank, entries);
        }
        if let Message::TableReply { table, encoded: Some(_) } = message {
            self.oracle.table_sent(own, rank, *table);
        }
        if let (Message::Assign(assignment), CohortId::Subscriber(_)) = (message, own) {
            self.oracle.assignment_heard(own, rank, assignment.step);
        }
        if let (Message::AssignJudged { assignment, .. }, CohortId::Subscriber(_)) = (message, own) {
            self.oracle.assignment_heard(own, rank, assignment.step);
        }
    }

    fn disconnect(&mut self, peer: PeerId) {
        let Some((link, side)) = self.network.side(peer) else { return };
        if let Some(at) = self.network.close(self.now, link, side) {
            self.queue.push(at, Due::Closed { link, side: 1 - side });
        }
    }

    /// A message reaches its end of the link, if that is still open.
    pub(crate) fn message_arrives(
        &mut self,
        link: crate::simulator::network::LinkId,
        side: usize,
        bytes: &[u8],
    ) {
        let Some(end) = self.network.arrive(link, side) else { return };
        match codec::decode(bytes) {
            Ok(message) => match self.observer_at(end.slot) {
                Some(number) => self.observer_told(number, message, bytes.len()),
                None => self.input(end.slot, Input::Message(end.peer, message)),
            },
            Err(error) => self.oracle.violated(Rule::WhatWasEncodedIsDecoded, format!("{error:?}")),
        }
    }

    /// One side of a link hears of its end.
    pub(crate) fn link_closes(&mut self, link: crate::simulator::network::LinkId, side: usize) {
        let end = self.network.link(link).ends[side];
        if self.network.is_open(link, side) {
            self.network.shut(link, side);
            if let Some(number) = self.observer_at(end.slot) {
                self.observer_dismissed(number);
            }
            self.input(end.slot, Input::Disconnected(end.peer));
        }
    }

    fn dial(&mut self, slot: SlotId, ticket: DialTicket, contact: ContactText, epoch: Option<Epoch>) {
        self.note(slot, || format!("dials {}", contact.0));
        let target = self.directory.get(&contact).copied().unwrap_or(slot);
        let at = self.now.after(self.network.delay(self.now, slot, target));
        self.queue.push(at, Due::Dial { from: slot, ticket, contact, epoch });
    }

    /// A dial reaches the process behind a contact, if there is one, and if it answers with the right epoch.
    pub(crate) fn dial_arrives(
        &mut self,
        from: SlotId,
        ticket: DialTicket,
        contact: ContactText,
        epoch: Option<Epoch>,
    ) {
        let target = self.directory.get(&contact).copied();
        let life = target.map_or(Life::Done, |target| self.slot(target).life);
        let Some(target) = target.filter(|_| life == Life::Alive) else {
            // Behind a host that is gone nothing even refuses.
            let wait =
                if life == Life::Vanished { self.scenario.timing.silence } else { self.prng.micros(20, 200) };
            self.queue.push(self.now.after(wait), Due::Input(from, Input::DialFailed(ticket)));
            return;
        };
        if let Some(until) = self.slot(target).paused_until {
            self.queue.push(until, Due::Dial { from, ticket, contact, epoch });
            return;
        }
        let impostor = matches!(self.slot(target).machine, Some(Machine::Impostor(_)));
        let right = epoch.is_none_or(|epoch| epoch == self.slot(target).epoch) || impostor;
        let back = self.now.after(self.network.delay(self.now, target, from));
        if !right || !self.is_alive(from) {
            self.queue.push(back, Due::Input(from, Input::DialFailed(ticket)));
            return;
        }
        self.connect(from, target, ticket, back);
    }

    fn connect(&mut self, from: SlotId, target: SlotId, ticket: DialTicket, back: fp_proto::time::Moment) {
        let link = self.network.connect(from, target);
        let ends = self.network.link(link).ends;
        self.network.hold_until(link, 0, back);
        self.queue.push(back, Due::Input(from, Input::Dialled(ticket, ends[0].peer)));
        self.note(target, || format!("accepts link {}", ends[1].peer.0));
        let host = self.slot(from).cohort.host();
        self.input(target, Input::Accepted(ends[1].peer, host));
    }

    /// The rendezvous is read.
    pub(crate) fn listing(&mut self, slot: SlotId, name: &str) {
        let entries = self.rendezvous.listing(name);
        self.input(slot, Input::Listing(entries));
    }

    fn event(&mut self, slot: SlotId, event: Event) {
        self.note(slot, || format!("event {event:?}"));
        let (cohort, rank) = self.place(slot);
        if matches!(event, Event::OpenFailed(_) | Event::Closed(_)) {
            self.slot_mut(slot).finished = true;
        }
        match self.slot(slot).app {
            App::Publisher(_) => {
                self.oracle.publisher_event(cohort, rank, &event);
                self.publisher_hears(slot, &event);
            }
            App::Subscriber(_) => self.subscriber_hears(slot, event),
            App::None => {}
        }
    }
}
