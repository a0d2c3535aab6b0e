//! What observers are told: one rank in the middle of a tree by hand, asked from every side. Some of its neighbours
//! answer, and some do not.

use crate::machines::Subscribers;
use crate::middle_rank::{CHILDREN, PARENT, START, contact, effects, middle_rank};
use fp_proto::bounds::{
    LIMIT_OBSERVERS, LIMIT_REFUSED_QUESTIONS, LIMIT_STATUS_COHORTS, LIMIT_STATUS_ITEMS, OBSERVER_QUESTIONS,
};
use fp_proto::commands::{Begin, Next};
use fp_proto::config::{CohortConfig, PublisherConfig, QueuePolicy, SubscriberConfig, SubscriptionSpec};
use fp_proto::effect::{DisconnectReason, Effect, Misbehaviour, PeerId};
use fp_proto::message::{Assignment, Message};
use fp_proto::publisher::PublisherMachine;
use fp_proto::status::report::{
    CohortStatus, NoAnswer, RankPhase, StatusRefusal, StatusReport, StatusScope, Unanswered, WaitOn,
};
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_types::{Contribution, Epoch, Rank, StepId, TableId};
use std::time::Duration;

const OBSERVER: PeerId = PeerId(2);
const READER: PeerId = PeerId(3);

fn at_ms(ms: u64) -> Moment {
    Moment::from_micros(ms * 1000)
}

/// What it sends about status, and to whom.
fn said(machine: &mut PublisherMachine) -> Vec<(PeerId, Message)> {
    let said = |effect| {
        let Effect::Send { to, message } = effect else { return None };
        let is_status = matches!(
            message,
            Message::AskStatus { .. } | Message::Status { .. } | Message::StatusRefused { .. }
        );
        is_status.then_some((to, message))
    };
    effects(machine).into_iter().filter_map(said).collect()
}

fn ask(request: u64, scope: StatusScope) -> Message {
    Message::AskStatus { request, scope, patience_ms: 60_000 }
}

/// A cohort's words: so many answered, and these did not.
fn words(answered: u32, unanswered: Vec<Unanswered>) -> Message {
    let cohort = CohortStatus { size: 9, answered, unanswered, ..CohortStatus::default() };
    Message::Status { request: 0, report: Box::new(StatusReport { cohorts: vec![cohort] }) }
}

fn the_report(said: &[(PeerId, Message)]) -> &CohortStatus {
    let [(OBSERVER, Message::Status { report, .. })] = said else { panic!("{said:?}") };
    &report.cohorts[0]
}

/// Rank 1 of 9, its cohort complete, with an observer that has not asked yet.
fn rank() -> PublisherMachine {
    middle_rank(OBSERVER).0
}

#[test]
fn a_rank_answers_for_itself_at_once() {
    let mut machine = rank();
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Rank(Rank(1))));
    let said = said(&mut machine);
    let cohort = the_report(&said);
    assert_eq!((cohort.size, cohort.answered, cohort.told()), (9, 1, 1));
    assert_eq!((cohort.ranks[0].rank, cohort.ranks[0].phase), (Rank(1), RankPhase::Streaming));
    assert_eq!(cohort.ranks[0].links.len(), 4, "a parent, two children, the observer");
}

#[test]
fn of_many_links_as_many_are_told_as_an_answer_has_room_for() {
    let mut machine = rank();
    (100..200).for_each(|stranger| machine.handle_accepted(START, PeerId(stranger)));
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Rank(Rank(1))));
    let said = said(&mut machine);
    let row = &the_report(&said).ranks[0];
    assert_eq!((row.links.len(), row.links_left_out), (LIMIT_STATUS_ITEMS, 104 - LIMIT_STATUS_ITEMS as u32));
}

