//! What an application may do wrong: each gives its own error, with stream, step, variable, rank and values, and the
//! step goes on.

use crate::support::{PATIENCE, Place, STREAM, array, named, publish, take, values};
use fp_core::{
    BlockId, Cohort, CohortError, Dims, Event, Misuse, NextStep, OpenError, Publisher, PutError, QueuePolicy,
    Rank, ReadError, Region, Select, Selection, StepRejection, StridedRegion, Subscriber, Variable,
    VariableError,
};
use std::time::{Duration, Instant};

const LEN: u64 = 1000;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A stream with a subscriber, so that what is put is kept.
fn stream(place: &Place) -> (Publisher, Subscriber) {
    let publisher = place.publisher();
    let subscriber = place.subscriber();
    (publisher, subscriber)
}

/// Whatever was wrong before, a right step still comes through.
fn goes_on(mut publisher: Publisher, mut subscriber: Subscriber) {
    let step = publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    assert_eq!(reader.step().0, step);
    assert_eq!(reader.get::<u64>("array", &Selection::All).expect("got"), values(step, LEN));
    drop(reader);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn an_element_of_another_type() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    let (variable, region) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    let error = writer.put(&variable, &region, vec![1.0f32; LEN as usize]).expect_err("f32 into u64");
    assert!(matches!(error, PutError::Misuse { source: Misuse::WrongDtype { .. }, .. }));
    assert_eq!(text(error), "stream \"stream\", step 0, variable \"array\": elements are u64, not f32");
    writer.put(&variable, &region, values(0, LEN)).expect("put");
    writer.put_scalar(&Variable::scalar::<f64>("time").expect("a name"), 0.5).expect("put");
    writer.end().expect("ended");

    let reader = take(&mut subscriber);
    let error = reader.get::<f64>("array", &Selection::All).expect_err("f64 of u64");
    assert_eq!(text(error), "stream \"stream\", step 0, variable \"array\": elements are u64, not f64");
    let error = reader.view::<i64>("array", &Selection::All).map(drop).expect_err("i64 of u64");
    assert_eq!(text(error), "stream \"stream\", step 0, variable \"array\": elements are u64, not i64");
    let error = reader.scalar::<u64>("time").expect_err("as many bytes, but another type");
    assert_eq!(text(error), "stream \"stream\", step 0, variable \"time\": elements are f64, not u64");
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn a_rank_out_of_range() {
    let error = Cohort::of(4, 4).expect_err("ranks end at 3");
    assert_eq!(error, CohortError::OutOfRange { rank: 4, size: 4 });
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let error = reader
        .get::<u64>("array", &Selection::Block(BlockId { rank: Rank(7), index: 0 }))
        .expect_err("there is one rank");
    assert_eq!(text(error), "stream \"stream\", step 0, variable \"array\": rank 7 put no block 0");
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn bounds_of_nothing_and_names_of_folders() {
    let place = Place::new();
    let refused = |opened: Result<Publisher, OpenError>| opened.map(drop).expect_err("refused").to_string();
    let options = || place.publisher_options();
    let told = refused(Publisher::open(STREAM, options().with_limit_bytes(0)));
    let rest = "is 0, so nothing could be published or taken: set it to 1 or more";
    assert_eq!(told, format!("stream \"stream\": limit_bytes {rest}"));
    let told = refused(Publisher::open(STREAM, options().with_limit_subscriptions(1025)));
    assert!(told.contains("limit_subscriptions is 1025, and 1024 is the most"), "{told}");
    assert!(refused(Publisher::open(STREAM, options().with_skew_steps(0))).contains("skew_steps is 0"));
    assert_eq!(
        refused(Publisher::open("..", options())),
        "stream name: the name \"..\" means a folder: use another one"
    );

    let publisher = place.publisher();
    let options = || place.subscriber_options();
    let every = QueuePolicy::EveryKth { every: 0, max_wait: Duration::ZERO };
    let all = [options().with_limit_steps(0), options().with_credit_steps(0), options().with_policy(every)];
    for (options, option) in all.into_iter().zip(["limit_steps", "credit_steps", "EveryKth::every"]) {
        let told = Subscriber::open(STREAM, options).map(drop).expect_err("refused").to_string();
        assert_eq!(told, format!("stream \"stream\": {option} {rest}"));
    }
    publisher.close().expect("closed");
}

/// Of two ranks one puts nothing: it may be selected, and a third may not.
#[test]
fn a_rank_that_the_publisher_does_not_have() {
    let place = Place::new();
    let open = |rank: u32| {
        let options = place.publisher_options().with_cohort(Cohort::of(rank, 2).expect("a cohort"));
        std::thread::spawn(move || Publisher::open(STREAM, options).expect("the stream opens"))
    };
    let (lead, other) = (open(0), open(1));
    let (mut lead, mut other) = (lead.join().expect("no panic"), other.join().expect("no panic"));
    let mut subscriber = place.subscriber();
    publish(&mut lead, LEN);
    other.begin_step().expect("a step").end().expect("ended");

    let reader = take(&mut subscriber);
    assert_eq!(reader.get::<u64>("array", Rank(0)).expect("got"), values(0, LEN));
    assert!(reader.get::<u64>("array", Rank(1)).expect("it put nothing").is_empty());
    let refused = "step 0, variable \"array\": there is no rank 2: the publisher has 2, counted from 0";
    for select in [Select::from(Rank(2)), "[rank 2]".into()] {
        let mut none = [0u64; 0];
        let errors = [
            reader.get::<u64>("array", &select).expect_err("no such rank"),
            reader.get_into("array", &select, &mut none).expect_err("no such rank"),
            reader.get_or_fill("array", &select, 1u64).expect_err("no such rank"),
            reader.fetch().get("array", &select, &mut none).wait(PATIENCE).expect_err("no such rank"),
            reader.selected_shape("array", &select).expect_err("no such rank"),
            reader.view::<u64>("array", &select).map(drop).expect_err("no such rank"),
        ];
        errors.into_iter().for_each(|error| assert_eq!(text(error), format!("stream \"stream\", {refused}")));
    }
    drop(reader);
    subscriber.close().expect("left");
    let closing = std::thread::spawn(move || other.close());
    lead.close().expect("closed");
    closing.join().expect("no panic").expect("closed");
}

#[test]
fn an_array_that_is_read_as_a_scalar() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let errors =
        [reader.text("array").expect_err("numbers"), reader.scalar::<u64>("array").expect_err("many")];
    for error in errors {
        let instead = "is a global array of u64: read it by get, with that element type";
        assert_eq!(text(error), format!("stream \"stream\", variable \"array\": it {instead}"));
    }
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn a_region_outside_the_shape() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    let (variable, _) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    let outside = Region::new([LEN - 1], [2]).expect("a region");
    let error = text(writer.put(&variable, &outside, vec![0u64; 2]).expect_err("outside"));
    assert!(error.starts_with("stream \"stream\", step 0, rank 0, variable \"array\": region "), "{error}");
    assert!(error.contains("999") && error.contains("1000"), "{error}");
    let error = text(writer.put(&variable, &outside, vec![0u64; 3]).expect_err("another number"));
    assert!(error.contains("has 2 elements, but 3 were given"), "{error}");
    drop(writer);

    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let error = reader.get::<u64>("array", &Selection::Region(outside)).expect_err("outside");
    assert!(matches!(error, ReadError::Misuse { source: Misuse::Selection { .. }, .. }));
    let error = text(error);
    assert!(
        error.starts_with("stream \"stream\", step 1, variable \"array\": dimension 0: 999:1001"),
        "{error}"
    );
    let flat = Region::new([0, 0], [1, 1]).expect("a region");
    let strided = StridedRegion::new(flat, [1, 1]).expect("a stride");
    let points = Selection::Points(vec![Dims::from([LEN])]);
    for selection in [Selection::Region(flat), Selection::Strided(strided), points] {
        let error = reader.get::<u64>("array", &selection).expect_err("it does not go with the array");
        assert!(matches!(error, ReadError::Misuse { source: Misuse::Selection { .. }, .. }), "{error}");
    }
    let mut short = [0u64; 5];
    let error = text(reader.get_into("array", &Selection::All, &mut short).expect_err("too short"));
    assert!(error.contains("has 1000 elements, but 5 were given"), "{error}");
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn an_unknown_variable() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let error = text(reader.get::<u64>("aray", &Selection::All).expect_err("misspelt"));
    assert_eq!(error, "stream \"stream\", step 0: it has no variable \"aray\", but: array");
    let error = text(reader.scalar::<u64>("count").expect_err("there is none"));
    assert!(error.starts_with("stream \"stream\", step 0: it has no variable \"count\""), "{error}");
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn an_unknown_stream_says_where_it_looked() {
    let place = Place::new();
    let started = Instant::now();
    let options = place.subscriber_options().with_open_timeout(Duration::from_millis(300));
    let error = Subscriber::open("nobody", options).err().expect("there is none");
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(matches!(error, OpenError::Failed { .. }));
    let error = text(error);
    assert!(error.contains("\"nobody\"") && error.contains(&place.path().display().to_string()), "{error}");
    assert!(error.contains("no entry"), "{error}");
}

#[test]
fn a_name_that_is_none() {
    let place = Place::new();
    for name in ["", "a/b", " padded", "a[0]"] {
        let error = Publisher::open(name, place.publisher_options()).err().expect("no name");
        assert!(matches!(error, OpenError::Name(_)), "{error}");
    }
    let long = "x".repeat(10_000);
    for name in ["", "a/b", "two\nlines", &long] {
        let refused = [
            Variable::scalar::<f64>(name),
            Variable::local_scalar::<f64>(name),
            Variable::text(name),
            Variable::global::<f64>(name, &[4]),
            Variable::local::<f64>(name, 1),
            Variable::joined::<f64>(name, &[]),
        ];
        for variable in refused {
            let error = variable.expect_err("no name");
            assert!(matches!(error, VariableError::Name(_)), "{error}");
            assert!(error.to_string().len() < 200, "{error}");
        }
    }
}

/// A put that failed is missing in its step, unless the options refuse such a step.
#[test]
fn a_step_without_a_put_that_failed() {
    for refuse in [false, true] {
        let place = Place::new();
        let options = place.publisher_options().with_refuse_incomplete(refuse);
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        let mut subscriber = place.subscriber();
        let (variable, region) = array(LEN);
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &region, values(0, LEN)).expect("put");
        let (other, region) = named("other", 4);
        writer.put(&other, &region, vec![0u64; 3]).expect_err("too few");
        match (refuse, writer.end()) {
            (false, ended) => {
                ended.expect("ended");
                assert_eq!(take(&mut subscriber).step().0, 0);
            }
            (true, ended) => assert_eq!(
                text(ended.expect_err("refused")),
                "stream \"stream\", step 0, rank 0: nobody gets it, as a put of it failed: step 0, variable \
                 \"other\": [0:4] has 4 elements, but 3 were given"
            ),
        }
        let step = publish(&mut publisher, LEN);
        let reader = take(&mut subscriber);
        assert_eq!((reader.step().0, reader.skipped()), (step, u64::from(refuse)));
        drop(reader);
        subscriber.close().expect("left");
        publisher.close().expect("closed");
    }
}

#[test]
fn a_put_twice() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    let (variable, region) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    writer.put(&variable, &region, values(0, LEN)).expect("put");
    let error = text(writer.put_copy(&variable, &region, &values(9, LEN)).expect_err("again"));
    assert_eq!(error, "stream \"stream\", step 0, rank 0, variable \"array\": this region was put already");
    let other = Variable::global::<u64>("array", &[LEN + 1]).expect("a shape");
    let error = text(writer.put_copy(&other, &region, &values(9, LEN)).expect_err("another shape"));
    assert!(error.contains("definition differs"), "{error}");
    let count = Variable::scalar::<u64>("count").expect("a name");
    writer.put_scalar(&count, 1u64).expect("put");
    let error = text(writer.put_scalar(&count, 2u64).expect_err("again"));
    assert_eq!(error, "stream \"stream\", step 0, rank 0, variable \"count\": its value was put already");
    writer.end().expect("ended");
    let reader = take(&mut subscriber);
    assert_eq!(reader.get::<u64>("array", &Selection::All).expect("got"), values(0, LEN));
    assert_eq!(reader.scalar::<u64>("count").expect("it came"), 1);
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn a_broken_promise() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    let (variable, region) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    writer.promise(["array", "energy"]);
    writer.put(&variable, &region, values(0, LEN)).expect("put");
    let error = writer.end().expect_err("energy is missing");
    assert!(matches!(error, PutError::Misuse { source: Misuse::PromiseBroken { .. }, .. }));
    assert_eq!(text(error), "stream \"stream\", step 0, rank 0: promised variable \"energy\" was not put");
    expect_rejected(&mut publisher, 0);
    let step = publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    assert_eq!((reader.step().0, reader.skipped()), (step, 1), "nobody gets half a step");
    drop(reader);
    goes_on(publisher, subscriber);
}

