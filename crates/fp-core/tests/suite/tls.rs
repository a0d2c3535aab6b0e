//! Streams over TLS: every link of both cohorts, settings that do not match, settings from the environment.

use crate::certificates::Authority;
use crate::support::{PATIENCE, Place, STREAM, publish, take, values};
use fp_core::{
    Cohort, NextStep, OpenError, Publisher, PublisherOptions, Region, Selection, Statistics, Subscriber,
    SubscriberOptions, TlsError, TlsOptions, TransportKind, TransportPolicy, Variable,
};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Elements of one publisher rank's block: several records of TLS, and not a whole number of them.
const LEN: u64 = 30_001;
const STEPS: u64 = 5;

fn tls(authority: &Authority) -> TlsOptions {
    let own = authority.issue("flexpath");
    TlsOptions::new(own.certificate, own.key, authority.path())
}

fn tcp() -> TransportPolicy {
    TransportPolicy::only(TransportKind::Tcp)
}

fn publisher_options(place: &Place, tls: &TlsOptions) -> PublisherOptions {
    place.publisher_options().with_transports(tcp()).with_tls(tls.clone())
}

fn subscriber_options(place: &Place, tls: &TlsOptions) -> SubscriberOptions {
    place.subscriber_options().with_transports(tcp()).with_tls(tls.clone())
}

fn of_two(rank: u32) -> Cohort {
    Cohort::of(rank, 2).expect("a cohort")
}