#[test]
fn a_cohort_is_asked_along_the_tree_and_who_is_silent_is_named() {
    let mut machine = rank();
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Cohort));
    let asked = said(&mut machine);
    let to: Vec<PeerId> = asked.iter().map(|(to, _)| *to).collect();
    assert_eq!(to, [PARENT, CHILDREN[0].0, CHILDREN[1].0]);
    let less = |message: &Message| matches!(message, Message::AskStatus { patience_ms: 875, .. });
    assert!(asked.iter().all(|(_, message)| less(message)), "who is further away has less time: {asked:?}");
    machine.handle_message(at_ms(1), PARENT, words(4, Vec::new()));
    machine.handle_message(at_ms(2), CHILDREN[1].0, words(1, Vec::new()));
    assert_eq!(said(&mut machine), [], "rank 3 has not answered");
    assert_eq!(machine.deadline(), Some(at_ms(1000)));
    machine.handle_timeout(at_ms(1000));
    let said = said(&mut machine);
    let cohort = the_report(&said);
    let silent = Unanswered { rank: Rank(3), beyond: 2, why: NoAnswer::Silent { unheard_ms: 1000 } };
    assert_eq!((cohort.answered, cohort.told()), (6, 9));
    assert_eq!(cohort.unanswered, [silent]);
}

#[test]
fn the_lead_is_named_like_any_other_and_a_late_answer_is_passed_over() {
    let mut machine = rank();
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Cohort));
    machine.handle_message(at_ms(1), CHILDREN[0].0, words(3, Vec::new()));
    machine.handle_message(at_ms(2), CHILDREN[1].0, words(1, Vec::new()));
    effects(&mut machine);
    machine.handle_timeout(at_ms(1000));
    let heard = said(&mut machine);
    let silent = Unanswered { rank: Rank(0), beyond: 3, why: NoAnswer::Silent { unheard_ms: 1000 } };
    assert_eq!(the_report(&heard).unanswered, [silent]);
    machine.handle_message(at_ms(1001), PARENT, words(4, Vec::new()));
    assert_eq!(effects(&mut machine), []);
}

#[test]
fn a_lost_neighbour_is_named_at_once() {
    let mut machine = rank();
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Rank(Rank(8))));
    let asked = said(&mut machine);
    assert!(matches!(asked[..], [(PeerId(13), Message::AskStatus { .. })]), "{asked:?}");
    machine.handle_disconnected(at_ms(1), CHILDREN[0].0);
    let said = said(&mut machine);
    let lost = Unanswered { rank: Rank(3), beyond: 1, why: NoAnswer::Lost };
    assert_eq!(the_report(&said).unanswered, [lost]);
}

#[test]
fn who_tells_of_more_ranks_than_it_was_asked_for_is_blamed() {
    let mut machine = rank();
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Cohort));
    effects(&mut machine);
    machine.handle_message(at_ms(1), CHILDREN[1].0, words(2, Vec::new()));
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::OutOfBounds("Status.cohorts"));
    let all = effects(&mut machine);
    assert!(all.contains(&Effect::Disconnect { peer: CHILDREN[1].0, reason }), "{all:?}");
}

#[test]
fn a_flood_of_questions_is_refused_and_then_ended() {
    let mut machine = rank();
    let own = StatusScope::Rank(Rank(1));
    let most = u64::from(OBSERVER_QUESTIONS);
    (0..=most).for_each(|request| machine.handle_message(START, OBSERVER, ask(request, own)));
    let heard = said(&mut machine);
    let answers = heard.iter().filter(|(_, message)| matches!(message, Message::Status { .. })).count();
    let refused = Message::StatusRefused { request: most, reason: StatusRefusal::TooOften { retry_ms: 251 } };
    assert_eq!((answers as u64, heard.last()), (most, Some(&(OBSERVER, refused))));
    let more = 0..u64::from(LIMIT_REFUSED_QUESTIONS);
    more.for_each(|request| machine.handle_message(START, OBSERVER, ask(request, own)));
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::OutOfBounds("AskStatus"));
    assert_eq!(effects(&mut machine).last(), Some(&Effect::Disconnect { peer: OBSERVER, reason }));
}

