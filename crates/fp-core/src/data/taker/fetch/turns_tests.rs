//! What is asked for, and what comes, where the answers of several owners are received in turns.

use super::asking::LIMIT_OPEN_BYTES;
use super::tests::*;
use super::*;
use fp_proto::data::{BlockPart, DataMessage, GoneReason, Place, PlacedBlock};
use fp_transport::OutFrame;
use fp_types::{BlockId, Layout, Rank, Region, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Boxes along each side of a square array.
const ALONG: u64 = 32;

/// Cells along each side of a box, so that both halves are more than connections hold, and so that they are short.
const LONG: u64 = 200;
const SHORT: u64 = 5;

/// All boxes of a square array, which so many owners have in turns: each has a number of its own.
fn planned_boxes(owners: u64, side: u64) -> Arc<FetchPlan> {
    let block = |number: u64| {
        let id = BlockId { rank: Rank((number % owners) as u32), index: number as u32 };
        let corner = [number / ALONG * side, number % ALONG * side];
        (id, Region::new(corner, [side; 2]).expect("a region"))
    };
    let shape = Shape::new([ALONG * side; 2]).expect("a shape");
    planned_of(&Layout::global(shape, (0..ALONG * ALONG).map(block)).expect("a layout"))
}

/// Fetches all boxes, and checks each cell.
fn fetch_boxes(stage: &Stage) {
    let mut array = stage.array();
    stage.fetch(&mut array, (Instant::now() + PATIENCE).into()).expect("fetched");
    let side = array.len().isqrt() as u64 / ALONG;
    for (row, cells) in (0..).zip(array.chunks((ALONG * side) as usize)) {
        for (column, cells) in (0..).zip(cells.chunks(side as usize)) {
            let number = row / side * ALONG + column;
            assert!(cells.iter().all(|cell| *cell == byte_of(number as usize)), "row {row}, box {number}");
        }
    }
}

/// Whoever is asked answers, in one order and in the other.
#[test]
fn short_blocks_of_several_owners_are_received_in_turns() {
    for owners in [2, 3, 9] {
        let mut is_first = true;
        let stage = Stage::of(owners, planned_boxes(owners as u64, LONG), move |of| {
            if of.asked.len() == owners {
                if std::mem::replace(&mut is_first, false) {
                    of.asked.reverse();
                }
                of.answer_all();
            }
        });
        fetch_boxes(&stage);
        fetch_boxes(&stage);
        assert_eq!(stage.dialled(), owners as u64);
        let staged = stage.counters.staged_bytes.load(Ordering::Relaxed);
        assert_eq!(staged, 2 * (ALONG * LONG).pow(2), "all of it came aside, once");
    }
}

/// Answers of many owners that are long together do not come at one time.
#[test]
fn no_more_bytes_of_many_owners_come_than_a_switch_has_room_for() {
    const OWNERS: usize = 10;
    const SIDE: u64 = 300;
    let len = (ALONG * SIDE).pow(2) as usize / OWNERS;
    let allowed = LIMIT_OPEN_BYTES.div_ceil(len);
    let most = Arc::new(AtomicUsize::new(0));
    let told = most.clone();
    let stage = Stage::of(OWNERS, planned_boxes(OWNERS as u64, SIDE), move |owners| {
        told.fetch_max(owners.asked.len(), Ordering::Relaxed);
        if owners.seen >= allowed {
            owners.answer_all();
        }
    });
    fetch_boxes(&stage);
    assert!(allowed < OWNERS);
    assert_eq!(most.load(Ordering::Relaxed), allowed);
}

/// The link of an owner breaks while both answers come: what is in its place is not asked for again, and the other answer
/// is taken to its end.
#[test]
fn a_link_that_breaks_in_turns_is_dialled_again_for_the_rest() {
    for dying in [0, 1] {
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (counts, mut breaks) = (told.clone(), None);
        let stage = Stage::of(2, planned_boxes(2, LONG), move |owners| {
            if let Some(link) = breaks.take() {
                // What is in the connection arrives, and the rest does not.
                owners.links[link] = None;
            }
            let is_first = owners.seen == 2 && owners.asked.len() == 2;
            if is_first {
                breaks = owners.asked.iter().find(|asked| asked.owner == dying).map(|asked| asked.link);
            }
            if is_first || owners.seen > 2 {
                let count = |asked: &Asked| (asked.owner % 2, asked.pieces.len());
                counts.lock().expect("sound").extend(owners.asked.iter().map(count));
                owners.answer_all();
            }
        });
        fetch_boxes(&stage);
        assert_eq!(stage.dialled(), 3, "one of them anew");
        let half = (ALONG * ALONG / 2) as usize;
        let told = told.lock().expect("sound");
        let of = |owner: usize| told.iter().filter(move |(of, _)| *of == owner).map(|(_, count)| *count);
        assert_eq!(of(1 - dying).collect::<Vec<_>>(), [half], "the other one was asked once");
        let asked: Vec<usize> = of(dying).collect();
        assert!(asked.len() == 2 && asked[0] == half && asked[1] < half, "{asked:?}");
    }
}

/// The answer of one is there, and the other's link breaks before it answers.
#[test]
fn an_answer_waits_for_one_that_is_asked_again() {
    let mut breaks = breaking(1, 1);
    let stage = Stage::of(2, planned_boxes(2, LONG), move |owners| {
        breaks(owners);
        owners.asked.iter().position(|asked| asked.owner == 0 || owners.seen == 3).into_iter().for_each(
            |at| {
                let asked = owners.asked.remove(at);
                owners.answer(&asked, None);
            },
        );
    });
    fetch_boxes(&stage);
    assert_eq!(stage.dialled(), 3);
}

/// An owner that is late does not keep the answer of another one waiting, which its owner holds memory for.
#[test]
fn an_answer_waits_only_for_a_while() {
    let stage = Stage::of(2, planned_boxes(2, LONG), move |owners| {
        if let Some(at) = owners.asked.iter().position(|asked| asked.owner == 0) {
            let asked = owners.asked.remove(at);
            owners.answer(&asked, None);
        }
        let all_sent = owners.links.iter().flatten().all(|link| !link.wants_write());
        if owners.seen == 2 && all_sent {
            owners.answer_all();
        }
    });
    fetch_boxes(&stage);
    assert_eq!(stage.dialled(), 2);
}

/// What came in another way is not awaited: the answer to the question comes too late, and is passed over.
#[test]
fn an_owner_that_tells_its_blocks_unasked_is_not_received_from() {
    let mut late = None;
    let stage = Stage::of(2, planned_boxes(2, SHORT), move |owners| {
        if let Some(asked) = late.take() {
            owners.answer(&asked, Some(LATE));
        }
        // The next time it has nothing to ask the first one.
        if owners.seen < 2 {
            return;
        }
        for asked in std::mem::take(&mut owners.asked) {
            if asked.owner == 1 {
                owners.answer(&asked, None);
                continue;
            }
            let block = |piece: &BlockPart| PlacedBlock {
                variable: piece.variable.as_str().into(),
                block: piece.block,
                place: Place::Inline { bytes: vec![byte_of(piece.block as usize); (SHORT * SHORT) as usize] },
            };
            let blocks = asked.pieces.iter().map(block).collect();
            let head = DataMessage::Placed { step: STEP, request: None, blocks }.encode();
            let link = owners.links[asked.link].as_mut().expect("it lives");
            link.send(OutFrame::new(head)).expect("sent");
            late = Some(asked);
        }
    });
    fetch_boxes(&stage);
    fetch_boxes(&stage);
    assert_eq!(stage.dialled(), 2, "no link was left");
}

/// An owner has no such step any more, while the answer of another one comes. Both links are used again.
#[test]
fn when_one_owner_has_nothing_the_answer_of_the_other_is_passed_over() {
    let mut is_first = true;
    let stage = Stage::of(2, planned_boxes(2, SHORT), move |owners| {
        if owners.asked.len() < 2 {
            return;
        }
        let asked = std::mem::take(&mut owners.asked);
        for asked in asked {
            if asked.owner == 1 && std::mem::replace(&mut is_first, false) {
                let head = DataMessage::Gone { request: asked.request, step: STEP, reason: GoneReason::Step };
                let link = owners.links[asked.link].as_mut().expect("it lives");
                link.send(OutFrame::new(head.encode())).expect("sent");
            } else {
                owners.answer(&asked, None);
            }
        }
    });
    let gone = stage.fetch(&mut stage.array(), (Instant::now() + PATIENCE).into());
    assert!(matches!(gone, Err(ReadError::Gone { .. })), "{gone:?}");
    fetch_boxes(&stage);
    assert_eq!(stage.dialled(), 2, "no link was left");
}
