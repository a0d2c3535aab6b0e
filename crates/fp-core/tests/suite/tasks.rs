//! The asynchronous calls under an executor of the test's own: several streams on one thread, dropped calls, deadlines.
//! Tasks are woken by events and by nothing else.

use crate::support::executor::{Bell, Task, block_on, counted, poll, run};
use crate::support::{PATIENCE, Place, STREAM, array, eventually, named, publish, take, values};
use fp_core::record::Record as _;
use fp_core::{
    BeginError, Misuse, NextStep, OpenError, Publisher, QueuePolicy, ReadError, Region, Selection,
    StepReader, Subscriber, TransportKind, Variable,
};
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const STEPS: u64 = 12;
/// More than a poll copies by itself: half a mebibyte.
const LARGE: u64 = 64 << 10;
/// What a poll copies by itself where memory is shared.
const SMALL: u64 = 100;

async fn publish_all(place: &Place) {
    let options = place.publisher_options().with_min_subscribers(2);
    let mut publisher = Publisher::open_async(STREAM, options).await.expect("the stream opens");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step_async().await.expect("a step");
        for (name, len) in [("large", LARGE), ("small", SMALL)] {
            let (variable, region) = named(name, len);
            writer.put(&variable, &region, values(step, len)).expect("put");
        }
        writer.put_scalar(&Variable::scalar::<u64>("number").expect("a name"), step).expect("put");
        writer.end().expect("ended");
    }
    publisher.close_async().await.expect("closed");
}

async fn read(step: &StepReader, large: &mut Vec<u64>) {
    let number = step.step().0;
    let (outcome, got) = step.get_into_async("large", &Selection::All, std::mem::take(large)).await;
    outcome.expect("fetched");
    assert_eq!(got, values(number, LARGE));
    *large = got;
    let small: Vec<u64> = step.get_async("small", &Selection::All).await.expect("fetched");
    assert_eq!(small, values(number, SMALL));
    let part = Selection::Region(Region::new([LARGE / 2], [3]).expect("inside"));
    let fetched =
        step.fetch_async().get("large", &part, vec![1u64]).get("number", &Selection::All, vec![9u64; 7]);
    let (outcome, (part, numbers)) = fetched.wait(PATIENCE).await;
    outcome.expect("fetched");
    assert_eq!((part, numbers), (values(number, LARGE)[LARGE as usize / 2..][..3].to_vec(), vec![number]));
}

async fn subscribe(place: &Place, kind: TransportKind) {
    let mut subscriber = Subscriber::open_async(STREAM, place.over(kind)).await.expect("attached");
    let (mut next, mut large) = (0, Vec::new());
    loop {
        match subscriber.next_step_async(PATIENCE).await.expect("a step or the end") {
            NextStep::Step(step) => {
                assert_eq!(step.step().0, next, "every step, in order");
                next += 1;
                read(&step, &mut large).await;
            }
            NextStep::Ended(_) => break,
            NextStep::NotYet => panic!("nothing after {next} steps"),
        }
    }
    assert_eq!(next, STEPS);
    subscriber.close_async().await.expect("closed");
}

#[test]
fn publishers_and_subscribers_of_several_streams_share_one_thread() {
    let places: Vec<(Place, TransportKind)> = KINDS.map(|kind| (Place::new(), kind)).into();
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for (place, kind) in &places {
        tasks.push(Box::pin(publish_all(place)));
        tasks.push(Box::pin(subscribe(place, *kind)));
        tasks.push(Box::pin(subscribe(place, *kind)));
    }
    run(tasks);
    assert!(places.iter().all(|(place, _)| place.entries().is_empty()));
}

#[test]
fn a_wait_for_a_step_is_woken_by_it_and_by_little_else() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
        // What comes with attaching may wake it, and a heartbeat each way.
        let (nothing, polls) = counted(subscriber.next_step_async(Duration::from_millis(500)));
        assert!(matches!(nothing, Ok(NextStep::NotYet)));
        assert!(polls <= 5, "{polls} polls in half a second without steps over {kind:?}");
        let bell = Bell::new();
        let mut next = pin!(subscriber.next_step_async(PATIENCE));
        let mut polls = 1;
        assert!(poll(next.as_mut(), &bell).is_pending());
        publish(&mut publisher, SMALL);
        let step = loop {
            bell.listen();
            polls += 1;
            if let Poll::Ready(step) = poll(next.as_mut(), &bell) {
                break step;
            }
        };
        assert!(matches!(step, Ok(NextStep::Step(_))));
        assert!(polls <= 4, "{polls} polls for one step over {kind:?}");
    }
}

