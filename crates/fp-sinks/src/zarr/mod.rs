//! A stream as one Zarr store (version 3, a group in a folder, or in a bucket of S3), which grows with each step.
//!
//! Steps are the first dimension, `step`, of all arrays; the array `step` has their numbers, which may have gaps.
//!
//! | variable | arrays, and their dimensions |
//! |---|---|
//! | global array | `NAME` [step, ...]; its shape is the same in all steps |
//! | joined array | `NAME` [step, rows, ...], as long as the longest step, and `NAME_count` [step]: how many rows count |
//! | local array | one for each block, `NAME/RANK_PUT` [step, ...] in the group `NAME` |
//! | scalar | `NAME` [step]; a text is of Zarr's type `string` |
//! | local scalar | `NAME` [step, ranks] |
//! | records | refused |
//!
//! The joined array is what the CF conventions call an incomplete multidimensional array. So each step has chunks of
//! its own there, too: none has two writers, and what a kill leaves touches no other step.
//!
//! Where a step has no such variable, or a global array has a gap, the fill value stands: NaN for real numbers, else 0.
//!
//! Chunks of a step are written first, then the `zarr.json` of all arrays, and that of the root with its consolidated
//! metadata last. Each file is renamed when it is whole. Readers that use consolidated metadata see a step with the last
//! rename, as xarray does by default. An array that is opened by itself may have one step more for a moment.

#[cfg(feature = "s3")]
pub(crate) mod bucket;
mod document;
mod files;
pub(crate) mod folder;
pub(crate) mod grid;
mod node;
mod plan;
#[cfg(test)]
mod rivals;
mod store;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use fp_core::{Dtype, StepId};
use serde_json::{Map, json};

use self::document::{Cut, NewArray, STEP, rows_of};
use self::files::Files;
use self::plan::{Parts, Planned, Planning, block_path, count_of};
use self::store::{Store, VALUES};
use crate::arguments::{Arguments, Compression};
use crate::error::SinkError;
use crate::part::Part;
use crate::sink::Sink;
use crate::taken_step::TakenStep;

/// A stream as one Zarr store.
pub(crate) struct ZarrSink {
    state: RwLock<State>,
    last_step: Option<StepId>,
}

struct State {
    store: Store,
    /// What becomes of each variable of the step that is written.
    plan: Vec<Planned>,
}

impl ZarrSink {
    /// Opens a store for the stream that is asked for, or prepares to make it.
    pub(crate) fn open(files: Arc<dyn Files>, arguments: &Arguments) -> Result<Self, SinkError> {
        let (path, is_new) = (files.place(""), files.is_vacant()?);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores / arguments.ranks as usize).max(1);
        let compression = arguments.compress.unwrap_or(Compression::None);
        let mut store = Store::new(files, compression, threads);
        if !is_new {
            if !arguments.append {
                return Err(store.is_taken());
            }
            store.files.claim()?;
            store.look()?;
        }
        if let Some(other) = store.stream.as_ref().filter(|stream| **stream != arguments.stream) {
            let path = path.display();
            return Err(SinkError::Target(format!(
                "{path} has steps of stream {other:?}: name another folder"
            )));
        }
        let last_step = store.last_step;
        Ok(Self { state: RwLock::new(State { store, plan: Vec::new() }), last_step })
    }

    /// Ranks look at the state while they write.
    fn look(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rank 0 changes it before and after that.
    fn change(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for ZarrSink {
    fn last_step(&self) -> Option<StepId> {
        self.last_step
    }

    fn start(&self) -> Result<(), SinkError> {
        self.change().store.take_over()
    }

    fn begin(&self, step: &TakenStep, ranks: u32) -> Result<Vec<Vec<Part>>, SinkError> {
        let State { store, plan } = &mut *self.change();
        store.begin(&step.stream)?;
        plan.clear();
        let mut parts: Parts = vec![Vec::new(); ranks as usize];
        for index in 0..step.variables.len() {
            plan.push(Planning { step, index, parts: &mut parts }.plan(store)?);
        }
        for node in store.nodes.values_mut() {
            let shape = node.shape().to_vec();
            node.resize(store.steps + 1, &shape)?;
        }
        Ok(parts)
    }

    fn write(&self, step: &TakenStep, part: &Part, bytes: &[u8]) -> Result<(), SinkError> {
        let State { store, plan } = &*self.look();
        let name = &step.variables[part.variable].def.name;
        let path = match (&plan[part.variable], part.block) {
            (Planned::Ranks(row), _) => {
                let start = part.region.start()[0] as usize * bytes.len();
                row.lock().unwrap_or_else(PoisonError::into_inner)[start..start + bytes.len()]
                    .copy_from_slice(bytes);
                return Ok(());
            }
            (Planned::Blocks, Some(block)) => block_path(name, block),
            (Planned::Blocks | Planned::Value | Planned::Array | Planned::Rows(_), _) => name.clone(),
        };
        let node = store.nodes.get(&path);
        node.map_or(Ok(()), |node| node.store(store.steps, &part.region, bytes))
    }

    fn commit(&self, step: &TakenStep) -> Result<(), SinkError> {
        let State { store, plan } = &mut *self.change();
        let row = store.steps;
        let mut values: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        values.insert(STEP.to_owned(), step.step.0.to_ne_bytes().to_vec());
        for (variable, planned) in step.variables.iter().zip(plan.drain(..)) {
            let name = &variable.def.name;
            match planned {
                Planned::Value => values.extend(variable.value.clone().map(|value| (name.clone(), value))),
                Planned::Rows(rows) => {
                    values.insert(count_of(name), rows.to_ne_bytes().to_vec());
                }
                Planned::Ranks(values) => {
                    let values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
                    store.store_all(name, &values)?;
                }
                Planned::Array | Planned::Blocks => {}
            }
        }
        for (path, node) in store.nodes.iter_mut().filter(|(_, node)| node.has_values()) {
            node.append(row, values.get(path).map(Vec::as_slice))?;
        }
        store.steps += 1;
        store.last_step = Some(step.step);
        store.tell()
    }
}

/// How many rows of a joined array count in each step.
fn count_array(name: &str, steps: u64) -> NewArray {
    let text = json!(rows_of(name));
    NewArray {
        shape: vec![steps],
        dtype: Dtype::U64,
        dimensions: vec![STEP.to_owned()],
        attributes: Map::from_iter([("long_name".to_owned(), text)]),
        cut: Cut::Steps(VALUES),
    }
}
