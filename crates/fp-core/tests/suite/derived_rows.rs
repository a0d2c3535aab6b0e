//! What is derived of joined and local arrays, of local scalars and beside scalars. Several ranks derive it, and several
//! read it, on either side. It is what the definition says of all rows in the order of ranks.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Cohort, CohortSide, DerivedVariable, Dims, MemoryOrder, NextStep, Publisher, PublisherOptions, ReadError,
    Region, Selection, StepReader, StepWriter, Subscriber, SubscriberOptions, TransportKind, TransportPolicy,
    Variable,
};
use std::thread::JoinHandle;

const RANKS: u64 = 3;
const STEPS: u64 = 6;
const PLACEMENTS: [CohortSide; 3] = [CohortSide::Publisher, CohortSide::Subscriber, CohortSide::FewerBytes];

/// How many particles a rank has in a step: another number in each, and sometimes none.
fn count(step: u64, rank: u64) -> u64 {
    (step * 5 + rank * 3) % 7
}

/// A component of a particle's velocity: few values, so that the greatest is there several times.
fn velocity(step: u64, row: u64, dim: u64) -> f64 {
    ((step * 7 + row * 11 + dim * 5) % 13) as f64 - 6.0
}

fn weight(step: u64, row: u64) -> f32 {
    ((step + row * 3) % 8) as f32
}

fn energy(step: u64, rank: u64) -> f64 {
    (step * 10 + (rank * 2) % 3) as f64
}

fn mean_weight(step: u64) -> f64 {
    step as f64 / 2.0
}

fn cells(step: u64, index: u64) -> i32 {
    ((step * 3 + index * 5) % 17) as i32 - 4
}

/// Row by row: three components of each.
fn velocities(step: u64, rows: std::ops::Range<u64>) -> Vec<f64> {
    rows.flat_map(|row| (0..3).map(move |dim| velocity(step, row, dim))).collect()
}

/// The first row of a rank.
fn first(step: u64, rank: u64) -> u64 {
    (0..rank).map(|below| count(step, below)).sum()
}

fn put_all(writer: &mut StepWriter, rank: u64) {
    let step = writer.step().0;
    let (from, to) = (first(step, rank), first(step, rank) + count(step, rank));
    let middle = from + (to - from) / 3;
    let v = Variable::joined::<f64>("v", &[3]).expect("a shape");
    for rows in [from..middle, middle..to] {
        writer.put_joined(&v, velocities(step, rows)).expect("put");
    }
    let region = Region::new([0], [to - from]).expect("a region");
    let weights = (from..to).map(|row| weight(step, row)).collect();
    writer.put(&Variable::local::<f32>("w", 1).expect("a name"), &region, weights).expect("put");
    // Dimensions and memory order as Fortran has them: rows are along the last dimension.
    let columns = Variable::local::<f64>("vf", 2).expect("a name").with_order(MemoryOrder::ColumnMajor);
    let region = Region::new([0, 0], [3, to - from]).expect("a region");
    writer.put_copy(&columns, &region, &velocities(step, from..to)).expect("put");
    writer.put_scalar(&Variable::local_scalar::<f64>("e").expect("a name"), energy(step, rank)).expect("put");
    writer.put_scalar(&Variable::scalar::<f64>("m").expect("a name"), mean_weight(step)).expect("put");
    let global = Variable::global::<i32>("T", &[RANKS * 4]).expect("a shape");
    let region = Region::new([rank * 4], [4]).expect("inside");
    writer.put(&global, &region, (rank * 4..rank * 4 + 4).map(|at| cells(step, at)).collect()).expect("put");
}

const DERIVED: [(&str, &str); 22] = [
    ("fastest", "v | compute(abs(v)) | max"),
    ("where", "v | compute(abs(v)) | argmax"),
    ("quick", "v | points(> 3)"),
    ("x", "v | slice(:, 0)"),
    ("twice", "v | scale(2, 1)"),
    ("packed", "v | scale(2, 1) | pco"),
    ("thin", "v | stride(2, 1)"),
    ("ahead", "v | slice(:0, ::2)"),
    ("means", "v | average(1, 3)"),
    ("both", "w, m | compute(w - m) | sum"),
    ("off", "m, w | compute(w - m)"),
    ("heavy", "w | count(>= 4)"),
    ("any", "w | any(> 6)"),
    ("all", "w | all(>= 0)"),
    ("wide", "w | cast(f64)"),
    ("fortran", "vf | argmax"),
    ("component", "vf | slice(1, :)"),
    ("total", "e | sum"),
    ("lowest", "e | argmin"),
    ("half", "m | scale(0.5, 0)"),
    ("above", "T, m | compute(T - m) | argmax"),
    ("with", "T, T | covariance"),
];

fn greatest<T: PartialOrd + Copy>(all: &[T]) -> (u64, T) {
    let mut best = (0, all[0]);
    for (at, &value) in (0..).zip(all) {
        if value > best.1 {
            best = (at, value);
        }
    }
    best
}