#[test]
fn a_dropped_wait_loses_no_step() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    for step in 0..20 {
        let bell = Bell::new();
        {
            let mut next = pin!(subscriber.next_step_async(PATIENCE));
            assert!(poll(next.as_mut(), &bell).is_pending());
            publish(&mut publisher, SMALL);
            bell.listen();
        }
        drop(subscriber.next_step_async(PATIENCE));
        match block_on(subscriber.next_step_async(PATIENCE)) {
            Ok(NextStep::Step(reader)) => assert_eq!(reader.step().0, step),
            other => panic!("no step {step}: {other:?}"),
        }
    }
}

#[test]
fn a_step_begins_when_there_is_room_and_not_before() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber =
        Subscriber::open(STREAM, place.subscriber_options().with_limit_steps(1)).expect("attached");
    publish(&mut publisher, SMALL);
    let step = take(&mut subscriber);
    let bell = Bell::new();
    {
        let mut begin = pin!(publisher.begin_step_async());
        assert!(poll(begin.as_mut(), &bell).is_pending());
    }
    let mut begin = pin!(publisher.begin_step_async());
    let mut polls = 1;
    assert!(poll(begin.as_mut(), &bell).is_pending());
    drop(step);
    let writer = loop {
        bell.listen();
        polls += 1;
        if let Poll::Ready(writer) = poll(begin.as_mut(), &bell) {
            break writer.expect("a step");
        }
    };
    assert_eq!(writer.step().0, 1, "the call that was dropped began none");
    assert!(polls <= 5, "{polls} polls for one release");
}

#[test]
fn a_wait_for_room_ends_as_the_policy_says() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let policy = QueuePolicy::EveryStep { max_wait: Duration::from_millis(40) };
    let options = place.subscriber_options().with_limit_steps(1).with_policy(policy);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, SMALL);
    let _held = take(&mut subscriber);
    let started = Instant::now();
    let writer = block_on(publisher.begin_step_async()).expect("the subscription was detached");
    assert!(started.elapsed() >= Duration::from_millis(40) && started.elapsed() < Duration::from_secs(2));
    drop(writer);
    assert!(matches!(block_on(subscriber.next_step_async(PATIENCE)), Ok(NextStep::Ended(_))));
}

#[test]
fn a_dropped_fetch_leaves_the_stream_as_it_was() {
    const HUGE: u64 = 4 << 20;
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
        for step in 0..6 {
            publish(&mut publisher, HUGE);
            let reader = take(&mut subscriber);
            let bell = Bell::new();
            for _ in 0..4 {
                let mut fetch = pin!(reader.get_async::<u64>("array", &Selection::All));
                // Dropped as it is queued, as it is under way, or when nobody has taken what it fetched.
                let polled = poll(fetch.as_mut(), &bell);
                if step % 3 == 1 && polled.is_pending() {
                    std::thread::yield_now();
                } else if step % 3 == 2 && polled.is_pending() {
                    bell.listen();
                }
            }
            drop(reader.get_async::<u64>("array", &Selection::All));
            let part = Selection::Region(Region::new([HUGE - 2], [2]).expect("inside"));
            let got = block_on(reader.get_async::<u64>("array", &part)).expect("fetched");
            assert_eq!(got, &values(step, HUGE)[HUGE as usize - 2..]);
        }
        publisher.close().expect("every step was released");
        assert!(matches!(block_on(subscriber.next_step_async(PATIENCE)), Ok(NextStep::Ended(_))));
    }
}

#[test]
fn small_gets_over_shared_memory_end_in_the_first_poll() {
    for kind in [TransportKind::Inproc, TransportKind::Shm] {
        let place = Place::new();
        let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
        let mut at_once = 0;
        for step in 0..10 {
            publish(&mut publisher, SMALL);
            let reader = take(&mut subscriber);
            let (got, polls) = counted(reader.get_async::<u64>("array", &Selection::All));
            assert_eq!(got.expect("fetched"), values(step, SMALL));
            at_once += u32::from(polls == 1);
        }
        // The first asks for the layout; a later one may come before its owner has said where the block lies.
        assert!(at_once >= 5, "{at_once} of 10 over {kind:?}");
        assert_eq!(subscriber.statistics().payload_bytes, 10 * SMALL * 8, "each was copied once");
    }
}