fn expect_rejected(publisher: &mut Publisher, number: u64) {
    let rejected = |event: &Event| {
        matches!(event, Event::StepRejected { step, reason: StepRejection::Abandoned { rank: Rank(0) } }
            if step.0 == number)
    };
    assert!(publisher.events().iter().any(rejected));
}

#[test]
fn a_writer_dropped_half_way() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    let (variable, region) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    writer.put(&variable, &region, values(0, LEN)).expect("put");
    drop(writer);
    expect_rejected(&mut publisher, 0);
    assert!(matches!(subscriber.next_step(Duration::from_millis(50)), Ok(NextStep::NotYet)));
    goes_on(publisher, subscriber);
}

/// More scalars than ride in an announcement: the step is given up, not half delivered, and the next can begin.
#[test]
fn too_many_scalars() {
    let place = Place::new();
    let (mut publisher, subscriber) = stream(&place);
    let mut writer = publisher.begin_step().expect("a step");
    for index in 0..300 {
        let variable = Variable::scalar::<f64>(format!("a scalar with a long name {index}")).expect("a name");
        writer.put_scalar(&variable, 0.0).expect("put");
    }
    let error = text(writer.end().expect_err("more than 4096 bytes"));
    assert!(error.contains("the scalars of step 0") && error.contains("4096"), "{error}");
    expect_rejected(&mut publisher, 0);
    goes_on(publisher, subscriber);
}

