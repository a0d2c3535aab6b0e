//! What typed access to a step costs: `cargo bench -p flexpath --bench typed`.
//!
//! One process with both sides of a stream over shared memory, and one step that is read again and again. Each ratio is of
//! medians over rounds in turn. *Records*: a field of all of them summed, through the ways in which users read it, against
//! the same over their bytes. *Numbers*: published as `f64` and taken as `f32`, against copying what was published.

mod turns;

use std::hint::black_box;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use criterion::{Criterion, criterion_group, criterion_main};
use flexpath::{
    Loss, NextStep, Publisher, PublisherOptions, Record, RecordBlock, Region, Rendezvous, Select, Shape,
    StepReader, Subscriber, SubscriberOptions, Variable,
};
use turns::{Group, Medians, in_turns};

const PATIENCE: Duration = Duration::from_secs(60);
const COUNT: u64 = 1 << 20;

/// 16 bytes; without padding.
#[derive(Record, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Atom {
    x: [f32; 3],
    id: u32,
}

criterion_group!(benches, typed);
criterion_main!(benches);

fn typed(criterion: &mut Criterion) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let rendezvous = || Rendezvous::at(place.path()).expect("a rendezvous directory");
    let options = PublisherOptions::default().with_rendezvous(rendezvous());
    let shm = "shm".parse::<flexpath::TransportPolicy>().expect("a transport");
    let mut publisher = Publisher::open("typed", options.with_transports(shm.clone())).expect("opened");
    let options = SubscriberOptions::default().with_rendezvous(rendezvous()).with_transports(shm);
    let mut subscriber = Subscriber::open("typed", options.with_name("typed")).expect("attached");
    publish(&mut publisher);
    let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("sound") else { panic!("no step") };
    let mut group = turns::group(criterion, "typed");
    records(&mut group, &step);
    numbers(&mut group, &step);
    group.finish();
    drop(step);
    subscriber.close().expect("closed");
    publisher.close().expect("closed");
}

fn line(count: u64) -> Region {
    Region::new([0], [count]).expect("a region")
}

/// A step with a million records, and with 16 MiB of numbers in one block and in two.
fn publish(publisher: &mut Publisher) {
    let mut writer = publisher.begin_step().expect("a step");
    let atoms: Vec<Atom> = (0..COUNT).map(|id| Atom { x: [id as f32; 3], id: id as u32 }).collect();
    let schema = Atom::schema().expect("a type");
    let variable = Variable::global_records("atoms", &schema, &[COUNT]).expect("a shape");
    let block = RecordBlock::plain(atoms).expect("plain");
    writer.put_records(&variable, &line(COUNT), block).expect("put");
    let values = |from: u64, count: u64| (from..from + count).map(|at| at as f64 * 0.5).collect::<Vec<f64>>();
    let whole = Variable::global::<f64>("whole", &[2 * COUNT]).expect("a shape");
    writer.put(&whole, &line(2 * COUNT), values(0, 2 * COUNT)).expect("put");
    let halves = Variable::global::<f64>("halves", &[2 * COUNT]).expect("a shape");
    for from in [0, COUNT] {
        let half = Region::new([from], [COUNT]).expect("a region");
        writer.put(&halves, &half, values(from, COUNT)).expect("put");
    }
    writer.end().expect("ended");
}

/// The sum of a field of all records, of the same over raw bytes.
fn records(group: &mut Group<'_>, step: &StepReader) {
    let raw = step.records("atoms", "[...]").expect("records");
    let wanted = sum_bytes(raw.as_bytes());
    let mut row = |name: &str, target: f64, ours: &dyn Fn() -> u64| {
        assert_eq!(ours(), wanted, "{name}");
        let bytes = || {
            black_box(sum_bytes(black_box(raw.as_bytes())));
        };
        let ours = || {
            black_box(ours());
        };
        report(name, "raw bytes", in_turns(group, name, bytes, ours), target);
    };
    let view = step.view_records::<Atom>("atoms", "[...]").expect("a view");
    assert!(view.is_zero_copy());
    row("a view of records, a field summed", 0.98, &|| sum(black_box(&view)));
    row("the same, with taking the view", 0.98, &|| {
        sum(&step.view_records::<Atom>("atoms", "[...]").expect("a view"))
    });
    row("records copied out one by one, summed", 0.2, &|| {
        sum(&step.get_records::<Atom>("atoms", "[...]").expect("records"))
    });
    // What a copy costs by itself: no way to records of one's own is faster.
    row("a view copied in one piece, summed", 0.0, &|| {
        let copied = step.view_records::<Atom>("atoms", "[...]").expect("a view").to_vec();
        sum(&copied)
    });
    row("records without a Rust type, summed", 0.0, &|| {
        let records = raw.records().expect("sound");
        let ids = records.iter().filter_map(|record| record.field(1).ok()?.as_integer());
        ids.map(|id| id as u64).sum()
    });
}

fn sum(atoms: &[Atom]) -> u64 {
    atoms.iter().map(|atom| u64::from(atom.id)).sum()
}

fn sum_bytes(bytes: &[u8]) -> u64 {
    let (records, _) = bytes.as_chunks::<16>();
    let id = |[.., a, b, c, d]: &[u8; 16]| u64::from(u32::from_ne_bytes([*a, *b, *c, *d]));
    records.iter().map(id).sum()
}

/// 16 MiB of `f64` as `f32`, against `memcpy` of what was published. Both go into memory that is there already.
fn numbers(group: &mut Group<'_>, step: &StepReader) {
    let published = step.view::<f64>("whole", "[...]").expect("a view").to_vec();
    let as_f32 = Select::from("[...]").with_conversion(Loss::Allowed);
    let shape = Shape::new([2 * COUNT]).expect("a shape");
    let (mut copied, mut taken) = (published.clone(), vec![0f32; shape.element_count() as usize]);
    for (variable, what) in [("whole", "one block"), ("halves", "two blocks")] {
        taken.fill(0.0);
        step.get_into(variable, &as_f32, &mut taken[..]).expect("converted");
        assert!(taken.iter().zip(&published).all(|(taken, value)| *taken == *value as f32), "{what}");
        let memcpy = || {
            copied.copy_from_slice(black_box(&published));
            black_box(&mut copied);
        };
        let ours = || {
            step.get_into(variable, &as_f32, &mut taken[..]).expect("converted");
            black_box(&mut taken);
        };
        let name = format!("16 MiB of f64 taken as f32, {what}");
        let target = if variable == "whole" { 0.5 } else { 0.0 };
        report(&name, "memcpy", in_turns(group, &name, memcpy, ours), target);
    }
}

fn report(what: &str, of: &str, medians: Option<Medians>, wanted: f64) {
    let Some(medians) = medians else { return };
    let (ratio, Medians { baseline, ours }) = (medians.speed(), medians);
    let verdict = match wanted {
        0.0 => "no target".to_owned(),
        _ if ratio >= wanted => format!("wanted {wanted}: met"),
        _ => format!("wanted {wanted}: MISSED"),
    };
    println!("{what:<44} {ours:>10.2?}   {ratio:>6.3} of {of} ({baseline:.2?}), {verdict}");
}