#[test]
fn views_and_variables_come_without_a_copy_and_without_a_wait() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
        let mut at_once = 0;
        for step in 0..10 {
            publish(&mut publisher, LARGE);
            let reader = take(&mut subscriber);
            let (variables, polls) = counted(reader.variables_async());
            assert_eq!(variables.expect("known").len(), 1);
            assert!(step == 0 || polls == 1, "asked for once");
            let part = Region::new([LARGE / 2], [LARGE / 2]).expect("inside");
            let (view, polls) = counted(reader.view_async::<u64>("array", part));
            let view = view.expect("viewed");
            drop(reader);
            assert_eq!(&view[..], &values(step, LARGE)[LARGE as usize / 2..]);
            assert_eq!(view.is_zero_copy(), kind != TransportKind::Tcp);
            at_once += u32::from(polls == 1);
        }
        assert!(at_once >= 5 || kind == TransportKind::Tcp, "{at_once} of 10 over {kind:?}");
        let views = if kind == TransportKind::Tcp { 0 } else { 10 };
        assert_eq!(subscriber.statistics().views, views);
    }
}

#[test]
fn a_selection_may_be_a_text() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    for step in 0..4 {
        publish(&mut publisher, SMALL);
        let reader = take(&mut subscriber);
        let all = values(step, SMALL);
        let last: Vec<u64> = reader.get("array", "[-3:]").expect("fetched");
        assert_eq!(last, &all[SMALL as usize - 3..]);
        let (got, polls) = counted(reader.get_async::<u64>("array", "[2:9:3]"));
        assert_eq!(got.expect("fetched"), [all[2], all[5], all[8]]);
        assert!(step == 0 || polls == 1, "its shape is known, and its block is here: {polls} polls");
        let some = Region::new([4], [2]).expect("inside");
        assert_eq!(reader.get::<u64>("array", some).expect("fetched"), &all[4..6]);
        let wrong = reader.get::<u64>("array", "[2:").expect_err("no bracket");
        assert!(matches!(wrong, ReadError::Misuse { source: Misuse::SelectionText { .. }, .. }), "{wrong}");
        let wrong = block_on(reader.get_async::<u64>("array", "[0:101]")).expect_err("outside");
        assert!(matches!(wrong, ReadError::Misuse { source: Misuse::Selection { .. }, .. }), "{wrong}");
    }
    assert_eq!(subscriber.statistics().resolves, 4, "three plans and the shape, once each");
}

#[test]
fn what_is_wrong_is_told_and_the_arrays_come_back() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_variables(["array"]);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, SMALL);
    let reader = take(&mut subscriber);
    let mine = Vec::<u64>::with_capacity(12_345);
    let (outcome, mine) = block_on(reader.get_into_async("other", &Selection::All, mine));
    assert!(matches!(outcome, Err(ReadError::Misuse { source: Misuse::NotSubscribed { .. }, .. })));
    assert_eq!(mine.capacity(), 12_345);
    for _ in 0..2 {
        // At first the plan is not known, and a thread finds it out; then the poll does.
        let wrong = block_on(reader.get_async::<f32>("array", &Selection::All));
        assert!(matches!(wrong, Err(ReadError::Misuse { source: Misuse::WrongDtype { .. }, .. })));
    }
    let outside = Selection::Region(Region::new([SMALL], [1]).expect("a region"));
    let wrong = block_on(reader.get_async::<u64>("array", &outside));
    assert!(matches!(wrong, Err(ReadError::Misuse { source: Misuse::Selection { .. }, .. })));
    let (outcome, ()) = block_on(reader.fetch_async().wait(PATIENCE));
    outcome.expect("nothing is soon done");
    let _open = block_on(publisher.begin_step_async()).expect("a step");
    let again = block_on(publisher.begin_step_async());
    assert!(matches!(again, Err(BeginError::Misuse { source: Misuse::StepOpen(_), .. })));
}

#[test]
fn an_opening_that_nobody_joins_ends_at_its_deadline() {
    let place = Place::new();
    let short = Duration::from_millis(150);
    let options = place.subscriber_options().with_open_timeout(short);
    let nobody = block_on(Subscriber::open_async(STREAM, options));
    assert!(matches!(nobody, Err(OpenError::Failed { .. })));
    let options = place.publisher_options().with_open_timeout(short).with_min_subscribers(1);
    for _ in 0..2 {
        let lonely = block_on(Publisher::open_async(STREAM, options.clone()));
        assert!(matches!(lonely, Err(OpenError::TooFewSubscribers { present: 0, wanted: 1, .. })));
        assert!(place.entries().is_empty(), "the name was given back before the error was told");
    }
}

