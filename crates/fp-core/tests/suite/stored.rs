//! Blocks that are in no memory of the publisher: read when somebody asks, and let go of when nobody needs them.

use crate::support::{PATIENCE, Place, eventually, take};
use fp_core::{
    NextStep, Publisher, PutError, ReadError, Region, Selection, StartAt, StoredBytes, Subscriber,
    TransportKind, Variable,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const ROWS: u64 = 64;
const COLUMNS: u64 = 128;

/// What the test sees of the blocks of all steps.
#[derive(Default)]
struct Shelf {
    reads: AtomicUsize,
    dropped: AtomicUsize,
    fails: AtomicBool,
}

/// A block of a step, which is made when it is read.
struct Shelved {
    shelf: Arc<Shelf>,
    elements: Vec<f32>,
}

impl StoredBytes for Shelved {
    fn len_bytes(&self) -> u64 {
        size_of_val(&*self.elements) as u64
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        self.shelf.reads.fetch_add(1, Ordering::Relaxed);
        match self.shelf.fails.load(Ordering::Relaxed) {
            true => Err(io::Error::other("the disk is gone")),
            false => Ok(bytemuck::cast_slice(&self.elements).to_vec()),
        }
    }
}

impl Drop for Shelved {
    fn drop(&mut self) {
        self.shelf.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

fn element(step: u64, row: u64, column: u64) -> f32 {
    (step * 1_000_000 + row * COLUMNS + column) as f32
}

fn field() -> Variable {
    Variable::global::<f32>("field", &[ROWS, COLUMNS]).expect("a shape")
}

/// Publishes a step of two blocks: the lower half is in memory if that is asked for.
fn publish(publisher: &mut Publisher, shelf: &Arc<Shelf>, lower_in_memory: bool) -> u64 {
    let mut writer = publisher.begin_stored_step().expect("begun");
    let step = writer.step().0;
    for half in 0..2 {
        let (first, rows) = (half * ROWS / 2, ROWS / 2);
        let region = Region::new([first, 0], [rows, COLUMNS]).expect("a region");
        let cells = (first..first + rows).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
        let elements: Vec<f32> = cells.map(|(row, column)| element(step, row, column)).collect();
        if half == 1 && lower_in_memory {
            writer.put(&field(), &region, elements).expect("put");
        } else {
            let stored = Arc::new(Shelved { shelf: shelf.clone(), elements });
            writer.put_stored(&field(), &region, stored).expect("put");
        }
    }
    writer.end().expect("ended");
    step
}

fn pair(kind: TransportKind) -> (Publisher, Subscriber, Arc<Shelf>) {
    let place = Place::new();
    let (publisher, subscriber) = (place.publisher(), place.subscriber_over(kind));
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    (publisher, subscriber, Arc::new(Shelf::default()))
}

#[test]
fn what_is_stored_is_read_as_if_it_were_in_memory() {
    for kind in KINDS {
        for lower_in_memory in [false, true] {
            let (mut publisher, mut subscriber, shelf) = pair(kind);
            for _ in 0..3 {
                let number = publish(&mut publisher, &shelf, lower_in_memory);
                let step = take(&mut subscriber);
                assert_eq!(step.len_bytes(), ROWS * COLUMNS * 4, "wherever its bytes are");
                let all: Vec<f32> =
                    (0..ROWS * COLUMNS).map(|at| element(number, at / COLUMNS, at % COLUMNS)).collect();
                assert_eq!(step.get::<f32>("field", Selection::All).expect("all"), all, "{kind:?}");
                let columns = step.get::<f32>("field", "[:, 7]").expect("a column");
                assert_eq!(columns, (0..ROWS).map(|row| element(number, row, 7)).collect::<Vec<_>>());
                let row = step.view::<f32>("field", "[3, 5:9]").expect("a view");
                assert_eq!(*row, [5, 6, 7, 8].map(|column| element(number, 3, column)), "{kind:?}");
                let points = step.get::<f32>("field", "[points (0, 1), (63, 127)]").expect("points");
                assert_eq!(points, [element(number, 0, 1), element(number, 63, 127)]);
            }
            assert!(shelf.reads.load(Ordering::Relaxed) > 0, "{kind:?}");
            let (counted, all) = (publisher.statistics(), 3 * ROWS * COLUMNS * 4);
            assert_eq!(counted.payload_bytes, all, "{kind:?}");
            assert!(counted.stored_read_bytes > 0, "{kind:?}");
            subscriber.close().expect("closed");
            publisher.close().expect("closed");
        }
    }
}

#[test]
fn nothing_is_read_for_nobody_and_all_is_let_go_of_as_the_step_is() {
    for kind in KINDS {
        let (mut publisher, mut subscriber, shelf) = pair(kind);
        (0..3).for_each(|_| _ = publish(&mut publisher, &shelf, false));
        for taken in 0..3 {
            assert_eq!(shelf.dropped.load(Ordering::Relaxed), 2 * taken, "{kind:?}");
            drop(take(&mut subscriber));
            eventually("the step is let go of", || shelf.dropped.load(Ordering::Relaxed) == 2 * (taken + 1));
        }
        assert_eq!(shelf.reads.load(Ordering::Relaxed), 0, "{kind:?}");
        assert_eq!(publisher.pool_statistics().segments_made, 0, "stored blocks take no memory");
    }
}

#[test]
fn what_cannot_be_read_is_told_and_read_when_it_can() {
    for kind in KINDS {
        let (mut publisher, mut subscriber, shelf) = pair(kind);
        publish(&mut publisher, &shelf, false);
        let step = take(&mut subscriber);
        shelf.fails.store(true, Ordering::Relaxed);
        let error = step.get::<f32>("field", Selection::All).expect_err("unreadable");
        assert!(matches!(error, ReadError::Gone { .. }), "{kind:?}: {error}");
        assert!(error.to_string().contains("in a file that could not be read"), "{error}");
        let view = step.view::<f32>("field", "[0, :]").err().expect("unreadable").to_string();
        assert!(view.contains("in a file that could not be read"), "{view}");
        shelf.fails.store(false, Ordering::Relaxed);
        let row = step.get::<f32>("field", "[1, :]").expect("readable again");
        assert_eq!(row[3], element(0, 1, 3), "{kind:?}");
    }
}

#[test]
fn a_scalar_is_read_at_once_and_a_small_block_when_somebody_asks() {
    let (mut publisher, mut subscriber, shelf) = pair(TransportKind::Shm);
    let (time, few) = (Variable::scalar::<f32>("time"), Variable::global::<f32>("few", &[8]));
    let (time, few, late) =
        (time.expect("a variable"), few.expect("a variable"), Variable::scalar::<f32>("late"));
    let stored = |elements: Vec<f32>| Arc::new(Shelved { shelf: shelf.clone(), elements });
    let (point, eight) =
        (Region::new([0; 0], [0; 0]).expect("a point"), Region::new([0], [8]).expect("eight"));
    let mut writer = publisher.begin_step().expect("begun");
    writer.put_stored(&time, &point, stored(vec![2.5])).expect("put");
    writer.put_stored(&few, &eight, stored(vec![1.0; 8])).expect("put");
    let wrong = writer.put_stored(&few, &eight, stored(vec![1.0; 7])).expect_err("too few bytes");
    assert!(matches!(wrong, PutError::Misuse { .. }), "{wrong}");
    shelf.fails.store(true, Ordering::Relaxed);
    let late = late.expect("a variable");
    let error = writer.put_stored(&late, &point, stored(vec![1.0])).expect_err("unreadable").to_string();
    assert!(error.ends_with("\"late\": its stored bytes cannot be read: the disk is gone"), "{error}");
    shelf.fails.store(false, Ordering::Relaxed);
    writer.end().expect("ended");
    assert_eq!(shelf.dropped.load(Ordering::Relaxed), 3, "all but the small block");
    let step = take(&mut subscriber);
    assert_eq!(step.scalar::<f32>("time").expect("a scalar"), 2.5);
    assert_eq!(step.get::<f32>("few", Selection::All).expect("few"), [1.0; 8]);
}

#[test]
fn slow_subscribers_hold_nobody_up_where_the_publisher_lets_them_lag() {
    const STEPS: u64 = 500;
    let place = Place::new();
    let options = place.publisher_options().with_least_limit_steps(u32::MAX).with_limit_wait(Duration::ZERO);
    let mut publisher = Publisher::open("lagging", options).expect("opened");
    let open = || Subscriber::open("lagging", place.over(TransportKind::Shm)).expect("attached");
    let mut subscribers = [open(), open()];
    assert_eq!(publisher.wait_for_subscriptions(2, PATIENCE), 2);
    let shelf = Arc::new(Shelf::default());
    (0..STEPS).for_each(|_| _ = publish(&mut publisher, &shelf, false));
    assert_eq!(publisher.pool_statistics().segments_made, 0);
    for subscriber in &mut subscribers {
        for number in 0..STEPS {
            let step = take(subscriber);
            assert_eq!((step.step().0, step.skipped()), (number, 0));
            assert_eq!(step.get::<f32>("field", "[40, 2:3]").expect("one"), [element(number, 40, 2)]);
        }
        assert!(matches!(subscriber.next_step(Duration::ZERO), Ok(NextStep::NotYet)));
    }
    eventually("all is let go of", || shelf.dropped.load(Ordering::Relaxed) as u64 == 2 * STEPS);
}

#[test]
fn a_reserve_is_bounded_by_what_its_steps_take_wherever_that_is() {
    const STEP_BYTES: u64 = ROWS * COLUMNS * 4;
    let place = Place::new();
    let options = place.publisher_options().with_reserve_bytes(3 * STEP_BYTES + 1);
    let mut publisher = Publisher::open("reserved", options).expect("opened");
    let shelf = Arc::new(Shelf::default());
    (0..9).for_each(|step| _ = publish(&mut publisher, &shelf, step % 2 == 0));
    let options = place.over(TransportKind::Shm).with_start_at(StartAt::OldestReserved);
    let mut subscriber = Subscriber::open("reserved", options).expect("attached");
    let numbers = [(); 3].map(|()| take(&mut subscriber).step().0);
    assert_eq!(numbers, [6, 7, 8]);
    // One that is larger than all of the reserve stays until the next comes.
    let large = Variable::global::<u8>("large", &[4 * STEP_BYTES]).expect("a shape");
    for number in 9..11 {
        let mut writer = publisher.begin_step().expect("begun");
        let all = Region::new([0], [4 * STEP_BYTES]).expect("a region");
        writer.put(&large, &all, vec![7u8; 4 * STEP_BYTES as usize]).expect("put");
        writer.end().expect("ended");
        let options = place.over(TransportKind::Shm).with_start_at(StartAt::OldestReserved);
        let mut newcomer = Subscriber::open("reserved", options).expect("attached");
        assert_eq!(take(&mut newcomer).step().0, number);
    }
}

#[test]
fn an_abandoned_step_uses_up_its_number_and_counts_as_skipped() {
    let (mut publisher, mut subscriber, shelf) = pair(TransportKind::Shm);
    publisher.begin_step().expect("begun").abandon();
    publisher.begin_step().expect("begun").abandon();
    publish(&mut publisher, &shelf, true);
    let step = take(&mut subscriber);
    assert_eq!((step.step().0, step.skipped()), (2, 2));
}
