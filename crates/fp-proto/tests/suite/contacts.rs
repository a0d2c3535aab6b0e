//! Where publisher ranks are: one rank in the middle of a tree by hand, asked from every side, and left alone on every
//! side.

use crate::machines::{Subscribers, events};
use crate::middle_rank::{CHILDREN, PARENT, START, contact, effects, middle_rank};
use fp_proto::config::{CohortConfig, ContactText};
use fp_proto::effect::{DisconnectReason, Effect, Misbehaviour, PeerId};
use fp_proto::event::Event;
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_types::{Epoch, Rank};

const ASKER: PeerId = PeerId(2);

fn told(rank: u32) -> (Rank, Option<ContactText>) {
    (Rank(rank), Some(contact(rank)))
}

fn ranks(ranks: &[u32]) -> Vec<Rank> {
    ranks.iter().copied().map(Rank).collect()
}

/// What it says about contacts, and to whom.
fn said(machine: &mut PublisherMachine) -> Vec<(PeerId, Message)> {
    let said = |effect| {
        let Effect::Send { to, message } = effect else { return None };
        matches!(message, Message::AskContacts { .. } | Message::Contacts { .. }).then_some((to, message))
    };
    effects(machine).into_iter().filter_map(said).collect()
}

fn ask(request: u64, of: &[u32]) -> Message {
    Message::AskContacts { request, ranks: ranks(of) }
}

fn answer(request: u64, contacts: Vec<(Rank, Option<ContactText>)>) -> Message {
    Message::Contacts { request, contacts }
}

/// Rank 1 of 9, its cohort complete, with an asker that has not asked yet.
fn rank() -> PublisherMachine {
    let (machine, done) = middle_rank(ASKER);
    let hello = Message::TreeHello { rank: Rank(1), contact: contact(1) };
    assert!(done.contains(&Effect::Send { to: PARENT, message: hello }), "it says where it is");
    machine
}

#[test]
fn a_rank_answers_for_itself_and_its_children_and_asks_for_the_others() {
    let mut machine = rank();
    machine.handle_message(START, ASKER, ask(5, &[1, 2, 3, 4, 7, 8]));
    let mut asked = said(&mut machine);
    assert_eq!(asked.remove(0), (ASKER, answer(5, vec![told(1), told(3), told(4)])));
    assert_eq!(asked, [(PARENT, ask(0, &[2])), (CHILDREN[0].0, ask(1, &[7, 8]))]);
    // Each part goes on as it comes.
    machine.handle_message(START, CHILDREN[0].0, answer(1, vec![told(8)]));
    assert_eq!(said(&mut machine), [(ASKER, answer(5, vec![told(8)]))]);
    machine.handle_message(START, PARENT, answer(0, vec![told(2)]));
    machine.handle_message(START, CHILDREN[0].0, answer(1, vec![told(7)]));
    assert_eq!(said(&mut machine), [(ASKER, answer(5, vec![told(2)])), (ASKER, answer(5, vec![told(7)]))]);
}

#[test]
fn a_child_asks_for_what_is_elsewhere_and_the_parent_for_what_is_below() {
    let mut machine = rank();
    machine.handle_message(START, CHILDREN[1].0, ask(3, &[2, 7]));
    assert_eq!(said(&mut machine), [(PARENT, ask(0, &[2])), (CHILDREN[0].0, ask(1, &[7]))]);
    machine.handle_message(START, PARENT, ask(9, &[3]));
    assert_eq!(said(&mut machine), [(PARENT, answer(9, vec![told(3)]))]);
    machine.handle_message(START, PARENT, ask(10, &[2]));
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::OutOfBounds("AskContacts.ranks"));
    assert!(effects(&mut machine).contains(&Effect::Disconnect { peer: PARENT, reason }), "back and forth");
}

#[test]
fn whoever_is_lost_on_the_way_nobody_waits_for() {
    let mut machine = rank();
    machine.handle_message(START, ASKER, ask(5, &[2, 7, 8]));
    said(&mut machine);
    machine.handle_disconnected(START, CHILDREN[0].0);
    assert_eq!(said(&mut machine), [(ASKER, answer(5, vec![(Rank(7), None), (Rank(8), None)]))]);
    machine.handle_disconnected(START, PARENT);
    assert_eq!(said(&mut machine), [(ASKER, answer(5, vec![(Rank(2), None)]))]);
    // Nor does anybody who asks later.
    machine.handle_message(START, ASKER, ask(6, &[0, 1, 3, 4]));
    let now = vec![(Rank(0), None), told(1), (Rank(3), None), told(4)];
    assert_eq!(said(&mut machine), [(ASKER, answer(6, now))]);
}

#[test]
fn a_neighbour_that_lives_is_waited_for() {
    let mut machine = rank();
    machine.handle_message(START, ASKER, ask(5, &[2]));
    said(&mut machine);
    let config = CohortConfig::alone("stream", contact(0));
    let mut now = START;
    for _ in 0..100 {
        now = now.after(config.silence / 2);
        for peer in [PARENT, ASKER, CHILDREN[0].0, CHILDREN[1].0] {
            machine.handle_message(now, peer, Message::Heartbeat);
        }
        machine.handle_timeout(now);
        assert_eq!(said(&mut machine), [], "the parent has others to answer first");
    }
    machine.handle_message(now, PARENT, answer(0, vec![told(2)]));
    assert_eq!(said(&mut machine), [(ASKER, answer(5, vec![told(2)]))]);
}

#[test]
fn a_subscriber_waits_no_longer_for_a_contact_than_for_its_opening() {
    let (publisher, child) = (PeerId(21), PeerId(11));
    let mut subscribers = Subscribers::open();
    subscribers.attach(START, publisher, Epoch(7));
    let request = subscribers.lead.ask_contacts(START, ranks(&[0])).expect("it is attached");
    let config = CohortConfig::alone("reader", contact(0));
    let untold = Event::Contacts { request, contacts: vec![(Rank(0), None)], left: 0 };
    let mut now = START;
    let mut heard = Vec::new();
    while now < START.after(config.open_timeout) {
        assert!(!events(&heard).contains(&untold), "the publisher lives, and may answer yet");
        now = now.after(config.silence / 2);
        for peer in [publisher, child] {
            subscribers.lead.handle_message(now, peer, Message::Heartbeat);
        }
        subscribers.lead.handle_timeout(now);
        heard = std::iter::from_fn(|| subscribers.lead.poll()).collect();
    }
    assert!(events(&heard).contains(&untold), "{heard:?}");
}

#[test]
fn questions_that_make_no_sense_break_the_protocol() {
    for (peer, of) in [(ASKER, &[9][..]), (ASKER, &[][..]), (ASKER, &[4, 3][..]), (ASKER, &[3, 3][..])] {
        let mut machine = rank();
        machine.handle_message(START, peer, ask(5, of));
        let closed =
            |effect: &Effect| matches!(effect, Effect::Disconnect { peer: closed, .. } if *closed == peer);
        assert!(effects(&mut machine).iter().any(closed), "{of:?}");
    }
}
