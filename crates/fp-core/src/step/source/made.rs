//! What publishers are otherwise asked to send through a transform, made here. It is made of the published records,
//! block by block, once in a step, so that it is what the publisher would have made.

use crate::data::taker::fetch_plan::{FetchPlan, names};
use crate::error::ReadError;
use crate::error::transform::TransformProblem;
use crate::options::transformed_variable::TransformedVariable;
use crate::records::apply::{ApplyProblem, Applying, given_def};
use crate::records::made::{Made, Whole};
use crate::step::held::{HeldStep, VariableInfo};
use crate::step::plan;
use crate::step::records::{record_type, whole_block};
use crate::step::request::Request;
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use fp_proto::message::ResolveQuery;
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{
    ArrayKind, BlockId, Dims, Layout, Region, Selection, Shape, StepTable, VariableDef, VariableOrigin,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The path in errors of what is made here.
const HERE: &str = "by the subscriber";

/// The published records.
struct Source {
    def: Arc<VariableDef>,
    shape: Option<Shape>,
    schema: RecordSchema,
    blocks: Vec<(BlockId, Region)>,
}

/// Whether it is made here in this step, by what is asked for in it.
pub(crate) fn is_made_here(held: &HeldStep, asked: &TransformedVariable) -> bool {
    !held.wants.asks(&asked.through())
}

/// The plan for what is made here.
pub(crate) fn planned_made(
    held: &HeldStep,
    asked: &TransformedVariable,
    request: Request<'_>,
) -> Result<Arc<FetchPlan>, ReadError> {
    let made = made(held, asked, request.deadline.into())?;
    let key = plan::key(held, request.of_variable(&asked.name), made.layout.shape())?;
    let planned = plan::of_layout(held, made.def.clone(), &made.layout, &key)?;
    Ok(Arc::new(FetchPlan { wanted: Vec::new(), made: Some(made), ..planned }))
}

/// Every block of it, each by the block that it was made of.
pub(crate) fn made_blocks(
    held: &HeldStep,
    asked: &TransformedVariable,
    limit: Limit<'_>,
) -> Result<Vec<(BlockId, Region)>, ReadError> {
    Ok(made(held, asked, limit)?.layout.blocks().collect())
}

/// All of it; made once in a step.
pub(crate) fn made(
    held: &HeldStep,
    asked: &TransformedVariable,
    limit: Limit<'_>,
) -> Result<Arc<Made>, ReadError> {
    let counters = &held.shared.counters;
    let done =
        held.made.of(counters, asked.result.clone(), limit.deadline, || make(held, asked, limit).map(Ok));
    let done = done.inspect_err(|_| Counters::add(&counters.failed_transforms, 1))?;
    let (made, is_new) = done.map_err(|problem| not_made(held, asked, HERE, problem))?;
    if is_new {
        held.shared.weigh(asked, held.identity(), true, (made.input_bytes, made.output_bytes()));
    }
    Ok(made)
}

/// Fetches the published records, whole, and transforms them block by block; [`made`] has that done once.
pub(crate) fn make(
    held: &HeldStep,
    asked: &TransformedVariable,
    limit: Limit<'_>,
) -> Result<Made, ReadError> {
    let source = source(held, asked, limit)?;
    let applying = applying(held, asked, &source).map_err(|problem| not_here(held, asked, problem))?;
    held.shared.types.learn_anyway(&applying.given);
    let ids = source.blocks.iter().map(|&(id, _)| id).collect();
    let taken = whole_block::whole_blocks(held, &source.def, source.schema.is_plain(), ids, limit)?;
    let mut made = BTreeMap::new();
    let (mut input_bytes, mut first) = (0, 0);
    for (id, block) in taken {
        let region = source.blocks.iter().find(|(of, _)| *of == id).map(|(_, region)| *region.count());
        let shape = region.and_then(|count| Shape::new(count).ok()).unwrap_or_default();
        input_bytes += block.bytes.len() as u64;
        let applied = applying.run((shape, source.def.order), Payload::from_owner(block.bytes));
        let applied = applied.map_err(|problem| not_here(held, asked, problem))?;
        made.insert(id, Whole { bytes: applied.bytes, count: applied.count, first });
        first += applied.count as u64;
    }
    laid_out(held, asked, &applying, source, made, input_bytes)
}

/// The results as an array: each in the place of what it was made of, or one after another as rows.
fn laid_out(
    held: &HeldStep,
    asked: &TransformedVariable,
    applying: &Applying,
    source: Source,
    blocks: BTreeMap<BlockId, Whole>,
    input_bytes: u64,
) -> Result<Made, ReadError> {
    let def = given_def(
        (&asked.name, VariableOrigin::Derived),
        &source.def,
        applying.keeps_places,
        &applying.given,
    );
    let layout = match source.shape.filter(|_| applying.keeps_places) {
        Some(shape) => Layout::global(shape, source.blocks),
        None => {
            let rows = |(&id, block): (&BlockId, &Whole)| {
                Dims::from_slice(&[block.count as u64]).ok().map(|count| (id, count))
            };
            Layout::joined(1, 0, blocks.iter().filter_map(rows))
        }
    };
    let layout = layout.map_err(|error| held.failed(error))?;
    Ok(Made { def: Arc::new(def), layout, blocks, input_bytes })
}

/// The transform, if this process knows it and it takes such records.
fn applying(held: &HeldStep, asked: &TransformedVariable, source: &Source) -> Result<Applying, ApplyProblem> {
    let registry = (held.shared.options.transforms.as_ref(), "subscriber");
    Applying::find(registry, &asked.transform, (Some(&source.schema), source.def.kind))
}

/// What the type of it would be in this step; nothing of it is fetched.
pub(crate) fn made_type(
    held: &HeldStep,
    asked: &TransformedVariable,
    limit: Limit<'_>,
) -> Result<Result<RecordSchema, String>, ReadError> {
    match source(held, asked, limit) {
        Ok(source) => Ok(applying(held, asked, &source).map(|of| of.given).map_err(|of| of.to_string())),
        Err(ReadError::NotTransformed { source, .. }) => Ok(Err(source.to_string())),
        Err(error) => Err(error),
    }
}

/// What the step has of it.
pub(crate) fn made_info(
    held: &HeldStep,
    asked: &TransformedVariable,
    table: &StepTable,
) -> Option<VariableInfo> {
    let entry = table.entry(&asked.variable)?;
    let native = held.shared.options.transforms.as_ref()?.native(&asked.transform)?;
    let (_, given) = native.schemas.as_ref()?;
    let keeps_places = native.is_one_by_one && entry.def.kind == ArrayKind::GlobalArray;
    // How many rows there are is not known before they are made.
    let shape = entry.layout.shape().copied().filter(|_| keeps_places);
    Some(VariableInfo {
        def: given_def((&asked.name, VariableOrigin::Derived), &entry.def, keeps_places, given),
        shape,
    })
}

/// The published records, and where they are.
fn source(held: &HeldStep, asked: &TransformedVariable, limit: Limit<'_>) -> Result<Source, ReadError> {
    let variable = &asked.variable;
    let known = held.table(limit.deadline)?;
    let Some(entry) = known.entry(variable) else {
        let what = format!("there is no variable {variable:?}; there are {}", names(&known).join(", "));
        return Err(not_made(held, asked, HERE, TransformProblem::Subscriber { what }));
    };
    if entry.def.record.is_none() {
        let what = format!("its elements are {}, no records", entry.def.dtype);
        return Err(not_made(held, asked, HERE, TransformProblem::Subscriber { what }));
    }
    let query = ResolveQuery { variable: variable.clone(), selection: Selection::All };
    let answer = held.resolve(vec![query], limit.deadline)?;
    let blocks: Vec<(BlockId, Region)> =
        answer.entry(variable).map(|entry| entry.layout.blocks().collect()).unwrap_or_default();
    let owner = blocks.first().map(|(block, _)| block.rank);
    let schema = record_type::type_of(held, &entry.def, owner, limit)?;
    Ok(Source { def: entry.def.clone(), shape: entry.layout.shape().copied(), schema, blocks })
}

/// It cannot be made by this process, for this reason.
pub(crate) fn not_here(held: &HeldStep, asked: &TransformedVariable, problem: ApplyProblem) -> ReadError {
    let problem = if let ApplyProblem::Transform(problem) = problem {
        problem
    } else {
        TransformProblem::Subscriber { what: problem.to_string() }
    };
    not_made(held, asked, HERE, problem)
}

/// The transform gave nothing; `by` names the side in the error.
pub(crate) fn not_made(
    held: &HeldStep,
    asked: &TransformedVariable,
    by: &'static str,
    problem: TransformProblem,
) -> ReadError {
    let path = format!("{} -[{}]-> {by}", asked.variable, asked.transform);
    held.not_transformed(&asked.name, path, problem)
}
