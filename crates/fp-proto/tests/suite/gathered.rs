//! Cohorts whose launcher exchanges the contacts: two machines by hand, as their coordinators would move them.

use fp_proto::config::{CohortConfig, CohortPosition, ContactText, PublisherConfig, SubscriberConfig};
use fp_proto::effect::{DialTicket, Effect, PeerId};
use fp_proto::event::{Event, OpenFailure, OpenWait};
use fp_proto::message::Message;
use fp_proto::outcome::{LossReason, RefusalReason};
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_proto::time::Moment;
use fp_types::{Epoch, Rank};
use std::time::Duration;

const START: Moment = Moment::ZERO;
const OTHER: PeerId = PeerId(1);
const EPOCH: Epoch = Epoch(7);

fn contact(rank: u32) -> ContactText {
    ContactText(format!("contact.{rank}"))
}

fn cohort(rank: u32, position: CohortPosition) -> CohortConfig {
    let mut config = CohortConfig::ranked("stream", contact(rank), Rank(rank), 2);
    config.position = position;
    config
}

fn under() -> CohortPosition {
    CohortPosition::Under { parent: contact(0), epoch: EPOCH }
}

fn publisher(rank: u32, position: CohortPosition) -> PublisherMachine {
    let epoch = if rank == 0 { EPOCH } else { Epoch(99) };
    PublisherMachine::new(PublisherConfig::new(cohort(rank, position), epoch), START)
}

fn effects(machine: &mut PublisherMachine) -> Vec<Effect> {
    std::iter::from_fn(|| machine.poll()).collect()
}

fn messages(effects: Vec<Effect>) -> Vec<Message> {
    let sent = |effect| if let Effect::Send { message, .. } = effect { Some(message) } else { None };
    effects.into_iter().filter_map(sent).collect()
}

fn events(effects: &[Effect]) -> Vec<Event> {
    let event = |effect: &Effect| if let Effect::Event(event) = effect { Some(event.clone()) } else { None };
    effects.iter().filter_map(event).collect()
}

/// The one dial of a rank that knows its parent.
fn dialled(effects: &[Effect]) -> DialTicket {
    match effects {
        [Effect::Dial { ticket, contact: dialled, epoch: None }] if *dialled == contact(0) => *ticket,
        other => panic!("it dials its parent and does nothing else: {other:?}"),
    }
}

/// The lead, once it has found nobody else of its name.
fn lead() -> PublisherMachine {
    let mut lead = publisher(0, CohortPosition::Gathered);
    assert!(!lead.holds_name(), "nobody has looked who else is there");
    assert!(effects(&mut lead).contains(&Effect::PublishName { name: "stream".to_owned(), epoch: EPOCH }));
    lead.handle_listing(START, Vec::new());
    assert!(lead.holds_name());
    lead
}

/// Carries what both say to the other until neither says more; all their events.
fn talk(now: Moment, lead: &mut PublisherMachine, rank: &mut PublisherMachine) -> (Vec<Event>, Vec<Event>) {
    let mut heard = (Vec::new(), Vec::new());
    loop {
        let (down, up) = (effects(lead), effects(rank));
        heard.0.extend(events(&down));
        heard.1.extend(events(&up));
        let (down, up) = (messages(down), messages(up));
        if down.is_empty() && up.is_empty() {
            return heard;
        }
        down.into_iter().for_each(|message| rank.handle_message(now, OTHER, message));
        up.into_iter().for_each(|message| lead.handle_message(now, OTHER, message));
    }
}

#[test]
fn a_cohort_opens_without_a_search_and_without_a_call() {
    let (mut lead, mut rank) = (lead(), publisher(1, under()));
    lead.handle_gathered(START, 2);
    let ticket = dialled(&effects(&mut rank));
    rank.handle_dialled(START, ticket, OTHER);
    lead.handle_accepted(START, OTHER);
    let (of_lead, of_rank) = talk(START, &mut lead, &mut rank);
    assert_eq!(of_lead, [Event::Opened { epoch: EPOCH }]);
    assert_eq!(of_rank, [Event::Opened { epoch: EPOCH }], "the epoch is the lead's");
}

