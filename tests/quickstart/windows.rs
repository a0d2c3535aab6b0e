//! The example that joins two streams of different rates and publishes what it makes of their windows.

use crate::{finish, start};
use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable,
};
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Publishes steps of these times, each with this temperature in three cells.
fn publish(stream: &'static str, rendezvous: &Path, steps: Vec<(f64, f64)>) -> JoinHandle<()> {
    let rendezvous = Rendezvous::at(rendezvous).expect("a directory");
    let options = PublisherOptions::default().with_rendezvous(rendezvous).with_min_subscribers(1);
    thread::spawn(move || {
        let mut publisher = Publisher::open(stream, options.with_open_timeout(PATIENCE)).expect("it opens");
        let time = Variable::scalar::<f64>("time").expect("a name");
        let temperature = Variable::global::<f64>("T", &[3]).expect("a shape");
        for (at, kelvin) in steps {
            let mut writer = publisher.begin_step().expect("a step");
            writer.put_scalar(&time, at).expect("put");
            writer
                .put(&temperature, &Region::new([0], [3]).expect("a region"), vec![kelvin; 3])
                .expect("put");
            writer.end().expect("ended");
        }
        publisher.close().expect("closed");
    })
}

#[test]
fn a_stream_is_made_of_windows_over_two() {
    let place = tempfile::tempdir().expect("a directory can be made");
    let rendezvous = Rendezvous::at(place.path()).expect("a directory");
    let ocean: Vec<_> = (0..4).map(|step| (f64::from(2 * step), 290.0 + f64::from(step))).collect();
    let air: Vec<_> = (0..7).map(|step| (f64::from(step), 280.0)).collect();
    let publishers = [publish("ocean", place.path(), ocean.clone()), publish("air", place.path(), air)];
    let child = start("windows", place.path(), 0, 1);
    let options = SubscriberOptions::default().with_rendezvous(rendezvous).with_open_timeout(PATIENCE);
    let mut subscriber = Subscriber::open("exchange", options).expect("attached");
    let mut found = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("no error") {
        let scalar = |name| step.scalar::<f64>(name).expect("it is there");
        found.push((scalar("time"), scalar("heat")));
    }
    subscriber.close().expect("left");
    assert_eq!(finish("windows", child), "4 windows\n");
    publishers.into_iter().for_each(|publisher| publisher.join().expect("no panic"));
    let water = |time: u32| ocean[(time / 2) as usize].1;
    let heat = |last: u32| (last - 3..=last).map(|time| 3.0 * (water(time) - 280.0)).sum::<f64>() / 4.0;
    assert_eq!(found, (3..7).map(|last| (f64::from(last), heat(last))).collect::<Vec<_>>());
}
