//! Derived variables, over every transport: the result alone crosses, equal ones are computed once, and what cannot be
//! derived harms nobody else.

use crate::support::{PATIENCE, Place, STREAM, executor::block_on, take};
use fp_core::{
    Cohort, CohortSide, Derivation, DerivationError, DerivedVariable, Publisher, ReadError, Region, Select,
    Selection, StepReader, StepWriter, Subscriber, SubscriberOptions, TransportKind, TransportPolicy,
    Variable,
};
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const LEN: u64 = 4096;
const SPEED: &str = "vx, vy, vz | compute(sqrt(vx*vx + vy*vy + vz*vz))";

fn component(dim: u64, step: u64, index: u64) -> f64 {
    ((step * 31 + index * 7 + dim * 13) % 101) as f64 - 50.0
}

fn speed(step: u64, index: u64) -> f64 {
    (0..3).map(|dim| component(dim, step, index).powi(2)).sum::<f64>().sqrt()
}

fn components(step: u64, dim: u64, from: u64, to: u64) -> Vec<f64> {
    (from..to).map(|index| component(dim, step, index)).collect()
}

fn speeds(step: u64) -> Vec<f64> {
    (0..LEN).map(|index| speed(step, index)).collect()
}

fn velocity(dim: usize) -> Variable {
    Variable::global::<f64>(["vx", "vy", "vz"][dim], &[LEN]).expect("a shape")
}

/// Publishes the three components of the next step, each by another call.
fn publish(publisher: &mut Publisher) -> u64 {
    publish_with(publisher, |_| {})
}

/// The same, and `more` besides.
fn publish_with(publisher: &mut Publisher, more: impl Fn(&mut StepWriter)) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let half = LEN / 2;
    for (from, to) in [(0, half), (half, LEN)] {
        let region = Region::new([from], [to - from]).expect("inside");
        writer.put(&velocity(0), &region, components(step, 0, from, to)).expect("put");
        writer.put_copy(&velocity(1), &region, &components(step, 1, from, to)).expect("put");
        let mut loan = writer.loan::<f64>(&velocity(2), &region).expect("a loan");
        loan.copy_from_slice(&components(step, 2, from, to));
        writer.put_loan(loan).expect("put");
    }
    more(&mut writer);
    writer.end().expect("ended");
    step
}

fn asking(options: SubscriberOptions, name: &str, text: &str) -> SubscriberOptions {
    options.with_derivation(name, text).expect("a derivation")
}

fn attach(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("attached")
}

#[test]
fn the_result_is_read_as_any_variable() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = place.publisher();
        let mut subscriber = attach(asking(place.over(kind), "speed", SPEED));
        for _ in 0..5 {
            let number = publish(&mut publisher);
            let (step, expected) = (take(&mut subscriber), speeds(number));
            assert_eq!(step.get::<f64>("speed", Selection::All).expect("all"), expected, "{kind:?}");
            assert_eq!(step.get::<f64>("speed", "[2000:2100]").expect("some"), expected[2000..2100]);
            assert_eq!(step.view::<f64>("speed", "[1:9]").expect("a view")[..], expected[1..9]);
            let later = step.get_async::<f64>("speed", "[::64]");
            let strided: Vec<f64> = expected.iter().step_by(64).copied().collect();
            assert_eq!(block_on(later).expect("later"), strided);
            let infos = step.variables().expect("the variables");
            let names: Vec<&str> = infos.iter().map(|info| info.def.name.as_str()).collect();
            assert_eq!(names, ["speed", "vx", "vy", "vz"]);
            let wrong = step.get::<f32>("speed", Selection::All).expect_err("of another type").to_string();
            assert!(wrong.contains("variable \"speed\": elements are f64, not f32"), "{wrong}");
            step.get::<f64>("vx", Selection::All).expect_err("nobody subscribed to it");
        }
        let counted = publisher.statistics();
        assert_eq!((counted.derivations, counted.derived_bytes), (5, 5 * LEN * 8));
        assert_eq!(counted.payload_bytes, 5 * LEN * 8, "inputs are not kept");
    }
}

