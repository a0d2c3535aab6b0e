//! Losses in a publisher's cohort: who is told, what is freed at once, and when closing ends.

use crate::conditions::{OTHER, READER};
use crate::machines::{Publishers, START, TREE, begin, cohort, contribution, effects, events, sent_to};
use crate::middle_rank::{CHILDREN, PARENT, contact, without_children};
use fp_proto::config::{PublisherConfig, SubscriptionSpec};
use fp_proto::effect::{DisconnectReason, Effect, Misbehaviour, PeerId};
use fp_proto::event::{CloseOutcome, Event, OpenFailure};
use fp_proto::message::{Decision, Message};
use fp_proto::outcome::{EndReason, LossReason};
use fp_proto::publisher::PublisherMachine;
use fp_types::{Contribution, Epoch, Rank, StepId};

const LOST: LossReason = LossReason::Disconnected;

fn subscribe(lead: &mut PublisherMachine, member: PeerId) {
    subscribe_with(lead, member, 9);
}

fn subscribe_with(lead: &mut PublisherMachine, member: PeerId, credit: u64) {
    lead.handle_accepted(START, member);
    let spec = SubscriptionSpec::default();
    let ask = Message::Subscribe {
        spec: spec.into(),
        label: "it".to_owned(),
        cohort_size: 1,
        credit,
        resume: None,
    };
    lead.handle_message(START, member, ask);
}

/// The steps that a machine frees now, each with whether its memory is retired.
fn freed(effects: &[Effect]) -> Vec<(u64, bool)> {
    let freed = |effect: &Effect| {
        let Effect::Free { step, retire } = *effect else { return None };
        Some((step.0, retire))
    };
    effects.iter().filter_map(freed).collect()
}

fn closes_as_lost(effects: &[Effect]) -> bool {
    let lost = |event: &Event| matches!(event, Event::Closed(CloseOutcome::Lost { .. }));
    events(effects).iter().any(lost)
}

/// Two ranks, and a subscriber that was given steps 1 and 2 and holds them.
fn publishers_of_held_steps() -> Publishers {
    let mut publishers = Publishers::open(1 << 20);
    subscribe(&mut publishers.lead, READER);
    // With the first step the ranks agree on the subscription.
    for _ in 0..3 {
        publishers.publish(1);
    }
    publishers
}

#[test]
fn a_rank_that_is_lost_while_its_cohort_opens_ends_the_opening_for_all() {
    let mut machine = without_children();
    for (peer, rank) in CHILDREN {
        machine.handle_accepted(START, peer);
        machine.handle_message(START, peer, Message::TreeHello { rank, contact: contact(rank.0) });
    }
    effects(|| machine.poll());
    let [(lost_peer, rank), (other, _)] = CHILDREN;
    machine.handle_disconnected(START, lost_peer);
    let done = effects(|| machine.poll());
    let lost = Message::RankLost { rank, reason: LOST };
    assert_eq!((sent_to(&done, PARENT), sent_to(&done, other)), (vec![lost.clone()], vec![lost]));
    let failed = Event::OpenFailed(OpenFailure::RankLost { rank, reason: LOST });
    assert_eq!(events(&done), [failed]);
}

#[test]
fn steps_that_nobody_was_given_are_freed_with_the_loss() {
    let mut publishers = Publishers::open(1 << 20);
    // Rank 1 has not said what it puts into the first step, and both have begun another.
    let first = publishers.begin();
    publishers.lead.end_step(START, first, Contribution::default(), Vec::new(), 0).expect("ended");
    begin(&mut publishers.lead);
    publishers.exchange();
    publishers.lead.handle_disconnected(START, TREE);
    assert_eq!(freed(&effects(|| publishers.lead.poll())), [(0, false), (1, false)]);
}

#[test]
fn a_rank_without_its_lead_keeps_what_that_may_have_given_until_it_closes() {
    let mut publishers = Publishers::open(1 << 20);
    let first = publishers.begin();
    publishers.other.end_step(START, first, contribution(1), Vec::new(), 8).expect("ended");
    publishers.exchange();
    begin(&mut publishers.other);
    publishers.other.handle_disconnected(START, TREE);
    let done = effects(|| publishers.other.poll());
    // Of the open step nobody can have heard.
    assert_eq!(freed(&done), [(1, false)]);
    assert!(events(&done).contains(&Event::RankLost { rank: Rank(0), reason: LOST }), "{done:?}");
    publishers.other.close(START);
    let done = effects(|| publishers.other.poll());
    assert_eq!(freed(&done), [(0, true)], "whoever was given it may still look");
    assert!(closes_as_lost(&done), "{done:?}");
}

