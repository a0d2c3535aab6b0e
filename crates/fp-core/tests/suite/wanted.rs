//! Types that a subscriber wants at attach. Whoever does not find them is told why, field by field, and leaves a stream
//! that goes on as if nothing had been.

use crate::support::bonds::{BondAdjacency, BondPair, Label};
use crate::support::executor::{Bell, block_on, poll};
use crate::support::{PATIENCE, Place, STREAM, eventually, take};
use fp_core::record::{Field, RecordType};
use fp_core::{
    Cohort, Dtype, Event, Fit, MemberEnd, Misfit, Native, OpenError, Publisher, ReadError, Record as _,
    RecordBlock, Region, Subscriber, SubscriberOptions, Transforms, TransportKind, Variable, WantedType,
};
use std::pin::pin;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];

/// What a bond is to somebody else: one number is too small, and one field nobody has.
#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct Strained {
    a: u16,
    b: u64,
    #[record(unit = "kJ/mol")]
    energy: f64,
}

fn pairs(step: u64) -> Vec<BondPair> {
    (0..4).map(|index| BondPair { a: index, b: index + 1 + step as u32 }).collect()
}

fn lists(pairs: &[BondPair]) -> Vec<BondAdjacency> {
    let list = |pair: &BondPair| BondAdjacency { atom: pair.a.into(), neighbours: vec![pair.b.into()] };
    pairs.iter().map(list).collect()
}

fn transforms() -> Transforms {
    let transforms = Transforms::default();
    let adjacency = Native::records("adjacency", |pairs: &[BondPair]| Ok(lists(pairs)));
    transforms.register(adjacency.expect("record types").per_block()).expect("registered");
    transforms
}

fn publish(publisher: &mut Publisher) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let bonds = Variable::global_records("bonds", &BondPair::schema().expect("a type"), &[4]);
    let block = RecordBlock::plain(pairs(step)).expect("plain");
    let all = Region::new([0], [4]).expect("inside");
    writer.put_records(&bonds.expect("a shape"), &all, block).expect("put");
    let numbers = Variable::global::<u64>("numbers", &[1]).expect("a shape");
    writer.put(&numbers, &Region::new([0], [1]).expect("inside"), vec![step]).expect("put");
    writer.end().expect("ended");
    step
}

/// Opens while the publisher publishes one step as soon as somebody is there.
fn open_beside(publisher: &mut Publisher, options: SubscriberOptions) -> Result<Subscriber, OpenError> {
    thread::scope(|scope| {
        let opening = scope.spawn(|| Subscriber::open(STREAM, options));
        eventually("somebody there", || publisher.has_subscribers());
        publish(publisher);
        opening.join().expect("no panic")
    })
}

/// Why an opening failed, as `of` says it.
fn refusal(opened: Result<Subscriber, OpenError>) -> ReadError {
    let error = opened.map(drop).expect_err("refused");
    let OpenError::Types { source } = error else { panic!("{error}") };
    *source
}

fn misfits(opened: Result<Subscriber, OpenError>) -> Vec<Misfit> {
    let error = refusal(opened);
    let ReadError::NotProvided { refused, .. } = error else { panic!("{error}") };
    refused
}

#[test]
fn a_type_that_does_not_fit_refuses_the_opening_and_nobody_else_notices() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = place.publisher();
        let mut witness = place.subscriber_over(kind);
        let options = place.over(kind).with_type::<Strained>("bonds").expect("a type");
        let refused = thread::scope(|scope| {
            let opening = scope.spawn(|| Subscriber::open(STREAM, options));
            // The refused one begins with whatever step comes next.
            while !opening.is_finished() {
                let step = publish(&mut publisher);
                let taken = take(&mut witness);
                assert_eq!(taken.get_records::<BondPair>("bonds", "[...]").expect("pairs"), pairs(step));
            }
            opening.join().expect("no panic")
        });
        let text = refused.as_ref().map(drop).expect_err("refused").to_string();
        assert!(text.starts_with("stream \"stream\": no variable provides \"Strained\"\n"), "{text}");
        for difference in [
            "Strained.energy: is wanted, but not there",
            "Strained.a: is u32, wanted as u16, which does not hold every value",
        ] {
            assert!(text.contains(difference), "{text}");
        }
        assert!(!text.contains("numbers"), "of the one variable that was asked about: {text}");
        assert!(matches!(&misfits(refused)[..], [Misfit::Incompatible(variable, _)] if variable == "bonds"));
        let has_left = |event: &Event| matches!(event, Event::MemberLeft { reason: MemberEnd::Left, .. });
        eventually("it has left", || publisher.events().iter().any(has_left));
        let step = publish(&mut publisher);
        assert_eq!(take(&mut witness).step().0, step);
        witness.close().expect("left");
        publisher.close().expect("nothing is held by who was refused");
    }
}