#[test]
fn a_gap_names_what_is_missing() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    let (variable, _) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    let first = Region::new([0], [400]).expect("inside");
    writer.put(&variable, &first, values(0, 400)).expect("put");
    writer.end().expect("ended");
    let reader = take(&mut subscriber);
    let error = text(reader.get::<u64>("array", &Selection::All).expect_err("a gap"));
    assert!(error.contains("600 of 1000 elements were put by no rank"), "{error}");
    let filled = reader.get_or_fill::<u64>("array", &Selection::All, 77).expect("filled");
    assert_eq!(filled[..400], values(0, 400)[..]);
    assert!(filled[400..].iter().all(|&element| element == 77));
    drop(reader);
    goes_on(publisher, subscriber);
}

#[test]
fn a_call_that_does_not_go_with_the_kind() {
    let place = Place::new();
    let (mut publisher, subscriber) = stream(&place);
    let mut writer = publisher.begin_step().expect("a step");
    let (variable, _) = array(LEN);
    let error = text(writer.put_scalar(&variable, 1u64).expect_err("an array"));
    assert!(error.contains("\"array\"") && error.contains("put it with a region"), "{error}");
    let error = text(writer.put_joined(&variable, vec![1u64]).expect_err("not joined"));
    assert!(error.contains("\"array\""), "{error}");
    let rows = Variable::joined::<f32>("rows", &[3]).expect("a shape");
    let error = text(writer.put_joined(&rows, vec![0f32; 7]).expect_err("no whole rows"));
    assert!(error.contains("7 were given"), "{error}");
    let own = Variable::local::<u64>("own", 1).expect("a variable");
    let away = Region::new([1], [2]).expect("a region");
    let error = writer.put(&own, &away, vec![1u64; 2]).expect_err("its blocks begin at 0");
    assert!(matches!(error, PutError::Misuse { source: Misuse::OutsideShape { .. }, .. }), "{error}");
    drop(writer);
    goes_on(publisher, subscriber);
}

