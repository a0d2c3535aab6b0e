//! Subscribers that want steps by what is in their arrays: measured where it lies, judged where steps are decided.

use crate::support::{PATIENCE, Place, STREAM, eventually, take};
use fp_core::{
    Cohort, Judgement, MeasuredNumber, NextStep, Publisher, PublisherOptions, QueuePolicy, Region, Selection,
    StartAt, Subscriber, SubscriberOptions, TransportKind, Variable,
};
use std::time::{Duration, SystemTime};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
/// Rows and columns of the field of one rank.
const ROWS: u64 = 3;
const COLUMNS: u64 = 5;

fn when(options: SubscriberOptions, condition: &str) -> SubscriberOptions {
    options.with_condition(condition).expect(condition)
}

/// Some whole number that differs from place to place and from step to step.
fn element(step: u64, row: u64, column: u64) -> f64 {
    let mixed = (step * 7919 + row * 104_729 + column * 1_299_709 + 17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 101) as f64 - 50.0
}

/// The field of a step, row by row.
fn field(step: u64, rows: std::ops::Range<u64>) -> Vec<f64> {
    rows.flat_map(|row| (0..COLUMNS).map(move |column| element(step, row, column))).collect()
}

/// Each of the ranks publishes its rows of the field, and the last one a particle in every third step.
fn publish_rows(place: &Place, rank: u32, size: u32, steps: u64, subscribers: u32) {
    let cohort = Cohort::of(rank, size).expect("a cohort");
    let options = place.publisher_options().with_cohort(cohort).with_min_subscribers(subscribers);
    let options = options.with_derive_budget(PATIENCE);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let particles = Variable::joined::<u64>("particles", &[]).expect("a name");
    let shape = [ROWS * u64::from(size), COLUMNS];
    let variable = Variable::global::<f64>("T", &shape).expect("a shape");
    let first = ROWS * u64::from(rank);
    let region = Region::new([first, 0], [ROWS, COLUMNS]).expect("inside");
    for step in 0..steps {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &region, &field(step, first..first + ROWS)).expect("put");
        if rank + 1 == size && has_particles(step) {
            writer.put_joined_copy(&particles, &[step]).expect("put");
        }
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

fn has_particles(step: u64) -> bool {
    step.is_multiple_of(3)
}

fn judgement(step: &fp_core::StepReader) -> Judgement {
    step.judgement().expect("something was measured").clone()
}

/// Within what a test takes.
fn is_now(at: SystemTime) -> bool {
    let now = SystemTime::now();
    (now - Duration::from_secs(60)..now + Duration::from_secs(60)).contains(&at)
}

/// Every step that comes, with what is told of it.
fn watched(mut subscriber: Subscriber) -> Vec<(u64, Judgement)> {
    let mut steps = Vec::new();
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => {
                assert_eq!(step.decided_at().is_some_and(is_now), step.judgement().is_some(), "{step:?}");
                steps.push((step.step().0, step.judgement().cloned().unwrap_or_default()));
            }
            NextStep::NotYet => panic!("neither a step nor the end after {}", steps.len()),
            NextStep::Ended(_) => {
                assert_eq!(subscriber.statistics().skipped_steps, 0);
                return steps;
            }
        }
    }
}

/// The greatest element of some rows, and the first place of it.
fn greatest(step: u64, rows: std::ops::Range<u64>) -> (f64, Vec<u64>) {
    let places = rows.flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
    let mut best: Option<(f64, Vec<u64>)> = None;
    for (row, column) in places {
        let number = element(step, row, column);
        if best.as_ref().is_none_or(|(found, _)| number > *found) {
            best = Some((number, vec![row, column]));
        }
    }
    best.expect("rows")
}