#[test]
fn a_third_of_the_bytes_crosses() {
    let crossing = |options: fn(SubscriberOptions) -> SubscriberOptions, names: &[&str]| {
        let place = Place::new();
        let mut publisher = place.publisher();
        let mut subscriber = attach(options(place.over(TransportKind::Tcp)));
        for _ in 0..10 {
            publish(&mut publisher);
            let step = take(&mut subscriber);
            names.iter().for_each(|name| drop(step.get::<f64>(name, Selection::All).expect("all")));
        }
        let counted = subscriber.statistics();
        assert_eq!(counted.staged_bytes, 0);
        counted.received_bytes
    };
    let one = crossing(|options| asking(options, "speed", SPEED), &["speed"]);
    let all = crossing(|options| options, &["vx", "vy", "vz"]);
    assert_eq!((one, all), (10 * LEN * 8, 3 * one));
}

#[test]
fn equal_derivations_are_computed_once() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut first = attach(asking(place.over(TransportKind::Shm), "speed", SPEED));
    let parsed: Derivation = SPEED.parse().expect("a derivation");
    let options = place.over(TransportKind::Tcp).with_derivation("pace", parsed).expect("another name");
    let mut second = attach(options);
    for _ in 0..4 {
        let number = publish(&mut publisher);
        for (subscriber, name) in [(&mut first, "speed"), (&mut second, "pace")] {
            let elements = take(subscriber).get::<f64>(name, Selection::All).expect("all");
            assert_eq!(elements, speeds(number));
        }
    }
    let counted = publisher.statistics();
    assert_eq!((counted.derivations, counted.shared_derivations), (4, 4));
}

#[test]
fn it_is_derived_on_the_side_that_is_told_or_where_fewer_bytes_travel() {
    let wide = "small | cast(f64)";
    let small = |index: u64| (index % 251) as u8;
    let cases = [
        (SPEED, CohortSide::Publisher, (3, 0, 0), 8),
        (SPEED, CohortSide::Subscriber, (0, 0, 3), 24),
        (SPEED, CohortSide::FewerBytes, (3, 0, 0), 8),
        (wide, CohortSide::Publisher, (3, 0, 0), 16),
        (wide, CohortSide::FewerBytes, (0, 3, 3), 2),
        ("vx | max", CohortSide::FewerBytes, (3, 0, 0), 0),
    ];
    for (text, placement, counts, element_bytes) in cases {
        let place = Place::new();
        let mut publisher = place.publisher();
        let derived = DerivedVariable::new("it", text).expect("a derivation").with_placement(placement);
        let options = place.over(TransportKind::Tcp).with_request(derived);
        let mut subscriber = attach(options.expect("there is room"));
        for _ in 0..3 {
            let number = publish_with(&mut publisher, |writer| {
                let variable = Variable::global::<u8>("small", &[2 * LEN]).expect("a shape");
                let region = Region::new([0], [2 * LEN]).expect("inside");
                writer.put(&variable, &region, (0..2 * LEN).map(small).collect()).expect("put");
            });
            let step = take(&mut subscriber);
            let (_, _, bytes) = step.get_bytes("it", Selection::All).expect("all");
            let plain = |values: Vec<f64>| values.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
            let expected = match text {
                SPEED => plain(speeds(number)),
                "vx | max" => plain(vec![components(number, 0, 0, LEN).into_iter().fold(-99.0, f64::max)]),
                _ => plain((0..2 * LEN).map(|index| f64::from(small(index))).collect()),
            };
            assert_eq!(bytes, expected, "{text}, {placement:?}");
        }
        let (there, here) = (publisher.statistics(), subscriber.statistics());
        assert_eq!(
            (there.derivations, there.left_derivations, here.derivations),
            counts,
            "{text}, {placement:?}"
        );
        assert_eq!(here.received_bytes / (3 * LEN), element_bytes, "{text}, {placement:?}");
    }
}

