//! A layout too long for one frame: a step of a million blocks is published, found and read.

mod support;

use fp_core::{Region, Selection, SubscriberOptions, Variable};
use std::time::Duration;
use support::{Place, STREAM, take};

const BLOCKS: u64 = 1_000_000;
/// Finding a million blocks takes its time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// One element a block, put from the last to the first, so that no short form of the layout says it all.
#[test]
fn a_layout_of_a_million_blocks_is_read() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options: SubscriberOptions = place.subscriber_options().with_fetch_timeout(PATIENCE);
    let mut subscriber = fp_core::Subscriber::open(STREAM, options).expect("attached");
    let array = Variable::global::<u64>("array", &[BLOCKS]).expect("a variable");
    let mut writer = publisher.begin_step().expect("begun");
    for at in (0..BLOCKS).rev() {
        let region = Region::new([at], [1]).expect("a region");
        writer.put_copy(&array, &region, &[at * 3]).expect("put");
    }
    writer.end().expect("ended");
    let reader = take(&mut subscriber);
    let part = Selection::Region(Region::new([BLOCKS / 2], [3]).expect("a region"));
    let from = BLOCKS / 2 * 3;
    assert_eq!(reader.get::<u64>("array", &part).expect("a part"), [from, from + 3, from + 6]);
    let all: Vec<u64> = reader.get("array", &Selection::All).expect("all");
    assert!(all.into_iter().eq((0..BLOCKS).map(|at| at * 3)));
}