/// Four ranks, of which the region touches three: the steps, numbers and places are those that one finds alone.
#[test]
fn a_watcher_has_exactly_the_steps_whose_numbers_are_so() {
    for kind in KINDS {
        let place = Place::new();
        let (size, steps) = (4, 60);
        let watcher = || {
            let options = when(place.over(kind), "max(T[2:9, :]) > 48").with_variables(Vec::<String>::new());
            watched(Subscriber::open(STREAM, options).expect("attached"))
        };
        let found = std::thread::scope(|scope| {
            for rank in 0..size {
                let place = &place;
                scope.spawn(move || publish_rows(place, rank, size, steps, 1));
            }
            watcher()
        });
        let found: Vec<_> = found
            .into_iter()
            .map(|(step, judgement)| {
                assert_eq!(judgement.unjudged, None);
                let [max] = &judgement.measured[..] else { panic!("{judgement:?}") };
                (step, max.number.map(MeasuredNumber::as_f64), max.place.clone())
            })
            .collect();
        let all = (0..steps).map(|step| (step, greatest(step, 2..9)));
        let expected: Vec<_> = all
            .filter(|(_, (number, _))| *number > 48.0)
            .map(|(step, (number, place))| (step, Some(number), Some(place)))
            .collect();
        assert!(expected.len() > 5 && expected.len() < 55, "{}", expected.len());
        assert_eq!(found, expected, "{kind}");
    }
}

/// Ranks of the field that conditions of every kind look at, and its steps.
const SIZE: u32 = 4;
const STEPS: u64 = 40;

/// A measure of a step of the whole field, by its name, found by looking at all of it.
fn number(step: u64, measure: &str) -> f64 {
    let all = field(step, 0..ROWS * u64::from(SIZE));
    let (len, sum) = (all.len() as f64, all.iter().sum::<f64>());
    match measure {
        "max(T)" => all.into_iter().fold(f64::MIN, f64::max),
        "min(T)" => all.into_iter().fold(f64::MAX, f64::min),
        "sum(T)" => sum,
        "mean(T)" => sum / len,
        "variance(T)" => (all.iter().map(|one| one * one).sum::<f64>() * len - sum * sum) / (len * len),
        "count(T > 30.0)" => all.into_iter().filter(|one| *one > 30.0).count() as f64,
        "any(T > 49.0)" => f64::from(u8::from(all.into_iter().any(|one| one > 49.0))),
        "quantile(T, 0.9, -64.0..64.0 / 128)" => {
            // Each whole number has a bin of its own.
            let mut all = all;
            all.sort_by(f64::total_cmp);
            all[53]
        }
        "max(T[2:9, ::2])" => greatest_within(step).0,
        "all(T > -49.0)" => f64::from(u8::from(all.into_iter().all(|one| one > -49.0))),
        other => panic!("{other} is none of them"),
    }
}

fn is_high(step: u64) -> bool {
    number(step, "max(T)") > 49.0
}

/// The first place of the least element.
fn least_place(step: u64) -> Vec<u64> {
    let places =
        (0..ROWS * u64::from(SIZE)).flat_map(|row| (0..COLUMNS).map(move |column| vec![row, column]));
    let least = number(step, "min(T)");
    places.into_iter().find(|place| element(step, place[0], place[1]) == least).expect("it is somewhere")
}

/// The greatest element of rows 2 to 8 and of every second column, and the first place of it.
fn greatest_within(step: u64) -> (f64, Vec<u64>) {
    let places = (2..9).flat_map(|row| (0..COLUMNS).step_by(2).map(move |column| vec![row, column]));
    let numbers = places.map(|place| (element(step, place[0], place[1]), place));
    numbers.reduce(|best, other| if other.0 > best.0 { other } else { best }).expect("rows")
}

/// What is made of a number of three steps; before there are so many, what compares with nothing.
fn window(step: u64, measure: &str, made: fn([f64; 3]) -> f64) -> f64 {
    if step < 2 { f64::NAN } else { made([step - 2, step - 1, step].map(|step| number(step, measure))) }
}

fn highest(numbers: [f64; 3]) -> f64 {
    numbers.into_iter().fold(f64::MIN, f64::max)
}

fn lowest(numbers: [f64; 3]) -> f64 {
    numbers.into_iter().fold(f64::MAX, f64::min)
}

fn total(numbers: [f64; 3]) -> f64 {
    numbers.into_iter().sum()
}

fn is_positive(step: u64) -> bool {
    number(step, "sum(T)") > 0.0
}

/// Whether the sum was above 100 before it was below -100.
fn is_on(step: u64) -> bool {
    let sum = |step| number(step, "sum(T)");
    (0..=step).fold(false, |is_on, step| sum(step) > 100.0 || (is_on && sum(step) >= -100.0))
}

