//! Registered functions that derivations call, over every transport and on either side. Only the result crosses, and
//! all who ask for the same share it. What cannot be called says why and harms nobody else.

use crate::support::bonds::{BondPair, label};
use crate::support::{Place, STREAM, agreed, take};
use fp_core::{
    Array, Cohort, CohortSide, DerivedVariable, Native, Publisher, PublisherOptions, ReadError, Region,
    Selection, StepReader, Subscriber, SubscriberOptions, Transforms, TransportKind, Variable,
};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const LEN: u64 = 600;
/// Where the two variables are cut, each elsewhere.
const CUTS: [u64; 2] = [200, 450];

fn element(dim: usize, step: u64, index: u64) -> f64 {
    ((step * 31 + index * 7 + dim as u64 * 13) % 101) as f64 - 50.0
}

fn elements(dim: usize, step: u64) -> Vec<f64> {
    (0..LEN).map(|index| element(dim, step, index)).collect()
}

fn small(step: u64) -> Vec<u8> {
    (0..LEN).map(|index| ((step * 3 + index) % 251) as u8).collect()
}

/// Puts what lies from one index to another of two variables of numbers, each in two blocks, and one of bytes.
fn publish_part(publisher: &mut Publisher, from: u64, to: u64) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    for (dim, name) in ["x", "y"].into_iter().enumerate() {
        let variable = Variable::global::<f64>(name, &[LEN]).expect("a shape");
        let cut = CUTS[dim].clamp(from, to);
        for (from, to) in [(from, cut), (cut, to)].into_iter().filter(|(from, to)| from < to) {
            let region = Region::new([from], [to - from]).expect("inside");
            let part = (from..to).map(|index| element(dim, step, index)).collect();
            writer.put(&variable, &region, part).expect("put");
        }
    }
    let variable = Variable::global::<u8>("small", &[LEN]).expect("a shape");
    let region = Region::new([from], [to - from]).expect("inside");
    let part = &small(step)[from as usize..to as usize];
    writer.put_copy(&variable, &region, part).expect("put");
    writer.end().expect("ended, whatever became of what is derived");
    step
}

fn publish(publisher: &mut Publisher) -> u64 {
    publish_part(publisher, 0, LEN)
}

fn summary(elements: &[f64]) -> Vec<f64> {
    vec![elements.len() as f64, elements[0], elements.iter().sum()]
}

/// What both sides of these tests know.
fn transforms() -> Transforms {
    let transforms = Transforms::default();
    let reversed = |inputs: &[Array]| {
        let array = &inputs[0];
        let mut bytes = array.blocks()[0].bytes().to_vec();
        bytes.as_chunks_mut::<8>().0.reverse();
        Ok(vec![Array::whole(array.dtype(), *array.shape(), array.blocks()[0].order(), bytes)?])
    };
    let here = |inputs: &[&[f64]]| Ok(inputs[0].to_vec());
    for native in [
        Native::elements("drift", |inputs: &[&[f64]]| {
            Ok(inputs[0].iter().zip(inputs[1]).map(|(x, y)| x - 2.0 * y).collect())
        }),
        Native::elements("square", |inputs: &[&[f64]]| {
            Ok(inputs[0].iter().map(|x| (x * x) as f32).collect())
        }),
        Native::elements("widen", |inputs: &[&[u8]]| Ok(inputs[0].iter().map(|&x| f64::from(x)).collect())),
        Native::elements("summary", |inputs: &[&[f64]]| Ok(summary(inputs[0]))),
        Native::new("the other way", reversed),
        Native::elements("here", here).with_placement(CohortSide::Subscriber),
        Native::elements("short", |_: &[&[f64]]| Ok(vec![0.0])),
        Native::elements("panics", |_: &[&[f64]]| -> Result<Vec<f64>, _> { panic!("out of balance") }),
        Native::elements("fails", |_: &[&[f64]]| -> Result<Vec<f64>, _> { Err("no field".into()) }),
        Native::each_record("label", |pair: &BondPair| label(pair)).expect("record types"),
    ] {
        transforms.register(native).expect("registered");
    }
    transforms
}

