//! How streams end and do not begin: who is told at once, who only when all is over, and who is no part of it.

use crate::conditions::{OTHER, READER, heard, publish, publisher, subscribe};
use crate::machines::{Publishers, START, Subscribers, TREE, cohort, dialled, effects, events, sent_to};
use fp_proto::commands::CommandError;
use fp_proto::config::{CohortConfig, ContactText, PublisherConfig, SubscriberConfig, SubscriptionSpec};
use fp_proto::effect::{DisconnectReason, Effect, Misbehaviour, PeerId};
use fp_proto::event::{CloseOutcome, Event, OpenFailure};
use fp_proto::message::{Decision, Message};
use fp_proto::outcome::{EndReason, LossReason, MemoryShortage, RefusalReason};
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_types::{Epoch, Rank, StepId};
use std::time::Duration;

fn is_told_the_end(said: &[Message]) -> bool {
    said.iter().any(|message| matches!(message, Message::StreamEnd { reason: EndReason::Closed, .. }))
}

#[test]
fn who_has_nothing_left_is_told_of_the_end_though_another_waits_for_a_step() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, SubscriptionSpec::default());
    let ask = Message::Subscribe {
        spec: SubscriptionSpec::default().into(),
        label: "one at a time".to_owned(),
        cohort_size: 1,
        credit: 1,
        resume: None,
    };
    machine.handle_accepted(START, OTHER);
    machine.handle_message(START, OTHER, ask);
    publish(&mut machine, false);
    publish(&mut machine, false);
    heard(&mut machine, READER);
    machine.close(START);
    let done = effects(|| machine.poll());
    assert!(is_told_the_end(&sent_to(&done, READER)), "it was given both steps");
    assert!(!is_told_the_end(&sent_to(&done, OTHER)), "a step waits for it");
    let release = Message::Release { step: StepId(0), retire: false, given_back: false };
    machine.handle_message(START, OTHER, release);
    assert!(is_told_the_end(&heard(&mut machine, OTHER)), "now it has the last one");
}

#[test]
fn a_lead_that_closes_at_its_deadline_tells_its_cohort() {
    let mut publishers = Publishers::open(1 << 20);
    let member = PeerId(20);
    publishers.lead.handle_accepted(START, member);
    let ask = |spec: SubscriptionSpec| Message::Subscribe {
        spec: spec.into(),
        label: "it".to_owned(),
        cohort_size: 1,
        credit: 9,
        resume: None,
    };
    publishers.lead.handle_message(START, member, ask(SubscriptionSpec::default()));
    // With the first step the ranks agree on the subscription.
    for _ in 0..3 {
        publishers.publish(1);
    }
    publishers.lead.close(START);
    publishers.lead.handle_message(START, TREE, Message::Closing { steps: 3 });
    effects(|| publishers.lead.poll());
    let late = START.after(cohort("stream", 0, 0).close_timeout + Duration::from_millis(1));
    // The others speak, so that nobody is lost for its silence.
    for peer in [TREE, member] {
        publishers.lead.handle_message(late, peer, Message::Heartbeat);
    }
    publishers.lead.handle_timeout(late);
    let done = effects(|| publishers.lead.poll());
    let has_closed = |message: &Message| {
        let Message::Log { entries, .. } = message else { return false };
        entries.iter().any(|entry| matches!(entry, Decision::Closed))
    };
    assert!(sent_to(&done, TREE).iter().any(has_closed), "{done:?}");
    let held = |event: &Event| matches!(event, Event::Closed(CloseOutcome::Held(_)));
    assert!(events(&done).iter().any(held), "{done:?}");
}

#[test]
fn a_lead_that_closes_gives_its_name_back() {
    let mut machine = publisher(0);
    machine.close(START);
    let done = effects(|| machine.poll());
    let is_back = |effect: &Effect| matches!(effect, Effect::WithdrawName { name, .. } if name == "stream");
    assert!(done.iter().any(is_back), "{done:?}");
}

/// Why a lead of two ranks refuses one that says this of itself.
fn refusal(rank: u32, size: u32) -> Option<RefusalReason> {
    let mut lead = PublisherMachine::new(PublisherConfig::new(cohort("stream", 0, 1 << 20), Epoch(7)), START);
    lead.handle_listing(START, Vec::new());
    lead.handle_accepted(START, TREE);
    let contact = ContactText("its place".to_owned());
    lead.handle_message(START, TREE, Message::Join { rank: Rank(rank), size, contact, first_step: None });
    sent_to(&effects(|| lead.poll()), TREE).into_iter().find_map(|message| {
        let Message::Refused { reason } = message else { return None };
        Some(reason)
    })
}