/// A condition, and whether a step is as it says.
type Known = (&'static str, fn(u64) -> bool);

/// Conditions of every kind, each with what its steps are.
const CONDITIONS: [Known; 26] = [
    ("has(particles)", has_particles),
    ("max(T) > 49", is_high),
    ("min(T) < -49", |step| number(step, "min(T)") < -49.0),
    ("sum(T) > 0", is_positive),
    ("mean(T) <= 1", |step| number(step, "mean(T)") <= 1.0),
    ("variance(T) >= 850", |step| number(step, "variance(T)") >= 850.0),
    ("count(T > 30) >= 12", |step| number(step, "count(T > 30.0)") >= 12.0),
    ("any(T > 49)", |step| number(step, "any(T > 49.0)") != 0.0),
    ("all(T > -49)", |step| number(step, "all(T > -49.0)") != 0.0),
    ("change(max(T)) > 0", |step| step > 0 && number(step, "max(T)") > number(step - 1, "max(T)")),
    ("max(T) > 49 and min(T) < -47", |step| is_high(step) && number(step, "min(T)") < -47.0),
    ("max(T) > 49 or sum(T) < -150", |step| is_high(step) || number(step, "sum(T)") < -150.0),
    ("not sum(T) > 0", |step| !is_positive(step)),
    ("rises(max(T) > 49)", |step| is_high(step) && (step == 0 || !is_high(step - 1))),
    ("hysteresis(sum(T) > 100, sum(T) < -100)", is_on),
    ("held(sum(T) > 0, 2, 3)", |step| {
        (step.saturating_sub(2)..=step).filter(|step| is_positive(*step)).count() >= 2
    }),
    ("every(7)", |step| step.is_multiple_of(7)),
    ("argmax(T)[0] < 5", |step| greatest(step, 0..ROWS * u64::from(SIZE)).1[0] < 5),
    ("argmin(T)[1] >= 3", |step| least_place(step)[1] >= 3),
    ("window(mean(T), 3, max) > 3", |step| window(step, "mean(T)", highest) > 3.0),
    ("window(mean(T), 3, min) > -2", |step| window(step, "mean(T)", lowest) > -2.0),
    ("window(sum(T), 3, sum) > 0", |step| window(step, "sum(T)", total) > 0.0),
    ("window(mean(T), 3, mean) > 0", |step| window(step, "mean(T)", |of| total(of) / 3.0) > 0.0),
    ("window(max(T), 3, range) > 1", |step| window(step, "max(T)", |of| highest(of) - lowest(of)) > 1.0),
    ("max(T[2:9, ::2]) > 48", |step| greatest_within(step).0 > 48.0),
    ("quantile(T, 0.9, -64..64 / 128) > 38", |step| {
        number(step, "quantile(T, 0.9, -64.0..64.0 / 128)") > 38.0
    }),
];

/// The numbers that are told of a step are its own, and only greatest and least ones have a place.
fn check_measured(step: u64, judgement: &Judgement) {
    assert_eq!(judgement.unjudged, None);
    for measured in &judgement.measured {
        let found = measured.number.expect("each rank put its rows").as_f64();
        assert!((found - number(step, &measured.measure)).abs() <= 1e-9, "step {step}: {measured:?}");
        let is_quantile = measured.measure.starts_with("quantile");
        let upper = measured.number.expect("a number").upper_f64();
        assert_eq!(upper - found, f64::from(u8::from(is_quantile)), "step {step}: {measured:?}");
        let is_extreme = ["max(T)", "min(T)", "max(T[2:9, ::2])"].contains(&measured.measure.as_str());
        assert_eq!(measured.place.is_some(), is_extreme);
        let at = measured.place.as_ref().map(|place| element(step, place[0], place[1]));
        assert!(at.is_none_or(|at| at == found), "step {step}: {measured:?}");
        let is_of_all = !measured.measure.contains('[');
        assert!(is_of_all || measured.place == Some(greatest_within(step).1), "step {step}: {measured:?}");
    }
}

/// A subscriber for each kind of condition, all at one time.
#[test]
fn every_condition_fires() {
    for kind in KINDS {
        let place = Place::new();
        std::thread::scope(|scope| {
            let place = &place;
            let watchers = CONDITIONS.map(|(condition, _)| {
                let options = when(place.over(kind), condition);
                scope.spawn(move || watched(Subscriber::open(STREAM, options).expect("attached")))
            });
            for rank in 0..SIZE {
                scope.spawn(move || publish_rows(place, rank, SIZE, STEPS, CONDITIONS.len() as u32));
            }
            for ((condition, is_met), watcher) in CONDITIONS.into_iter().zip(watchers) {
                let found = watcher.join().expect("it has ended well");
                found.iter().for_each(|(step, judgement)| check_measured(*step, judgement));
                let steps: Vec<u64> = found.into_iter().map(|(step, _)| step).collect();
                let expected: Vec<u64> = (0..STEPS).filter(|step| is_met(*step)).collect();
                assert!(!expected.is_empty() && expected.len() < STEPS as usize, "{condition}");
                assert_eq!(steps, expected, "{condition} over {kind}");
            }
        });
    }
}

/// Sums of all ranks, an edge of them, and elements that go with it.
#[test]
fn a_step_that_fires_can_be_read() {
    for kind in KINDS {
        let place = Place::new();
        let (size, steps) = (2, 40);
        let found = std::thread::scope(|scope| {
            for rank in 0..size {
                let place = &place;
                scope.spawn(move || publish_rows(place, rank, size, steps, 1));
            }
            let options = when(place.over(kind), "rises(sum(T) > 0) and count(T < 0) >= 1");
            let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
            let mut found = Vec::new();
            while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step or the end") {
                let all = step.get::<f64>("T", &Selection::All).expect("got");
                assert_eq!(all, field(step.step().0, 0..ROWS * 2));
                let number = judgement(&step).number("sum(T)").map(MeasuredNumber::as_f64);
                assert_eq!(number, Some(all.iter().sum()));
                found.push(step.step().0);
            }
            found
        });
        let is_above = |step: u64| field(step, 0..ROWS * 2).iter().sum::<f64>() > 0.0;
        let rises = (0..steps).filter(|&step| is_above(step) && (step == 0 || !is_above(step - 1)));
        assert_eq!(found, rises.collect::<Vec<_>>(), "{kind}");
    }
}

