//! A field whose steps are known, of two ranks, and watches of the command on it: all that they print is compared.

use crate::support::Run;
use fp_core::record::{Field, RecordType};
use fp_core::rendezvous::Rendezvous;
use fp_core::{
    Cohort, DeployPolicy, Dtype, Native, Publisher, PublisherOptions, RecordBlock, Region, StepWriter,
    Transforms, Variable,
};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// How many steps there are.
pub(crate) const STEPS: u64 = 40;
/// Rows and columns of the field.
pub(crate) const SHAPE: [u64; 2] = [8, 6];
const RANKS: u64 = 2;
const STREAM: &str = "field";
/// Every step is judged, however busy the machine is.
const BUDGET: Duration = Duration::from_secs(60);

/// The field of a step: whole numbers that differ from place to place and from step to step.
pub(crate) fn field(step: u64) -> Vec<f64> {
    let mixed = |at: u64| step * step * 13 + step * 31 + at * at * 7 + at * 17 + step * at * 5;
    (0..SHAPE[0] * SHAPE[1]).map(|at| (mixed(at) % 101) as f64 - 50.0).collect()
}

/// Rows of a joined array that a rank puts, in some steps none: so many of its first elements as the first one says.
fn ages(field: &[f64], rank: u64) -> &[f64] {
    let part = &field[(SHAPE[0] / RANKS * SHAPE[1] * rank) as usize..];
    &part[..part[0].abs() as usize % 4]
}

/// The rows of all ranks.
pub(crate) fn all_ages(field: &[f64]) -> Vec<f64> {
    (0..RANKS).flat_map(|rank| ages(field, rank)).copied().collect()
}

/// A number that is told, and the place of it: both ends of a quantile's bracket are numbers.
pub(crate) type Told = (Vec<f64>, Option<[u64; 2]>);

/// What is told of a number: its name, and how it is found from the field.
pub(crate) type Measure = (&'static str, fn(&[f64]) -> Told);

/// A condition, whether a step is as it says, and what is told of the step, by name and in order.
pub(crate) struct Known {
    /// As the command takes it.
    pub(crate) condition: &'static str,
    /// Found from the field.
    pub(crate) is_met: fn(u64) -> bool,
    /// In the order in which they are told.
    pub(crate) told: Vec<Measure>,
}

/// What publishes the steps and what watches it. Every watch prints exactly the steps that are as its condition says.
pub(crate) fn check(cases: &[Known], more: &[&str], name: impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for rank in 0..RANKS {
            let (place, count) = (folder.path(), cases.len() as u32);
            scope.spawn(move || publish(place, rank, count));
        }
        let watch = |known: &Known| {
            let arguments = ["watch", STREAM, known.condition, "--every-step", "--json"];
            Run::at(folder.path(), &[&arguments[..], more].concat())
        };
        let runs: Vec<Run> = cases.iter().map(watch).collect();
        for (known, run) in cases.iter().zip(runs) {
            let ended = run.finish();
            assert_eq!(ended.code, Some(0), "{}: {}", known.condition, ended.stderr);
            known.check(&ended.stdout, &name);
        }
    });
}

impl Known {
    fn check(&self, stdout: &str, name: impl Fn(&str) -> String) {
        let condition = self.condition;
        let lines: Vec<Value> =
            stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        let steps: Vec<u64> = lines.iter().map(|line| line["step"].as_u64().expect("a number")).collect();
        let wanted: Vec<u64> = (0..STEPS).filter(|step| (self.is_met)(*step)).collect();
        assert!(!wanted.is_empty() && wanted.len() < STEPS as usize, "{condition}: {wanted:?}");
        assert_eq!(steps, wanted, "{condition}");
        for (line, step) in lines.iter().zip(steps) {
            assert_eq!(
                (&line["unjudged"], &line["skipped"]),
                (&Value::Null, &0.into()),
                "{condition}: {line}"
            );
            let measured = line["measured"].as_array().expect("a list");
            assert_eq!(measured.len(), self.told.len(), "{condition}: {line}");
            for (one, (measure, told)) in measured.iter().zip(&self.told) {
                assert_eq!(name(one["measure"].as_str().expect("a text")), *measure, "{condition}");
                check_number(one, &told(&field(step)));
            }
        }
    }
}

fn check_number(one: &Value, (numbers, place): &Told) {
    let number = &one["number"];
    let both = number.as_array().cloned().unwrap_or_else(|| vec![number.clone()]);
    let found: Vec<f64> = both.iter().filter_map(Value::as_f64).collect();
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= 1e-9;
    assert!(found.len() == numbers.len() && found.iter().zip(numbers).all(is_near), "{one}, {numbers:?}");
    assert_eq!(one["place"], serde_json::json!(place), "{one}");
}

/// One rank: half of the rows, and an atom for each that weighs as much as its first element.
fn publish(place: &Path, rank: u64, subscribers: u32) {
    let transforms = Transforms::default();
    let doubled = |inputs: &[&[f64]]| Ok(inputs[0].iter().map(|x| 2.0 * x).collect::<Vec<f64>>());
    transforms.register(Native::elements("doubled", doubled)).expect("registered");
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(place).expect("a place"))
        .with_cohort(Cohort::of(rank as u32, RANKS as u32).expect("a rank"))
        .with_min_subscribers(subscribers)
        .with_derive_budget(BUDGET)
        .with_deployment(DeployPolicy::SameUid)
        .with_transforms(&transforms);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    for _ in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        put(&mut writer, rank);
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

fn put(writer: &mut StepWriter, rank: u64) {
    let (step, rows) = (writer.step().0, SHAPE[0] / RANKS);
    let part = (rows * SHAPE[1]) as usize;
    let elements = field(step)[rank as usize * part..][..part].to_vec();
    let schema =
        RecordType::new("Atom").field(Field::new("id", Dtype::U32)).field(Field::new("mass", Dtype::F64));
    let schema = schema.build().expect("a type");
    let atom = |row: &[f64]| [&[0; 8][..], &row[0].to_ne_bytes()].concat();
    let atoms: Vec<u8> = elements.chunks(SHAPE[1] as usize).flat_map(atom).collect();
    let atoms = RecordBlock::encoded(&schema, rows as usize, atoms).expect("records");
    let variable = Variable::joined_records("atoms", &schema, &[]).expect("a name");
    writer.put_joined_records(&variable, atoms).expect("put");
    let ages = ages(&field(step), rank).to_vec();
    writer.put_joined(&Variable::joined::<f64>("ages", &[]).expect("a name"), ages).expect("put");
    let region = Region::new([rank * rows, 0], [rows, SHAPE[1]]).expect("a region");
    writer.put(&Variable::global::<f64>("T", &SHAPE).expect("a name"), &region, elements).expect("put");
    if rank == 1 && step.is_multiple_of(3) {
        writer.put_scalar(&Variable::scalar::<u64>("particles").expect("a name"), step).expect("put");
    }
}