/// Ranks of one cohort that disagree on a variable: the step is nobody's, and the event names variable and ranks.
#[test]
fn ranks_that_disagree() {
    let place = Place::new();
    let open = |rank: u32| {
        let options = place.publisher_options().with_cohort(Cohort::of(rank, 2).expect("a cohort"));
        std::thread::spawn(move || Publisher::open(STREAM, options).expect("the stream opens"))
    };
    let (lead, other) = (open(0), open(1));
    let (mut lead, mut other) = (lead.join().expect("no panic"), other.join().expect("no panic"));
    let mut subscriber = place.subscriber();
    for step in 0..2 {
        let mut writer = lead.begin_step().expect("a step");
        let first = Region::new([0], [10]).expect("inside");
        let variable = Variable::global::<u64>("array", &[20]).expect("a shape");
        writer.put(&variable, &first, vec![1u64; 10]).expect("put");
        writer.end().expect("ended");
        let mut writer = other.begin_step().expect("a step");
        let second = Region::new([10], [10]).expect("inside");
        match step {
            0 => {
                let variable = Variable::global::<f32>("array", &[20]).expect("a shape");
                writer.put(&variable, &second, vec![1f32; 10]).expect("put");
            }
            _ => {
                let variable = Variable::global::<u64>("array", &[21]).expect("a shape");
                writer.put(&variable, &second, vec![1u64; 10]).expect("put");
            }
        }
        writer.end().expect("ended");
        let mut what = None;
        crate::support::eventually("the step is rejected", || {
            let disagreement = |event| {
                let Event::StepRejected { reason, .. } = event else { return None };
                if let StepRejection::Disagreement { what } = reason { Some(what) } else { None }
            };
            what = what.take().or(lead.events().into_iter().find_map(disagreement));
            what.is_some()
        });
        let what = what.expect("it was rejected");
        assert!(what.contains("array") && what.contains('0') && what.contains('1'), "{what}");
    }
    assert!(matches!(subscriber.next_step(Duration::from_millis(50)), Ok(NextStep::NotYet)));
    subscriber.close().expect("left");
    let closing = std::thread::spawn(move || other.close());
    lead.close().expect("closed");
    closing.join().expect("no panic").expect("closed");
}

#[test]
fn a_loan_of_another_step() {
    let place = Place::new();
    let (mut publisher, subscriber) = stream(&place);
    let (variable, region) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    let loan = writer.loan::<u64>(&variable, &region).expect("a loan");
    drop(writer);
    let mut writer = publisher.begin_step().expect("a step");
    let error = text(writer.put_loan(loan).expect_err("of another step"));
    assert!(error.contains("step 0: it is not open"), "{error}");
    drop(writer);
    goes_on(publisher, subscriber);
}

/// A fetch that cannot be done in time returns when its time is over.
#[test]
fn a_deadline_that_is_past() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = stream(&place);
    publish(&mut publisher, LEN);
    let reader = take(&mut subscriber);
    let mut whole = vec![0u64; LEN as usize];
    let error =
        reader.fetch().get("array", &Selection::All, &mut whole).wait(Duration::ZERO).expect_err("no time");
    assert!(matches!(error, ReadError::TimedOut { .. } | ReadError::Lost { .. }), "{error}");
    reader.fetch().get("array", &Selection::All, &mut whole).wait(PATIENCE).expect("now there is");
    assert_eq!(whole, values(0, LEN));
    drop(reader);
    goes_on(publisher, subscriber);
}