#[test]
fn a_newcomer_has_it_from_its_first_step_on() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut first = attach(place.subscriber_options().with_variables(["vx"]));
    let mut publish = || {
        let number = publish(&mut publisher);
        let vx = take(&mut first).get::<f64>("vx", Selection::All).expect("all");
        assert_eq!(vx, components(number, 0, 0, LEN), "nothing changes for who was there before");
        number
    };
    publish();
    let mut late = attach(asking(place.subscriber_options(), "fastest", "vx, vy, vz | magnitude | max"));
    for _ in 0..3 {
        let number = publish();
        let fastest = speeds(number).into_iter().fold(0.0, f64::max);
        assert_eq!(take(&mut late).get::<f64>("fastest", Selection::All).expect("one"), [fastest]);
    }
    late.close().expect("closed");
    publish();
}

#[test]
fn only_what_is_needed_is_wanted() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = asking(place.subscriber_options(), "speed", SPEED).with_variables(["t"]);
    let _subscriber = attach(options);
    let writer = publisher.begin_step().expect("a step");
    assert!(["vx", "vy", "vz", "t"].iter().all(|name| writer.wanted(name)));
    assert!(!writer.wanted("pressure"));
}

/// Gives the text of a failure that is told to who asked, while another subscription goes on.
fn failure(text: &str, put: impl Fn(&mut StepWriter)) -> String {
    let place = Place::new();
    let options = place.publisher_options().with_derive_timeout(PATIENCE);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut asked = attach(asking(place.over(TransportKind::Shm), "it", text));
    let mut other = attach(place.over(TransportKind::Tcp).with_variables(["vx"]));
    let mut told = Vec::new();
    for _ in 0..2 {
        let mut writer = publisher.begin_step().expect("a step");
        let step = writer.step().0;
        let region = Region::new([0], [LEN]).expect("inside");
        writer.put(&velocity(0), &region, components(step, 0, 0, LEN)).expect("put");
        put(&mut writer);
        writer.end().expect("ended");
        let vx = take(&mut other).get::<f64>("vx", Selection::All).expect("the other goes on");
        assert_eq!(vx, components(step, 0, 0, LEN));
        let error = take(&mut asked).get::<f64>("it", Selection::All).expect_err("not derived");
        let ReadError::NotDerived { variable, what, .. } = &error else { panic!("{error}") };
        assert_eq!(variable, "it");
        assert!(error.to_string().contains(what.as_str()));
        told.push(what.clone());
    }
    assert_eq!(told[0], told[1]);
    told.remove(0)
}

#[test]
fn what_cannot_be_derived_says_why_and_harms_nobody() {
    let nothing = |_: &mut StepWriter| {};
    let missing = failure("vx, speed | magnitude", nothing);
    assert_eq!(
        missing,
        "publisher rank 0: it put \"vx\" but nothing of \"speed\": a rank that puts one puts all that something is derived from"
    );
    let unknown = failure("heat | max", nothing);
    assert_eq!(unknown, "there is no variable \"heat\"; there are vx");
    let local = failure("vx, list | magnitude", |writer| {
        let list = Variable::local::<f64>("list", 1).expect("a name");
        writer.put(&list, &Region::new([0], [3]).expect("inside"), vec![0.0; 3]).expect("put");
    });
    assert_eq!(
        local,
        "publisher rank 0: \"vx\" is a global array and \"list\" is rows of each rank (local array): these are not brought together; publish both alike"
    );
    let shapes = failure("vx, wide | magnitude", |writer| {
        let wide = Variable::global::<f64>("wide", &[3]).expect("a shape");
        writer.put(&wide, &Region::new([0], [3]).expect("inside"), vec![0.0; 3]).expect("put");
    });
    assert!(shapes.contains("arrays of shapes [4096] and [3] are not brought together"), "{shapes}");
    let elements = failure("z | max", |writer| {
        let z = Variable::global::<num_complex::Complex<f64>>("z", &[1]).expect("a shape");
        writer
            .put(&z, &Region::new([0], [1]).expect("inside"), vec![num_complex::Complex::new(0.0f64, 1.0)])
            .expect("put");
    });
    assert!(elements.contains("max cannot take elements of type c64"), "{elements}");
}

