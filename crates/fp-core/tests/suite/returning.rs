//! Layouts that take turns: a subscriber asks about each once.

use crate::support::{Place, take};
use fp_core::{Publisher, Region, Selection, Variable};

/// Publishes a step of so many elements in blocks of one length.
fn publish(publisher: &mut Publisher, len: u64, block: u64) {
    let variable = Variable::global::<u64>("array", &[len]).expect("a variable");
    let mut step = publisher.begin_step().expect("begun");
    for start in (0..len).step_by(block as usize) {
        let count = block.min(len - start);
        let values: Vec<u64> = (start..start + count).collect();
        step.put(&variable, &Region::new([start], [count]).expect("inside"), values).expect("put");
    }
    step.end().expect("ended");
}

#[test]
fn a_layout_that_returns_is_not_asked_for_again() {
    for layouts in [2, 8, 9] {
        let place = Place::new();
        let mut publisher = place.publisher();
        let mut subscriber = place.subscriber();
        let mut resolves = Vec::new();
        for step in 0..4 * layouts {
            publish(&mut publisher, 3000 + step % layouts, 700);
            let reader = take(&mut subscriber);
            let values = reader.get::<u64>("array", &Selection::All).expect("got");
            assert!(values.into_iter().eq(0..3000 + step % layouts));
            drop(reader);
            resolves.push(subscriber.statistics().resolves);
        }
        let (first, last) = (resolves[layouts as usize - 1], resolves.last());
        assert_eq!((first >= layouts, Some(&first)), (true, last), "{layouts} layouts: {resolves:?}");
        subscriber.close().expect("left");
        publisher.close().expect("closed");
    }
}
