//! One rank that publishes what several put: values and regions more than once, and where those ranks run.

use crate::support::{Place, take};
use fp_core::{HostId, Misuse, PutError, Region, Selection, Variable};

#[test]
fn a_rank_puts_what_several_put_where_that_is_allowed() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    let own = Variable::local_scalar::<u64>("own").unwrap();
    let (over, time) =
        (Variable::global::<u8>("over", &[3]).unwrap(), Variable::scalar::<u64>("time").unwrap());
    let all = Region::new([0], [3]).unwrap();
    let mut writer = publisher.begin_step().unwrap();
    writer.allow_repeated_puts();
    for rank in [7u8, 8] {
        writer.put_scalar(&own, u64::from(rank)).unwrap();
        writer.put(&over, &all, vec![rank; 3]).unwrap();
        writer.put(&over, &Region::new([1], [1]).unwrap(), vec![10 * rank]).unwrap();
    }
    writer.put_scalar(&time, 1u64).unwrap();
    let twice = writer.put_scalar(&time, 2u64).expect_err("it is no rank's own");
    assert!(matches!(twice, PutError::Misuse { source: Misuse::PutTwice { .. }, .. }), "{twice}");
    writer.end().unwrap();
    let step = take(&mut subscriber);
    assert_eq!(step.get::<u64>("own", Selection::All).unwrap(), [7, 8]);
    assert_eq!(step.get::<u8>("over", Selection::All).unwrap(), [8, 80, 8], "the last ones count");
    assert_eq!(step.blocks("over").unwrap().len(), 4);
    assert_eq!(step.publisher_hosts().unwrap(), [HostId::own()]);
    drop(step);
    // The next step allows it only if it says so.
    let mut writer = publisher.begin_step().unwrap();
    writer.put_scalar(&own, 7u64).unwrap();
    writer.put_scalar(&own, 8u64).expect_err("put already");
    writer.abandon();
    subscriber.close().unwrap();
    publisher.close().unwrap();
}