fn open(options: PublisherOptions) -> Publisher {
    Publisher::open(STREAM, options).expect("the stream opens")
}

fn attach(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("attached")
}

fn asking(options: SubscriberOptions, asked: &[(&str, &str)], placement: CohortSide) -> SubscriberOptions {
    asked.iter().fold(options, |options, (name, text)| {
        let derived = DerivedVariable::new(*name, *text).expect("a derivation");
        options.with_request(derived.with_placement(placement)).expect("there is room")
    })
}

const ASKED: [(&str, &str); 5] = [
    ("drift", "x, y | call(drift)"),
    ("squares", "x | scale(2, 1) | call(square, f32) | scale(0.5, 0) | lz4"),
    ("reversed", "x | call(\"the other way\")"),
    ("rows", "x, y | call(drift) | call(summary, f64, 3)"),
    ("wide", "small | call(widen, f64) | cast(f32)"),
];

/// All that is asked for, next to what it is by definition; `cuts` are the ends of blocks of what is made.
fn check(step: &StepReader, what: &str, (cuts, x_cuts): (&[u64], &[u64])) {
    let (number, all) = (step.step().0, Selection::All);
    let (x, y) = (elements(0, number), elements(1, number));
    let drift: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - 2.0 * y).collect();
    assert_eq!(step.get::<f64>("drift", all.clone()).expect("drift"), drift, "{what}");
    assert_eq!(step.get::<f64>("drift", "[190:460:9]").expect("some"), {
        drift[190..460].iter().step_by(9).copied().collect::<Vec<_>>()
    });
    let squares: Vec<f32> = x.iter().map(|x| ((2.0 * x + 1.0) * (2.0 * x + 1.0)) as f32 * 0.5).collect();
    assert_eq!(step.get::<f32>("squares", all.clone()).expect("squares"), squares, "{what}");
    let parts = |cuts: &[u64]| {
        let ends = [&[0], cuts, &[LEN]].concat();
        ends.windows(2).map(|ends| ends[0] as usize..ends[1] as usize).collect::<Vec<_>>()
    };
    let reversed = parts(x_cuts).into_iter().flat_map(|part| x[part].iter().rev().copied());
    let reversed: Vec<f64> = reversed.collect();
    assert_eq!(step.get::<f64>("reversed", all.clone()).expect("reversed"), reversed, "{what}");
    let rows: Vec<f64> = parts(cuts).into_iter().flat_map(|part| summary(&drift[part])).collect();
    assert_eq!(step.get::<f64>("rows", all.clone()).expect("rows"), rows, "{what}");
    let wide: Vec<f32> = small(number).into_iter().map(f32::from).collect();
    assert_eq!(step.get::<f32>("wide", all).expect("wide"), wide, "{what}");
}

#[test]
fn what_functions_give_is_read_as_any_variable() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = open(place.publisher_options().with_transforms(&transforms()));
        let mut subscriber = attach(asking(place.over(kind), &ASKED, CohortSide::Publisher));
        for _ in 0..3 {
            publish(&mut publisher);
            let step = take(&mut subscriber);
            check(&step, kind.name(), (&CUTS, &CUTS[..1]));
            step.get::<f64>("x", Selection::All).expect_err("nobody subscribed to it");
            let infos = step.variables().expect("the variables");
            let wide = infos.iter().find(|info| info.def.name == "wide").expect("there");
            assert_eq!(
                wide.def.description.as_deref(),
                Some("small | call(widen, f64) | cast(f32)"),
                "{kind}"
            );
        }
        let counted = publisher.statistics();
        assert_eq!((counted.derivations, counted.failed_derivations), (15, 0), "{kind}");
    }
}

