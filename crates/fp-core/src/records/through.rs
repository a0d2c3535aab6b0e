//! Records through registered transforms: computed once in a step, on the threads of their registry.

use super::route::Route;
use super::set::Memory;
use super::{RecordProblem, RecordSet};
use crate::error::ReadError;
use crate::patience::Limit;
use crate::planned::Planned;
use crate::select::Select;
use crate::statistics::Counters;
use crate::step::{StepReader, element_count};
use fp_transform::{Array, CallError, DeriveError, ShareError, record_array};
use fp_transport::Payload;
use fp_types::record::{ConvertError, Loss, RecordSchema, Records, ValueError};
use fp_types::{BlockId, Dtype, Layout, MemoryOrder, Rank, Region, Selection, Shape, VariableDef};
use std::sync::Arc;
use std::time::Instant;

/// Results that are kept of one step.
const LIMIT_RESULTS: usize = 16;

/// Why transforms gave nothing. Only that get fails, and those of the same in the same step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformProblem {
    /// A transform failed, panicked, ran too long, or is refused.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The last transform gave something else than one array of records.
    #[error("{found}, instead of one array of records")]
    NoRecords {
        /// What it gave.
        found: String,
    },
    /// Bytes that are no such records.
    #[error("what {of} gave: {source}")]
    Value {
        /// Who gave them.
        of: &'static str,
        /// Why they are none.
        source: ValueError,
    },
    /// A value that cannot be converted, before the first transform or after the last.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// Records that make no array.
    #[error(transparent)]
    Array(#[from] DeriveError),
    /// The publisher was to do it, and did not.
    #[error("{what}")]
    Publisher {
        /// Why not, where each rank that failed has its own reason.
        what: String,
    },
    /// It was to be done here, and cannot be.
    #[error("{what}")]
    Subscriber {
        /// Why not.
        what: String,
    },
    /// Somebody else asked for the same at the same time.
    #[error("somebody else who asked for the same in this step: {what}")]
    Elsewhere {
        /// What happened there.
        what: String,
    },
}

/// What transforms gave.
pub(crate) struct Outcome {
    shape: Shape,
    bytes: Payload,
}

/// What was transformed of one step: by variable, selection and type.
pub(crate) struct Transformed(fp_transform::Shared<Outcome, TransformProblem, String>);

impl Default for Transformed {
    fn default() -> Self {
        Self(fp_transform::Shared::new(LIMIT_RESULTS))
    }
}

/// What an owner gave as bytes, kept as ours.
struct Held(fp_transform::Payload);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl StepReader {
    /// The selected records as the type that is wanted, through transforms.
    ///
    /// Selections of blocks and ranks say what goes in. All others say which of the records that come out are wanted:
    /// where each is made of one alone, only those go in.
    pub(super) fn through(
        &self,
        variable: &str,
        select: &Select,
        wanted: &RecordSchema,
        route: &Route,
        limit: Limit<'_>,
    ) -> Result<RecordSet, ReadError> {
        if !select.needs_shape() {
            // Before anything is computed.
            self.key(variable, select, None, false)?;
        }
        let is_of_source = route.is_one_by_one || select.is_of_blocks();
        let of_source = if is_of_source { select.clone() } else { Selection::All.into() };
        let done = self.transformed(variable, &of_source, wanted, route, limit)?;
        let (shape, bytes) = match is_of_source || select.is_everything() {
            true => (done.shape, done.bytes.clone()),
            false => self.chosen(variable, select, wanted, &done)?,
        };
        let count = usize::try_from(shape.element_count()).unwrap_or(usize::MAX);
        let (memory, _held) = (Memory::Computed(bytes), self.held.clone());
        Ok(RecordSet { schema: wanted.clone(), count, shape, memory, _held })
    }

    /// What the transforms give; computed once in a step.
    fn transformed(
        &self,
        variable: &str,
        select: &Select,
        wanted: &RecordSchema,
        route: &Route,
        limit: Limit<'_>,
    ) -> Result<Arc<Outcome>, ReadError> {
        let key = format!("{} {variable} {select:?} {:?}", wanted.fingerprint(), route.loss);
        let (results, counters) = (&self.held.transformed.0, &self.shared().counters);
        let (mut failed, mut is_computed) = (None, false);
        let left = limit.deadline.saturating_duration_since(Instant::now());
        let done = results.derive_as(key.clone(), left, || {
            is_computed = true;
            let source = self.take_as_put(variable, select.clone(), None, limit);
            let source = source.map_err(|error| {
                let what = error.to_string();
                failed = Some(error);
                TransformProblem::Elsewhere { what }
            })?;
            route.run(source, select.order())
        });
        if let Some(error) = failed {
            // Another get may have more luck.
            results.discard(&key);
            return Err(error);
        }
        let counter = match (is_computed, &done) {
            (true, Ok(_)) => &counters.transforms,
            (true, Err(_)) => &counters.failed_transforms,
            (false, _) => &counters.shared_transforms,
        };
        Counters::add(counter, 1);
        done.map_err(|error| {
            let problem = match error {
                ShareError::Failed(problem) => problem,
                late @ ShareError::TimedOut { .. } => TransformProblem::Elsewhere { what: late.to_string() },
            };
            self.not_transformed(variable, route, problem)
        })
    }

