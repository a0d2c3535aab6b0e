//! Steps of very many blocks: their layout, the request for them and its answer are each longer than a frame.

use crate::support::{Place, STREAM, take};
use fp_core::{Cohort, Publisher, Region, Selection, Subscriber, TransportKind, TransportPolicy, Variable};
use std::time::Duration;

/// Finding very many blocks takes its time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// One element a block, put from the last to the first, so that no short form of the layout says it all.
fn read_back(blocks: u64, transports: TransportPolicy) {
    let place = Place::new();
    let options = place.publisher_options().with_transports(transports.clone());
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let options = place.subscriber_options().with_transports(transports).with_fetch_timeout(PATIENCE);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let array = Variable::global::<u64>("array", &[blocks]).expect("a variable");
    let mut writer = publisher.begin_step().expect("begun");
    for at in (0..blocks).rev() {
        let region = Region::new([at], [1]).expect("a region");
        writer.put_copy(&array, &region, &[at * 3]).expect("put");
    }
    writer.end().expect("ended");
    let reader = take(&mut subscriber);
    let part = Selection::Region(Region::new([blocks / 2], [3]).expect("a region"));
    let from = blocks / 2 * 3;
    assert_eq!(reader.get::<u64>("array", &part).expect("a part"), [from, from + 3, from + 6]);
    let all: Vec<u64> = reader.get("array", &Selection::All).expect("all");
    let wrong = (0..blocks).zip(all).find(|(at, element)| *element != at * 3);
    assert_eq!(wrong, None, "index and element");
}

#[test]
fn a_layout_of_a_million_blocks_is_read() {
    read_back(1_000_000, TransportPolicy::default());
}

#[test]
fn very_many_blocks_are_read_over_shared_memory() {
    read_back(300_000, TransportPolicy::only(TransportKind::Shm));
}

/// More owners than a rank keeps links to: it fetches from them in waves, and closes links for those of the next.
#[test]
fn more_owners_are_read_than_links_are_kept() {
    const RANKS: u32 = 300;
    let place = Place::new();
    let transports = TransportPolicy::only(TransportKind::Inproc);
    let options = place.publisher_options().with_transports(transports.clone());
    let array = Variable::global::<u64>("array", &[u64::from(RANKS)]).expect("a variable");
    std::thread::scope(|scope| {
        for rank in 0..RANKS {
            let cohort = Cohort::of(rank, RANKS).expect("a rank");
            let options = options.clone().with_cohort(cohort).with_min_subscribers(1);
            let (array, at) = (&array, u64::from(rank));
            scope.spawn(move || {
                let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
                for step in 0..2 {
                    let mut writer = publisher.begin_step().expect("begun");
                    let region = Region::new([at], [1]).expect("a region");
                    writer.put_copy(array, &region, &[at * 3 + step]).expect("put");
                    writer.end().expect("ended");
                }
                publisher.close().expect("all was read");
            });
        }
        let options = place.subscriber_options().with_transports(transports).with_fetch_timeout(PATIENCE);
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        for step in 0..2 {
            let reader = take(&mut subscriber);
            for _ in 0..2 {
                let all: Vec<u64> = reader.get("array", &Selection::All).expect("all");
                let wrong = (0..).zip(all).find(|(at, element)| *element != at * 3 + step);
                assert_eq!(wrong, None, "index and element");
            }
        }
        let opened = subscriber.statistics().data_links;
        assert!(opened > u64::from(RANKS), "{opened} links were opened: some more than once");
    });
}