#[test]
fn types_that_fit_open_it_and_the_step_is_still_the_next_one() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = place.publisher();
        let options = place.over(kind).with_transforms(&transforms());
        let options = options.with_type::<BondAdjacency>("bonds").expect("a type");
        let options =
            options.with_request(WantedType::of::<BondPair>().expect("a type")).expect("there is room");
        let mut subscriber = open_beside(&mut publisher, options).expect("both fit");
        let provided = subscriber.of::<BondAdjacency>().expect("provided");
        assert!(matches!(provided[0].fit, Fit::Through(_)), "{provided:?}");
        let step = take(&mut subscriber);
        let taken = step.get_records::<BondAdjacency>("bonds", "[...]").expect("lists");
        assert_eq!(taken, lists(&pairs(step.step().0)), "{kind}");
        assert_eq!((step.step().0, subscriber.statistics().transforms), (0, 1));
    }
}

#[test]
fn of_several_types_all_must_be_there() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let both = || place.subscriber_options().with_type::<BondPair>("bonds").expect("a type");
    let refused = misfits(open_beside(
        &mut publisher,
        both()
            .with_transforms(&transforms())
            .with_request(WantedType::of::<Label>().expect("a type"))
            .expect("there is room"),
    ));
    let of = |variable: &str| refused.iter().find(|one| one.to_string().contains(&format!("{variable:?}")));
    assert!(matches!(of("bonds"), Some(Misfit::NoPath(..))), "{refused:?}");
    assert!(matches!(of("numbers"), Some(Misfit::NoRecords(..))), "{refused:?}");
    eventually("nobody there", || !publisher.has_subscribers());
    open_beside(&mut publisher, both()).expect("the one fits").close().expect("left");
}

#[test]
fn a_variable_that_is_not_there_or_not_asked_for_is_named() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_type::<BondPair>("bond").expect("a type");
    let text = refusal(open_beside(&mut publisher, options)).to_string();
    let expected = "\nvariable \"bond\" is not there, or not subscribed to; there are bonds, numbers";
    assert!(text.ends_with(expected), "{text}");
    eventually("nobody there", || !publisher.has_subscribers());
    let options = place.subscriber_options().with_variables(["numbers"]);
    let options = options.with_type::<BondPair>("bonds").expect("a type");
    let refused = misfits(open_beside(&mut publisher, options));
    assert_eq!(refused, [Misfit::NotThere("bonds".to_owned(), vec!["numbers".to_owned()])]);
    eventually("nobody there", || !publisher.has_subscribers());
    let options = place.subscriber_options().with_type::<BondPair>("numbers").expect("a type");
    let refused = misfits(open_beside(&mut publisher, options));
    assert_eq!(refused, [Misfit::NoRecords("numbers".to_owned(), "u64".to_owned())]);
}

#[test]
fn types_without_a_rust_type_are_asked_for_as_well() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let of = |dtype| {
        let schema = RecordType::new("BondPair").field(Field::new("a", dtype)).build().expect("a type");
        let wanted = WantedType::new(&schema);
        place.subscriber_options().with_request(wanted).expect("there is room")
    };
    let narrow = refusal(open_beside(&mut publisher, of(Dtype::U8))).to_string();
    assert!(narrow.contains("BondPair.a: is u32, wanted as u8"), "{narrow}");
    eventually("nobody there", || !publisher.has_subscribers());
    open_beside(&mut publisher, of(Dtype::F64)).expect("it holds every value");
}

#[test]
fn what_the_publisher_transforms_is_asked_for_by_its_name() {
    let place = Place::new();
    let options = place.publisher_options().with_transforms(&transforms());
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let asking = |transform: &str| {
        let options = place.subscriber_options().with_transformed("lists", "bonds", transform);
        options.expect("names").with_type::<BondAdjacency>("lists").expect("a type")
    };
    let refused = misfits(open_beside(&mut publisher, asking("unknown")));
    let [Misfit::NotTransformed(name, why)] = &refused[..] else { panic!("{refused:?}") };
    assert!(name == "lists" && why.contains("unknown"), "{why}");
    eventually("nobody there", || !publisher.has_subscribers());
    let mut subscriber = open_beside(&mut publisher, asking("adjacency")).expect("it is sent");
    let step = take(&mut subscriber);
    let taken = step.get_records::<BondAdjacency>("lists", "[...]").expect("lists");
    assert_eq!(taken, lists(&pairs(step.step().0)));
}

