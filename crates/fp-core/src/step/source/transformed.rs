//! Reading what the publisher sent through a transform of its own: as any variable of records, under another name.

use crate::data::taker::fetch_plan::{FetchPlan, names};
use crate::error::ReadError;
use crate::error::transform::TransformProblem;
use crate::options::transformed_variable::TransformedVariable;
use crate::step::held::{HeldStep, VariableInfo};
use crate::step::request::Request;
use crate::step::source::{made, parts};
use crate::step::{plan, side_cost};
use crate::value::derived_names::entry_not_put;
use crate::value::limit::Limit;
use fp_types::{Rank, Selection, StepTable};
use std::sync::Arc;
use std::time::Instant;

/// The plan for what the publisher transformed.
pub(crate) fn planned_transformed(
    held: &HeldStep,
    asked: &TransformedVariable,
    request: Request<'_>,
) -> Result<Arc<FetchPlan>, ReadError> {
    if made::is_made_here(held, asked) {
        let planned = made::planned_made(held, asked, request)?;
        plan::check_dtype(held, &planned, request.dtype)?;
        return Ok(planned);
    }
    let table = held.table(request.deadline)?;
    if let Some(what) = why_not_received(held, asked, &table, request.deadline)? {
        return Err(made::not_made(held, asked, "by the publisher", TransformProblem::Publisher { what }));
    }
    side_cost::weigh_received(held, asked, &table, request.deadline);
    let planned = plan::planned_as_put(held, request.of_variable(&asked.result));
    planned.map_err(|error| error.renamed(&asked.name))
}

/// Why there is nothing in this step, if there is nothing.
pub(crate) fn why_not_received(
    held: &HeldStep,
    asked: &TransformedVariable,
    table: &StepTable,
    deadline: Instant,
) -> Result<Option<String>, ReadError> {
    if entry_not_put(table, &asked.failed).is_some() {
        return parts::told(held, &asked.failed, deadline).map(Some);
    }
    if entry_not_put(table, &asked.result).is_some() {
        return Ok(None);
    }
    Ok(Some(match table.entry(&asked.variable) {
        None => {
            format!("there is no variable {:?}; there are {}", asked.variable, names(table).join(", "))
        }
        Some(entry) if entry.def.record.is_none() => {
            format!("its elements are {}, no records", entry.def.dtype)
        }
        Some(_) => "no rank put any records, or the step began before it was asked for".to_owned(),
    }))
}

/// A rank that put a block of it.
pub(crate) fn sender(
    held: &HeldStep,
    asked: &TransformedVariable,
    limit: Limit<'_>,
) -> Result<Option<Rank>, ReadError> {
    let all = Selection::All.into();
    let planned = plan::planned_as_put(held, Request::new(&asked.result, &all, limit.deadline).with_fill())?;
    Ok(planned.plan.pieces.first().map(|piece| piece.block.rank))
}

/// What the step has of what the publisher was asked for.
pub(crate) fn received_infos(held: &HeldStep, table: &StepTable) -> Vec<VariableInfo> {
    let info = |asked: &TransformedVariable| {
        if made::is_made_here(held, asked) {
            return made::made_info(held, asked, table);
        }
        let entry = entry_not_put(table, &asked.result)?;
        let mut def = (*entry.def).clone();
        def.name.clone_from(&asked.name);
        Some(VariableInfo { def, shape: entry.layout.shape().copied() })
    };
    held.shared.options.transformed().filter_map(info).collect()
}