#[test]
fn so_many_observers_have_a_place_and_no_more() {
    let mut machine = rank();
    let own = StatusScope::Rank(Rank(1));
    for peer in (0..=LIMIT_OBSERVERS as u64).map(|number| PeerId(100 + number)) {
        machine.handle_accepted(START, peer);
        machine.handle_message(START, peer, ask(0, own));
    }
    let limit = LIMIT_OBSERVERS as u32;
    let refused = Message::StatusRefused { request: 0, reason: StatusRefusal::TooManyObservers { limit } };
    let last = PeerId(100 + LIMIT_OBSERVERS as u64);
    let all = effects(&mut machine);
    assert!(all.contains(&Effect::Send { to: last, message: refused }));
    assert!(all.contains(&Effect::Disconnect { peer: last, reason: DisconnectReason::Refused }));
    machine.handle_disconnected(START, PeerId(100));
    machine.handle_accepted(START, PeerId(200));
    machine.handle_message(at_ms(5000), PeerId(200), ask(0, own));
    assert!(
        matches!(said(&mut machine)[..], [(PeerId(200), Message::Status { .. })]),
        "a place is free again"
    );
}

#[test]
fn a_rank_that_the_cohort_does_not_have_is_refused() {
    let mut machine = rank();
    machine.handle_message(START, OBSERVER, ask(1, StatusScope::Rank(Rank(9))));
    let reason = StatusRefusal::NoSuchRank { size: 9 };
    assert_eq!(said(&mut machine), [(OBSERVER, Message::StatusRefused { request: 1, reason })]);
}

/// A publisher of one rank with one subscriber that releases nothing, and an observer.
fn held_up() -> PublisherMachine {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(99));
    config.limit_subscriptions = 1000;
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    machine.handle_accepted(START, READER);
    machine.handle_accepted(START, OBSERVER);
    let policy = QueuePolicy::EveryStep { max_wait: Duration::from_millis(60_000) };
    let spec = SubscriptionSpec { policy, limit_steps: 2, ..SubscriptionSpec::default() };
    let label = "viewer".to_owned();
    machine.handle_message(
        START,
        READER,
        Message::Subscribe { spec: spec.into(), label, cohort_size: 3, credit: 1, resume: None },
    );
    for _ in 0..2 {
        let Ok(Begin::Started(begun)) = machine.begin_step(START) else { panic!("no step begins") };
        machine.end_step(START, begun.step, Contribution::default(), Vec::new(), 100).expect("it ends");
    }
    effects(&mut machine);
    machine
}

#[test]
fn a_publisher_that_waits_for_a_release_names_who_and_since_when() {
    let mut machine = held_up();
    for ms in [10, 400] {
        assert!(matches!(machine.begin_step(at_ms(ms)), Ok(Begin::Wait { .. })));
    }
    machine.handle_message(at_ms(500), OBSERVER, ask(5, StatusScope::Cohort));
    let said = said(&mut machine);
    let row = &the_report(&said).ranks[0];
    let [wait] = &row.waits[..] else { panic!("{row:?}") };
    assert_eq!(wait.waited_ms, 490, "since it first had to wait");
    assert!(
        matches!(&wait.on, WaitOn::Release { label, live_steps: 2, live_bytes: 200, .. } if label == "viewer"),
        "{wait:?}"
    );
    let [subscription] = &row.subscriptions[..] else { panic!("{row:?}") };
    let counts = (subscription.queued, subscription.held, subscription.lag_steps, subscription.limit_steps);
    assert_eq!(counts, (1, 1, 2, 2), "one is assigned, one waits for credit");
}

#[test]
fn steps_that_are_kept_for_newcomers_are_nobodys_subscription() {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(7));
    (config.reserve_steps, config.precious_first) = (2, true);
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    machine.handle_accepted(START, OBSERVER);
    effects(&mut machine);
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Cohort));
    let said = said(&mut machine);
    assert_eq!(the_report(&said).ranks[0].subscriptions, []);
}

#[test]
fn a_question_about_the_stream_goes_to_subscribers_too() {
    let mut machine = held_up();
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Stream));
    let asked = said(&mut machine);
    assert!(matches!(asked[..], [(READER, Message::AskStatus { .. })]), "{asked:?}");
    machine.handle_timeout(at_ms(1000));
    let said = said(&mut machine);
    let [(OBSERVER, Message::Status { report, .. })] = &said[..] else { panic!("{said:?}") };
    let [publisher, viewer] = &report.cohorts[..] else { panic!("{report:?}") };
    assert!(publisher.publishes && publisher.unanswered.is_empty());
    let silent = Unanswered { rank: Rank(0), beyond: 2, why: NoAnswer::Silent { unheard_ms: 1000 } };
    assert_eq!((viewer.name.as_str(), viewer.size, &viewer.unanswered[..]), ("viewer", 3, &[silent][..]));
}

