//! An array in many boxes of several ranks, which lie among one another: each element is the last that was put there.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{Cohort, Publisher, Region, StoredBytes, Subscriber, TransportKind, TransportPolicy, Variable};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SHAPE: [u64; 3] = [40, 32, 48];
const RANKS: u32 = 3;
const STEPS: u64 = 8;

/// The boxes of each rank, in the order in which they are put. Those of a grid are dealt out in turns, from the last to
/// the first. A few lie over others.
fn boxes() -> Vec<Vec<Region>> {
    let mut of = vec![Vec::new(); RANKS as usize];
    let counts = SHAPE.map(|extent| extent / 8);
    let number = counts.iter().product::<u64>();
    for at in (0..number).rev() {
        let corner =
            [at / counts[2] / counts[1], at / counts[2] % counts[1], at % counts[2]].map(|at| at * 8);
        of[(at % u64::from(RANKS)) as usize].push(Region::new(corner, [8; 3]).expect("inside"));
    }
    for (rank, corner, count) in
        [(0, [3, 5, 7], [9, 3, 20]), (1, [30, 20, 1], [8, 12, 12]), (2, [4, 4, 4], [1, 1, 1])]
    {
        of[rank].push(Region::new(corner, count).expect("inside"));
    }
    of
}

/// What a box has at a place.
fn element(step: u64, rank: usize, number: usize, [x, y, z]: [u64; 3]) -> f64 {
    (step * 1_000_003 + rank as u64 * 7919 + number as u64 * 104_729 + x * 4801 + y * 97 + z) as f64
}

fn places(region: &Region) -> impl Iterator<Item = [u64; 3]> + use<> {
    let (start, end) = (*region.start(), region.end());
    (start[0]..end[0])
        .flat_map(move |x| (start[1]..end[1]).flat_map(move |y| (start[2]..end[2]).map(move |z| [x, y, z])))
}

/// The whole array by definition.
fn whole(step: u64) -> Vec<f64> {
    let mut all = vec![f64::NAN; SHAPE.iter().product::<u64>() as usize];
    for (rank, of) in boxes().iter().enumerate() {
        for (number, region) in of.iter().enumerate() {
            for [x, y, z] in places(region) {
                let at = (x * SHAPE[1] + y) * SHAPE[2] + z;
                all[at as usize] = element(step, rank, number, [x, y, z]);
            }
        }
    }
    all
}

/// The first place at which these differ, and how.
fn difference(found: &[f64], expected: &[f64]) -> Option<(usize, f64, f64)> {
    assert_eq!(found.len(), expected.len());
    let both = found.iter().copied().zip(expected.iter().copied()).enumerate();
    both.map(|(at, (found, expected))| (at, found, expected)).find(|(_, found, expected)| found != expected)
}

/// A box that is in no memory: it is read when somebody asks, and nobody is told before where it lies.
struct Shelved(Vec<f64>);

impl StoredBytes for Shelved {
    fn len_bytes(&self) -> u64 {
        size_of_val(&*self.0) as u64
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        Ok(self.0.iter().flat_map(|element| element.to_ne_bytes()).collect())
    }
}

fn publish(mut publisher: Publisher, rank: usize, is_stored: bool) {
    let array = Variable::global::<f64>("array", &SHAPE).expect("a variable");
    let of = boxes().swap_remove(rank);
    for step in 0..STEPS {
        let begun = if is_stored { publisher.begin_stored_step() } else { publisher.begin_step() };
        let mut writer = begun.expect("begun");
        for (number, region) in of.iter().enumerate() {
            let elements: Vec<f64> = places(region).map(|place| element(step, rank, number, place)).collect();
            let put = match is_stored {
                true => writer.put_stored(&array, region, Arc::new(Shelved(elements))),
                false => writer.put_copy(&array, region, &elements),
            };
            put.expect("put");
        }
        writer.end().expect("ended");
    }
    publisher.close().expect("all was read");
}

/// What a subscriber has of the ranks, of which one may have its boxes on a shelf.
fn with_ranks(kind: TransportKind, stored: Option<u32>, read: impl FnOnce(Subscriber)) {
    let place = Place::new();
    let transports = TransportPolicy::only(kind);
    std::thread::scope(|scope| {
        for rank in 0..RANKS {
            let cohort = Cohort::of(rank, RANKS).expect("a rank");
            let options = place.publisher_options().with_transports(transports.clone());
            let options = options.with_cohort(cohort).with_min_subscribers(1);
            scope.spawn(move || {
                let publisher = Publisher::open(STREAM, options).expect("the stream opens");
                publish(publisher, rank as usize, stored == Some(rank));
            });
        }
        let options = place.subscriber_options().with_transports(transports.clone());
        read(Subscriber::open(STREAM, options).expect("attached"));
    });
}

