//! Conditions on joined arrays and on fields of records, over every transport: of every kind of array, where records lie.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Cohort, Judgement, MeasuredNumber, NextStep, Publisher, Record as _, RecordBlock, Region, StepWriter,
    Subscriber, SubscriberOptions, TransportKind, Variable,
};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const RANKS: u32 = 3;
const STEPS: u64 = 30;
/// Rows of the mesh of each rank, and columns.
const ROWS: u64 = 2;
const COLUMNS: u64 = 5;

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Vector {
    x: f32,
    y: f32,
}

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Particle {
    velocity: Vector,
    charge: i64,
    place: [f64; 2],
}

/// Records whose lists and texts lie elsewhere; their numbers do not.
#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct Molecule {
    name: String,
    mass: f64,
    near: Vec<u64>,
    energy: Option<f64>,
}

/// Some whole number that differs from place to place and from step to step.
fn number(step: u64, at: u64, salt: u64) -> i32 {
    let mixed = (step * 7919 + at * 104_729 + salt * 1_299_709 + 17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 101) as i32 - 50
}

fn particle(step: u64, at: u64) -> Particle {
    let of = |salt| number(step, at, salt);
    Particle {
        velocity: Vector { x: of(1) as f32, y: of(2) as f32 },
        charge: of(3).into(),
        place: [of(4), of(5)].map(f64::from),
    }
}

fn particles(step: u64, first: u64, count: u64) -> Vec<Particle> {
    (first..first + count).map(|at| particle(step, at)).collect()
}

/// As many loose particles as a rank has in a step, some ranks none.
fn loose(step: u64, rank: u64) -> u64 {
    (step + rank) % 4 * 3
}

/// All loose particles of a step.
fn all_loose(step: u64) -> Vec<Particle> {
    (0..RANKS.into()).flat_map(|rank| particles(step, 1000 * (rank + 1), loose(step, rank))).collect()
}

/// Those of the mesh.
fn mesh(step: u64) -> Vec<Particle> {
    particles(step, 0, u64::from(RANKS) * ROWS * COLUMNS)
}

fn molecule(step: u64, rank: u64) -> Molecule {
    let (mass, near) = (f64::from(number(step, rank, 6)), vec![step; (rank % 3) as usize]);
    Molecule { name: "m".repeat((step % 5) as usize), mass, near, energy: None }
}

/// Rows of a joined array of numbers that a rank puts, some ranks none.
fn ages(step: u64, rank: u64) -> Vec<f64> {
    (0..(step + rank) % 3 * 4).map(|at| number(step, 100 * rank + at, 7).into()).collect()
}

fn all_ages(step: u64) -> Vec<f64> {
    (0..RANKS.into()).flat_map(|rank| ages(step, rank)).collect()
}

fn put(writer: &mut StepWriter, step: u64, rank: u64) {
    writer.put_joined(&Variable::joined::<f64>("ages", &[]).expect("a name"), ages(step, rank)).expect("put");
    let schema = Particle::schema().expect("a type");
    let grid =
        Variable::global_records("grid", &schema, &[u64::from(RANKS) * ROWS, COLUMNS]).expect("a shape");
    let region = Region::new([rank * ROWS, 0], [ROWS, COLUMNS]).expect("inside");
    let own = particles(step, rank * ROWS * COLUMNS, ROWS * COLUMNS);
    writer.put_records_copy(&grid, &region, &own).expect("put");
    let free = Variable::joined_records("loose", &schema, &[]).expect("a name");
    let block = RecordBlock::plain(particles(step, 1000 * (rank + 1), loose(step, rank))).expect("plain");
    writer.put_joined_records(&free, block).expect("put");
    let molecules = Molecule::schema().expect("a type");
    let variable = Variable::joined_records("all.molecules", &molecules, &[]).expect("a name");
    let block = RecordBlock::encode(&[molecule(step, rank)]).expect("encoded");
    writer.put_joined_records(&variable, block).expect("put");
    if rank == 0 {
        let one = Variable::record("one", &schema).expect("a name");
        writer.put_record(&one, RecordBlock::plain(vec![particle(step, 77)]).expect("plain")).expect("put");
    }
}

