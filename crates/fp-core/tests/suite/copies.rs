//! Copies are counted where they are made, and these tests assert the counts: "zero-copy" is a number.

use crate::support::{PATIENCE, Place, array, named, publish, take, values};
use fp_core::{Publisher, Region, Selection, Statistics, StepWriter, Subscriber, TransportKind};

/// Elements of the array: far more than travels inside an announcement.
const LEN: u64 = 40_000;
const BYTES: u64 = LEN * 8;
const STEPS: u64 = 6;

/// Publishes steps and reads each. Gives what was counted in the steps after the first two, when everything that has to
/// be agreed once has been.
fn steady(
    place: &Place,
    kind: TransportKind,
    selection: Option<Selection>,
    put: impl Fn(&mut StepWriter, u64),
    read: impl Fn(&fp_core::StepReader, u64),
) -> (Statistics, Statistics) {
    let mut publisher = place.publisher();
    let mut options = place.over(kind);
    if let Some(selection) = selection {
        options = options.with_selection("array", selection);
    }
    let mut subscriber = Subscriber::open(crate::support::STREAM, options).expect("attached");
    let mut before = (publisher.statistics(), subscriber.statistics());
    for step in 0..STEPS + 2 {
        if step == 2 {
            before = (publisher.statistics(), subscriber.statistics());
        }
        let mut writer = publisher.begin_step().expect("a step");
        put(&mut writer, step);
        writer.end().expect("ended");
        let reader = take(&mut subscriber);
        assert_eq!(reader.step().0, step);
        read(&reader, step);
    }
    let after = (publisher.statistics(), subscriber.statistics());
    close(publisher, subscriber);
    (since(after.0, before.0), since(after.1, before.1))
}

