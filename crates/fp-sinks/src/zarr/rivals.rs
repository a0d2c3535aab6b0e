//! Two that write one store, moment by moment. A place in memory is to them what a bucket is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser as _;
use fp_core::{Dtype, StepId, VariableDef};
use serde_json::Value;
use zarrs::storage::Bytes;

use super::ZarrSink;
use super::files::{DOCUMENT, Files};
use super::folder::Folder;
use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::sink::Sink as _;
use crate::taken_step::{TakenStep, TakenVariable};

/// Objects by name, each with how often one of that name was put.
type Objects = BTreeMap<String, (u64, Bytes)>;

type Deed = Box<dyn FnOnce() + Send>;

/// A place that several writers know, and one of these. It has no locks, and conditional puts of the root.
#[derive(Default)]
struct Shared {
    objects: Arc<Mutex<Objects>>,
    writer: String,
    /// Which root was last read or written here.
    root: Mutex<Option<u64>>,
    /// What others do when this one has looked whether the place is vacant.
    after_look: Mutex<Option<Deed>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("writer", &self.writer).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn writer(&self, name: &str) -> Arc<Self> {
        Arc::new(Self { objects: Arc::clone(&self.objects), writer: name.to_owned(), ..Self::default() })
    }

    fn names(&self) -> Vec<String> {
        lock(&self.objects).keys().cloned().collect()
    }

    /// The first values of the only chunk of an array.
    fn values(&self, array: &str, count: usize) -> Vec<u64> {
        let bytes = lock(&self.objects)[&format!("{array}/c/0")].1.clone();
        bytes.as_chunks::<8>().0[..count].iter().map(|value| u64::from_le_bytes(*value)).collect()
    }

    fn steps(&self) -> u64 {
        let root: Value = serde_json::from_slice(&lock(&self.objects)[DOCUMENT].1).unwrap();
        root["attributes"]["flexpath"]["steps"].as_u64().unwrap()
    }

    /// Whether all that was put in so many steps is there.
    fn check(&self, steps: u64) {
        assert_eq!(self.steps(), steps);
        let all: Vec<u64> = (0..steps).collect();
        assert_eq!(self.values("step", all.len()), all);
        assert_eq!(self.values("time", all.len()), all);
        for step in all {
            let name = format!("ranks/c/{step}/0");
            assert!(self.names().contains(&name), "{name} is not in {:?}", self.names());
        }
        assert!(self.names().contains(&"step/zarr.json".to_owned()));
    }
}

impl Files for Shared {
    fn place(&self, name: &str) -> PathBuf {
        format!("shared/{name}").into()
    }

    fn is_vacant(&self) -> Result<bool, SinkError> {
        let is_vacant = lock(&self.objects).is_empty();
        let deed = lock(&self.after_look).take();
        deed.into_iter().for_each(|deed| deed());
        Ok(is_vacant)
    }

