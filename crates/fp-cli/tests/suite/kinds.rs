//! Steps with every kind of variable, by two ranks, and what is read of them.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fp_core::record::{Field, RecordSchema, RecordType, encode_with};
use fp_core::rendezvous::Rendezvous;
use fp_core::{
    Cohort, Dtype, MemoryOrder, Publisher, PublisherOptions, RecordBlock, Region, Selection, StepReader,
    StepWriter, Variable,
};

/// Far more than anything here needs on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Records with a text, which lies behind their fixed parts.
pub(crate) fn atom() -> RecordSchema {
    let record =
        RecordType::new("Atom").field(Field::new("id", Dtype::U32)).field(Field::new("name", Dtype::String));
    record.build().unwrap()
}

/// What every kind of variable of a step holds, as far as order of blocks does not matter to it.
#[derive(Debug, PartialEq)]
pub(crate) struct Values {
    step: u64,
    time: f64,
    title: String,
    grid: Vec<f64>,
    columns: Vec<f32>,
    rows: Vec<i32>,
    local: Vec<u8>,
    own: Vec<u8>,
    /// Nothing where there is no such rank.
    pub(crate) of_rank_1: Vec<u8>,
    both: Vec<u16>,
    atoms: Vec<(Option<i128>, Option<String>)>,
    unit: Option<String>,
}

/// Waits until it is so.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {what}");
        thread::yield_now();
    }
}

pub(crate) fn at(folder: &Path) -> Rendezvous {
    Rendezvous::at(folder).expect("a directory")
}

pub(crate) fn region(start: &[u64], count: &[u64]) -> Region {
    Region::new(fp_core::Dims::from_slice(start).unwrap(), fp_core::Dims::from_slice(count).unwrap()).unwrap()
}

/// What one of two ranks puts into a step.
fn put(writer: &mut StepWriter, rank: u64) {
    let step = writer.step().0;
    let from = step * 100 + rank * 10;
    let numbers = |count: u64| (from..from + count).map(|number| number as f64);
    let grid = Variable::global::<f64>("grid", &[4, 3]).unwrap().with_unit("K").with_attribute("scale", 2.5);
    writer.put(&grid, &region(&[2 * rank, 0], &[2, 3]), numbers(6).collect()).unwrap();
    let columns = Variable::global::<f32>("columns", &[3, 2]).unwrap().with_order(MemoryOrder::ColumnMajor);
    writer
        .put(&columns, &region(&[0, rank], &[3, 1]), numbers(3).map(|number| number as f32).collect())
        .unwrap();
    let rows = Variable::joined::<i32>("rows", &[2]).unwrap();
    writer.put_joined(&rows, vec![from as i32; 2 * (rank as usize + 1)]).unwrap();
    let local = Variable::local::<u8>("local", 1).unwrap();
    writer.put(&local, &region(&[0], &[3]), vec![from as u8; 3]).unwrap();
    writer.put_scalar(&Variable::local_scalar::<u8>("own").unwrap(), from as u8).unwrap();
    // Each rank puts all of it: the higher one's counts.
    let both = Variable::global::<u16>("both", &[2]).unwrap();
    writer.put(&both, &region(&[0], &[2]), vec![from as u16; 2]).unwrap();
    writer.put(&both, &region(&[1], &[0]), Vec::<u16>::new()).unwrap();
    let schema = atom();
    let atoms = Variable::global_records("atoms", &schema, &[2]).unwrap();
    let encoded = encode_with(&schema, 1, |_, atom| {
        atom.put(0, &(from as u32))?;
        atom.put(1, &"é".repeat(rank as usize + 1))
    });
    let one = RecordBlock::encoded(&schema, 1, encoded.unwrap()).unwrap();
    writer.put_records(&atoms, &region(&[rank], &[1]), one).unwrap();
    writer.put_scalar(&Variable::scalar::<f64>("time").unwrap(), step as f64 / 2.0).unwrap();
    writer.put_text(&Variable::text("title").unwrap(), &format!("step {step}")).unwrap();
}

/// Two ranks, as threads, which publish steps from number 5 on to whoever comes first.
pub(crate) fn publish(folder: PathBuf, steps: u64) -> Vec<thread::JoinHandle<()>> {
    let rank = |rank: u32| {
        let options = PublisherOptions::default().with_rendezvous(at(&folder)).with_min_subscribers(1);
        let options = options.with_cohort(Cohort::of(rank, 2).unwrap()).with_first_step(5);
        thread::spawn(move || {
            let mut publisher = Publisher::open("run", options).expect("opened");
            for _ in 0..steps {
                let mut writer = publisher.begin_step().expect("a step");
                put(&mut writer, rank.into());
                writer.end().expect("ended");
            }
            publisher.close().expect("closed");
        })
    };
    (0..2).map(rank).collect()
}

pub(crate) fn values(step: &StepReader) -> Values {
    let infos = step.variables().unwrap();
    let unit = infos.iter().find(|info| info.def.name == "grid").and_then(|info| info.def.unit.clone());
    let set = step.records("atoms", Selection::All).unwrap();
    let atom = |record: fp_core::record::RecordRef<'_>| {
        let name = record.value("name").unwrap().as_text().map(str::to_owned);
        (record.value("id").unwrap().as_integer(), name)
    };
    Values {
        step: step.step().0,
        time: step.scalar("time").unwrap(),
        title: step.text("title").unwrap(),
        grid: step.get("grid", Selection::All).unwrap(),
        columns: step.get("columns", Selection::All).unwrap(),
        rows: step.get("rows", Selection::All).unwrap(),
        local: step.get("local", Selection::All).unwrap(),
        own: step.get("own", Selection::All).unwrap(),
        of_rank_1: step.get("local", "[rank 1]").unwrap_or_default(),
        both: step.get("both", Selection::All).unwrap(),
        atoms: set.records().unwrap().iter().map(atom).collect(),
        unit,
    }
}

/// Files with steps that are under a folder.
pub(crate) fn files(folder: &Path) -> usize {
    let entries =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders = vec![folder.to_owned()];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            match path.is_dir() {
                true => folders.push(path),
                false => found += usize::from(path.extension().is_some_and(|end| end == "fpsr")),
            }
        }
    }
    found
}
