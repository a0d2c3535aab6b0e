//! Steps of very many blocks: their layout, the request for them and its answer are each longer than a frame.

mod support;

use fp_core::{Region, Selection, Subscriber, TransportKind, TransportPolicy, Variable};
use std::time::Duration;
use support::{Place, STREAM, take};

/// Finding very many blocks takes its time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// One element a block, put from the last to the first, so that no short form of the layout says it all.
fn read_back(blocks: u64, transports: TransportPolicy) {
    let place = Place::new();
    let options = place.publisher_options().with_transports(transports.clone());
    let mut publisher = fp_core::Publisher::open(STREAM, options).expect("the stream opens");
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