fn read_back(kind: TransportKind) {
    with_ranks(kind, None, |mut subscriber| {
        for step in 0..STEPS {
            let (reader, expected) = (take(&mut subscriber), whole(step));
            let all: Vec<f64> = reader.get("array", "[:, :, :]").expect("all");
            assert_eq!(difference(&all, &expected), None, "{kind:?}, step {step}");
            let part: Vec<f64> = reader.get("array", "[2:39, ::3, 5:]").expect("a part");
            let rows =
                (2..39).flat_map(|x| (0..SHAPE[1]).step_by(3).map(move |y| (x * SHAPE[1] + y) * SHAPE[2]));
            let chosen = rows.flat_map(|row| &expected[row as usize + 5..(row + SHAPE[2]) as usize]);
            assert_eq!(
                difference(&part, &chosen.copied().collect::<Vec<_>>()),
                None,
                "{kind:?}, part of step {step}"
            );
        }
    });
}

#[test]
fn boxes_in_shared_memory_are_read_to_their_places() {
    read_back(TransportKind::Shm);
}

#[test]
fn boxes_of_this_process_are_read_to_their_places() {
    read_back(TransportKind::Inproc);
}

#[test]
fn boxes_that_are_sent_are_read_to_their_places() {
    read_back(TransportKind::Tcp);
}

/// The others have said where theirs lie, and are not asked. Where they had no core to say it in time they are, as everybody is in
/// the first step, in which nobody knows yet what is wanted.
#[test]
fn the_one_owner_that_does_not_say_where_its_boxes_lie_is_asked() {
    with_ranks(TransportKind::Shm, Some(1), |mut subscriber| {
        let asked: Vec<u64> = (0..STEPS)
            .map(|step| {
                let reader = take(&mut subscriber);
                let before = subscriber.statistics().requests;
                let all: Vec<f64> = reader.get("array", "[:, :, :]").expect("all");
                assert_eq!(difference(&all, &whole(step)), None, "step {step}");
                subscriber.statistics().requests - before
            })
            .collect();
        assert!(asked.iter().all(|asked| (1..=u64::from(RANKS)).contains(asked)), "{asked:?}");
        assert!(asked[1..].contains(&1), "{asked:?}");
    });
}

/// An owner of very many blocks may take long to say where they lie. But not so long that nothing is left for its answer.
#[test]
fn a_fetch_that_has_little_time_asks_before_it_is_over() {
    const BLOCKS: u64 = 20_000;
    let place = Place::new();
    std::thread::scope(|scope| {
        let options = place.publisher_options().with_min_subscribers(1);
        scope.spawn(|| {
            let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
            let array = Variable::global::<f64>("array", &[BLOCKS]).expect("a variable");
            for _ in 0..2 {
                let mut writer = publisher.begin_stored_step().expect("begun");
                for at in 0..BLOCKS {
                    let region = Region::new([at], [1]).expect("inside");
                    writer.put_stored(&array, &region, Arc::new(Shelved(vec![at as f64]))).expect("put");
                }
                writer.end().expect("ended");
            }
            publisher.close().expect("all was read");
        });
        let options = place.subscriber_options().with_transports(TransportPolicy::only(TransportKind::Shm));
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        // It says what is wanted.
        take(&mut subscriber).get::<f64>("array", "[:]").expect("all");
        let reader = take(&mut subscriber);
        let before = subscriber.statistics().requests;
        let (began, mut all) = (Instant::now(), vec![f64::NAN; BLOCKS as usize]);
        // Each time it begins anew; one that is not held up asks.
        while subscriber.statistics().requests == before {
            assert!(began.elapsed() < PATIENCE, "nobody is asked");
            let _ = reader.fetch().get("array", "[:]", &mut all[..]).wait(Duration::from_millis(15));
        }
        let all: Vec<f64> = reader.get("array", "[:]").expect("all");
        assert!(all.iter().enumerate().all(|(at, element)| *element == at as f64));
    });
}
