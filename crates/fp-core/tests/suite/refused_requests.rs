//! Requests that never reach the simulation: who asks reads why.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Access, AccessRule, Action, AttributeValue, NextStep, ParameterKind, Publisher, PublisherOptions,
    QueuePolicy, Real, RequestError, SteeringRefusal, Subscriber, SubscriberOptions, TransportKind, Who,
};
use std::time::{Duration, Instant};

fn parameters(options: PublisherOptions) -> PublisherOptions {
    options
        .with_parameter("conductivity", ParameterKind::Real { least: Real(0.5), greatest: Real(100.0) })
        .with_parameter("level", ParameterKind::Integer { least: -3, greatest: 10 })
        .with_parameter("melts", ParameterKind::Bool)
        .with_parameter("title", ParameterKind::Text)
        .with_parameter("stop", ParameterKind::Signal)
        .with_pause(Duration::from_millis(1500))
}

fn asker(place: &Place) -> SubscriberOptions {
    place
        .over(TransportKind::Shm)
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::DropOldest)
        .with_name("asker")
}

/// What who asks reads.
fn said(asker: &mut Subscriber, parameter: &str, value: impl Into<AttributeValue>) -> String {
    asker.request(parameter, value, PATIENCE).expect_err("it is refused").to_string()
}

#[test]
fn a_value_of_another_type_or_out_of_range_is_refused_with_what_is_taken() {
    let place = Place::new();
    let _publisher =
        Publisher::open(STREAM, parameters(place.publisher_options())).expect("the stream opens");
    let mut asker = Subscriber::open(STREAM, asker(&place)).expect("attached");
    let (number, whole) = ("a number from 0.5 to 100.0", "a whole number from -3 to 10");
    let pause = "a number of seconds, more than 0 and at most 1.5, or no value";
    let refused: [(&str, AttributeValue, &str); 19] = [
        ("conductivity", "much".into(), number),
        ("conductivity", true.into(), number),
        ("conductivity", 0.49.into(), number),
        ("conductivity", 100.01.into(), number),
        ("conductivity", (-1_i64).into(), number),
        ("conductivity", f64::NAN.into(), number),
        ("conductivity", f64::INFINITY.into(), number),
        ("level", 11_i64.into(), whole),
        ("level", (-4_i64).into(), whole),
        ("level", 1.5.into(), whole),
        ("level", u64::MAX.into(), whole),
        ("level", "1".into(), whole),
        ("melts", 1_i64.into(), "true or false"),
        ("melts", "yes".into(), "true or false"),
        ("title", 1_i64.into(), "a text of at most 1024 bytes"),
        ("stop", 1_i64.into(), "no value"),
        ("pause", 0.0.into(), pause),
        ("pause", 1.6.into(), pause),
        ("pause", "long".into(), pause),
    ];
    for (parameter, value, takes) in refused {
        let expected = format!("stream {STREAM:?}, parameter {parameter:?}: the parameter takes {takes}");
        assert_eq!(said(&mut asker, parameter, value.clone()), expected, "{value:?}");
    }
    let unknown = said(&mut asker, "speed", 1.0);
    assert!(unknown.contains("has no such parameter, but conductivity, level, melts"), "{unknown}");
}

/// What can be asked for, and by whom, are two things: the parameter is not even looked at.
#[test]
fn who_may_not_ask_is_told_who_forbids_it() {
    let place = Place::new();
    let rule = AccessRule::new("*", Who::Anybody).with_actions([Action::Subscribe]);
    let options = parameters(place.publisher_options()).with_access(Access::new().with_rule(rule));
    let _publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut denied = Subscriber::open(STREAM, asker(&place)).expect("attached");
    for parameter in ["conductivity", "speed"] {
        let said = said(&mut denied, parameter, 1.0);
        assert!(said.contains("of the publisher's access list does not let "), "{said}");
        assert!(said.ends_with("ask something of the simulation"), "{said}");
    }
    let unlisted = denied.parameters(PATIENCE).expect_err("it may not even know").to_string();
    assert!(unlisted.ends_with("ask something of the simulation"), "{unlisted}");
}

/// While a publisher closes it takes no requests, and says so. When the stream is over the subscriber itself does.
#[test]
fn a_request_after_the_close_is_refused_with_words() {
    let place = Place::new();
    let options = parameters(place.publisher_options());
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let of_reader = place.over(TransportKind::Shm).with_limit_steps(8);
    let mut reader = Subscriber::open(STREAM, of_reader).expect("attached");
    let mut asker = Subscriber::open(STREAM, asker(&place)).expect("attached");
    (0..6).for_each(|_| publisher.begin_step().expect("a step").end().expect("ended"));
    std::thread::scope(|scope| {
        // It waits for the reader, which has taken nothing yet.
        let closing = scope.spawn(|| publisher.close());
        let deadline = Instant::now() + PATIENCE;
        let refused = loop {
            let error = asker.request("conductivity", 1.0, PATIENCE).expect_err("nobody begins a step");
            if !matches!(error, RequestError::Over { .. }) {
                break error;
            }
            // It was asked before the close.
            assert!(Instant::now() < deadline, "it does not close");
        };
        let is_closing = matches!(&refused, RequestError::Refused { refusal: SteeringRefusal::Closing, .. });
        assert!(is_closing, "{refused}");
        let said = refused.to_string();
        assert!(said.ends_with("the publisher is closing, and takes no requests"), "{said}");
        (0..6).for_each(|_| drop(take(&mut reader)));
        reader.close().expect("left");
        while let NextStep::Step(_) = asker.next_step(PATIENCE).expect("a step or the end") {}
        closing.join().expect("no panic").expect("closed");
    });
    let after = loop {
        let error = asker.request("conductivity", 1.0, PATIENCE).expect_err("the stream is over");
        if !matches!(error, RequestError::Over { .. } | RequestError::Refused { .. }) {
            break error.to_string();
        }
    };
    assert!(after.contains("the stream has no publisher: none yet, or it is over"), "{after}");
}
