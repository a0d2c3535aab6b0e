//! How streams end and do not begin: who is told at once, and who only when all is over.

use crate::conditions::{OTHER, READER, heard, publish, publisher, subscribe};
use crate::machines::{Publishers, START, TREE, cohort, dialled, effects, events, sent_to};
use fp_proto::config::{PublisherConfig, SubscriptionSpec};
use fp_proto::effect::PeerId;
use fp_proto::event::{CloseOutcome, Event, OpenFailure};
use fp_proto::message::{Decision, Message};
use fp_proto::outcome::{EndReason, RefusalReason};
use fp_proto::publisher::PublisherMachine;
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
        spec: SubscriptionSpec::default(),
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
    let ask =
        |spec| Message::Subscribe { spec, label: "it".to_owned(), cohort_size: 1, credit: 9, resume: None };
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