/// A child may be quicker than the lead's own launcher.
#[test]
fn a_child_that_comes_before_the_contacts_is_no_mistake() {
    let (mut lead, mut rank) = (lead(), publisher(1, under()));
    let ticket = dialled(&effects(&mut rank));
    rank.handle_dialled(START, ticket, OTHER);
    lead.handle_accepted(START, OTHER);
    assert_eq!(talk(START, &mut lead, &mut rank), (Vec::new(), Vec::new()));
    lead.handle_gathered(START, 2);
    let (of_lead, of_rank) = talk(START, &mut lead, &mut rank);
    assert_eq!((of_lead.len(), of_rank.len()), (1, 1));
}

#[test]
fn the_time_for_opening_begins_after_the_launcher_is_done() {
    let mut lead = lead();
    let timeout = CohortConfig::alone("stream", contact(0)).open_timeout;
    let late = START.after(timeout * 10);
    lead.handle_timeout(late);
    assert!(events(&effects(&mut lead)).is_empty(), "how long the launcher takes is not ours");
    lead.handle_gathered(late, 2);
    lead.handle_timeout(late.after(timeout - Duration::from_millis(1)));
    assert!(events(&effects(&mut lead)).is_empty());
    assert_eq!(lead.deadline(), Some(late.after(timeout)));
    lead.handle_timeout(late.after(timeout));
    let expected = OpenFailure::TimedOut(OpenWait::Ranks { present: 1, size: 2 });
    assert_eq!(events(&effects(&mut lead)), [Event::OpenFailed(expected)]);
    assert!(!lead.holds_name());
}

#[test]
fn who_asks_for_a_place_is_of_another_run() {
    let mut lead = lead();
    lead.handle_accepted(START, OTHER);
    lead.handle_message(
        START,
        OTHER,
        Message::Join { rank: Rank(1), size: 2, contact: contact(1), first_step: None },
    );
    let refused = Message::Refused { reason: RefusalReason::RankTaken { rank: Rank(1) } };
    assert_eq!(messages(effects(&mut lead)), [refused]);
}

#[test]
fn contacts_that_are_too_few_fail_the_opening() {
    let mut lead = lead();
    lead.handle_gathered(START, 1);
    let mismatch = RefusalReason::CohortMismatch { rank: Rank(0), size: 1, expected_size: 2 };
    assert_eq!(events(&effects(&mut lead)), [Event::OpenFailed(OpenFailure::Refused(mismatch))]);
}

#[test]
fn a_parent_that_cannot_be_reached_is_lost() {
    let mut rank = publisher(1, under());
    let ticket = dialled(&effects(&mut rank));
    rank.handle_dial_failed(START, ticket);
    let lost = OpenFailure::RankLost { rank: Rank(0), reason: LossReason::Unreachable };
    assert_eq!(events(&effects(&mut rank)), [Event::OpenFailed(lost)]);
}

#[test]
fn a_subscriber_cohort_claims_no_name() {
    let config = SubscriberConfig::new(cohort(0, CohortPosition::Gathered), EPOCH, "heat");
    let mut lead = SubscriberMachine::new(config, START);
    assert_eq!(std::iter::from_fn(|| lead.poll()).count(), 0, "it waits for the launcher");
    lead.handle_gathered(START, 2);
    assert_eq!(std::iter::from_fn(|| lead.poll()).count(), 0, "and for its other rank");
    let mut lead = SubscriberMachine::new(
        SubscriberConfig::new(cohort(0, CohortPosition::Gathered), EPOCH, "heat"),
        START,
    );
    lead.handle_gathered(START, 3);
    let mismatch = RefusalReason::CohortMismatch { rank: Rank(0), size: 3, expected_size: 2 };
    let failed = Event::OpenFailed(OpenFailure::Refused(mismatch));
    assert_eq!(events(&std::iter::from_fn(|| lead.poll()).collect::<Vec<_>>()), [failed]);
}