#[test]
fn one_that_takes_too_long_is_given_up_after_the_second_time() {
    let place = Place::new();
    let options = place.publisher_options().with_derive_timeout(Duration::from_millis(1));
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let slow =
        "T | compute(sin(T) ^ cos(T) + exp(sin(T)) ^ 1.3) | compute(sin(x) ^ cos(x) + exp(sin(x)) ^ 1.3)";
    let mut subscriber = attach(asking(place.subscriber_options(), "slow", slow));
    let len = 1 << 20;
    let heat = Variable::global::<f64>("T", &[len]).expect("a shape");
    let mut told = Vec::new();
    while told.last().is_none_or(|what: &String| !what.contains("not done any more")) {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&heat, &Region::new([0], [len]).expect("inside"), vec![1.5; len as usize]).expect("put");
        writer.end().expect("the step is whole all the same");
        match take(&mut subscriber).get::<f64>("slow", Selection::All) {
            Err(ReadError::NotDerived { what, .. }) => told.push(what),
            other => panic!("{other:?}"),
        }
        assert!(told.len() < 100, "{told:?}");
    }
    let overruns = told.iter().filter(|what| what.contains("it ran for longer than 1ms")).count();
    assert_eq!(overruns, 2, "{told:?}");
}

#[test]
fn what_is_asked_wrongly_is_said_at_once() {
    let options = || SubscriberOptions::default();
    let misspelt = options().with_derivation("m", "vx | maximum").expect_err("no operation");
    let DerivationError::Text(error) = &misspelt else { panic!("{misspelt}") };
    assert_eq!(error.position, 6);
    assert!(misspelt.to_string().contains("\"maximum\" is no operation"), "{misspelt}");
    let twice = asking(options(), "m", "vx | max").with_derivation("m", "vx | min");
    assert_eq!(twice.expect_err("twice").to_string(), "two derived variables are called \"m\"");
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit.max(1)
    }

    /// Where to cut a line into so many parts, some of them perhaps empty.
    fn cuts(&mut self, len: u64, parts: u64) -> Vec<u64> {
        let mut cuts: Vec<u64> = (1..parts).map(|_| self.below(len + 1)).collect();
        cuts.extend([0, len]);
        cuts.sort_unstable();
        cuts
    }
}

const ROWS: u64 = 13;
const COLUMNS: u64 = 9;

fn heat(step: u64, row: u64, column: u64) -> f64 {
    ((step * 17 + row * 29 + column * 5) % 64) as f64 - 20.0
}

/// The blocks of each rank: bands of columns, each cut into rows; not all ranks have as many.
fn decomposition(numbers: &mut Numbers, ranks: u64) -> Vec<Vec<Region>> {
    let bands = numbers.cuts(COLUMNS, ranks);
    let of_rank = |band: &[u64], numbers: &mut Numbers| {
        let parts = 1 + numbers.below(3);
        let rows = numbers.cuts(ROWS, parts);
        let region = |rows: &[u64]| {
            let (start, count) = ([rows[0], band[0]], [rows[1] - rows[0], band[1] - band[0]]);
            Region::new(start, count).ok().filter(|region| region.element_count() > 0)
        };
        rows.windows(2).filter_map(region).collect()
    };
    bands.windows(2).map(|band| of_rank(band, numbers)).collect()
}