/// One of two publisher ranks: each puts its half.
fn publisher_rank(options: PublisherOptions, rank: u32) {
    let options = options.with_cohort(of_two(rank)).with_min_subscribers(1);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let array = Variable::global::<u64>("array", &[2 * LEN]).expect("a shape");
    let region = Region::new([u64::from(rank) * LEN], [LEN]).expect("inside");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        let half: Vec<u64> = values(step, 2 * LEN).split_off((u64::from(rank) * LEN) as usize);
        writer.put(&array, &region, half[..LEN as usize].to_vec()).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// One of two subscriber ranks: each takes all, in one piece and in many short ones.
fn subscriber_rank(options: SubscriberOptions, rank: u32) -> Statistics {
    let options = options.with_name("readers").with_cohort(of_two(rank));
    let options = if rank == 0 { options.with_selection("array", Selection::All) } else { options };
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    for step in 0..STEPS {
        let reader = take(&mut subscriber);
        assert_eq!(reader.step().0, step);
        let all: Vec<u64> = reader.get("array", &Selection::All).expect("the array");
        assert!(all == values(step, 2 * LEN));
    }
    for (owner, text) in subscriber.transports() {
        assert!(text.contains("transport=tcp+tls 127.0.0.1:"), "rank {owner:?}: {text}");
    }
    assert!(matches!(subscriber.next_step(PATIENCE), Ok(NextStep::Ended(_))));
    let counted = subscriber.statistics();
    subscriber.close().expect("left");
    counted
}

#[test]
fn two_cohorts_of_two_speak_tls_on_every_link() {
    let (place, authority) = (Place::new(), Authority::new());
    let tls = tls(&authority);
    let publishers = [0, 1].map(|rank| {
        let options = publisher_options(&place, &tls);
        thread::spawn(move || publisher_rank(options, rank))
    });
    let subscribers = [0, 1].map(|rank| {
        let options = subscriber_options(&place, &tls);
        thread::spawn(move || subscriber_rank(options, rank))
    });
    let bytes = STEPS * 2 * LEN * 8;
    for counted in subscribers.map(|rank| rank.join().expect("no panic")) {
        assert_eq!((counted.payload_bytes, counted.received_bytes), (bytes, 0));
        assert_eq!(counted.deciphered_bytes, bytes, "copied once from where TLS deciphered it");
    }
    publishers.into_iter().for_each(|rank| rank.join().expect("no panic"));
}

#[test]
fn the_copies_of_tls_are_counted() {
    let (place, authority) = (Place::new(), Authority::new());
    let tls = tls(&authority);
    let mut publisher = Publisher::open(STREAM, publisher_options(&place, &tls)).expect("the stream opens");
    let options = subscriber_options(&place, &tls).with_selection("array", Selection::All);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    for step in 0..STEPS {
        publish(&mut publisher, LEN);
        let all: Vec<u64> = take(&mut subscriber).get("array", &Selection::All).expect("the array");
        assert!(all == values(step, LEN));
    }
    let (sent, received, bytes) = (publisher.statistics(), subscriber.statistics(), STEPS * LEN * 8);
    assert_eq!((sent.sent_bytes, sent.enciphered_bytes, sent.gathered_bytes), (bytes, bytes, 0));
    assert_eq!((received.deciphered_bytes, received.received_bytes), (bytes, 0));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// What became of a subscriber that looks for a publisher that is there.
fn cannot_attach(publisher: PublisherOptions, subscriber: SubscriberOptions) -> String {
    let publisher = Publisher::open(STREAM, publisher).expect("the stream opens");
    let options = subscriber.with_open_timeout(Duration::from_millis(500));
    let error = Subscriber::open(STREAM, options).err().expect("no link comes about");
    publisher.close().expect("closed");
    error.to_string()
}

#[test]
fn settings_that_do_not_match_are_named() {
    let (place, authority, strangers) = (Place::new(), Authority::new(), Authority::new());
    let (ours, theirs) = (tls(&authority), tls(&strangers));
    let plain_publisher = || place.publisher_options().with_transports(tcp());
    let plain_subscriber = || place.subscriber_options().with_transports(tcp());
    let error = cannot_attach(publisher_options(&place, &ours), plain_subscriber());
    assert!(error.contains("it speaks TLS only, and this side has none configured (with_tls"), "{error}");
    let error = cannot_attach(plain_publisher(), subscriber_options(&place, &ours));
    assert!(error.contains("it has no TLS configured, and this side has (with_tls"), "{error}");
    let error = cannot_attach(publisher_options(&place, &ours), subscriber_options(&place, &theirs));
    assert!(error.contains("its certificate is not accepted") && error.contains("authority.pem"), "{error}");
}

/// A peer that answers and does not go with this rank is told of long before the time for opening is over.
#[test]
fn settings_that_do_not_match_are_told_at_once() {
    let (place, authority, strangers) = (Place::new(), Authority::new(), Authority::new());
    let (ours, theirs) = (tls(&authority), tls(&strangers));
    let mut other_name = ours.clone();
    other_name.name = "another".to_owned();
    let plain_subscriber = place.subscriber_options().with_transports(tcp());
    let plain_publisher = place.publisher_options().with_transports(tcp());
    let with_token = |byte| fp_core::Token::new([byte; 32]).expect("a token");
    let cases = [
        (publisher_options(&place, &ours), plain_subscriber.clone(), "it speaks TLS only"),
        (plain_publisher.clone(), subscriber_options(&place, &ours), "it has no TLS configured"),
        (
            publisher_options(&place, &ours),
            subscriber_options(&place, &theirs),
            "its certificate is not accepted",
        ),
        (publisher_options(&place, &ours), subscriber_options(&place, &other_name), "name `another`"),
        (plain_publisher.clone().with_token(with_token(1)), plain_subscriber.clone(), "the token is missing"),
        (
            plain_publisher.with_token(with_token(1)),
            plain_subscriber.with_token(with_token(2)),
            "the token is missing or wrong",
        ),
    ];
    for (publisher, subscriber, expected) in cases {
        let publisher = Publisher::open(STREAM, publisher).expect("the stream opens");
        let started = Instant::now();
        let error = Subscriber::open(STREAM, subscriber.with_open_timeout(PATIENCE)).err().expect("no link");
        assert!(started.elapsed() < PATIENCE / 3, "{expected}: after {:?}", started.elapsed());
        assert!(matches!(error, OpenError::NotTrusted { .. } | OpenError::Refused { .. }), "{error}");
        let error = error.to_string();
        let told = error.contains(expected) && !error.contains("timed out") && !error.contains("stale");
        assert!(told, "{error}");
        publisher.close().expect("closed");
    }
}

/// Ranks of one host share memory all the same: the kernel says whose process it is.
#[test]
fn memory_is_shared_all_the_same() {
    let (place, authority) = (Place::new(), Authority::new());
    let tls = tls(&authority);
    let options = place.publisher_options().with_tls(tls.clone());
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let options = place.over(TransportKind::Shm).with_tls(tls);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, LEN);
    let all: Vec<u64> = take(&mut subscriber).get("array", &Selection::All).expect("the array");
    assert!(all == values(0, LEN));
    let texts = subscriber.transports();
    assert!(
        texts.iter().all(|(_, text)| text.contains("transport=shm without TLS: same host and user")),
        "{texts:?}"
    );
    assert_eq!(subscriber.statistics().deciphered_bytes, 0);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_of_opening() {
    let (place, authority) = (Place::new(), Authority::new());
    let missing = authority.directory().join("missing.pem");
    let mut tls = tls(&authority);
    tls.key.clone_from(&missing);
    let error = Publisher::open(STREAM, publisher_options(&place, &tls)).err().expect("no key");
    assert!(matches!(&error, OpenError::Tls(TlsError::File { path, .. }) if *path == missing), "{error}");
}

/// The variables that a launcher sets, in a process of their own.
#[test]
fn the_environment_configures_it() {
    let (place, authority) = (Place::new(), Authority::new());
    let tls = tls(&authority);
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["tls::child_entry", "--exact", "--nocapture", "--test-threads=1"]);
    child.env("FLEXPATH_TEST_CHILD", "1").env("FLEXPATH_RENDEZVOUS", place.path());
    child.env("FLEXPATH_TRANSPORTS", "tcp").env("FLEXPATH_TLS_CERTIFICATE", &tls.certificate);
    child.env("FLEXPATH_TLS_KEY", &tls.key).env("FLEXPATH_TLS_AUTHORITY", &tls.authority);
    let options = publisher_options(&place, &tls).with_min_subscribers(1);
    let child = child.spawn().expect("the test binary starts");
    let mut publisher = Publisher::open(STREAM, options).expect("the child attaches");
    publish(&mut publisher, LEN);
    publisher.close().expect("closed");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the child failed");
}

#[test]
fn child_entry() {
    if std::env::var_os("FLEXPATH_TEST_CHILD").is_none() {
        return;
    }
    let mut subscriber = Subscriber::open(STREAM, SubscriberOptions::default()).expect("attached");
    let all: Vec<u64> = take(&mut subscriber).get("array", &Selection::All).expect("the array");
    assert!(all == values(0, LEN));
    assert!(subscriber.transports().iter().all(|(_, text)| text.contains("tcp+tls")));
    subscriber.close().expect("left");
}