/// Everything that is derived, next to what it is by definition, of the whole arrays.
fn check(step: &StepReader, what: &str) {
    let number = step.step().0;
    let what = format!("{what}, step {number}");
    let rows = first(number, RANKS);
    let all = velocities(number, 0..rows);
    let get = |name: &str| {
        step.get::<f64>(name, Selection::All).unwrap_or_else(|error| panic!("{what}, {name}: {error}"))
    };
    let place = |name: &str| {
        step.get::<u64>(name, Selection::All).unwrap_or_else(|error| panic!("{what}, {name}: {error}"))
    };
    let speeds: Vec<f64> = all.iter().map(|v| v.abs()).collect();
    let (at, fastest) = greatest(&speeds);
    assert_eq!(
        (get("fastest"), get("where.value"), place("where.index")),
        (vec![fastest], vec![fastest], vec![at]),
        "{what}"
    );
    let quick: Vec<(u64, f64)> = (0..).zip(all.iter().copied()).filter(|(_, v)| *v > 3.0).collect();
    assert_eq!(place("quick.index").into_iter().zip(get("quick.value")).collect::<Vec<_>>(), quick, "{what}");
    let doubled: Vec<f64> = all.iter().map(|v| 2.0 * v + 1.0).collect();
    assert_eq!((get("twice"), get("packed")), (doubled.clone(), doubled), "{what}");
    assert_eq!(
        step.get::<f64>("twice", "[2:4, 1]").expect("rows"),
        [2, 3].map(|row| 2.0 * velocity(number, row, 1) + 1.0)
    );
    let of = |row: u64, dim| velocity(number, row, dim);
    assert_eq!(get("x"), (0..rows).map(|row| of(row, 0)).collect::<Vec<_>>(), "{what}");
    let thin = (0..rows).step_by(2).flat_map(|row| (0..3).map(move |dim| of(row, dim)));
    assert_eq!(get("thin"), thin.collect::<Vec<_>>(), "{what}");
    assert!(get("ahead").is_empty(), "{what}");
    let means = (0..rows).map(|row| (0..3).map(|dim| of(row, dim)).sum::<f64>() / 3.0);
    assert_eq!(get("means"), means.collect::<Vec<_>>(), "{what}");
    check_lists(step, &what);
}

/// The same of lists, of columns as Fortran has them, and of numbers of each rank.
fn check_lists(step: &StepReader, what: &str) {
    let number = step.step().0;
    let rows = first(number, RANKS);
    let weights: Vec<f32> = (0..rows).map(|row| weight(number, row)).collect();
    let get = |name: &str| {
        step.get::<f64>(name, Selection::All).unwrap_or_else(|error| panic!("{what}, {name}: {error}"))
    };
    let place = |name: &str| {
        step.get::<u64>(name, Selection::All).unwrap_or_else(|error| panic!("{what}, {name}: {error}"))
    };
    let of = |row: u64, dim| velocity(number, row, dim);
    let off: Vec<f64> = weights.iter().map(|w| f64::from(*w) - mean_weight(number)).collect();
    assert_eq!((get("both"), get("off")), (vec![off.iter().sum()], off), "{what}");
    assert_eq!(place("heavy"), [weights.iter().filter(|w| **w >= 4.0).count() as u64], "{what}");
    let truth = |name: &str| step.get_bytes(name, Selection::All).expect(name).2;
    assert_eq!(
        (truth("any"), truth("all")),
        (vec![u8::from(weights.iter().any(|w| *w > 6.0))], vec![1]),
        "{what}"
    );
    assert_eq!(get("wide"), weights.iter().map(|w| f64::from(*w)).collect::<Vec<_>>(), "{what}");
    // By rows of the whole array of shape [3, rows].
    let turned: Vec<f64> = (0..3).flat_map(|dim| (0..rows).map(move |row| of(row, dim))).collect();
    let (at, value) = greatest(&turned);
    assert_eq!((place("fortran.index"), get("fortran.value")), (vec![at], vec![value]), "{what}");
    assert_eq!(get("component"), (0..rows).map(|row| of(row, 1)).collect::<Vec<_>>(), "{what}");
    let energies: Vec<f64> = (0..RANKS).map(|rank| energy(number, rank)).collect();
    assert_eq!(get("total"), [energies.iter().sum::<f64>()], "{what}");
    assert_eq!((place("lowest.index"), get("lowest.value")), (vec![0], vec![energies[0]]), "{what}");
    assert_eq!(get("half"), [mean_weight(number) / 2.0], "{what}");
    let heat: Vec<i64> = (0..RANKS * 4).map(|at| i64::from(cells(number, at))).collect();
    let (at, value) = greatest(&heat);
    assert_eq!(
        (place("above.index"), get("above.value")),
        (vec![at], vec![value as f64 - mean_weight(number)]),
        "{what}"
    );
    let (count, sum) = (heat.len() as i64, heat.iter().sum::<i64>());
    let variance =
        (count * heat.iter().map(|t| t * t).sum::<i64>() - sum * sum) as f64 / count as f64 / count as f64;
    assert_eq!(get("with"), [variance], "{what}");
}

