//! docs/watches.md: a watch, another condition while it runs, and the last hits for who comes late.

use std::error::Error;
use std::path::Path;

use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, Subscriber, SubscriberOptions,
    Variable,
};

use crate::process::{PATIENCE, Program};

mod first {
    include!("programs/watch.in");
    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        watch()
    }
}
mod near {
    include!("programs/around.in");
    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        look_closer()
    }
}
mod second {
    include!("programs/another_condition.in");
    pub(super) fn main(subscriber: &mut Subscriber) -> Result<(), ConditionError> {
        look_higher(subscriber)
    }
}
mod third {
    include!("programs/reserved_hits.in");
    pub(super) fn main() -> Result<(PublisherOptions, SubscriberOptions), Box<dyn std::error::Error>> {
        options()
    }
}

const ROWS: u64 = 14;
const COLUMNS: u64 = 64;
const STEPS: u64 = 120;

/// Element (12, 60) is the greatest, and higher than 900 in some steps; (3, 7) is the least.
fn field(step: u64) -> Vec<f64> {
    let mut elements = vec![300.5; (ROWS * COLUMNS) as usize];
    elements[(12 * COLUMNS + 60) as usize] = greatest(step);
    elements[(3 * COLUMNS + 7) as usize] = 281.5;
    elements
}

fn greatest(step: u64) -> f64 {
    if step == 41 { 903.7 } else { 800.25 + (step * 37 % 101) as f64 * 2.0 }
}

fn is_hot(step: u64) -> bool {
    greatest(step) > 900.0
}

fn options(place: &Path) -> PublisherOptions {
    let rendezvous = Rendezvous::at(place).expect("a place");
    // Every step is judged, however busy the machine is.
    PublisherOptions::default().with_rendezvous(rendezvous).with_derive_budget(PATIENCE)
}

fn publish(options: PublisherOptions) -> Publisher {
    let mut publisher = Publisher::open("heat", options).expect("the stream opens");
    let variable = Variable::global::<f64>("temperature", &[ROWS, COLUMNS]).expect("a variable");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &Region::whole(variable.shape()), field(step)).expect("put");
        writer.end().expect("ended");
    }
    publisher
}

pub(crate) fn watch() -> Result<(), Box<dyn Error>> {
    first::main()
}

#[test]
fn a_watch_is_told_what_was_measured() {
    let place = tempfile::tempdir().expect("a folder");
    let program = Program::start("watch", place.path(), &[]);
    publish(options(place.path()).with_min_subscribers(1)).close().expect("closed");
    let rises = (0..STEPS).filter(|step| is_hot(*step) && (*step == 0 || !is_hot(step - 1)));
    let line = |step| {
        let number = greatest(step);
        format!("step {step}: max(temperature) = Some(Real(Real({number:?}))) at Some([12, 60])\n")
    };
    let wanted: String = rises.map(line).collect();
    assert!(wanted.lines().count() > 3);
    assert_eq!(program.finish().stdout, wanted);
}

pub(crate) fn around() -> Result<(), Box<dyn Error>> {
    near::main()
}

/// The array ends one row below the place.
#[test]
fn what_is_around_the_greatest_element_is_taken() {
    let place = tempfile::tempdir().expect("a folder");
    let program = Program::start("around", place.path(), &[]);
    publish(options(place.path()).with_min_subscribers(1)).close().expect("closed");
    let rises = (0..STEPS).filter(|step| is_hot(*step) && (*step == 0 || !is_hot(step - 1)));
    let line = |step| {
        let field = field(step);
        let row = |row: u64| (58..63).map(move |column| (row * COLUMNS + column) as usize);
        let near: Vec<f64> = (10..14).flat_map(row).map(|at| field[at]).collect();
        format!("step {step}, [10:14, 58:63]: {near:?}\n")
    };
    assert_eq!(program.finish().stdout, rises.map(line).collect::<String>());
}

/// Opens a watch as the page has it at first, asks for the other condition, and says which steps it gets after that.
pub(crate) fn another_condition() -> Result<(), Box<dyn Error>> {
    let options = SubscriberOptions::default().with_condition("max(temperature) > 900")?;
    let mut subscriber = Subscriber::open("heat", options)?;
    second::main(&mut subscriber)?;
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE)? {
        println!("{}", step.step());
    }
    Ok(())
}

#[test]
fn a_watch_looks_higher_from_a_step_on() {
    let place = tempfile::tempdir().expect("a folder");
    let program = Program::start("another condition", place.path(), &[]);
    publish(options(place.path()).with_min_subscribers(1)).close().expect("closed");
    let said = program.finish().stdout;
    let (first, steps) = said.split_once('\n').expect("a line");
    let first: u64 = first
        .strip_prefix("from step ")
        .and_then(|rest| rest.strip_suffix(" on"))
        .and_then(|step| step.parse().ok())
        .unwrap_or_else(|| panic!("{said}"));
    let is_told = |step: &u64| if *step < first { is_hot(*step) } else { greatest(*step) > 950.0 };
    let wanted: Vec<u64> = (0..STEPS).filter(is_told).collect();
    let told: Vec<u64> = steps.lines().map(|step| step.parse().expect("a number")).collect();
    assert!(first < STEPS && told.iter().any(|step| *step >= first), "{said}");
    assert_eq!(told, wanted);
}

#[test]
fn who_comes_late_has_the_last_hits() {
    let place = tempfile::tempdir().expect("a folder");
    let (reserving, late) = third::main().expect("the page's options");
    let rendezvous = || Rendezvous::at(place.path()).expect("a place");
    let publisher = publish(reserving.with_derive_budget(PATIENCE).with_rendezvous(rendezvous()));
    let mut subscriber = Subscriber::open("heat", late.with_rendezvous(rendezvous())).expect("attached");
    let hits: Vec<u64> = (0..STEPS).filter(|step| is_hot(*step)).collect();
    assert!(hits.len() > 16, "{hits:?}");
    for hit in &hits[hits.len() - 16..] {
        let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") else { panic!("no step") };
        assert_eq!((step.step().0, step.skipped()), (*hit, 0));
        assert_eq!(step.get::<f64>("temperature", Selection::All).expect("the field"), field(*hit));
    }
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}
