//! A program that knows no type publishes a stream once more: the copy has the same table, and the same bytes.

use crate::{finish, source, start_with};
use flexpath::bytemuck::{Pod, Zeroable};
use flexpath::record::{RecordSchema, encode_records};
use flexpath::{
    ArrayKind, BlockId, Cohort, Dtype, MemoryOrder, NextStep, Publisher, PublisherOptions, Record as _,
    Region, Rendezvous, Select, Selection, Shape, StepReader, Subscriber, SubscriberOptions, Variable,
};
use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

const RANKS: u32 = 2;
const STEPS: u64 = 3;
const PATIENCE: Duration = Duration::from_secs(60);
/// Each element type with a size in each kind, two types of records in each kind, and a text.
const VARIABLES: usize = (15 + 2) * 5 + 1;

#[derive(flexpath::Record, Clone, Copy, Pod, Zeroable)]
#[bytemuck(crate = "flexpath::bytemuck")]
#[repr(C)]
struct Atom {
    id: u64,
    position: [f32; 2],
}

#[derive(flexpath::Record)]
struct Cell {
    id: u64,
    name: String,
    corners: Vec<f32>,
    near: Option<Vec<u64>>,
}

/// One of each kind, of elements as `of` makes them.
fn kinds(name: &str, of: impl Fn(Variable) -> Variable) -> Vec<Variable> {
    let (global, joined) =
        (Variable::global::<u8>(format!("{name}_global"), &[4, 3]), format!("{name}_joined"));
    let all = [
        Variable::scalar::<u8>(format!("{name}_scalar")).expect("a name"),
        Variable::local_scalar::<u8>(format!("{name}_local_scalar")).expect("a name"),
        global.expect("a shape"),
        Variable::local::<u8>(format!("{name}_local"), 2).expect("a name"),
        Variable::joined::<u8>(joined, &[3]).expect("a row"),
    ];
    all.into_iter().map(of).collect()
}

fn records(name: &str, schema: &RecordSchema) -> Vec<Variable> {
    vec![
        Variable::record(format!("{name}_scalar"), schema).expect("a name"),
        Variable::local_record(format!("{name}_local_scalar"), schema).expect("a name"),
        Variable::global_records(format!("{name}_global"), schema, &[4, 3]).expect("a shape"),
        Variable::local_records(format!("{name}_local"), schema, 2).expect("a name"),
        Variable::joined_records(format!("{name}_joined"), schema, &[3]).expect("a row"),
    ]
}

fn variables() -> Vec<Variable> {
    let sized = Dtype::ALL.iter().filter(|dtype| dtype.size_bytes().is_some());
    let numbers = sized.flat_map(|&dtype| {
        kinds(dtype.name(), |variable| variable.with_dtype(dtype).expect("elements with a size"))
    });
    let mut all: Vec<Variable> = numbers.collect();
    all.extend(records("atom", &Atom::schema().expect("a type")));
    all.extend(records("cell", &Cell::schema().expect("a type")));
    all.push(Variable::text("title").expect("a name"));
    let orders = [MemoryOrder::ColumnMajor, MemoryOrder::RowMajor];
    let told = all.into_iter().zip(orders.into_iter().cycle()).zip(0..).map(|((variable, order), at)| {
        let named =
            if variable.definition().ndims() == 2 { variable.with_dimensions(&["x", ""]) } else { variable };
        named.with_order(order).with_unit("m").with_description("any").with_attribute("at", i64::from(at))
    });
    told.collect()
}

/// What a rank puts of a variable in a step.
fn region(variable: &Variable, step: u64, rank: u64) -> Region {
    let region = match variable.definition().kind {
        ArrayKind::Scalar | ArrayKind::LocalScalar => return Region::whole(&Shape::scalar()),
        ArrayKind::GlobalArray => Region::new([2 * rank, 0], [2, 3]),
        ArrayKind::LocalArray => Region::new([0, 0], [rank + 1, step + 2]),
        ArrayKind::JoinedArray { .. } => Region::new([0, 0], [step + 2 * rank, 3]),
    };
    region.expect("a region")
}

fn cell(id: u64) -> Cell {
    let (corners, near) = ((0..id % 4).map(|at| at as f32).collect(), (id % 3 > 0).then(|| vec![id; 2]));
    Cell { id, name: "c".repeat(id as usize % 5), corners, near }
}

/// The bytes of a block: they tell variable, step and rank.
fn bytes(variable: &Variable, region: &Region, seed: u64) -> Vec<u8> {
    let ids = (0..region.element_count()).map(|index| index + 100 * seed);
    let dtype = variable.definition().dtype;
    match variable.records().map(|schema| schema.record().name.as_str()) {
        Some("Atom") => {
            let atoms: Vec<Atom> = ids.map(|id| Atom { id, position: [id as f32; 2] }).collect();
            encode_records(&atoms).expect("records")
        }
        Some(_) => encode_records(&ids.map(cell).collect::<Vec<Cell>>()).expect("records"),
        None if dtype == Dtype::String => format!("größer als {seed}").into_bytes(),
        None => {
            let len = region.element_count() as usize * dtype.size_bytes().expect("a size");
            let most = if dtype == Dtype::Bool { 1 } else { 0x3f };
            (0..len).map(|at| (at as u8).wrapping_mul(5).wrapping_add(seed as u8) & most).collect()
        }
    }
}

