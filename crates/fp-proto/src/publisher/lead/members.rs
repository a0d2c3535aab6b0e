//! Subscribing, leaving, expulsion: who the members are.

use super::{Ask, Member, Served};
use crate::config::{QueuePolicy, SubscriptionSpec, VariableSet};
use crate::effect::{DisconnectReason, Misbehaviour, PeerId};
use crate::event::{Event, MemberEnd};
use crate::message::{ChangeId, ChangeKind, Decision, MemberId, Message};
use crate::outcome::{EndReason, LossReason, RefusalReason, SpecPart};
use crate::publisher::{Phase, PublisherMachine};
use crate::transition::Transition;
use crate::wire::Role;
use fp_types::{Rank, StepId, SubscriptionId};
use std::collections::{BTreeSet, VecDeque};

impl PublisherMachine {
    /// A subscriber cohort asks for a subscription.
    pub(crate) fn subscribe(&mut self, from: PeerId, ask: Ask) {
        if self.phase == Phase::Opening {
            self.wire.set_role(from, Role::Early);
            if let Some(lead) = &mut self.lead {
                lead.early.push((from, ask));
            }
            return;
        }
        if self.wire.role(from).is_none() {
            return;
        }
        match self.subscription_for(&ask) {
            Ok(subscription) => self.add_member(from, subscription, ask),
            Err(reason) => {
                self.wire.mark(Transition::SubscribeRefused);
                self.wire.send(self.now, from, Message::Refused { reason });
                self.wire.disconnect(from, DisconnectReason::Refused);
            }
        }
    }

    /// The set that it joins, or `None` for a new subscription.
    fn subscription_for(&self, ask: &Ask) -> Result<Option<SubscriptionId>, RefusalReason> {
        check_spec(&ask.spec, ask.credit)?;
        if self.phase != Phase::Streaming {
            return Err(RefusalReason::Closing);
        }
        let Some(lead) = &self.lead else { return Err(RefusalReason::Closing) };
        if let Some(share) = &ask.spec.share {
            let of_set = |served: &&SubscriptionSpec| {
                served.share.as_ref().is_some_and(|other| other.set == share.set)
            };
            let mut live = lead.served.iter().filter(|(_, served)| !served.removed);
            if let Some((&id, served)) = live.find(|(_, served)| of_set(&&served.spec)) {
                let same = served.spec == ask.spec;
                return if same {
                    Ok(Some(id))
                } else {
                    Err(RefusalReason::ShareMismatch { set: share.set.clone() })
                };
            }
        }
        let limit = self.config.limit_subscriptions;
        if lead.live_subscriptions() >= limit as usize {
            return Err(RefusalReason::TooManySubscriptions { limit });
        }
        Ok(None)
    }

    fn add_member(&mut self, from: PeerId, joins: Option<SubscriptionId>, ask: Ask) {
        let Some(lead) = &mut self.lead else { return };
        let member = MemberId(lead.next_member);
        lead.next_member += 1;
        let subscription = joins.unwrap_or(SubscriptionId(lead.next_subscription));
        let Ask { spec, label, cohort_size, credit } = ask;
        lead.members.insert(
            member,
            Member {
                subscription,
                peer: from,
                credit,
                assigned: 0,
                held: BTreeSet::new(),
                served: 0,
                ended: false,
            },
        );
        self.wire.set_role(from, Role::Member(member));
        self.wire.event(Event::MemberJoined { subscription, member, label, cohort_size });
        match joins {
            Some(_) => self.join_set(subscription, member),
            None => self.new_subscription(subscription, member, spec),
        }
    }

    fn join_set(&mut self, subscription: SubscriptionId, member: MemberId) {
        self.wire.mark(Transition::ShareJoined);
        let Some(lead) = &mut self.lead else { return };
        let Some(served) = lead.served.get_mut(&subscription) else { return };
        served.members.push(member);
        let Some(first) = served.first else { return };
        let first = first.max(lead.next_decided);
        self.tell_subscribed(member, first);
        self.assign(subscription);
    }