fn close(publisher: Publisher, subscriber: Subscriber) {
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

fn since(after: Statistics, before: Statistics) -> Statistics {
    let mut grown = after;
    grown.steps -= before.steps;
    grown.payload_bytes -= before.payload_bytes;
    grown.put_copied_bytes -= before.put_copied_bytes;
    grown.shared_copied_bytes -= before.shared_copied_bytes;
    grown.gathered_bytes -= before.gathered_bytes;
    grown.get_copied_bytes -= before.get_copied_bytes;
    grown.received_bytes -= before.received_bytes;
    grown.staged_bytes -= before.staged_bytes;
    grown.sent_bytes -= before.sent_bytes;
    grown.views -= before.views;
    grown.requests -= before.requests;
    grown.resolves -= before.resolves;
    grown.data_links -= before.data_links;
    without_waits(grown)
}

/// Copies and questions alone: no two runs wait equally long.
fn without_waits(mut counted: Statistics) -> Statistics {
    (counted.begin_skew_ns, counted.begin_subscription_ns, counted.next_step_ns) = (0, 0, 0);
    (counted.resolve_ns, counted.fetch_ns) = (0, 0);
    counted
}

/// What is counted by the steps alone.
fn only(steps: u64, payload_bytes: u64) -> Statistics {
    let mut statistics = Statistics::default();
    (statistics.steps, statistics.payload_bytes) = (steps, payload_bytes);
    statistics
}

fn put_loan(writer: &mut StepWriter, step: u64) {
    let (variable, region) = array(LEN);
    let mut loan = writer.loan::<u64>(&variable, &region).expect("a loan");
    loan.copy_from_slice(&values(step, LEN));
    writer.put_loan(loan).expect("put");
}

fn put_vec(writer: &mut StepWriter, step: u64) {
    let (variable, region) = array(LEN);
    writer.put(&variable, &region, values(step, LEN)).expect("put");
}

fn put_copy(writer: &mut StepWriter, step: u64) {
    let (variable, region) = array(LEN);
    writer.put_copy(&variable, &region, &values(step, LEN)).expect("put");
}

fn view(reader: &fp_core::StepReader, step: u64) {
    let view = reader.view::<u64>("array", &Selection::All).expect("a view");
    assert!(view.is_zero_copy());
    assert_eq!(*view, values(step, LEN)[..]);
}

fn get(reader: &fp_core::StepReader, step: u64) {
    let mut destination = vec![0; LEN as usize];
    reader.get_into("array", &Selection::All, &mut destination).expect("got");
    assert_eq!(destination, values(step, LEN));
}

#[test]
fn a_loan_viewed_over_shared_memory_is_never_copied() {
    let (publisher, subscriber) = steady(&Place::new(), TransportKind::Shm, None, put_loan, view);
    assert_eq!(publisher, only(STEPS, STEPS * BYTES));
    let mut expected = only(STEPS, 0);
    expected.views = STEPS;
    assert_eq!(subscriber, expected);
}

#[test]
fn an_owned_vector_viewed_in_process_is_never_copied() {
    let (publisher, subscriber) = steady(&Place::new(), TransportKind::Inproc, None, put_vec, view);
    assert_eq!(publisher, only(STEPS, STEPS * BYTES));
    let mut expected = only(STEPS, 0);
    expected.views = STEPS;
    assert_eq!(subscriber, expected);
}

#[test]
fn an_owned_vector_over_shared_memory_is_copied_once() {
    let (publisher, _) = steady(&Place::new(), TransportKind::Shm, None, put_vec, view);
    let mut expected = only(STEPS, STEPS * BYTES);
    expected.shared_copied_bytes = STEPS * BYTES;
    assert_eq!(publisher, expected);
}

#[test]
fn put_copy_copies_once() {
    for kind in [TransportKind::Inproc, TransportKind::Shm] {
        let (publisher, _) = steady(&Place::new(), kind, None, put_copy, view);
        let mut expected = only(STEPS, STEPS * BYTES);
        expected.put_copied_bytes = STEPS * BYTES;
        assert_eq!(publisher, expected, "{kind}");
    }
}

#[test]
fn a_get_out_of_shared_memory_copies_once_and_asks_nothing() {
    let (publisher, subscriber) = steady(&Place::new(), TransportKind::Shm, None, put_loan, get);
    assert_eq!(publisher, only(STEPS, STEPS * BYTES));
    let mut expected = only(STEPS, STEPS * BYTES);
    expected.get_copied_bytes = STEPS * BYTES;
    assert_eq!(subscriber, expected);
}

/// The array in blocks of so many elements.
fn in_blocks(len: u64) -> impl Fn(&mut StepWriter, u64) {
    move |writer, step| {
        let ((variable, _), elements) = (array(LEN), values(step, LEN));
        for (block, elements) in (0..).zip(elements.chunks_exact(len as usize)) {
            let region = Region::new([block * len], [len]).expect("a region");
            writer.put_copy(&variable, &region, elements).expect("put");
        }
    }
}

/// Blocks of 3,200 bytes travel inside an announcement, but a hundred of them are too many for one. Those of 6,400 are
/// asked for over tcp, all at once.
#[test]
fn many_blocks_arrive_each_once() {
    for (kind, len, requests) in
        [(TransportKind::Shm, 400, 0), (TransportKind::Shm, 800, 0), (TransportKind::Tcp, 800, STEPS)]
    {
        let (_, subscriber) = steady(&Place::new(), kind, None, in_blocks(len), get);
        let counted = (subscriber.payload_bytes, subscriber.requests);
        assert_eq!(counted, (STEPS * BYTES, requests), "{kind}, blocks of {len}");
        let arrived = subscriber.get_copied_bytes + subscriber.received_bytes;
        assert_eq!(arrived, STEPS * BYTES, "{kind}, blocks of {len}: none came twice");
    }
}

#[test]
fn a_standing_selection_over_tcp_arrives_where_it_is_wanted() {
    let standing = Some(Selection::All);
    let (publisher, subscriber) = steady(&Place::new(), TransportKind::Tcp, standing, put_vec, get);
    let mut expected = only(STEPS, STEPS * BYTES);
    expected.sent_bytes = STEPS * BYTES;
    assert_eq!(publisher, expected, "sent from where it lies");
    let mut expected = only(STEPS, STEPS * BYTES);
    expected.received_bytes = STEPS * BYTES;
    assert_eq!(subscriber, expected, "received straight, without a question");
}

/// The publisher runs ahead. What is pushed for later steps must not be staged while an earlier one is read.
#[test]
fn pushes_of_later_steps_are_not_staged() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place
        .over(TransportKind::Tcp)
        .with_selection("array", Selection::All)
        .with_credit_steps(4)
        .with_limit_steps(8);
    let mut subscriber = Subscriber::open(crate::support::STREAM, options).expect("attached");
    publish(&mut publisher, LEN);
    get(&take(&mut subscriber), 0);
    let before = subscriber.statistics();
    for round in 0..3 {
        for _ in 0..4 {
            publish(&mut publisher, LEN);
        }
        for step in 0..4 {
            get(&take(&mut subscriber), 1 + round * 4 + step);
        }
    }
    let grown = since(subscriber.statistics(), before);
    assert_eq!((grown.staged_bytes, grown.requests), (0, 0));
    assert_eq!(grown.received_bytes, 12 * BYTES);
    close(publisher, subscriber);
}