#[test]
fn a_rank_that_heard_of_a_loss_and_then_loses_its_lead_closes_at_once() {
    for loses_lead in [false, true] {
        let mut publishers = publishers_of_held_steps();
        let lost = Decision::Lost { rank: Rank(0), reason: LossReason::Misbehaved };
        let told = Message::Log { serial: publishers.serial, entries: vec![lost] };
        publishers.other.handle_message(START, TREE, told);
        if loses_lead {
            publishers.other.handle_disconnected(START, TREE);
        }
        let done = effects(|| publishers.other.poll());
        let expected = Event::RankLost { rank: Rank(0), reason: LossReason::Misbehaved };
        assert_eq!(events(&done), [expected], "it is told once");
        publishers.other.close(START);
        // A lead that is there tells when the subscriber has released its step.
        assert_eq!(closes_as_lost(&effects(|| publishers.other.poll())), loses_lead);
    }
}

#[test]
fn a_lead_that_lost_a_rank_closes_when_the_last_step_is_released() {
    let mut publishers = publishers_of_held_steps();
    publishers.lead.handle_disconnected(START, TREE);
    publishers.lead.close(START);
    assert!(!closes_as_lost(&effects(|| publishers.lead.poll())));
    for step in [1, 2] {
        let release = Message::Release { step: StepId(step), retire: false, given_back: false };
        publishers.lead.handle_message(START, READER, release);
        let done = effects(|| publishers.lead.poll());
        assert_eq!(closes_as_lost(&done), step == 2, "{done:?}");
        let blamed = |effect: &Effect| {
            matches!(effect, Effect::Disconnect { reason: DisconnectReason::PeerMisbehaved(_), .. })
        };
        assert!(!done.iter().any(blamed), "{done:?}");
    }
}

#[test]
fn whoever_is_told_of_a_loss_is_told_how_many_steps_it_will_not_get() {
    let mut publishers = Publishers::open(1 << 20);
    subscribe_with(&mut publishers.lead, READER, 1);
    // With the first step the ranks agree on it, one is assigned, and two wait.
    for _ in 0..4 {
        publishers.publish(1);
    }
    publishers.lead.handle_disconnected(START, TREE);
    let reason = EndReason::Lost { rank: Rank(1), reason: LOST };
    let told = sent_to(&effects(|| publishers.lead.poll()), READER);
    assert_eq!(told, [Message::StreamEnd { reason, skipped: 2 }]);
}

/// The lead of so many ranks, linked to nobody yet.
fn lead(ranks: u32) -> PublisherMachine {
    let mut config = cohort("stream", 0, 1 << 20);
    config.size = ranks;
    let mut machine = PublisherMachine::new(PublisherConfig::new(config, Epoch(7)), START);
    machine.handle_listing(START, Vec::new());
    machine
}

fn join(lead: &mut PublisherMachine, rank: u32, size: u32) {
    let (peer, contact) = (PeerId(100 + u64::from(rank)), contact(rank));
    lead.handle_accepted(START, peer);
    let (rank, first_step) = (Rank(rank), None);
    let hello = Message::TreeHello { rank, contact: contact.clone() };
    for message in [Message::Join { rank, size, contact, first_step }, hello, Message::SubtreeOpen] {
        lead.handle_message(START, peer, message);
    }
}

#[test]
fn whoever_joins_as_one_rank_and_comes_as_another_is_blamed() {
    let mut lead = lead(4);
    let (peer, contact) = (PeerId(101), contact(1));
    lead.handle_accepted(START, peer);
    let join = Message::Join { rank: Rank(1), size: 4, contact: contact.clone(), first_step: None };
    lead.handle_message(START, peer, join);
    lead.handle_message(START, peer, Message::TreeHello { rank: Rank(2), contact });
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::Unexpected("TreeHello"));
    let done = effects(|| lead.poll());
    assert!(done.contains(&Effect::Disconnect { peer, reason }), "{done:?}");
}

#[test]
fn a_second_loss_is_no_news() {
    let mut lead = lead(4);
    (1..4).for_each(|rank| join(&mut lead, rank, 4));
    effects(|| lead.poll());
    let told = |lead: &mut PublisherMachine, gone: u64| {
        lead.handle_disconnected(START, PeerId(gone));
        let done = effects(|| lead.poll());
        (events(&done), sent_to(&done, PeerId(103)))
    };
    let (rank, reason) = (Rank(1), LOST);
    let entries = vec![Decision::Lost { rank, reason }];
    let (heard, sent) = told(&mut lead, 101);
    assert_eq!(heard, [Event::RankLost { rank, reason }]);
    assert!(matches!(&sent[..], [Message::Log { entries: sent, .. }] if *sent == entries), "{sent:?}");
    assert_eq!(told(&mut lead, 102), (Vec::new(), Vec::new()));
}

#[test]
fn a_subscriber_that_comes_before_the_cohort_is_whole_is_served_unless_it_has_gone() {
    let mut lead = lead(2);
    subscribe(&mut lead, READER);
    subscribe(&mut lead, OTHER);
    lead.handle_disconnected(START, OTHER);
    join(&mut lead, 1, 2);
    let joined = events(&effects(|| lead.poll()));
    let joined = joined.iter().filter(|event| matches!(event, Event::MemberJoined { .. })).count();
    assert_eq!(joined, 1);
    lead.handle_disconnected(START, READER);
    let left = events(&effects(|| lead.poll()));
    assert!(left.iter().any(|event| matches!(event, Event::MemberLeft { .. })), "{left:?}");
}