fn publish_ranks(options: impl Fn() -> PublisherOptions) -> Vec<JoinHandle<()>> {
    let rank = |rank: u64| {
        let cohort = Cohort::of(rank as u32, RANKS as u32).expect("a cohort");
        let options = options().with_cohort(cohort).with_min_subscribers(1);
        std::thread::spawn(move || {
            let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
            for _ in 0..STEPS {
                let mut writer = publisher.begin_step().expect("a step");
                put_all(&mut writer, rank);
                writer.end().expect("ended");
            }
            publisher.close().expect("closed");
        })
    };
    (0..RANKS).map(rank).collect()
}

fn asking(options: SubscriberOptions, side: CohortSide) -> SubscriberOptions {
    DERIVED.iter().fold(options, |options, (name, text)| {
        let derived = DerivedVariable::new(*name, *text).expect("a derivation").with_placement(side);
        options.with_request(derived).expect("there is room")
    })
}

/// Reads all steps as one rank of two.
fn read_all(options: SubscriberOptions, rank: u32, what: &str) {
    let options = options.with_cohort(Cohort::of(rank, 2).expect("a cohort"));
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let mut steps = 0;
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") {
        check(&step, what);
        steps += 1;
    }
    assert_eq!(steps, STEPS, "{what}");
    for placed in subscriber.placements() {
        let is_here = ["thin", "ahead", "half"].contains(&placed.name.as_str());
        assert!(!is_here || placed.now == CohortSide::Subscriber, "{what}: {placed:?}");
    }
    subscriber.close().expect("closed");
}

#[test]
fn rows_of_ranks_give_what_the_whole_gives_on_either_side() {
    for kind in [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp] {
        for side in PLACEMENTS {
            let place = Place::new();
            let publishers = publish_ranks(|| place.publisher_options());
            let what = format!("{kind:?}, {side:?}");
            std::thread::scope(|scope| {
                for rank in 0..2 {
                    let options = place.subscriber_options().with_transports(TransportPolicy::only(kind));
                    let (options, what) = (asking(options, side), &what);
                    scope.spawn(move || read_all(options, rank, what));
                }
            });
            publishers.into_iter().for_each(|publisher| publisher.join().expect("published"));
        }
    }
}

/// What one publisher puts in each of two steps, and what is said of the derivation.
fn told(text: &str, put: impl Fn(&mut StepWriter)) -> String {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_derivation("it", text).expect("a derivation");
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let mut writer = publisher.begin_step().expect("a step");
    put(&mut writer);
    writer.end().expect("ended");
    match take(&mut subscriber).get_bytes("it", Selection::All) {
        Err(ReadError::NotDerived { what, .. }) => what,
        Err(error) => error.to_string(),
        Ok((_, _, bytes)) => format!("{} bytes", bytes.len()),
    }
}

fn put_rows(writer: &mut StepWriter, name: &str, extents: &[u64]) {
    let variable = Variable::local::<f64>(name, extents.len()).expect("a name");
    let count = Dims::from_slice(extents).expect("few dimensions");
    let region = Region::new(count.zeros_like(), count).expect("a region");
    writer.put(&variable, &region, vec![1.0; region.element_count() as usize]).expect("put");
}

#[test]
fn what_does_not_go_together_is_told_with_values() {
    let unlike = |writer: &mut StepWriter| {
        put_rows(writer, "list", &[2, 3]);
        put_rows(writer, "list", &[1, 4]);
    };
    let rows = "was put with rows of [0, 3] and of [0, 4] (dimension 0 is that of the rows): nothing is derived from these together";
    assert_eq!(told("list | max", unlike), format!("publisher rank 0: \"list\" {rows}"));
    let counts = told("a, b | compute(a + b)", |writer| {
        put_rows(writer, "a", &[2]);
        put_rows(writer, "b", &[3]);
    });
    let wanted = "compute(a+b): arrays of shapes [2] and [3] are not brought together element by element";
    assert!(counts.contains(wanted), "{counts}");
    let value = told("a, t | compute(a - t)", |writer| put_rows(writer, "a", &[2]));
    let wanted =
        "it put \"a\" but nothing of \"t\": a rank that puts one puts all that something is derived from";
    assert_eq!(value, format!("publisher rank 0: {wanted}"));
    assert_eq!(
        told("b | max", |writer| put_rows(writer, "a", &[2])),
        "there is no variable \"b\"; there are a"
    );
    let outside = told("a | slice(1:9)", |writer| put_rows(writer, "a", &[2]));
    assert!(outside.contains("slice(1:9) of an array of shape [2]: dimension 0: 1:9"), "{outside}");
    let text = told("t | max", |writer| {
        writer.put_text(&Variable::text("t").expect("a name"), "warm").expect("put");
    });
    assert!(text.contains("max cannot take elements of type string"), "{text}");
    assert_eq!(told("a | sum", |writer| put_rows(writer, "a", &[0])), "8 bytes", "of no rows");
    assert_eq!(told("a | scale(2, 0)", |writer| put_rows(writer, "a", &[0])), "0 bytes");
    assert!(told("a | argmax", |writer| put_rows(writer, "a", &[0])).contains("argmax of no elements"));
}
