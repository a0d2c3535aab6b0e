//! The types of a variable's records, asked for where they are not known, and the conversions between types.

use crate::data::taker::fetch::describe;
use crate::error::ReadError;
use crate::error::record::RecordProblem;
use crate::step::held::HeldStep;
use crate::step::plan;
use crate::step::request::Request;
use crate::value::counters::Counters;
use crate::value::limit::Limit;
use fp_types::record::{Conversion, Incompatible, Loss, RecordSchema};
use fp_types::{ArrayKind, Fingerprint, Rank, Selection, VariableDef};
use std::sync::Arc;

/// The type of a variable's records: asked for once, of this rank or of any that put some.
pub(crate) fn type_of(
    held: &HeldStep,
    def: &VariableDef,
    rank: Option<Rank>,
    limit: Limit<'_>,
) -> Result<RecordSchema, ReadError> {
    let Some(id) = &def.record else {
        return Err(held.problem(&def.name, RecordProblem::NoRecords(def.dtype)));
    };
    let schema = match held.shared.types.find(id.fingerprint) {
        Some(known) => known,
        None => {
            let rank = rank.map_or_else(|| any_owner(held, def, limit), Ok)?;
            type_at(held, id.fingerprint, rank, limit)?
        }
    };
    if schema.size_bytes() as u64 != id.size_bytes {
        let what = format!("records of {} bytes, said to be {}", schema.size_bytes(), id.size_bytes);
        return Err(held.misbehaved(rank.unwrap_or(Rank::LEAD), what));
    }
    Ok(schema)
}

/// The type of that fingerprint: asked for once, of a rank that knows it.
pub(crate) fn type_at(
    held: &HeldStep,
    fingerprint: Fingerprint,
    rank: Rank,
    limit: Limit<'_>,
) -> Result<RecordSchema, ReadError> {
    let types = &held.shared.types;
    if let Some(known) = types.find(fingerprint) {
        return Ok(known);
    }
    let schema = describe::describe(held.taker(), (rank, fingerprint), limit)?;
    Counters::add(&held.shared.counters.types, 1);
    types.learn_anyway(&schema);
    Ok(schema)
}

/// A rank that put a block of the variable.
pub(crate) fn any_owner(held: &HeldStep, def: &VariableDef, limit: Limit<'_>) -> Result<Rank, ReadError> {
    let table = held.table(limit.deadline)?;
    let shape = table.entry(&def.name).and_then(|entry| entry.layout.shape().copied());
    let corner = shape.filter(|shape| shape.element_count() > 0).map(|shape| shape.dims().zeros_like());
    let cheap = match (def.kind, corner) {
        (ArrayKind::GlobalArray | ArrayKind::JoinedArray { .. }, Some(corner)) => {
            Selection::Points(vec![corner])
        }
        _ => Selection::Rank(Rank::LEAD),
    };
    // Whether it was subscribed to does not matter: ranks tell the types of all that they put.
    let first = |selection: Selection| {
        let planned = plan::planned_as_put(
            held,
            Request::new(&def.name, &selection.into(), limit.deadline).with_fill(),
        )?;
        Ok::<_, ReadError>(planned.plan.pieces.first().map(|piece| piece.block.rank))
    };
    if let Ok(Some(rank)) = first(cheap) {
        return Ok(rank);
    }
    let first = plan::blocks_as_put(held, &def.name, limit.deadline)?.first().map(|(block, _)| block.rank);
    first.ok_or_else(|| held.problem(&def.name, RecordProblem::NoRecords(def.dtype)))
}

/// The conversion from one type to the other; counted if it had to be worked out.
pub(crate) fn conversion(
    held: &HeldStep,
    from: &RecordSchema,
    to: &RecordSchema,
    loss: Loss,
) -> Result<Arc<Conversion>, Incompatible> {
    let (conversion, is_new) = held.shared.types.conversion(from, to, loss)?;
    Counters::add(&held.shared.counters.conversions, usize::from(is_new && from != to));
    Ok(conversion)
}