#[test]
fn ranks_call_what_each_of_them_has_registered() {
    let place = Place::new();
    let rank = |rank: u32| {
        let transforms = transforms();
        if rank == 1 {
            let only = |inputs: &[&[f64]]| Ok(inputs[0].to_vec());
            transforms.register(Native::elements("only there", only)).expect("registered");
        }
        let options = place.publisher_options().with_min_subscribers(1).with_transforms(&transforms);
        let options = options.with_cohort(Cohort::of(rank, 2).expect("a cohort"));
        std::thread::spawn(move || {
            let mut publisher = open(options);
            let middle = 300;
            let (from, to) = if rank == 0 { (0, middle) } else { (middle, LEN) };
            for _ in 0..2 {
                publish_part(&mut publisher, from, to);
            }
            publisher.close().expect("closed");
        })
    };
    let ranks = [rank(0), rank(1)];
    let options = asking(place.over(TransportKind::Tcp), &ASKED, CohortSide::Publisher);
    let options = options.with_derivation("only", "x | call(\"only there\")").expect("a derivation");
    let mut subscriber = attach(options);
    for _ in 0..2 {
        let step = take(&mut subscriber);
        check(&step, "two ranks", (&[200, 300, 450], &[200, 300]));
        let known = "drift, fails, panics, short, square, summary, the other way, widen";
        assert_eq!(
            why(&step, "only"),
            format!(
                "publisher rank 0: this publisher knows no transform \"only there\"; of arrays it knows: {known}"
            )
        );
    }
    subscriber.close().expect("closed");
    ranks.into_iter().for_each(|rank| rank.join().expect("published"));
}

#[test]
fn who_asks_for_the_same_shares_it() {
    let place = Place::new();
    let mut publisher = open(place.publisher_options().with_transforms(&transforms()));
    let asked = |name: &str, text: &str| {
        attach(asking(place.over(TransportKind::Shm), &[(name, text)], CohortSide::Publisher))
    };
    let mut subscribers = [asked("a", "x, y | call(drift)"), asked("b", "x,y|call( \"drift\" )")];
    for _ in 0..3 {
        let number = publish(&mut publisher);
        let drift = elements(0, number).into_iter().zip(elements(1, number)).map(|(x, y)| x - 2.0 * y);
        let drift: Vec<f64> = drift.collect();
        for (subscriber, name) in subscribers.iter_mut().zip(["a", "b"]) {
            assert_eq!(take(subscriber).get::<f64>(name, Selection::All).expect("drift"), drift);
        }
    }
    let counted = publisher.statistics();
    assert_eq!((counted.derivations, counted.shared_derivations), (3, 3));
}

/// Why a variable could not be derived.
fn why(step: &StepReader, variable: &str) -> String {
    match step.get::<f64>(variable, Selection::All) {
        Err(ReadError::NotDerived { what, .. }) => what,
        other => panic!("{variable}: {other:?}"),
    }
}

/// What is said of a call that fails, on that side, while others go on.
fn refusal(transforms: Option<&Transforms>, call: &str, placement: CohortSide) -> String {
    let place = Place::new();
    let (mut there, mut here) = (place.publisher_options(), place.over(TransportKind::Shm));
    if let Some(transforms) = transforms {
        match placement {
            CohortSide::Subscriber => here = here.with_transforms(transforms),
            CohortSide::Publisher | CohortSide::FewerBytes => there = there.with_transforms(transforms),
        }
    }
    let mut publisher = open(there);
    let text = format!("x | call({call})");
    let options = asking(here, &[("it", &text), ("sum", "x | sum")], placement);
    let mut subscriber = attach(options);
    let mut other = attach(place.over(TransportKind::Tcp));
    let mut told = Vec::new();
    for _ in 0..2 {
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        told.push(why(&step, "it"));
        let sum: f64 = elements(0, number).iter().sum();
        assert_eq!(step.get::<f64>("sum", Selection::All).expect("the sum"), [sum]);
        assert_eq!(take(&mut other).get::<f64>("x", Selection::All).expect("x"), elements(0, number));
    }
    let counted =
        if placement == CohortSide::Subscriber { subscriber.statistics() } else { publisher.statistics() };
    assert_eq!((counted.derivations, counted.failed_derivations), (2, 2), "{told:?}");
    assert_eq!(told[0], told[1]);
    told.remove(0)
}