    fn new_subscription(&mut self, subscription: SubscriptionId, member: MemberId, spec: SubscriptionSpec) {
        let Some(lead) = &mut self.lead else { return };
        lead.next_subscription += 1;
        let served = Served {
            spec: spec.clone(),
            first: None,
            reserve_from: StepId(0),
            members: vec![member],
            queue: VecDeque::new(),
            skipped: 0,
            turn: 0,
            served: 0,
            removed: false,
        };
        lead.served.insert(subscription, served);
        self.change(subscription, ChangeKind::Add(spec));
    }

    /// Starts the first pass of a change.
    fn change(&mut self, subscription: SubscriptionId, kind: ChangeKind) {
        let Some(lead) = &mut self.lead else { return };
        let change = ChangeId(lead.next_change);
        lead.next_change += 1;
        self.append(Decision::Prepare { change, subscription, kind });
    }

    /// Both passes are done: members of a new selection are told, queued steps go out.
    pub(crate) fn change_started(&mut self, subscription: SubscriptionId, first: StepId, kind: &ChangeKind) {
        let Some(lead) = &mut self.lead else { return };
        if *kind == ChangeKind::Remove {
            lead.served.remove(&subscription);
            return;
        }
        if let ChangeKind::Update(spec) = kind {
            // Not before: who joins a set until then asks for what was, and is told with the others.
            if let Some(served) = lead.served.get_mut(&subscription) {
                served.spec = spec.clone();
            }
            self.tell_members(subscription, &Message::Reselected { first, spec: spec.clone() });
        }
        self.assign(subscription);
    }

    fn tell_members(&mut self, subscription: SubscriptionId, message: &Message) {
        let Some(lead) = &self.lead else { return };
        let peers = lead
            .members
            .values()
            .filter(|member| member.subscription == subscription)
            .map(|member| member.peer);
        for peer in peers.collect::<Vec<_>>() {
            self.wire.send(self.now, peer, message.clone());
        }
    }

    pub(crate) fn tell_subscribed(&mut self, member: MemberId, first: StepId) {
        let Some(lead) = &self.lead else { return };
        let Some(known) = lead.members.get(&member) else { return };
        let publisher_size = self.config.cohort.size;
        let subscription = known.subscription;
        let message = Message::Subscribed { subscription, member, first, publisher_size };
        self.wire.send(self.now, known.peer, message);
    }

    pub(crate) fn hear_member(&mut self, from: PeerId, member: MemberId, message: Message) {
        match message {
            Message::Heartbeat => {}
            Message::Release { step } => self.member_released(from, member, step),
            Message::Reselect { spec } => self.reselect(from, member, spec),
            Message::Unsubscribe => self.member_left(from, member),
            Message::Resolve { request, table, queries } => self.resolve(from, request, table, queries),
            Message::AskContacts { request, ranks } => self.contacts_asked(from, request, ranks),
            other => self.unexpected(from, &other),
        }
    }

    fn reselect(&mut self, from: PeerId, member: MemberId, spec: SubscriptionSpec) {
        let Some(lead) = &mut self.lead else { return };
        let Some(subscription) = lead.members.get(&member).map(|known| known.subscription) else { return };
        let Some(served) = lead.served.get(&subscription) else { return };
        if !spec.is_reselection_of(&served.spec) || check_spec(&spec, 1).is_err() || served.first.is_none() {
            self.misbehaved(from, Misbehaviour::Unexpected("Reselect"));
            return;
        }
        self.change(subscription, ChangeKind::Update(spec));
    }

    fn member_left(&mut self, from: PeerId, member: MemberId) {
        self.wire.mark(Transition::MemberLeft);
        self.wire.disconnect(from, DisconnectReason::Done);
        self.end_member(member, MemberEnd::Left);
    }

