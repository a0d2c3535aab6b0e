//! What publishers are otherwise asked to send through a transform, made here: of the published records, block by block,
//! once in a step, so that it is what the publisher would have made.

use super::whole::Whole;
use super::{ApplyProblem, Applying, TransformProblem, TransformedVariable};
use crate::error::ReadError;
use crate::patience::Limit;
use crate::planned::{Planned, names};
use crate::select::Select;
use crate::statistics::Counters;
use crate::step::{StepReader, VariableInfo};
use fp_proto::message::ResolveQuery;
use fp_transform::ShareError;
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{
    ArrayKind, BlockId, CopyError, Dims, Layout, Region, Selection, Shape, StepTable, VariableDef,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Variables of one step that are made here and kept with it.
const LIMIT_MADE: usize = 64;

/// The path in errors of what is made here.
const HERE: &str = "by the subscriber";

/// A variable of a step that a transform made here.
pub(crate) struct Made {
    pub(super) def: Arc<VariableDef>,
    pub(super) layout: Layout,
    pub(super) blocks: BTreeMap<BlockId, Whole>,
    /// Bytes that went in.
    input_bytes: u64,
}

/// What was made of one step, by variable and transform.
pub(crate) struct MadeOnce(fp_transform::Shared<Made, TransformProblem, String>);

impl Default for MadeOnce {
    fn default() -> Self {
        Self(fp_transform::Shared::new(LIMIT_MADE))
    }
}

impl Made {
    /// Copies the fixed parts of the selected records.
    pub(crate) fn fill(&self, planned: &Planned, destination: &mut [u8]) -> Result<(), CopyError> {
        let (order, to, size) = (self.def.order, planned.destination_order, planned.element_size);
        planned.plan.pieces.iter().try_for_each(|piece| {
            let Some(block) = self.blocks.get(&piece.block) else { return Ok(()) };
            let fixed = block.bytes.get(..block.count.saturating_mul(size)).unwrap_or_default();
            planned.plan.copy_piece(piece, fixed, order, destination, to, size)
        })
    }

    fn output_bytes(&self) -> u64 {
        self.blocks.values().map(|block| block.bytes.len() as u64).sum()
    }
}

/// The published records.
struct Source {
    def: Arc<VariableDef>,
    shape: Option<Shape>,
    schema: RecordSchema,
    blocks: Vec<(BlockId, Region)>,
}

impl StepReader {
    /// Whether it is made here in this step, by what is asked for in it.
    pub(crate) fn is_made_here(&self, asked: &TransformedVariable) -> bool {
        !self.held.wants.asks(&asked.through())
    }

    /// The plan for what is made here.
    pub(super) fn planned_made(
        &self,
        asked: &TransformedVariable,
        select: &Select,
        fill: bool,
        limit: Limit<'_>,
    ) -> Result<Arc<Planned>, ReadError> {
        let made = self.made(asked, limit)?;
        let key = self.key(&asked.name, select, made.layout.shape(), fill)?;
        let planned = Planned::of_layout(made.def.clone(), &made.layout, &key);
        let planned = planned.map_err(|no_plan| self.no_plan(key, no_plan))?;
        Ok(Arc::new(Planned { wanted: Vec::new(), made: Some(made), ..planned }))
    }

    /// Every block of it, each by the block that it was made of.
    pub(crate) fn made_blocks(
        &self,
        asked: &TransformedVariable,
        limit: Limit<'_>,
    ) -> Result<Vec<(BlockId, Region)>, ReadError> {
        Ok(self.made(asked, limit)?.layout.blocks().collect())
    }

    /// All of it; made once in a step.
    fn made(&self, asked: &TransformedVariable, limit: Limit<'_>) -> Result<Arc<Made>, ReadError> {
        let (key, counters) = (asked.result(), &self.shared().counters);
        let (mut failed, mut is_made) = (None, false);
        let left = limit.deadline.saturating_duration_since(Instant::now());
        let done = self.held.made.0.derive_as(key.clone(), left, || {
            is_made = true;
            self.make(asked, limit).map_err(|error| {
                let what = error.to_string();
                failed = Some(error);
                TransformProblem::Elsewhere { what }
            })
        });
        if let Some(error) = failed {
            // Another get may have more luck.
            self.held.made.0.discard(&key);
            Counters::add(&counters.failed_transforms, 1);
            return Err(error);
        }
        let counter = if is_made { &counters.transforms } else { &counters.shared_transforms };
        Counters::add(counter, 1);
        let made = done.map_err(|error| {
            let problem = match error {
                ShareError::Failed(problem) => problem,
                late @ ShareError::TimedOut { .. } => TransformProblem::Elsewhere { what: late.to_string() },
            };
            self.not_made(asked, HERE, problem)
        })?;
        if is_made {
            self.shared().weigh(asked, self.identity(), true, (made.input_bytes, made.output_bytes()));
        }
        Ok(made)
    }

    fn make(&self, asked: &TransformedVariable, limit: Limit<'_>) -> Result<Made, ReadError> {
        let source = self.source(asked, limit)?;
        let applying = self.applying(asked, &source).map_err(|problem| self.not_here(asked, problem))?;
        self.shared().types.learn_anyway(&applying.given);
        let ids = source.blocks.iter().map(|&(id, _)| id).collect();
        let taken = self.whole_blocks(&source.def, source.schema.is_plain(), ids, limit)?;
        let mut made = BTreeMap::new();
        let (mut input_bytes, mut first) = (0, 0);
        for (id, block) in taken {
            let region = source.blocks.iter().find(|(of, _)| *of == id).map(|(_, region)| *region.count());
            let shape = region.and_then(|count| Shape::new(count).ok()).unwrap_or_default();
            input_bytes += block.bytes.len() as u64;
            let applied = applying.run((shape, source.def.order), Payload::from_owner(block.bytes));
            let applied = applied.map_err(|problem| self.not_here(asked, problem))?;
            made.insert(id, Whole { bytes: applied.bytes, count: applied.count, first });
            first += applied.count as u64;
        }
        self.laid_out(asked, &applying, source, made, input_bytes)
    }

    /// The results as an array: each in the place of what it was made of, or one after another as rows.
    fn laid_out(
        &self,
        asked: &TransformedVariable,
        applying: &Applying,
        source: Source,
        blocks: BTreeMap<BlockId, Whole>,
        input_bytes: u64,
    ) -> Result<Made, ReadError> {
        let (def, layout) = match source.shape.filter(|_| applying.keeps_places) {
            Some(shape) => {
                let def = VariableDef::global_array(&asked.name, source.def.dtype, source.def.ndims());
                (def.with_order(source.def.order), Layout::global(shape, source.blocks))
            }
            None => {
                let rows = |(&id, block): (&BlockId, &Whole)| {
                    Dims::from_slice(&[block.count as u64]).ok().map(|count| (id, count))
                };
                let def = VariableDef::joined_array(&asked.name, source.def.dtype, 1, 0);
                (def, Layout::joined(1, 0, blocks.iter().filter_map(rows)))
            }
        };
        let layout = layout.map_err(|error| {
            let (stream, what) = (self.stream().to_owned(), error.to_string());
            ReadError::Driver { stream, what }
        })?;
        Ok(Made { def: Arc::new(def.with_record(&applying.given)), layout, blocks, input_bytes })
    }

    /// The transform, if this process knows it and it takes such records.
    fn applying(&self, asked: &TransformedVariable, source: &Source) -> Result<Applying, ApplyProblem> {
        let registry = (self.shared().options.transforms.as_ref(), "subscriber");
        Applying::find(registry, &asked.transform, (Some(&source.schema), source.def.kind))
    }

    /// What the type of it would be in this step; nothing of it is fetched.
    pub(super) fn made_type(
        &self,
        asked: &TransformedVariable,
        limit: Limit<'_>,
    ) -> Result<Result<RecordSchema, String>, ReadError> {
        match self.source(asked, limit) {
            Ok(source) => Ok(self.applying(asked, &source).map(|of| of.given).map_err(|of| of.to_string())),
            Err(ReadError::NotTransformed { source, .. }) => Ok(Err(source.to_string())),
            Err(error) => Err(error),
        }
    }

    /// What the step has of it.
    pub(super) fn made_info(&self, asked: &TransformedVariable, table: &StepTable) -> Option<VariableInfo> {
        let entry = table.entry(&asked.variable)?;
        let native = self.shared().options.transforms.as_ref()?.native(&asked.transform)?;
        let (_, given) = native.schemas.as_ref()?;
        let (dtype, ndims) = (entry.def.dtype, entry.def.ndims());
        let shape = entry.layout.shape().copied();
        let (def, shape) = match native.is_one_by_one && entry.def.kind == ArrayKind::GlobalArray {
            true => (VariableDef::global_array(&asked.name, dtype, ndims).with_order(entry.def.order), shape),
            // How many rows there are is not known before they are made.
            false => (VariableDef::joined_array(&asked.name, dtype, 1, 0), None),
        };
        Some(VariableInfo { def: def.with_record(given), shape })
    }

    /// The published records, and where they are.
    fn source(&self, asked: &TransformedVariable, limit: Limit<'_>) -> Result<Source, ReadError> {
        let (variable, table) = (&asked.variable, self.held.assignment.table);
        let known = self.table(limit.deadline)?;
        let Some(entry) = known.entry(variable) else {
            let what = format!("there is no variable {variable:?}; there are {}", names(&known).join(", "));
            return Err(self.not_made(asked, HERE, TransformProblem::Subscriber { what }));
        };
        if entry.def.record.is_none() {
            let what = format!("its elements are {}, no records", entry.def.dtype);
            return Err(self.not_made(asked, HERE, TransformProblem::Subscriber { what }));
        }
        let query = ResolveQuery { variable: variable.clone(), selection: Selection::All };
        let answer = self.shared().resolve(self.identity(), table, vec![query], limit.deadline)?;
        let blocks: Vec<(BlockId, Region)> =
            answer.entry(variable).map(|entry| entry.layout.blocks().collect()).unwrap_or_default();
        let owner = blocks.first().map(|(block, _)| block.rank);
        let schema = self.type_of(&entry.def, owner, limit)?;
        Ok(Source { def: entry.def.clone(), shape: entry.layout.shape().copied(), schema, blocks })
    }

    fn not_here(&self, asked: &TransformedVariable, problem: ApplyProblem) -> ReadError {
        let problem = match problem {
            ApplyProblem::Transform(problem) => problem,
            other => TransformProblem::Subscriber { what: other.to_string() },
        };
        self.not_made(asked, HERE, problem)
    }

    pub(super) fn not_made(
        &self,
        asked: &TransformedVariable,
        by: &'static str,
        problem: TransformProblem,
    ) -> ReadError {
        let (stream, step, variable) = (self.stream().to_owned(), self.step(), asked.name.clone());
        let path = format!("{} -[{}]-> {by}", asked.variable, asked.transform);
        ReadError::NotTransformed { stream, step, variable, path, source: Box::new(problem) }
    }
}