#[test]
fn what_cannot_be_called_says_why_on_either_side_and_harms_nobody() {
    let transforms = transforms();
    let (there, here) = (CohortSide::Publisher, CohortSide::Subscriber);
    for (placement, rank, side, all) in [
        (there, "publisher rank 0: ", "publisher", "drift, fails, panics"),
        (here, "", "subscriber", "drift, fails, here, panics"),
    ] {
        let told = |call: &str| refusal(Some(&transforms), call, placement);
        let known = format!("{all}, short, square, summary, the other way, widen");
        let unknown = format!("this {side} knows no transform \"none\"; of arrays it knows: {known}");
        assert_eq!(told("none"), format!("{rank}{unknown}"));
        let records = format!("takes records of type BondPair; of arrays this {side} knows: {known}");
        assert_eq!(told("label"), format!("{rank}transform \"label\" {records}"));
        assert_eq!(told("fails"), format!("{rank}transform \"fails\": no field"));
        assert_eq!(told("panics"), format!("{rank}transform \"panics\": it panicked: out of balance"));
        let (block, bytes) = if placement == there {
            ("[0:200]", "f32 [0:200], 800")
        } else {
            ("[0:600]", "f32 [0:600], 2400")
        };
        let gave = format!("transform \"short\" gave f64 [0:1], 8 bytes, where f64 {block} was asked for");
        assert_eq!(told("short"), format!("{rank}{gave}"));
        let gave = format!("transform \"square\" gave {bytes} bytes, where f64 {block} was asked for");
        assert_eq!(told("square"), format!("{rank}{gave}"));
        let takes = "transform \"widen\": it takes elements of type u8, and these are f64";
        assert_eq!(told("widen, f64"), format!("{rank}{takes}"));
        let nothing = refusal(None, "drift", placement);
        assert_eq!(nothing, format!("{rank}this {side} has no transforms registered"));
    }
    let elsewhere = "publisher rank 0: transform \"here\" is to run where its result is wanted";
    assert_eq!(refusal(Some(&transforms), "here", there), elsewhere);
}

#[test]
fn what_is_registered_later_can_be_called_from_then_on() {
    let (place, transforms) = (Place::new(), Transforms::default());
    let mut publisher = open(place.publisher_options().with_transforms(&transforms));
    let mut subscriber =
        attach(asking(place.over(TransportKind::Shm), &[("it", "x | call(late)")], CohortSide::Publisher));
    publish(&mut publisher);
    let known = "this publisher knows no transform \"late\"; of arrays it knows: none";
    assert_eq!(why(&take(&mut subscriber), "it"), format!("publisher rank 0: {known}"));
    let late = |inputs: &[&[f64]]| Ok(inputs[0].iter().map(|x| x + 1.0).collect::<Vec<f64>>());
    transforms.register(Native::elements("late", late)).expect("registered");
    let number = publish(&mut publisher);
    let later: Vec<f64> = elements(0, number).into_iter().map(|x| x + 1.0).collect();
    assert_eq!(take(&mut subscriber).get::<f64>("it", Selection::All).expect("it"), later);
}

/// A function that does not end as long as somebody holds the other end.
fn stuck() -> (Native, Sender<()>) {
    let (hold, held) = channel::<()>();
    let held = Mutex::new(held);
    let stuck = move |inputs: &[&[f64]]| {
        let _ = held.lock().map(|held| held.recv());
        Ok(inputs[0].to_vec())
    };
    (Native::elements("stuck", stuck), hold)
}

#[test]
fn one_that_takes_too_long_is_refused_after_the_second_time_and_the_others_go_on() {
    let (place, transforms) = (Place::new(), transforms());
    let (stuck, hold) = stuck();
    transforms.register(stuck).expect("registered");
    let options = place.publisher_options().with_transforms(&transforms);
    let mut publisher = open(options.with_derive_timeout(Duration::from_millis(1600)));
    // Two derivations of it: it is refused as a whole, and not one of them.
    let asked = [("a", "x | call(stuck)"), ("b", "y | call(stuck)"), ("drift", "x, y | call(drift)")];
    let mut subscriber = attach(asking(place.over(TransportKind::Tcp), &asked, CohortSide::Publisher));
    let overrun = "publisher rank 0: transform \"stuck\": it ran for longer than 1.2s";
    let refused = "publisher rank 0: transform \"stuck\" ran too long 2 times and is refused until this process starts again";
    for told in [overrun, refused, refused] {
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        assert_eq!((why(&step, "a"), why(&step, "b")), (told.to_owned(), told.to_owned()));
        let drift = step.get::<f64>("drift", "[0]").expect("the others go on");
        assert_eq!(drift, [element(0, number, 0) - 2.0 * element(1, number, 0)]);
    }
    subscriber.close().expect("left");
    publisher.close().expect("what is stuck holds nothing of it");
    drop(hold);
}