    /// A member's link is gone.
    pub(crate) fn member_lost(&mut self, member: MemberId, reason: LossReason) {
        self.wire.mark(Transition::MemberLost);
        self.end_member(member, MemberEnd::Lost(reason));
    }

    /// A member is gone: what it held is released, or handed to others of its set.
    fn end_member(&mut self, member: MemberId, reason: MemberEnd) {
        let Some(lead) = &mut self.lead else { return };
        let Some(known) = lead.members.remove(&member) else { return };
        let subscription = known.subscription;
        self.wire.event(Event::MemberLeft { subscription, member, reason });
        self.drop_from_set(subscription, member);
        self.recover(subscription, known.held, reason);
        let Some(lead) = &self.lead else { return };
        let last = lead.served.get(&subscription).is_some_and(|served| served.members.is_empty());
        if last {
            self.remove_subscription(subscription);
        } else {
            self.assign(subscription);
        }
        self.consider_ending();
    }

    fn drop_from_set(&mut self, subscription: SubscriptionId, member: MemberId) {
        let Some(served) = self.lead.as_mut().and_then(|lead| lead.served.get_mut(&subscription)) else {
            return;
        };
        let Some(at) = served.members.iter().position(|&id| id == member) else { return };
        served.members.remove(at);
        if at < served.turn {
            served.turn -= 1;
        }
    }

    fn remove_subscription(&mut self, subscription: SubscriptionId) {
        let Some(served) = self.lead.as_mut().and_then(|lead| lead.served.get_mut(&subscription)) else {
            return;
        };
        if std::mem::replace(&mut served.removed, true) {
            return;
        }
        let queued: Vec<StepId> = served.queue.drain(..).map(|queued| queued.step).collect();
        self.released(subscription, queued, false);
        self.change(subscription, ChangeKind::Remove);
    }

    /// The owner of the publisher would not wait any longer.
    pub(crate) fn expel(&mut self, subscription: SubscriptionId, rank: Rank, waited_ms: u64) {
        let Some(lead) = &self.lead else { return };
        let of_it = lead.members.iter().filter(|(_, member)| member.subscription == subscription);
        let members: Vec<(MemberId, PeerId)> = of_it.map(|(&id, member)| (id, member.peer)).collect();
        for (member, peer) in members {
            self.wire.mark(Transition::MemberExpelled);
            let skipped = self.unassigned(subscription);
            let reason = EndReason::Expelled { rank, waited_ms };
            self.wire.send(self.now, peer, Message::StreamEnd { reason, skipped });
            self.wire.disconnect(peer, DisconnectReason::Ended);
            self.end_member(member, MemberEnd::Expelled);
        }
    }

    /// Steps that a subscription had coming and does not get.
    pub(crate) fn unassigned(&self, subscription: SubscriptionId) -> u64 {
        let served = self.lead.as_ref().and_then(|lead| lead.served.get(&subscription));
        served.map_or(0, |served| {
            served.skipped + served.queue.iter().map(|queued| queued.skipped + 1).sum::<u64>()
        })
    }
}

fn check_spec(spec: &SubscriptionSpec, credit: u64) -> Result<(), RefusalReason> {
    let sorted = match &spec.variables {
        VariableSet::All => true,
        VariableSet::Named(names) => names.windows(2).all(|pair| pair[0] < pair[1]),
    };
    let every = match spec.policy {
        QueuePolicy::EveryKth { every, .. } => every,
        _ => 1,
    };
    let distinct = spec.derivations.windows(2).all(|pair| pair[0] < pair[1]);
    let part = match () {
        () if spec.limit_steps == 0 => SpecPart::LimitSteps,
        () if every == 0 => SpecPart::EveryKth,
        () if credit == 0 => SpecPart::Credit,
        () if !sorted => SpecPart::Variables,
        () if !distinct => SpecPart::Derivations,
        () => return Ok(()),
    };
    Err(RefusalReason::InvalidSpec { part })
}