#[test]
fn a_dropped_opening_gives_the_name_back() {
    let place = Place::new();
    let bell = Bell::new();
    {
        let mut opening =
            pin!(Publisher::open_async(STREAM, place.publisher_options().with_min_subscribers(1)));
        assert!(poll(opening.as_mut(), &bell).is_pending());
        while place.entries().is_empty() {
            bell.listen();
            assert!(poll(opening.as_mut(), &bell).is_pending());
        }
        let mut attaching = pin!(Subscriber::open_async("another", place.subscriber_options()));
        assert!(poll(attaching.as_mut(), &bell).is_pending());
    }
    eventually("its name given back", || place.entries().is_empty());
    block_on(Publisher::open_async(STREAM, place.publisher_options())).expect("the name is free");
}

#[test]
fn a_dropped_closing_goes_on() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    publish(&mut publisher, SMALL);
    let bell = Bell::new();
    {
        let mut closing = pin!(publisher.close_async());
        assert!(poll(closing.as_mut(), &bell).is_pending(), "a step is not delivered yet");
    }
    let step = take(&mut subscriber);
    assert_eq!(step.get::<u64>("array", &Selection::All).expect("fetched"), values(0, SMALL));
    drop(step);
    assert!(matches!(subscriber.next_step(PATIENCE), Ok(NextStep::Ended(_))));
    eventually("its name given back", || place.entries().is_empty());
    drop(subscriber.close_async());
}

#[test]
fn every_call_may_move_between_threads() {
    fn moves<T: Send>(_: &impl Future<Output = T>) {}
    let place = Place::new();
    moves(&Publisher::open_async(STREAM, place.publisher_options()));
    moves(&Subscriber::open_async(STREAM, place.subscriber_options()));
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    moves(&publisher.begin_step_async());
    moves(&subscriber.next_step_async(PATIENCE));
    publish(&mut publisher, SMALL);
    let reader = take(&mut subscriber);
    let got = reader.get_async::<u64>("array", &Selection::All);
    drop(reader);
    let thread = std::thread::spawn(move || block_on(got).expect("the call holds the step"));
    assert_eq!(thread.join().expect("no panic"), values(0, SMALL));
    let (_, region) = array(SMALL);
    assert_eq!(region.element_count(), SMALL);
    moves(&subscriber.close_async());
    moves(&publisher.close_async());
}

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Atom {
    id: u64,
}

#[test]
fn tasks_read_records_arrays_and_gaps() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) =
            (place.publisher(), Subscriber::open(STREAM, place.over(kind)).expect("attached"));
        let grid = Variable::global::<u64>("grid", &[2, 4]).expect("a name");
        let atoms =
            Variable::global_records("atoms", &Atom::schema().expect("a type"), &[2]).expect("a name");
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&grid, &Region::new([0, 0], [1, 4]).expect("inside"), vec![1u64, 2, 3, 4]).expect("put");
        let both = Region::new([0], [2]).expect("inside");
        writer.put_records_copy(&atoms, &both, &[Atom { id: 7 }, Atom { id: 8 }]).expect("put");
        writer.end().expect("ended");
        let step = take(&mut subscriber);
        let filled = block_on(step.get_or_fill_async("grid", "[:, 3]", 9u64)).expect("filled");
        assert_eq!(filled, [4, 9], "{kind}");
        let gap = block_on(step.get_array_async::<u64>("grid", "[...]")).expect_err("a gap");
        assert!(matches!(gap, ReadError::Plan { .. }), "{gap}");
        let row = block_on(step.get_array_async::<u64>("grid", "[0:1, 2:]")).expect("a row");
        assert_eq!((row.shape(), row[[0, 1]]), (&[1, 2][..], 4), "{kind}");
        let read = step.get_records_async::<Atom>("atoms", "[...]");
        drop(step);
        assert_eq!(
            block_on(read).expect("read"),
            [Atom { id: 7 }, Atom { id: 8 }],
            "the call holds the step"
        );
        drop(subscriber);
        publisher.close().expect("closed");
    }
}