#[test]
fn what_nobody_subscribed_to_is_neither_copied_nor_stored() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let ((variable, region), owned) = (array(LEN), values(0, LEN));
    for _ in 0..3 {
        let mut writer = publisher.begin_step().expect("a step");
        assert!(!writer.wanted("array"));
        writer.put_copy(&variable, &region, &owned).expect("put");
        writer.end().expect("ended");
    }
    assert_eq!(publisher.statistics(), only(3, 0));
    assert_eq!(publisher.pool_statistics().segments_made, 0, "no memory was taken");
    publisher.close().expect("closed");
}

#[test]
fn variables_that_nobody_subscribed_to_are_not_stored() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.over(TransportKind::Shm).with_variables(["asked"]);
    let mut subscriber = Subscriber::open(crate::support::STREAM, options).expect("attached");
    let mut writer = publisher.begin_step().expect("a step");
    let ((asked, region), (unasked, _)) = (named("asked", LEN), named("unasked", LEN));
    writer.put_copy(&asked, &region, &values(1, LEN)).expect("put");
    writer.put_copy(&unasked, &region, &values(2, LEN)).expect("put");
    assert!(writer.wanted("asked") && !writer.wanted("unasked"));
    writer.end().expect("ended");
    let mut expected = only(1, BYTES);
    expected.put_copied_bytes = BYTES;
    assert_eq!(publisher.statistics(), expected);
    assert_eq!(take(&mut subscriber).get::<u64>("asked", &Selection::All).expect("got"), values(1, LEN));
    close(publisher, subscriber);
}

/// Owned memory is made shareable only where somebody who shares memory reads that variable.
#[test]
fn an_owned_vector_is_not_copied_for_a_variable_that_goes_over_tcp_alone() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let near = place.over(TransportKind::Shm).with_variables(["near"]);
    let far = place.over(TransportKind::Tcp).with_variables(["far"]);
    let mut near = Subscriber::open(crate::support::STREAM, near).expect("attached");
    let mut far = Subscriber::open(crate::support::STREAM, far).expect("attached");
    let ((of_near, region), (of_far, _)) = (named("near", LEN), named("far", LEN));
    let mut before = publisher.statistics();
    for step in 0..STEPS + 1 {
        if step == 1 {
            before = publisher.statistics();
        }
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&of_near, &region, values(step, LEN)).expect("put");
        writer.put(&of_far, &region, values(step, LEN)).expect("put");
        writer.end().expect("ended");
        assert_eq!(take(&mut near).get::<u64>("near", &Selection::All).expect("got"), values(step, LEN));
        assert_eq!(take(&mut far).get::<u64>("far", &Selection::All).expect("got"), values(step, LEN));
    }
    assert_eq!(since(publisher.statistics(), before).shared_copied_bytes, STEPS * BYTES);
    near.close().expect("left");
    close(publisher, far);
}

/// Several gets together ask each owner once, and what is small needs no question at all.
#[test]
fn gets_that_are_fetched_together_ask_once() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber_over(TransportKind::Tcp);
    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let (mut all, mut part) = (vec![0u64; LEN as usize], vec![0u64; 100]);
    let region = fp_core::Region::new([7], [100]).expect("inside");
    reader
        .fetch()
        .get("array", &Selection::All, &mut all)
        .get("array", Selection::Region(region), &mut part)
        .wait(PATIENCE)
        .expect("fetched");
    assert_eq!((all, part), (values(0, LEN), values(0, LEN)[7..107].to_vec()));
    assert_eq!((subscriber.statistics().requests, subscriber.statistics().data_links), (1, 1));
    drop(reader);
    close(publisher, subscriber);
}

/// A small piece travels inside an announcement, which may cross the question for it.
#[test]
fn what_was_asked_for_and_came_unasked_is_counted_once() {
    for round in 0..60 {
        let place = Place::new();
        let mut publisher = place.publisher();
        let options = place.over(TransportKind::Tcp);
        let mut subscriber = Subscriber::open(crate::support::STREAM, options).expect("attached");
        publish(&mut publisher, 10);
        let reader = take(&mut subscriber);
        assert_eq!(reader.get::<u64>("array", Selection::All).expect("got"), values(0, 10));
        assert_eq!(subscriber.statistics().payload_bytes, 80, "round {round}");
        drop(reader);
        close(publisher, subscriber);
    }
}
