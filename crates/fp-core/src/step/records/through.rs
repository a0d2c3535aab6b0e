//! Records through registered transforms: computed once in a step, on the threads of their registry.
//!
//! All records of a variable go in, and selections are of what comes out. To transform each block where a selection
//! touches it would be another answer for every cut. The transforms get a copy in memory of its own, as a stuck one
//! keeps its input for ever. The path is chosen anew in each step, so that what is registered or measured later counts.

use crate::data::taker::fetch_plan::{FetchPlan, element_count};
use crate::error::ReadError;
use crate::error::record::RecordProblem;
use crate::error::transform::TransformProblem;
use crate::records::apply::only_block;
use crate::records::set::{Memory, RecordSet};
use crate::step::held::{HeldStep, Outcome};
use crate::step::plan;
use crate::step::records::route::Route;
use crate::step::records::{record_type, taken};
use crate::step::request::RecordRequest;
use crate::value::owned_bytes;
use fp_transform::record_array;
use fp_transport::Payload;
use fp_types::record::{Loss, RecordSchema, Records};
use fp_types::{BlockId, Dtype, Layout, MemoryOrder, Rank, Region, Selection, Shape, VariableDef};
use std::sync::Arc;

/// The selected records as the type that is wanted, through transforms.
///
/// Selections of blocks and ranks say what goes in. All others say which of the records that come out are wanted:
/// where each is made of one alone, only those go in.
pub(crate) fn through(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
    wanted: &RecordSchema,
    route: &Route,
) -> Result<RecordSet, ReadError> {
    let select = request.select;
    if !select.needs_shape() {
        // Before anything is computed.
        plan::key(held, request.elements(), None)?;
    }
    let is_of_source = route.is_one_by_one || select.is_of_blocks();
    let of_source = if is_of_source { select.clone() } else { Selection::All.into() };
    let done = transformed(held, RecordRequest { select: &of_source, ..request }, wanted, route)?;
    let (shape, bytes) = match is_of_source || select.is_everything() {
        true => (done.shape, done.bytes.clone()),
        false => chosen(held, request, wanted, &done)?,
    };
    let count = usize::try_from(shape.element_count()).unwrap_or(usize::MAX);
    let (memory, held) = (Memory::Computed(bytes), held.hold());
    Ok(RecordSet { schema: wanted.clone(), count, shape, memory, held })
}

/// What the transforms give; computed once in a step.
pub(crate) fn transformed(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
    wanted: &RecordSchema,
    route: &Route,
) -> Result<Arc<Outcome>, ReadError> {
    let RecordRequest { variable, select, limit, .. } = request;
    let key = format!("{} {variable} {select:?} {:?}", wanted.fingerprint(), route.loss);
    let done = held.transformed.of(&held.shared.counters, key, limit.deadline, || {
        let source = taken::take_as_put(held, RecordRequest { wanted: None, ..request })?;
        Ok(route.run(source, select.order()))
    })?;
    done.map(|(done, _)| done)
        .map_err(|problem| held.not_transformed(variable, route.path.to_string(), problem))
}

/// The selected ones of the records that came out.
pub(crate) fn chosen(
    held: &HeldStep,
    request: RecordRequest<'_>,
    wanted: &RecordSchema,
    done: &Outcome,
) -> Result<(Shape, Payload), ReadError> {
    let variable = request.variable;
    let planned = planned_result(held, request, &done.shape)?;
    let all: Vec<u64> = (0..done.shape.element_count()).collect();
    let mut numbers = vec![0u64; element_count(&planned)];
    for piece in &planned.plan.pieces {
        let (from, to) = (bytemuck::cast_slice(&all), bytemuck::cast_slice_mut(&mut numbers));
        let (order, asked) = (MemoryOrder::RowMajor, planned.destination_order);
        let copied = planned.plan.copy_piece(piece, from, order, to, asked, size_of::<u64>());
        copied.map_err(|error| held.failed(error))?;
    }
    let shape = planned.plan.result_shape();
    if numbers == all {
        return Ok((shape, done.bytes.clone()));
    }
    let problem = |error: RecordProblem| held.problem(variable, error);
    let copy = record_type::conversion(held, wanted, wanted, Loss::Refused)
        .map_err(|source| held.incompatible(variable, source))?;
    let records = Records::new(wanted, done.bytes.as_slice(), all.len());
    let records = records.map_err(|error| problem(error.into()))?;
    let picks = numbers.iter().map(|&number| (0, usize::try_from(number).unwrap_or(usize::MAX)));
    let bytes = copy.gather(&[records], picks).map_err(|error| problem(error.into()))?;
    Ok((shape, Payload::from_owner(bytes)))
}

/// The plan for a selection of what came out.
pub(crate) fn planned_result(
    held: &HeldStep,
    request: RecordRequest<'_>,
    shape: &Shape,
) -> Result<FetchPlan, ReadError> {
    let key = plan::key(held, request.elements(), Some(shape))?;
    let def = Arc::new(VariableDef::global_array(request.variable, Dtype::U64, shape.ndims()));
    let block = (BlockId::new(Rank::LEAD, 0), Region::whole(shape));
    let layout = Layout::global(*shape, [block]);
    let layout = layout.map_err(|error| held.failed(error))?;
    plan::of_layout(held, def, &layout, &key)
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
            None => owned_bytes::of_given(payload),
        };
        Ok(Outcome { shape, bytes })
    }
}
