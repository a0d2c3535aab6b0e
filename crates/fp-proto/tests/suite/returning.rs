//! Layouts that return: what travels for them between two publisher ranks, up and down.

use crate::machines::{Publishers, START, TREE, contribution, effects, events};
use fp_proto::bounds::{LIMIT_LONG_BYTES, LIMIT_RECENT_BYTES};
use fp_proto::effect::{DisconnectReason, Effect, Misbehaviour};
use fp_proto::event::Event;
use fp_proto::message::{Message, ReadyReport};
use fp_proto::outcome::LossReason;
use fp_proto::table;
use fp_types::{PutChanges, Rank};

/// Frames that it takes to have the answer about a step of so many blocks, and whether its report was more than a few
/// bytes.
fn cost(publishers: &mut Publishers, blocks: u64) -> (usize, bool) {
    let reported = publishers.ready_bytes;
    let table = publishers.publish(blocks).expect("the step is whole");
    let (reported, before) = (publishers.ready_bytes - reported, publishers.frames);
    let answer = publishers.ask(table);
    let [Message::Resolved { encoded: Some(encoded), .. }] = &answer[..] else { panic!("{answer:?}") };
    let table = table::decode(encoded).expect("a table");
    assert_eq!(table.entry("T").map(|entry| entry.layout.block_count() as u64), Some(blocks));
    (publishers.frames - before, reported > 16)
}

/// Two layouts take turns, then eight: each is told of once, and fetched from the lead once. Of nine none is there any
/// more when it returns.
#[test]
fn layouts_that_take_turns_are_told_and_fetched_once() {
    for layouts in [2, 8] {
        let mut publishers = Publishers::open(LIMIT_LONG_BYTES);
        for turn in 0..4 {
            for blocks in 3..3 + layouts {
                let expected = if turn == 0 { (2, true) } else { (0, false) };
                assert_eq!(
                    cost(&mut publishers, blocks),
                    expected,
                    "{layouts} layouts, turn {turn}: {blocks}"
                );
            }
        }
    }
    let mut publishers = Publishers::open(LIMIT_LONG_BYTES);
    for blocks in (3..12).cycle().take(30) {
        assert_eq!(cost(&mut publishers, blocks), (2, true), "{blocks}");
    }
}

/// Old layouts are not kept where they are large: the live step's and the latest are.
#[test]
fn large_layouts_that_nobody_needs_are_forgotten() {
    let mut publishers = Publishers::open(LIMIT_LONG_BYTES);
    let large = LIMIT_RECENT_BYTES as u64 / 8;
    let table = publishers.publish(large).expect("the step is whole");
    publishers.publish(1);
    publishers.publish(1);
    let answer = publishers.ask(table);
    assert!(matches!(&answer[..], [Message::Resolved { encoded: None, .. }]), "{} messages", answer.len());
}

/// What a child cannot have in mind, it cannot say by a number; nor with the contents beside it.
#[test]
fn a_number_that_stands_for_nothing_breaks_the_protocol() {
    let mut publishers = Publishers::open(1 << 20);
    publishers.publish(3);
    let step = publishers.begin();
    let report = ReadyReport::default();
    publishers.lead.handle_message(
        START,
        TREE,
        Message::Ready { step, again: Some(1), report: report.into() },
    );
    let heard = effects(|| publishers.lead.poll());
    let reason = DisconnectReason::PeerMisbehaved(Misbehaviour::OutOfBounds("Ready.again"));
    assert!(heard.contains(&Effect::Disconnect { peer: TREE, reason }), "{heard:?}");
    let lost = Event::RankLost { rank: Rank(1), reason: LossReason::Misbehaved };
    assert!(events(&heard).contains(&lost), "{heard:?}");
    let mut publishers = Publishers::open(1 << 20);
    publishers.publish(3);
    let step = publishers.begin();
    let changed = PutChanges::of(Rank(1), &contribution(3)).expect("blocks fit");
    let report = ReadyReport { changed, ..ReadyReport::default() };
    publishers.lead.handle_message(
        START,
        TREE,
        Message::Ready { step, again: Some(0), report: report.into() },
    );
    let heard = effects(|| publishers.lead.poll());
    assert!(heard.contains(&Effect::Disconnect { peer: TREE, reason }), "{heard:?}");
}