fn publish(place: &Place, rank: u32) {
    let cohort = Cohort::of(rank, RANKS).expect("a cohort");
    let options = place.publisher_options().with_cohort(cohort).with_derive_budget(PATIENCE);
    let options = options.with_min_subscribers(CONDITIONS.len() as u32);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        put(&mut writer, step, rank.into());
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

fn most(all: &[Particle], of: fn(&Particle) -> f64) -> Option<f64> {
    all.iter().map(of).reduce(f64::max)
}

/// The first row and column of the greatest velocity along x.
fn fastest(step: u64) -> (f64, Vec<u64>) {
    let all = mesh(step);
    let best = most(&all, |one| one.velocity.x.into()).expect("a mesh");
    let at = all.iter().position(|one| f64::from(one.velocity.x) == best).expect("it is one") as u64;
    (best, vec![at / COLUMNS, at % COLUMNS])
}

/// The least charge of rows 1 to 4, and every second column.
fn least_charge(step: u64) -> f64 {
    let all = mesh(step).into_iter().enumerate();
    let within =
        |at: usize| (1..5).contains(&(at as u64 / COLUMNS)) && (at as u64 % COLUMNS).is_multiple_of(2);
    let charges = all.filter(|(at, _)| within(*at)).map(|(_, one)| one.charge as f64);
    charges.reduce(f64::min).expect("rows")
}

fn masses(step: u64) -> f64 {
    (0..RANKS.into()).map(|rank| molecule(step, rank).mass).sum()
}

/// A condition, whether a step is as it says, and the number that is told, if the step has one.
type Known = (&'static str, fn(u64) -> bool, fn(u64) -> Option<f64>);

const CONDITIONS: [Known; 7] = [
    (
        "max(loose.velocity.y) > 44",
        |step| most(&all_loose(step), |one| one.velocity.y.into()).is_some_and(|most| most > 44.0),
        |step| most(&all_loose(step), |one| one.velocity.y.into()),
    ),
    (
        "min(ages) < -44",
        |step| all_ages(step).into_iter().reduce(f64::min).is_some_and(|least| least < -44.0),
        |step| all_ages(step).into_iter().reduce(f64::min),
    ),
    ("min(grid.charge[1:5, ::2]) < -46", |step| least_charge(step) < -46.0, |step| Some(least_charge(step))),
    ("argmax(grid.velocity.x)[0] >= 4", |step| fastest(step).1[0] >= 4, |step| Some(fastest(step).0)),
    (
        "count(loose.place.1 > 10) >= 7",
        |step| all_loose(step).iter().filter(|one| one.place[1] > 10.0).count() >= 7,
        |step| Some(all_loose(step).iter().filter(|one| one.place[1] > 10.0).count() as f64),
    ),
    ("sum(all.molecules.mass) > 0", |step| masses(step) > 0.0, |step| Some(masses(step))),
    (
        "max(one.charge) > 20",
        |step| particle(step, 77).charge > 20,
        |step| Some(particle(step, 77).charge as f64),
    ),
];

fn watched(mut subscriber: Subscriber) -> Vec<(u64, Judgement)> {
    let mut steps = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step or the end") {
        steps.push((step.step().0, step.judgement().expect("it was measured").clone()));
    }
    steps
}

#[test]
fn joined_arrays_and_fields_of_records_are_measured() {
    for kind in KINDS {
        let place = Place::new();
        std::thread::scope(|scope| {
            let place = &place;
            let watchers = CONDITIONS.map(|(condition, ..)| {
                let options = place.over(kind).with_condition(condition).expect(condition);
                let options = options.with_variables(Vec::<String>::new());
                scope.spawn(move || watched(Subscriber::open(STREAM, options).expect("attached")))
            });
            (0..RANKS).for_each(|rank| drop(scope.spawn(move || publish(place, rank))));
            for ((condition, is_met, number), watcher) in CONDITIONS.into_iter().zip(watchers) {
                let found = watcher.join().expect("it has ended well");
                let expected: Vec<u64> = (0..STEPS).filter(|step| is_met(*step)).collect();
                assert!(!expected.is_empty() && expected.len() < STEPS as usize, "{condition}");
                assert_eq!(
                    found.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
                    expected,
                    "{condition}, {kind}"
                );
                for (step, judgement) in found {
                    let [measured] = &judgement.measured[..] else { panic!("{judgement:?}") };
                    assert_eq!(judgement.unjudged, None, "{condition}");
                    assert_eq!(measured.number.map(MeasuredNumber::as_f64), number(step), "{condition}");
                    let is_placed = condition.contains("(grid");
                    assert_eq!(measured.place.is_some(), is_placed, "{condition}");
                    assert!(!condition.starts_with("arg") || measured.place == Some(fastest(step).1));
                }
            }
        });
    }
}

/// A publisher of one rank, and one step of it as it is told to a condition.
fn told(put: impl Fn(&mut StepWriter), condition: &str) -> Judgement {
    let place = Place::new();
    let options = place.publisher_options().with_derive_budget(PATIENCE);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let options: SubscriberOptions =
        place.over(TransportKind::Shm).with_condition(condition).expect(condition);
    let mut subscriber =
        Subscriber::open(STREAM, options.with_variables(Vec::<String>::new())).expect("attached");
    let mut writer = publisher.begin_step().expect("a step");
    put(&mut writer);
    writer.end().expect("ended");
    let step = take(&mut subscriber);
    let judgement = step.judgement().expect("it was looked at").clone();
    drop(step);
    let copied = publisher.statistics().put_copied_bytes + publisher.statistics().payload_bytes;
    assert_eq!(copied, 0, "records that are handed over are measured where they are");
    judgement
}

fn put_loose(writer: &mut StepWriter) {
    let loose = Variable::joined_records("loose", &Particle::schema().expect("a type"), &[]).expect("a name");
    writer.put_joined_records(&loose, RecordBlock::plain(particles(1, 0, 9)).expect("plain")).expect("put");
    let molecules = Variable::joined_records("molecules", &Molecule::schema().expect("a type"), &[]);
    let block = RecordBlock::encode(&[molecule(1, 1)]).expect("encoded");
    writer.put_joined_records(&molecules.expect("a name"), block).expect("put");
}

#[test]
fn what_is_no_number_of_each_record_is_not_judged_and_says_why() {
    for (condition, said) in [
        ("max(loose) > 1", "\"loose\": it is a record: say which field of it, of velocity, charge, place"),
        (
            "max(loose.velocity) > 1",
            "\"loose\": field \"velocity\" is a record: say which field of it, of x, y",
        ),
        ("max(loose.velocity.z) > 1", "\"loose\": record Vector has no field \"z\"; it has x, y"),
        (
            "max(loose.place) > 1",
            "\"loose\": field \"place\" is an array of [2]: say which element as place.0",
        ),
        ("max(loose.place.2) > 1", "\"loose\": field \"place\" is an array of [2]"),
        ("max(loose.charge[0:3]) > 1", "\"loose.charge\" is rows of each rank"),
        ("argmin(loose.charge)[0] < 1", "only elements of global arrays have a place"),
        ("max(molecules.near) > 1", "\"molecules\": field \"near\" is a list"),
        ("max(molecules.name) > 1", "\"molecules\": field \"name\" is a text"),
        ("max(molecules.energy) > 1", "\"molecules\": field \"energy\" may be absent"),
    ] {
        let unjudged = told(put_loose, condition).unjudged.expect(condition).to_string();
        assert!(
            unjudged.starts_with("publisher rank 0 did not measure: ") && unjudged.contains(said),
            "{unjudged}"
        );
    }
}

/// A variable of that very name counts before a field, and the longer name of records before the shorter.
#[test]
fn names_with_dots_are_resolved_from_the_longest() {
    let schema = Particle::schema().expect("a type");
    let put = |writer: &mut StepWriter, records: &[&str]| {
        for (at, name) in (0..).zip(records) {
            let variable = Variable::joined_records(*name, &schema, &[]).expect("a name");
            let block = RecordBlock::plain(vec![Particle { charge: at, ..particle(0, 0) }]).expect("plain");
            writer.put_joined_records(&variable, block).expect("put");
        }
    };
    let charge = |judgement: Judgement| judgement.measured[0].number;
    let both = told(|writer| put(writer, &["a", "a.b"]), "max(a.b.charge) >= 0");
    assert_eq!(charge(both), Some(MeasuredNumber::Signed(1)));
    let own = |writer: &mut StepWriter| {
        put(writer, &["a"]);
        writer.put_joined(&Variable::joined::<u8>("a.charge", &[]).expect("a name"), vec![7u8]).expect("put");
    };
    assert_eq!(charge(told(own, "max(a.charge) >= 0")), Some(MeasuredNumber::Unsigned(7)));
    let none = told(|writer| put(writer, &["b"]), "not max(a.charge) >= 0");
    assert_eq!(charge(none), None);
}

/// Who asks what is wanted hears of records of which a field is measured.
#[test]
fn records_of_which_a_field_is_measured_are_wanted() {
    let place = Place::new();
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("the stream opens");
    let options =
        place.over(TransportKind::Shm).with_condition("max(loose.velocity.x) > 99").expect("a condition");
    let _subscriber =
        Subscriber::open(STREAM, options.with_variables(Vec::<String>::new())).expect("attached");
    let mut writer = publisher.begin_step().expect("a step");
    assert!(writer.wanted("loose") && !writer.wanted("velocity"));
    put_loose(&mut writer);
    writer.end().expect("ended");
}
