//! Elements that are no numbers, what a step says of its blocks, and events that are waited for.

use crate::support::{PATIENCE, Place, take};
use fp_core::{
    BlockId, Event, Misuse, PutError, Rank, ReadError, Region, Selection, TransportKind, Variable,
};
use std::time::Duration;

fn region(start: u64, count: u64) -> Region {
    Region::new([start], [count]).expect("a region")
}

#[test]
fn truth_values_are_checked_as_they_are_put() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber_over(TransportKind::Shm);
    let mask = Variable::global::<u8>("mask", &[4]).expect("a variable").with_truth_values();
    let done = Variable::scalar::<u8>("done").expect("a name").with_truth_values();
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let mut writer = publisher.begin_step().expect("begun");
    let wrong = writer.put(&mask, &region(0, 4), vec![0u8, 1, 2, 1]);
    let is_value = |error: &PutError| {
        matches!(error, PutError::Misuse { source: Misuse::NoTruthValue { value: 2, .. }, .. })
    };
    assert!(wrong.as_ref().is_err_and(is_value), "{wrong:?}");
    assert!(writer.put_scalar(&done, 2u8).is_err());
    writer.put_copy(&mask, &region(0, 4), &[0u8, 1, 1, 0]).expect("put");
    writer.put_scalar(&done, 1u8).expect("put");
    writer.end().expect("ended");
    let step = take(&mut subscriber);
    assert_eq!(step.get::<u8>("mask", "[1:3]").expect("truth values"), [1, 1]);
    assert_eq!(step.scalar::<u8>("done").expect("a truth value"), 1);
    let as_number = step.get::<i8>("mask", Selection::All);
    assert!(matches!(as_number, Err(ReadError::Misuse { source: Misuse::WrongDtype { .. }, .. })));
}

#[test]
fn a_text_is_a_scalar() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber();
    let title = Variable::text("title").expect("a name");
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let mut writer = publisher.begin_step().expect("begun");
    writer.put_text(&title, "größer als 3").expect("put");
    assert!(writer.put_text(&title, "twice").is_err());
    assert!(writer.put_text(&Variable::scalar::<u8>("other").expect("a name"), "x").is_err());
    assert!(writer.put_scalar(&Variable::text("number").expect("a name"), 3u8).is_err());
    writer.end().expect("ended");
    let step = take(&mut subscriber);
    assert_eq!(step.text("title").expect("a text"), "größer als 3");
    let (dtype, shape, bytes) = step.get_bytes("title", Selection::All).expect("its bytes");
    assert_eq!((dtype.name(), shape.ndims(), bytes.as_slice()), ("string", 0, "größer als 3".as_bytes()));
    assert!(step.scalar::<u8>("title").is_err() && step.text("none").is_err());
}

#[test]
fn blocks_are_listed_and_gaps_filled() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber();
    let sparse = Variable::global::<i32>("sparse", &[10]).expect("a variable");
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let mut writer = publisher.begin_step().expect("begun");
    writer.put(&sparse, &region(1, 2), vec![1, 2]).expect("put");
    writer.put(&sparse, &region(6, 3), vec![6, 7, 8]).expect("put");
    writer.end().expect("ended");
    let step = take(&mut subscriber);
    let block = |index| BlockId::new(Rank(0), index);
    let blocks = step.blocks("sparse").expect("its blocks");
    assert_eq!(blocks, [(block(0), region(1, 2)), (block(1), region(6, 3))]);
    assert_eq!(step.selected_shape("sparse", "[::3]").expect("a shape").dims().as_slice(), [4]);
    assert_eq!(step.selected_shape("sparse", block(1)).expect("a shape").dims().as_slice(), [3]);
    let (mut all, mut some) = ([0; 10], [0; 2]);
    let fetch = step.fetch().get_or_fill("sparse", Selection::All, -1, &mut all);
    fetch.get("sparse", region(6, 2), &mut some).wait(PATIENCE).expect("fetched");
    assert_eq!((all, some), ([-1, 1, 2, -1, -1, -1, 6, 7, 8, -1], [6, 7]));
    assert!(step.blocks("none").is_err());
}

#[test]
fn events_are_waited_for_beside_the_handle() {
    let place = Place::new();
    let publisher = place.publisher();
    let events = publisher.event_queue();
    assert!(matches!(events.next(PATIENCE), Some(Event::Opened { .. })));
    assert_eq!(events.next(Duration::ZERO), None);
    assert_eq!(publisher.wait_for_subscriptions(1, Duration::ZERO), 0);
    let waiting = std::thread::spawn(move || {
        std::iter::from_fn(|| events.next(PATIENCE)).find(|event| matches!(event, Event::MemberJoined { .. }))
    });
    let subscriber = place.subscriber();
    assert!(waiting.join().expect("no panic").is_some_and(|event| event.to_string().contains("joined")));
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let attached = subscriber.event_queue().next(PATIENCE);
    assert!(matches!(attached, Some(Event::Opened { epoch }) if epoch == publisher.epoch()));
}