#[test]
fn a_rank_that_the_cohort_does_not_have_is_refused() {
    for (rank, size) in [(0, 2), (2, 2), (1, 3), (5, 9)] {
        let expected = RefusalReason::CohortMismatch { rank: Rank(rank), size, expected_size: 2 };
        assert_eq!(refusal(rank, size), Some(expected));
    }
    assert_eq!(refusal(1, 2), None);
}

#[test]
fn only_ranks_that_the_publisher_has_are_asked_for() {
    let mut subscribers = Subscribers::open();
    // A publisher of one rank.
    subscribers.attach(START, PeerId(21), Epoch(7));
    for ranks in [vec![], vec![Rank(1)], vec![Rank(0), Rank(7)]] {
        let refused = CommandError::InvalidRanks { ranks: ranks.len(), size: 1 };
        assert_eq!(subscribers.lead.ask_contacts(START, ranks), Err(refused));
    }
    assert!(subscribers.lead.ask_contacts(START, vec![Rank(0)]).is_ok());
}

/// What becomes of rank 1 of 2 that the lead refuses for this reason.
fn refused(reason: RefusalReason) -> Vec<Event> {
    let mut rank = PublisherMachine::new(PublisherConfig::new(cohort("stream", 1, 1 << 20), Epoch(9)), START);
    let ticket = dialled(&effects(|| rank.poll()));
    rank.handle_dialled(START, ticket, TREE);
    rank.handle_message(START, TREE, Message::ProbeReply { epoch: Epoch(7), incumbent: true });
    let joins = sent_to(&effects(|| rank.poll()), TREE);
    assert!(joins.iter().any(|message| matches!(message, Message::Join { .. })), "{joins:?}");
    rank.handle_message(START, TREE, Message::Refused { reason });
    events(&effects(|| rank.poll()))
}

#[test]
fn a_rank_that_does_not_fit_is_told_at_once_and_one_that_came_too_early_looks_again() {
    let mismatch = RefusalReason::CohortMismatch { rank: Rank(1), size: 2, expected_size: 3 };
    let events = refused(mismatch.clone());
    let failed = |event: &Event| matches!(event, Event::OpenFailed(OpenFailure::Refused(reason)) if *reason == mismatch);
    assert!(events.iter().any(failed), "{events:?}");
    assert_eq!(refused(RefusalReason::RankTaken { rank: Rank(1) }), []);
    assert_eq!(refused(RefusalReason::Closing), []);
}

#[test]
fn a_child_that_is_two_epochs_behind_hears_of_two_restarts() {
    let child = PeerId(11);
    let at = |secs| START.after(Duration::from_secs(secs));
    let mut subscribers = Subscribers::open();
    for epoch in 0..3 {
        let publisher = PeerId(21 + epoch);
        subscribers.attach(at(epoch), publisher, Epoch(7 + u128::from(epoch)));
        if epoch < 2 {
            subscribers.lead.handle_disconnected(at(epoch), publisher);
        }
    }
    let mut hear = || subscribers.hear(at(2), child, vec![Message::RestartHeard]);
    assert_eq!((hear(), hear()), (Vec::new(), Vec::new()));
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::OutOfOrder("RestartHeard"));
    assert!(hear().contains(&Effect::Disconnect { peer: child, reason }), "there were no more");
}

/// Nothing is published under that name yet.
#[test]
fn a_name_that_is_not_there_is_looked_up_again_after_a_while_and_no_sooner() {
    let mut config = cohort("stream", 1, 1 << 20);
    let interval = config.lookup_interval;
    config.lead_contact = None;
    let mut rank = PublisherMachine::new(PublisherConfig::new(config, Epoch(9)), START);
    let lookups = |rank: &mut PublisherMachine| {
        effects(|| rank.poll()).iter().filter(|effect| matches!(effect, Effect::Lookup { .. })).count()
    };
    assert_eq!(lookups(&mut rank), 1);
    rank.handle_listing(START, Vec::new());
    assert_eq!(rank.deadline(), Some(START.after(interval)));
    rank.handle_timeout(START.after(interval / 2));
    assert_eq!(lookups(&mut rank), 0);
    rank.handle_timeout(START.after(interval));
    assert_eq!(lookups(&mut rank), 1);
}