#[test]
fn of_many_subscribers_as_many_are_asked_as_an_answer_has_room_for() {
    let mut machine = held_up();
    for peer in 100..100 + 2 * LIMIT_STATUS_COHORTS as u64 {
        machine.handle_accepted(START, PeerId(peer));
        let (spec, label) = (SubscriptionSpec::default(), "viewer".to_owned());
        let subscribe =
            Message::Subscribe { spec: spec.into(), label, cohort_size: 1, credit: 1, resume: None };
        machine.handle_message(START, PeerId(peer), subscribe);
    }
    effects(&mut machine);
    machine.handle_message(START, OBSERVER, ask(5, StatusScope::Stream));
    assert_eq!(said(&mut machine).len(), LIMIT_STATUS_COHORTS - 1, "the publisher tells of itself");
    machine.handle_timeout(at_ms(1000));
    let said = said(&mut machine);
    let [(OBSERVER, message @ Message::Status { report, .. })] = &said[..] else { panic!("{said:?}") };
    assert_eq!((report.cohorts.len(), message.check()), (LIMIT_STATUS_COHORTS, Ok(())));
}

#[test]
fn a_report_has_cohorts_and_no_more_than_are_allowed() {
    let check = |cohorts: usize| {
        let report = StatusReport { cohorts: vec![CohortStatus::default(); cohorts] };
        Message::Status { request: 0, report: Box::new(report) }.check()
    };
    assert_eq!((check(1), check(LIMIT_STATUS_COHORTS)), (Ok(()), Ok(())));
    let refused = Err("status.cohorts");
    assert_eq!((check(0), check(LIMIT_STATUS_COHORTS + 1)), (refused, refused));
}

#[test]
fn a_subscriber_tells_what_it_waits_for() {
    let config = SubscriberConfig::new(CohortConfig::alone("viewer", contact(0)), Epoch(5), "stream");
    let mut machine = SubscriberMachine::new(config, START);
    machine.handle_accepted(START, OBSERVER);
    assert_eq!(machine.next_step(START), Next::NotYet);
    machine.handle_message(at_ms(70), OBSERVER, ask(5, StatusScope::Cohort));
    let said: Vec<Effect> = std::iter::from_fn(|| machine.poll()).collect();
    let Some(Effect::Send { to: OBSERVER, message: Message::Status { report, .. } }) = said.last() else {
        panic!("{said:?}")
    };
    let row = &report.cohorts[0].ranks[0];
    assert_eq!((row.phase, row.waits.len()), (RankPhase::Attaching, 1));
    assert_eq!((&row.waits[0].on, row.waits[0].waited_ms), (&WaitOn::Publisher, 70));
}

#[test]
fn a_subscriber_tells_how_many_steps_wait_and_are_held() {
    let publisher = PeerId(21);
    let mut subscribers = Subscribers::open();
    subscribers.attach(START, publisher, Epoch(7));
    let assign = |step| {
        Message::Assign(Assignment {
            step: StepId(step),
            table: TableId([1; 16]),
            skipped: 0,
            redelivered: false,
            values: Vec::new(),
            len_bytes: 0,
            queued_steps: 0,
            judgement: None,
        })
    };
    subscribers.hear(START, publisher, vec![assign(4), assign(5), assign(8)]);
    assert!(matches!(subscribers.lead.next_step(START), Next::Step(_)));
    subscribers.lead.handle_accepted(START, OBSERVER);
    let said = subscribers.hear(START, OBSERVER, vec![ask(5, StatusScope::Rank(Rank(0)))]);
    let Some(Effect::Send { to: OBSERVER, message: Message::Status { report, .. } }) = said.last() else {
        panic!("{said:?}")
    };
    let steps = &report.cohorts[0].ranks[0].steps;
    assert_eq!((steps.next, steps.live, steps.queued, steps.held), (StepId(9), 3, 2, 1));
}