#[test]
fn no_step_in_time_says_what_was_waited_for() {
    let place = Place::new();
    let publisher = place.publisher();
    let short = Duration::from_millis(400);
    let options = place.subscriber_options().with_type::<BondPair>("bonds").expect("a type");
    let began = Instant::now();
    let error = Subscriber::open(STREAM, options.clone().with_open_timeout(short)).map(drop);
    let text = error.expect_err("no step").to_string();
    assert!(text.contains("for a step, which says what types the stream has"), "{text}");
    assert!(began.elapsed() >= short && began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    let error = block_on(Subscriber::open_async(STREAM, options.clone().with_open_timeout(short))).map(drop);
    assert!(error.expect_err("no step").to_string().contains("for a step, which says what types"), "{text}");
    eventually("nobody there", || !publisher.has_subscribers());
    let ended = thread::scope(|scope| {
        let opening = scope.spawn(|| Subscriber::open(STREAM, options));
        eventually("somebody there", || publisher.has_subscribers());
        publisher.close().expect("closed");
        refusal(opening.join().expect("no panic"))
    });
    assert!(matches!(ended, ReadError::NoStep { .. }), "{ended}");
}

/// Opens on three ranks at once, while the publisher publishes.
fn open_cohort(publisher: &mut Publisher, options: &SubscriberOptions) -> Vec<Result<Subscriber, OpenError>> {
    let here = Barrier::new(4);
    thread::scope(|scope| {
        let ranks = (0..3).map(|rank| {
            let cohort = Cohort::of(rank, 3).expect("a rank");
            let options = options.clone().with_name("cohort").with_cohort(cohort);
            let here = &here;
            scope.spawn(move || {
                here.wait();
                Subscriber::open(STREAM, options)
            })
        });
        let ranks: Vec<_> = ranks.collect();
        here.wait();
        eventually("the cohort there", || publisher.has_subscribers());
        publish(publisher);
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    })
}

#[test]
fn ranks_of_a_cohort_fail_or_open_alike() {
    let place = Place::new();
    let mut publisher = place.publisher();
    for kind in KINDS {
        let options = place.over(kind).with_type::<Strained>("bonds").expect("a type");
        for refused in open_cohort(&mut publisher, &options) {
            assert!(matches!(&misfits(refused)[..], [Misfit::Incompatible(..)]), "{kind}");
        }
        eventually("nobody there", || !publisher.has_subscribers());
        let options = place.over(kind).with_type::<BondPair>("bonds").expect("a type");
        let mut opened: Vec<Subscriber> =
            open_cohort(&mut publisher, &options).into_iter().map(|rank| rank.expect("it fits")).collect();
        let steps: Vec<u64> = opened.iter_mut().map(|rank| take(rank).step().0).collect();
        assert!(steps.iter().all(|step| *step == steps[0]), "{kind}: {steps:?}");
        thread::scope(|scope| {
            opened.drain(..).for_each(|rank| drop(scope.spawn(|| rank.close().expect("left"))));
        });
        eventually("nobody there", || !publisher.has_subscribers());
    }
}

#[test]
fn tasks_are_refused_as_well() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = place.publisher();
        let open = |publisher: &mut Publisher, options: SubscriberOptions| {
            let (bell, mut opening) = (Bell::new(), pin!(Subscriber::open_async(STREAM, options)));
            assert!(poll(opening.as_mut(), &bell).is_pending());
            eventually("somebody there", || publisher.has_subscribers());
            publish(publisher);
            block_on(opening)
        };
        let options = || place.over(kind).with_transforms(&transforms());
        let refused = open(&mut publisher, options().with_type::<Strained>("bonds").expect("a type"));
        assert!(matches!(&misfits(refused)[..], [Misfit::NoPath(..)]), "{kind}");
        eventually("nobody there", || !publisher.has_subscribers());
        let opened = open(&mut publisher, options().with_type::<BondAdjacency>("bonds").expect("a type"));
        let mut subscriber = opened.expect("it fits");
        let provided = block_on(subscriber.of_async::<BondPair>()).expect("provided");
        assert_eq!((provided.len(), &provided[0].fit), (1, &Fit::Same));
        assert!(block_on(subscriber.of_async::<Strained>()).is_err());
        drop(take(&mut subscriber));
        block_on(subscriber.close_async()).expect("left");
    }
}

#[test]
fn a_task_that_is_dropped_while_it_waits_for_types_leaves() {
    let place = Place::new();
    let publisher = place.publisher();
    let options = place.subscriber_options().with_type::<BondPair>("bonds").expect("a type");
    {
        let (bell, mut opening) = (Bell::new(), pin!(Subscriber::open_async(STREAM, options)));
        assert!(poll(opening.as_mut(), &bell).is_pending());
        eventually("somebody there", || publisher.has_subscribers());
        assert!(poll(opening.as_mut(), &bell).is_pending());
    }
    eventually("nobody there", || !publisher.has_subscribers());
}