/// What a lone subscriber is told in the end whose publisher has refused it so, and goes on refusing.
fn told_after(reason: RefusalReason) -> Vec<Event> {
    let mut config =
        SubscriberConfig::new(CohortConfig::alone("reader", ContactText("r".to_owned())), Epoch(3), "stream");
    config.publisher_contact = Some(ContactText("stream.0".to_owned()));
    let late = START.after(config.cohort.open_timeout);
    let (mut subscriber, publisher) = (SubscriberMachine::new(config, START), PeerId(21));
    let ticket = dialled(&effects(|| subscriber.poll()));
    subscriber.handle_dialled(START, ticket, publisher);
    let reply = Message::ProbeReply { epoch: Epoch(7), incumbent: true };
    for message in [reply, Message::Refused { reason }] {
        subscriber.handle_message(START, publisher, message);
    }
    subscriber.handle_timeout(late);
    events(&effects(|| subscriber.poll()))
}

#[test]
fn who_waited_in_vain_for_what_may_pass_is_told_what_it_was() {
    let short = RefusalReason::ShortOfMemory(MemoryShortage { left_bytes: 1, kept_bytes: 2 });
    let is_refused = |event: &Event| matches!(event, Event::OpenFailed(OpenFailure::Refused(_)));
    let told = told_after(short.clone());
    assert!(told.contains(&Event::OpenFailed(OpenFailure::Refused(short))), "{told:?}");
    // One that was closing may be gone by then: what is missing now is told.
    let told = told_after(RefusalReason::Closing);
    assert!(matches!(told[..], [.., Event::OpenFailed(OpenFailure::TimedOut(_))]), "{told:?}");
    assert!(!told.iter().any(is_refused), "{told:?}");
}

#[test]
fn whoever_awaits_a_restart_takes_no_epoch_that_is_over() {
    let (first, second) = (PeerId(21), PeerId(22));
    let at = |secs| START.after(Duration::from_secs(secs));
    let mut subscribers = Subscribers::open();
    subscribers.attach(START, first, Epoch(7));
    assert_eq!(subscribers.lead.epoch(), Some(Epoch(7)));
    let reason = EndReason::Lost { rank: Rank(3), reason: LossReason::Disconnected };
    let said = subscribers.hear(START, first, vec![Message::StreamEnd { reason, skipped: 0 }]);
    let ticket = dialled(&said);
    subscribers.lead.handle_dialled(at(1), ticket, second);
    let said =
        subscribers.hear(at(1), second, vec![Message::ProbeReply { epoch: Epoch(7), incumbent: true }]);
    assert!(said.contains(&Effect::Disconnect { peer: second, reason: DisconnectReason::Done }), "{said:?}");
    let said = subscribers.attach(at(2), PeerId(23), Epoch(8));
    assert_eq!(subscribers.lead.epoch(), Some(Epoch(8)));
    assert!(events(&said).iter().any(|event| matches!(event, Event::Restarted { .. })), "{said:?}");
}

/// The publisher counts it still, as it has not noticed that the link is gone.
#[test]
fn whoever_comes_back_is_not_ended_by_its_own_place() {
    let (first, second) = (PeerId(21), PeerId(22));
    let at = |secs| START.after(Duration::from_secs(secs));
    let refusals = [
        RefusalReason::TooManyOfPeer { limit: 1, peer: "host 1".to_owned() },
        RefusalReason::TooManySubscriptions { limit: 1 },
    ];
    for reason in refusals {
        let mut subscribers = Subscribers::open();
        subscribers.attach(START, first, Epoch(7));
        subscribers.lead.handle_disconnected(START, first);
        let ticket = dialled(&effects(|| subscribers.lead.poll()));
        subscribers.lead.handle_dialled(at(1), ticket, second);
        let reply = Message::ProbeReply { epoch: Epoch(7), incumbent: true };
        let said = subscribers.hear(at(1), second, vec![reply, Message::Refused { reason }]);
        assert_eq!(events(&said), []);
        let said = subscribers.attach(at(2), PeerId(23), Epoch(7));
        assert!(events(&said).iter().any(|event| matches!(event, Event::Restarted { .. })), "{said:?}");
    }
}