    /// The selected ones of the records that came out.
    fn chosen(
        &self,
        variable: &str,
        select: &Select,
        wanted: &RecordSchema,
        done: &Outcome,
    ) -> Result<(Shape, Payload), ReadError> {
        let planned = self.planned_result(variable, select, &done.shape)?;
        let all: Vec<u64> = (0..done.shape.element_count()).collect();
        let mut numbers = vec![0u64; element_count(&planned)];
        for piece in &planned.plan.pieces {
            let (from, to) = (bytemuck::cast_slice(&all), bytemuck::cast_slice_mut(&mut numbers));
            let (order, asked) = (MemoryOrder::RowMajor, planned.destination_order);
            let copied = planned.plan.copy_piece(piece, from, order, to, asked, size_of::<u64>());
            copied.map_err(|error| self.no_copy(&error))?;
        }
        let shape = planned.plan.result_shape();
        if numbers == all {
            return Ok((shape, done.bytes.clone()));
        }
        let problem = |error: RecordProblem| self.problem(variable, error);
        let copy = self.conversion(wanted, wanted, Loss::Refused).map_err(|source| {
            let (stream, step) = (self.stream().to_owned(), self.step());
            ReadError::Incompatible { stream, step, variable: variable.to_owned(), source: Box::new(source) }
        })?;
        let records = Records::new(wanted, done.bytes.as_slice(), all.len());
        let records = records.map_err(|error| problem(error.into()))?;
        let picks = numbers.iter().map(|&number| (0, usize::try_from(number).unwrap_or(usize::MAX)));
        let bytes = copy.gather(&[records], picks).map_err(|error| problem(error.into()))?;
        Ok((shape, Payload::from_owner(bytes)))
    }

    /// The plan for a selection of what came out.
    fn planned_result(&self, variable: &str, select: &Select, shape: &Shape) -> Result<Planned, ReadError> {
        let key = self.key(variable, select, Some(shape), false)?;
        let def = Arc::new(VariableDef::global_array(variable, Dtype::U64, shape.ndims()));
        let block = (BlockId::new(Rank::LEAD, 0), Region::whole(shape));
        let layout = Layout::global(*shape, [block]);
        let layout = layout.map_err(|error| ReadError::Driver {
            stream: self.stream().to_owned(),
            what: error.to_string(),
        })?;
        Planned::of_layout(def, &layout, &key).map_err(|no_plan| self.no_plan(key, no_plan))
    }

    fn not_transformed(&self, variable: &str, route: &Route, problem: TransformProblem) -> ReadError {
        let (stream, step, path) = (self.stream().to_owned(), self.step(), route.path.to_string());
        ReadError::NotTransformed {
            stream,
            step,
            variable: variable.to_owned(),
            path,
            source: Box::new(problem),
        }
    }
}

impl Route {
    /// Runs the transforms on records, and converts these before and after if need be.
    fn run(&self, source: RecordSet, order: MemoryOrder) -> Result<Outcome, TransformProblem> {
        let shape = source.shape;
        // A transform that is stuck keeps what it got: never the step, or memory that somebody writes to.
        let bytes = match &self.first {
            None => source.into_bytes(),
            Some(first) => {
                let of = "the publisher";
                let records = source.records().map_err(|source| TransformProblem::Value { of, source })?;
                first.convert(&records)?.into_owned()
            }
        };
        let given = self.transforms.run_path(&self.path, vec![record_array(shape, order, bytes)?])?;
        let (shape, payload) = only_block(&given)?;
        let count = usize::try_from(shape.element_count()).unwrap_or(usize::MAX);
        let records = Records::new(&self.given, (**payload).as_ref(), count);
        let of = "the last transform";
        let records = records.map_err(|source| TransformProblem::Value { of, source })?;
        let bytes = match &self.last {
            Some(last) => Payload::from_owner(last.convert(&records)?.into_owned()),
            None => Payload::from_owner(Held(payload.clone())),
        };
        Ok(Outcome { shape, bytes })
    }
}

/// The one block of the one array of records that there should be.
pub(crate) fn only_block(given: &[Array]) -> Result<(Shape, &fp_transform::Payload), TransformProblem> {
    let no_records = |found| TransformProblem::NoRecords { found };
    let [array] = given else { return Err(no_records(format!("{} arrays", given.len()))) };
    match array.blocks() {
        [block] if array.dtype() == Dtype::Bytes => Ok((*array.shape(), block.payload())),
        [_] => Err(no_records(format!("an array of {}", array.dtype()))),
        blocks => Err(no_records(format!("{} blocks", blocks.len()))),
    }
}