fn seed(variable: usize, step: u64, rank: u64) -> u64 {
    variable as u64 * 7 + step * 3 + rank
}

fn publish(rendezvous: Rendezvous, rank: u32) {
    let options = PublisherOptions::default().with_rendezvous(rendezvous).with_min_subscribers(2);
    let cohort = Cohort::of(rank, RANKS).expect("a cohort");
    let mut publisher = Publisher::open("whole", options.with_cohort(cohort)).expect("it opens");
    let variables = variables();
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        for (number, variable) in variables.iter().enumerate() {
            let region = region(variable, step, rank.into());
            let bytes = bytes(variable, &region, seed(number, step, rank.into()));
            writer.put_bytes(variable, &region, &bytes).expect("put");
        }
        writer.end().expect("its end");
    }
    publisher.close().expect("all is taken");
}

fn subscribe(stream: &str, rendezvous: &Rendezvous) -> Subscriber {
    let options =
        SubscriberOptions::default().with_rendezvous(rendezvous.clone()).with_open_timeout(PATIENCE);
    Subscriber::open(stream, options).expect("the stream is there")
}

fn next(subscriber: &mut Subscriber) -> Option<StepReader> {
    match subscriber.next_step(PATIENCE).expect("a sound stream") {
        NextStep::Step(step) => Some(step),
        NextStep::NotYet => panic!("no step in {PATIENCE:?}"),
        NextStep::Ended(_) => None,
    }
}

/// A block of both, in the order of the publisher and in rows; and what the first of them was made of.
fn compare_block(whole: &StepReader, copy: &StepReader, number: usize, variable: &Variable, block: BlockId) {
    let (name, order) = (variable.name(), variable.definition().order);
    let taken = |step: &StepReader, select: Select| step.get_bytes(name, select).expect("its bytes");
    for order in [order, MemoryOrder::RowMajor] {
        let select = || Select::from(block).with_order(order);
        assert_eq!(taken(copy, select()), taken(whole, select()), "{name} {block:?} in {order:?}");
    }
    let (step, rank) = (whole.step().0, u64::from(block.rank.0));
    let put = bytes(variable, &region(variable, step, rank), seed(number, step, rank));
    let (_, _, found) = taken(whole, Select::from(block).with_order(order));
    assert_eq!(found, put, "{name} {block:?}");
}

fn compare(whole: &StepReader, copy: &StepReader) {
    let table = whole.variables().expect("its table");
    assert_eq!(table, copy.variables().expect("its table"));
    assert_eq!(table.len(), VARIABLES);
    // In the order of the puts: the program puts by name.
    let scalars = |step: &StepReader| -> BTreeMap<String, Vec<u8>> {
        step.scalars().map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).collect()
    };
    assert_eq!(scalars(whole), scalars(copy));
    for (number, variable) in variables().iter().enumerate() {
        let name = variable.name();
        assert_eq!(copy.variable(name).expect("a variable"), whole.variable(name).expect("a variable"));
        assert_eq!(whole.variable(name).expect("a variable"), *variable);
        if variable.definition().kind == ArrayKind::Scalar {
            let taken = |step: &StepReader| step.get_bytes(name, Selection::All).expect("its value");
            assert_eq!(taken(copy), taken(whole), "{name}");
            continue;
        }
        let blocks = whole.blocks(name).expect("its blocks");
        assert_eq!(copy.blocks(name).expect("its blocks"), blocks, "{name}");
        blocks.iter().for_each(|(block, _)| compare_block(whole, copy, number, variable, *block));
    }
}

#[test]
fn a_stream_is_published_once_more_by_a_program_that_knows_no_type() {
    assert!(source("examples/republish.rs").lines().count() < 65);
    let place = tempfile::tempdir().expect("a directory can be made");
    let rendezvous = Rendezvous::at(place.path()).expect("a rendezvous");
    let publishers = (0..RANKS).map(|rank| {
        let rendezvous = rendezvous.clone();
        thread::spawn(move || publish(rendezvous, rank))
    });
    let publishers: Vec<_> = publishers.collect();
    let programs =
        (0..RANKS).map(|rank| start_with("republish", &["whole", "copy"], place.path(), rank, RANKS));
    let programs: Vec<_> = programs.collect();
    let (mut whole, mut copy) = (subscribe("whole", &rendezvous), subscribe("copy", &rendezvous));
    let mut steps = 0;
    while let Some(step) = next(&mut whole) {
        compare(&step, &next(&mut copy).expect("as many steps"));
        steps += 1;
    }
    assert!(next(&mut copy).is_none());
    assert_eq!(steps, STEPS);
    publishers.into_iter().for_each(|publisher| publisher.join().expect("all was published"));
    programs.into_iter().for_each(|program| drop(finish("republish", program)));
}