/// One rank by hand: what is put by `put`, in steps that are judged one after another.
struct Alone {
    publisher: Publisher,
}

impl Alone {
    fn open(options: PublisherOptions) -> Self {
        Self { publisher: Publisher::open(STREAM, options).expect("the stream opens") }
    }

    fn publish(&mut self, put: impl FnOnce(&mut fp_core::StepWriter)) {
        let mut writer = self.publisher.begin_step().expect("a step");
        put(&mut writer);
        writer.end().expect("ended");
    }

    fn publish_numbers(&mut self, numbers: &[f64]) {
        let variable = Variable::global::<f64>("T", &[numbers.len() as u64]).expect("a shape");
        let region = Region::new([0], [numbers.len() as u64]).expect("inside");
        self.publish(|writer| writer.put_copy(&variable, &region, numbers).expect("put"));
    }
}

/// Rows of joined arrays, values of scalars and integers: a least element has no place among them.
#[test]
fn rows_and_scalars_are_measured_too() {
    let place = Place::new();
    let mut alone = Alone::open(place.publisher_options());
    let options = |condition| when(place.over(TransportKind::Shm), condition);
    let mut rows = Subscriber::open(STREAM, options("min(speed) < 2")).expect("attached");
    let mut value = Subscriber::open(STREAM, options("max(residual) <= 0.5")).expect("attached");
    let speed = Variable::joined::<i32>("speed", &[]).expect("a shape");
    let residual = Variable::scalar::<f64>("residual").expect("a name");
    for (speeds, error) in [(&[5, 3][..], 0.7), (&[4, 1, 9], 0.6), (&[], 0.5)] {
        alone.publish(|writer| {
            writer.put_joined_copy(&speed, speeds).expect("put");
            writer.put_scalar(&residual, error).expect("put");
        });
    }
    let told = |subscriber: &mut Subscriber| {
        let step = take(subscriber);
        let [measured] = &judgement(&step).measured[..] else { panic!("one was measured") };
        (step.step().0, measured.number, measured.place.clone())
    };
    assert_eq!(told(&mut rows), (1, Some(MeasuredNumber::Signed(1)), None));
    assert_eq!(told(&mut value), (2, Some(MeasuredNumber::Real(0.5.into())), None));
}