#[test]
fn one_that_is_stuck_at_the_subscriber_costs_that_get_alone() {
    let (place, transforms) = (Place::new(), transforms());
    let (stuck, hold) = stuck();
    transforms.register(stuck.with_limit(Duration::from_millis(100))).expect("registered");
    let mut publisher = open(place.publisher_options());
    let asked = [("it", "x | call(stuck)"), ("drift", "x, y | call(drift)")];
    let options = asking(place.over(TransportKind::Tcp), &asked, CohortSide::Subscriber);
    let mut subscriber = attach(options.with_transforms(&transforms));
    publish(&mut publisher);
    let step = take(&mut subscriber);
    let overrun = "transform \"stuck\": it ran for longer than 100ms";
    assert_eq!([why(&step, "it"), why(&step, "it")], [overrun, overrun]);
    assert!(why(&step, "it").contains("ran too long 2 times and is refused"));
    assert_eq!(step.get::<f64>("drift", Selection::All).expect("drift").len() as u64, LEN);
    drop((step, hold));
    subscriber.close().expect("left");
}

#[test]
fn a_subscriber_calls_its_own_where_it_derives() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = open(place.publisher_options());
        let here = [ASKED.as_slice(), &[("mine", "y | call(here)")]].concat();
        let options = asking(place.over(kind), &here, CohortSide::Subscriber);
        let mut subscriber = attach(options.with_transforms(&transforms()));
        for _ in 0..2 {
            let number = publish(&mut publisher);
            let step = take(&mut subscriber);
            // There an array is one block.
            check(&step, kind.name(), (&[], &[]));
            assert_eq!(step.get::<f64>("mine", Selection::All).expect("mine"), elements(1, number), "{kind}");
        }
        let (there, here) = (publisher.statistics(), subscriber.statistics());
        assert_eq!((there.derivations, here.derivations, here.failed_derivations), (0, 12, 0), "{kind}");
    }
}

#[test]
fn fewer_bytes_decide_by_what_is_said_of_a_call_and_it_moves_while_steps_flow() {
    let place = Place::new();
    let mut publisher = open(place.publisher_options().with_transforms(&transforms()));
    let asked = [("drift", "x, y | call(drift)"), ("wide", "small | call(widen, f64)")];
    let options = asking(place.over(TransportKind::Tcp), &asked, CohortSide::FewerBytes);
    let mut subscriber = attach(options.with_transforms(&transforms()));
    let look = |subscriber: &mut Subscriber| {
        let step = take(subscriber);
        let number = step.step().0;
        let wide: Vec<f64> = small(number).into_iter().map(f64::from).collect();
        assert_eq!(step.get::<f64>("wide", Selection::All).expect("wide"), wide);
        let drift = elements(0, number).into_iter().zip(elements(1, number)).map(|(x, y)| x - 2.0 * y);
        assert_eq!(step.get::<f64>("drift", Selection::All).expect("drift"), drift.collect::<Vec<_>>());
    };
    publish(&mut publisher);
    publish(&mut publisher);
    (0..2).for_each(|_| look(&mut subscriber));
    let (there, here) = (publisher.statistics(), subscriber.statistics());
    assert_eq!((there.derivations, there.left_derivations, here.derivations), (2, 2, 2));
    subscriber.place("drift", CohortSide::Subscriber).expect("asked");
    agreed(&mut subscriber);
    publish(&mut publisher);
    publish(&mut publisher);
    (0..2).for_each(|_| look(&mut subscriber));
    let (there, here) = (publisher.statistics(), subscriber.statistics());
    assert_eq!((there.derivations, there.left_derivations, here.derivations), (2, 4, 6));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}
