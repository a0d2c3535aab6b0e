//! Streams in a service under tokio: the example of two streams and a timer, and waits that are given up.

use crate::{finish, start};
use flexpath::{Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
use futures_util::StreamExt;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const STEPS: u64 = 40;
const CELLS: u64 = 100;

/// Publishes steps of one value each, with a pause before each, as soon as somebody is there.
fn publish(stream: &'static str, rendezvous: &Path, pause: Duration) -> JoinHandle<()> {
    let options =
        PublisherOptions::default().with_rendezvous(Rendezvous::at(rendezvous).expect("a directory"));
    let options = options.with_min_subscribers(1).with_open_timeout(Duration::from_secs(60));
    let (never, news) = mpsc::channel::<()>();
    thread::spawn(move || {
        let _never = never;
        let mut publisher = Publisher::open(stream, options).expect("it opens");
        let temperature = Variable::global::<f64>("temperature", &[CELLS]).expect("a shape");
        for step in 0..STEPS {
            assert_eq!(news.recv_timeout(pause), Err(RecvTimeoutError::Timeout));
            let mut writer = publisher.begin_step().expect("a step");
            let cells = vec![step as f64; CELLS as usize];
            writer.put(&temperature, &Region::new([0], [CELLS]).expect("a region"), cells).expect("put");
            writer.end().expect("ended");
        }
        publisher.close().expect("closed");
    })
}

#[test]
fn two_streams_and_a_timer_are_served_in_one_loop() {
    let place = tempfile::tempdir().expect("a directory can be made");
    let publishers = ["ocean", "air"].map(|name| publish(name, place.path(), Duration::from_millis(10)));
    let printed = finish("two_streams", start("two_streams", place.path(), 0, 1));
    publishers.into_iter().for_each(|publisher| publisher.join().expect("no panic"));
    for stream in ["ocean", "air"] {
        let expected = (0..STEPS).map(|step| format!("{stream} step {step}: {:.2}", step as f64));
        let expected: Vec<String> = expected.chain([format!("{stream} is over")]).collect();
        let of_stream: Vec<&str> = printed.lines().filter(|line| line.starts_with(stream)).collect();
        assert_eq!(of_stream, expected);
    }
    assert!(printed.lines().filter(|line| *line == "a tenth of a second").count() > 1, "{printed}");
}

#[test]
fn waits_that_are_given_up_lose_no_step() {
    let place = tempfile::tempdir().expect("a directory can be made");
    let publisher = publish("ocean", place.path(), Duration::from_millis(3));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let (mut taken, mut given_up) = (Vec::new(), 0);
    runtime.block_on(async {
        let options =
            SubscriberOptions::default().with_rendezvous(Rendezvous::at(place.path()).expect("a directory"));
        let mut subscriber = Subscriber::open_async("ocean", options).await.expect("attached");
        loop {
            // Both the wait and the steps are dropped in every turn.
            let mut steps = subscriber.steps();
            match tokio::time::timeout(Duration::from_millis(1), steps.next()).await {
                Err(_) => given_up += 1,
                Ok(Some(step)) => taken.push(step.expect("a step").step().0),
                Ok(None) => break,
            }
        }
        subscriber.close_async().await.expect("left");
    });
    publisher.join().expect("no panic");
    assert_eq!(taken, (0..STEPS).collect::<Vec<u64>>());
    assert!(given_up > 0, "no wait was given up");
}