    fn claim(&self) -> Result<(), SinkError> {
        Ok(())
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SinkError> {
        let found = lock(&self.objects).get(name).cloned();
        if name == DOCUMENT {
            *lock(&self.root) = found.as_ref().map(|(version, _)| *version);
        }
        Ok(found.map(|(_, bytes)| bytes.to_vec()))
    }

    fn write(&self, name: &str, bytes: Bytes) -> Result<(), SinkError> {
        let mut objects = lock(&self.objects);
        let object = objects.entry(name.to_owned()).or_default();
        *object = (object.0 + 1, bytes);
        Ok(())
    }

    fn write_root(&self, bytes: Bytes) -> Result<(), SinkError> {
        let version = lock(&self.objects).get(DOCUMENT).map(|(version, _)| *version);
        if version != *lock(&self.root) {
            return Err(SinkError::Target("another one".to_owned()));
        }
        self.write(DOCUMENT, bytes)?;
        *lock(&self.root) = Some(version.unwrap_or(0) + 1);
        Ok(())
    }

    fn settle(&self) -> Result<(), SinkError> {
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), SinkError> {
        let folder = format!("{name}/");
        lock(&self.objects).retain(|other, _| other != name && !other.starts_with(&folder));
        Ok(())
    }

    fn writer(&self) -> Option<&str> {
        Some(&self.writer)
    }
}

fn open(files: Arc<dyn Files>, stream: &str) -> Result<ZarrSink, SinkError> {
    ZarrSink::open(files, &Arguments::parse_from(["tee", stream, "--to", "zarr:x", "--append"]))
}

/// A step whose values are its number.
fn step(number: u64) -> TakenStep {
    let variable = |def: VariableDef, value| TakenVariable {
        dtype: def.dtype,
        def,
        shape: None,
        blocks: Vec::new(),
        value,
        records: None,
    };
    let mut ranks = VariableDef::scalar("ranks", Dtype::U64);
    ranks.kind = fp_core::ArrayKind::LocalScalar;
    let time = variable(VariableDef::scalar("time", Dtype::U64), Some(number.to_ne_bytes().to_vec()));
    let block = (fp_core::BlockId::default(), fp_core::Region::whole(&fp_core::Shape::scalar()));
    let ranks = TakenVariable { blocks: vec![block], ..variable(ranks, None) };
    TakenStep { stream: "sim".to_owned(), step: StepId(number), variables: vec![ranks, time] }
}

fn put(sink: &ZarrSink, number: u64) -> Result<(), SinkError> {
    let step = step(number);
    for part in sink.begin(&step, 1)?.concat() {
        // What is all of the fill value has no chunk.
        sink.write(&step, &part, &(number + 1).to_ne_bytes())?;
    }
    sink.commit(&step)
}

/// One that has put two steps.
fn first(shared: &Shared) -> ZarrSink {
    let first = open(shared.writer("first"), "sim").unwrap();
    first.start().unwrap();
    put(&first, 0).unwrap();
    put(&first, 1).unwrap();
    shared.check(2);
    first
}

#[test]
fn a_step_that_is_committed_before_the_fence_is_kept() {
    let shared = Shared::default();
    let first = first(&shared);
    let second = open(shared.writer("second"), "sim").unwrap();
    put(&first, 2).unwrap();
    assert!(second.start().is_err(), "it has read another root");
    shared.check(3);
    put(&first, 3).unwrap();
    shared.check(4);
}

#[test]
fn who_is_fenced_out_commits_nothing() {
    let shared = Shared::default();
    let first = first(&shared);
    let second = open(shared.writer("second"), "sim").unwrap();
    second.start().unwrap();
    put(&second, 2).unwrap();
    assert!(put(&first, 2).is_err(), "another one has written the root");
    assert_eq!(shared.steps(), 3);
    put(&second, 3).unwrap();
    shared.check(4);
}

#[test]
fn who_has_nothing_to_write_there_fences_nobody_out() {
    let shared = Shared::default();
    let first = first(&shared);
    assert!(open(shared.writer("other"), "other").is_err_and(|why| why.to_string().contains("\"sim\"")));
    // Its stream never comes.
    drop(open(shared.writer("second"), "sim").unwrap());
    put(&first, 2).unwrap();
    shared.check(3);
}

#[test]
fn a_store_that_was_made_meanwhile_is_left_as_it_is() {
    let shared = Shared::default();
    let late = open(shared.writer("late"), "sim").unwrap();
    let first = first(&shared);
    assert!(put(&late, 0).is_err_and(|why| why.to_string().contains("is there already")));
    shared.check(2);
    put(&first, 2).unwrap();
    shared.check(3);
}

#[test]
fn a_store_that_is_made_at_the_same_moment_is_left_as_it_is() {
    let shared = Arc::new(Shared::default());
    let late = shared.writer("late");
    let sink = open(Arc::clone(&late) as Arc<dyn Files>, "sim").unwrap();
    let other = Arc::clone(&shared);
    *lock(&late.after_look) = Some(Box::new(move || drop(first(&other))));
    assert!(put(&sink, 0).is_err(), "there is a root by now");
    shared.check(2);
}

#[test]
fn a_folder_that_was_filled_meanwhile_is_left_as_it_is() {
    let stage = tempfile::tempdir().unwrap();
    let place = stage.path().join("x.zarr");
    let folder = || Arc::new(Folder::new(&place, false));
    let late = open(folder(), "sim").unwrap();
    let first = open(folder(), "sim").unwrap();
    put(&first, 0).unwrap();
    // Its end lets go of the lock.
    drop(first);
    assert!(put(&late, 0).is_err_and(|why| why.to_string().contains("is there already")));
    drop(late);
    assert_eq!(open(folder(), "sim").unwrap().last_step, Some(StepId(0)));
}
