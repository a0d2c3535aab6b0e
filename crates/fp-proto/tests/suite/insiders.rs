//! Whoever is let in and then breaks the protocol: each rank ends the link, says what was wrong, and takes none of it.

use crate::machines::Subscribers;
use crate::middle_rank::{CHILDREN, PARENT, START, contact, effects, middle_rank, without_children};
use fp_proto::effect::{DisconnectReason, Effect, Misbehaviour, PeerId};
use fp_proto::message::{Assignment, ChangeId, Message, ReadyReport};
use fp_types::{Epoch, PutChanges, Rank, RankRange, StepId, TableId};

const GUEST: PeerId = PeerId(30);
/// Rank 3, the child of rank 1 that has ranks 7 and 8 below.
const CHILD: PeerId = CHILDREN[0].0;

/// What a peer was blamed for.
fn blamed(effects: &[Effect], peer: PeerId) -> Option<Misbehaviour> {
    effects.iter().find_map(|effect| {
        let Effect::Disconnect { peer: ended, reason: DisconnectReason::PeerMisbehaved(what) } = effect
        else {
            return None;
        };
        (*ended == peer).then_some(*what)
    })
}

/// What rank 1 of 9 blames a peer for that says all this.
fn blame(peer: PeerId, messages: Vec<Message>) -> Option<Misbehaviour> {
    let (mut machine, _) = middle_rank(GUEST);
    messages.into_iter().for_each(|message| machine.handle_message(START, peer, message));
    blamed(&effects(&mut machine), peer)
}

fn hello(rank: u32) -> Message {
    Message::TreeHello { rank: Rank(rank), contact: contact(rank) }
}

fn ready(step: u64, again: Option<u64>, ranks: Vec<RankRange>) -> Message {
    let changed = PutChanges { ranks, ..PutChanges::default() };
    Message::Ready {
        step: StepId(step),
        again,
        report: ReadyReport { changed, ..ReadyReport::default() }.into(),
    }
}

#[test]
fn a_child_that_breaks_the_protocol_is_blamed() {
    let of = |first, count| vec![RankRange { first: Rank(first), count }];
    let fragment = |bytes: &[u8], left_bytes| Message::Fragment { bytes: bytes.to_vec(), left_bytes };
    let cases = [
        (GUEST, vec![hello(3)], Misbehaviour::Unexpected("TreeHello")),
        (GUEST, vec![hello(6)], Misbehaviour::Unexpected("TreeHello")),
        (GUEST, vec![fragment(&[1], 4)], Misbehaviour::Unexpected("Fragment")),
        (CHILD, vec![fragment(&[1], 4), ready(0, None, Vec::new())], Misbehaviour::OutOfOrder("Fragment")),
        (CHILD, vec![fragment(&[1], 4), fragment(&[1], 9)], Misbehaviour::OutOfOrder("Fragment")),
        (
            CHILD,
            vec![Message::Prepared { change: ChangeId(5), next: StepId(0) }],
            Misbehaviour::OutOfOrder("Prepared"),
        ),
        (CHILD, vec![ready(0, None, Vec::new()); 2], Misbehaviour::OutOfOrder("Ready")),
        (CHILD, vec![ready(0, None, of(4, 1))], Misbehaviour::OutOfBounds("Ready.changed")),
        (CHILD, vec![ready(0, None, of(7, 3))], Misbehaviour::OutOfBounds("Ready.changed")),
        (CHILD, vec![ready(0, Some(7), Vec::new())], Misbehaviour::OutOfBounds("Ready.again")),
        (
            CHILD,
            vec![Message::AskContacts { request: 0, ranks: vec![Rank(9)] }],
            Misbehaviour::OutOfBounds("AskContacts.ranks"),
        ),
        (
            CHILD,
            vec![Message::Contacts { request: 3, contacts: vec![(Rank(3), None)] }],
            Misbehaviour::Unexpected("Contacts"),
        ),
        (CHILD, vec![Message::CohortOpen], Misbehaviour::Unexpected("CohortOpen")),
        (CHILD, vec![Message::Unsubscribe], Misbehaviour::Unexpected("Unsubscribe")),
    ];
    for (peer, messages, what) in cases {
        let text = format!("{messages:?}");
        assert_eq!(blame(peer, messages), Some(what), "{text}");
    }
    // Steps that a child may be ahead are bounded: so is what this rank keeps of them.
    let ahead = (0..10_000).map(|step| ready(step, None, Vec::new())).collect();
    assert_eq!(blame(CHILD, ahead), Some(Misbehaviour::OutOfBounds("Ready.step")));
    // What is right is no reason for blame.
    let right = vec![ready(0, None, of(7, 2)), ready(1, None, Vec::new()), ready(2, Some(0), Vec::new())];
    assert_eq!(blame(CHILD, right), None);
}

#[test]
fn while_a_cohort_assembles_each_child_comes_once_and_no_other() {
    let mut machine = without_children();
    let mut come = |peer: u64, rank: u32| {
        machine.handle_accepted(START, PeerId(peer));
        machine.handle_message(START, PeerId(peer), hello(rank));
        blamed(&effects(&mut machine), PeerId(peer))
    };
    let refused = Some(Misbehaviour::Unexpected("TreeHello"));
    assert_eq!(come(40, 6), refused, "the child of another rank");
    assert_eq!(come(41, 1), refused, "this rank itself");
    assert_eq!(come(42, 3), None);
    assert_eq!(come(43, 3), refused, "a child that is here");
    assert_eq!(come(44, 4), None);
}

#[test]
fn a_parent_that_breaks_the_protocol_is_blamed() {
    let log = |serial| Message::Log { serial, entries: Vec::new() };
    let cases = [
        (vec![Message::CohortOpen], Misbehaviour::Unexpected("CohortOpen")),
        (vec![log(5)], Misbehaviour::OutOfOrder("Log")),
        (
            vec![Message::AskContacts { request: 0, ranks: vec![Rank(2)] }],
            Misbehaviour::OutOfBounds("AskContacts.ranks"),
        ),
        (vec![ready(0, None, Vec::new())], Misbehaviour::Unexpected("Ready")),
    ];
    for (messages, what) in cases {
        let text = format!("{messages:?}");
        assert_eq!(blame(PARENT, messages), Some(what), "{text}");
    }
    assert_eq!(blame(PARENT, vec![log(0)]), None);
}

#[test]
fn a_publisher_that_breaks_the_protocol_is_blamed_by_its_subscriber() {
    let publisher = PeerId(21);
    let assign = |step, redelivered| {
        Message::Assign(Assignment {
            step: StepId(step),
            table: TableId([1; 16]),
            skipped: 0,
            redelivered,
            values: Vec::new(),
            len_bytes: 0,
            queued_steps: 0,
            judgement: None,
        })
    };
    let blame = |messages: Vec<Message>| {
        let mut subscribers = Subscribers::open();
        subscribers.attach(START, publisher, Epoch(7));
        blamed(&subscribers.hear(START, publisher, messages), publisher)
    };
    let falling = Some(Misbehaviour::OutOfOrder("Assign"));
    assert_eq!(blame(vec![assign(4, false), assign(3, false)]), falling, "a falling step");
    assert_eq!(blame(vec![assign(4, false), assign(4, false)]), falling, "a step twice");
    assert_eq!(blame(vec![assign(4, false), assign(4, true)]), falling, "one again that was not given back");
    assert_eq!(blame(vec![assign(4, false), assign(5, false)]), None);
    let foreign = vec![Message::Prepared { change: ChangeId(0), next: StepId(0) }];
    assert_eq!(blame(foreign), Some(Misbehaviour::Unexpected("Prepared")));
}