fn publish_rank(options: fp_core::PublisherOptions, steps: Vec<Vec<Region>>) {
    let mut publisher = Publisher::open(STREAM, options.with_min_subscribers(1)).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &[ROWS, COLUMNS]).expect("a shape");
    for (number, regions) in (0..).zip(steps) {
        let mut writer = publisher.begin_step().expect("a step");
        for region in regions {
            let (start, end) = (region.start(), region.end());
            let row = |row| (start[1]..end[1]).map(move |column| heat(number, row, column));
            let elements: Vec<f64> = (start[0]..end[0]).flat_map(row).collect();
            writer.put(&variable, &region, elements).expect("put");
        }
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// What a derivation is by its definition, of the whole array.
fn check(step: &StepReader, number: u64) {
    let at = |row: u64, column: u64| heat(number, row, column);
    let all: Vec<f64> = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| at(row, column))).collect();
    let get = |name: &str, select: &str| step.get::<f64>(name, Select::from(select)).expect(name);
    let one = |name: &str| step.get::<f64>(name, Selection::All).expect(name);
    let sum: f64 = all.iter().sum();
    assert_eq!(one("sum"), [sum]);
    assert_eq!(one("mean"), [sum / all.len() as f64]);
    assert_eq!(one("least"), [all.iter().copied().fold(f64::MAX, f64::min)]);
    assert_eq!(get("twice", "[:, :]"), all.iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>());
    assert_eq!(get("short", "[:, :]"), all.iter().map(|x| x + 3.0).collect::<Vec<_>>());
    assert_eq!(get("short", "[3:5, 2]"), [at(3, 2) + 3.0, at(4, 2) + 3.0]);
    let thin = |step: u64| (0..ROWS).step_by(step as usize);
    let strided: Vec<f64> =
        thin(2).flat_map(|row| (0..COLUMNS).step_by(3).map(move |column| at(row, column))).collect();
    assert_eq!(get("thin", "[:, :]"), strided);
    let mean = |row: u64, column: u64| {
        let rows = row..(row + 4).min(ROWS);
        let cell =
            rows.flat_map(|row| (column..(column + 2).min(COLUMNS)).map(move |column| at(row, column)));
        let cell: Vec<f64> = cell.collect();
        cell.iter().sum::<f64>() / cell.len() as f64
    };
    let means: Vec<f64> =
        thin(4).flat_map(|row| (0..COLUMNS).step_by(2).map(move |column| mean(row, column))).collect();
    assert_eq!(get("coarse", "[:, :]"), means);
    let hot: Vec<(u64, f64)> = (0..).zip(all.iter().copied()).filter(|(_, x)| *x > 30.0).collect();
    let places = step.get::<u64>("hot.index", Selection::All).expect("places");
    assert_eq!(places.into_iter().zip(get("hot.value", "[:]")).collect::<Vec<_>>(), hot);
    let bins = step.get::<u64>("bins", "[:]").expect("bins");
    let within = |low: f64, high: f64| all.iter().filter(|&&x| low <= x && x < high).count() as u64;
    assert_eq!(bins[..3], [within(0.0, 10.0), within(10.0, 20.0), within(20.0, 30.5)]);
}

#[test]
fn any_decomposition_gives_what_the_definition_says() {
    let mut numbers = Numbers(5);
    for (kind, ranks) in [(TransportKind::Inproc, 1), (TransportKind::Shm, 3), (TransportKind::Tcp, 4)] {
        let place = Place::new();
        let steps: Vec<Vec<Vec<Region>>> = (0..12).map(|_| decomposition(&mut numbers, ranks)).collect();
        let of_rank = |rank: usize| steps.iter().map(|step| step[rank].clone()).collect::<Vec<_>>();
        let publishers: Vec<_> = (0..ranks as usize)
            .map(|rank| {
                let cohort = Cohort::of(rank as u32, ranks as u32).expect("a cohort");
                let options = place.publisher_options().with_cohort(cohort);
                let regions = of_rank(rank);
                std::thread::spawn(move || publish_rank(options, regions))
            })
            .collect();
        let asked = [
            ("sum", "T | sum"),
            ("mean", "T | mean"),
            ("least", "T | min"),
            ("twice", "T | scale(2, 1)"),
            ("short", "T | scale(1, 3) | pco"),
            ("thin", "T | stride(2, 3)"),
            ("coarse", "T | average(4, 2)"),
            ("hot", "T | points(> 30)"),
            ("bins", "T | histogram(0, 30, 3)"),
        ];
        let options = place.subscriber_options().with_transports(TransportPolicy::only(kind));
        let options = asked.iter().fold(options, |options, (name, text)| asking(options, name, text));
        let mut subscriber = attach(options);
        for number in 0..12 {
            check(&take(&mut subscriber), number);
        }
        subscriber.close().expect("closed");
        publishers.into_iter().for_each(|publisher| publisher.join().expect("published"));
    }
}