/// Neither loans nor copies of a step that only a watcher wants are kept, and nobody is held up by them.
#[test]
fn nothing_is_kept_of_a_step_that_does_not_fire() {
    let place = Place::new();
    let mut alone = Alone::open(place.publisher_options());
    let options = when(place.over(TransportKind::Shm), "max(T) > 100")
        .with_policy(QueuePolicy::EveryStep { max_wait: Duration::ZERO })
        .with_limit_steps(1)
        .with_variables(Vec::<String>::new());
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let numbers = vec![1.0; 1 << 16];
    for _ in 0..50 {
        alone.publish_numbers(&numbers);
    }
    let statistics = alone.publisher.statistics();
    assert_eq!(statistics.payload_bytes, 0, "{statistics:?}");
    assert!(matches!(subscriber.next_step(Duration::ZERO).expect("no failure"), NextStep::NotYet));
    let mut greater = numbers.clone();
    greater[77] = 200.0;
    alone.publish_numbers(&greater);
    let step = take(&mut subscriber);
    assert_eq!((step.step().0, judgement(&step).measured[0].place.clone()), (50, Some(vec![77])));
}

/// What cannot be measured is said, with the rank and why, and the step comes all the same.
#[test]
fn a_step_that_cannot_be_judged_comes_and_says_why() {
    let place = Place::new();
    let mut alone = Alone::open(place.publisher_options());
    let reason = |condition: &str, numbers: &[f64], alone: &mut Alone| {
        let options = when(place.over(TransportKind::Shm), condition);
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        alone.publish_numbers(numbers);
        let step = take(&mut subscriber);
        let unjudged = judgement(&step).unjudged.expect("it was not judged").to_string();
        drop(step);
        subscriber.close().expect("closed");
        unjudged
    };
    let outside = reason("max(T[0:9]) > 1", &[0.0; 4], &mut alone);
    assert!(outside.starts_with("publisher rank 0 did not measure: ") && outside.contains('9'), "{outside}");
    let dimensions = reason("max(T[0:2, 0:2]) > 1", &[0.0; 4], &mut alone);
    assert!(dimensions.contains("dimension"), "{dimensions}");
}

/// Steps that were reserved before the condition came were never measured.
#[test]
fn reserved_steps_come_unjudged() {
    let place = Place::new();
    let mut alone = Alone::open(place.publisher_options().with_reserve_steps(2));
    (0..4).for_each(|_| alone.publish_numbers(&[1.0]));
    let options = when(place.over(TransportKind::Shm), "max(T) > 5").with_start_at(StartAt::OldestReserved);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    alone.publish_numbers(&[1.0]);
    alone.publish_numbers(&[6.0]);
    for (number, is_judged) in [(2, false), (3, false), (5, true)] {
        let step = take(&mut subscriber);
        assert_eq!((step.step().0, judgement(&step).unjudged.is_none()), (number, is_judged));
    }
}

/// An owner who lets nothing be computed lets nothing be watched, and says so at once.
#[test]
fn a_publisher_that_computes_nothing_refuses() {
    let place = Place::new();
    let _alone = Alone::open(place.publisher_options().with_derivations(false));
    let options = when(place.over(TransportKind::Shm), "has(T) or max(T) > 1");
    let refused = Subscriber::open(STREAM, options).err().expect("refused");
    assert!(refused.to_string().contains("does not measure max(...): its owner"), "{refused}");
    assert!(Subscriber::open(STREAM, when(place.over(TransportKind::Shm), "has(T)")).is_ok());
}

/// Without time to measure the step is not judged. It comes, and says so; the next one may be judged.
#[test]
fn a_budget_that_is_used_up_is_told_and_not_taken_for_no() {
    let place = Place::new();
    let options =
        place.publisher_options().with_derive_budget(Duration::from_millis(1)).with_derive_share_percent(1);
    let mut alone = Alone::open(options);
    let mut subscriber =
        Subscriber::open(STREAM, when(place.over(TransportKind::Shm), "sum(T) > 1e9")).expect("attached");
    let numbers = vec![0.5; 1 << 21];
    let mut told = None;
    eventually("a step that is not judged", || {
        alone.publish_numbers(&numbers);
        if let NextStep::Step(step) = subscriber.next_step(Duration::ZERO).expect("no failure") {
            told = Some(judgement(&step));
        }
        told.is_some()
    });
    let unjudged = told.and_then(|told| told.unjudged).expect("0.5 times so many is less than that").reason;
    assert!(unjudged.contains("derive_budget"), "{unjudged}");
}
