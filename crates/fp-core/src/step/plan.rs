//! From what is asked of a variable in a step to the plan that gets it.

use crate::data::taker::fetch_plan::{FetchPlan, PlanKey, PlanQuery};
use crate::error::ReadError;
use crate::error::misuse::Misuse;
use crate::step::held::HeldStep;
use crate::step::request::Request;
use crate::value::bool_check::goes_with;
use crate::value::select::{NoSelection, Select};
use fp_proto::message::ResolveQuery;
use fp_types::{
    ArrayKind, BlockId, Dtype, Layout, MemoryOrder, PlanError, Region, Selection, Shape, StepTable,
    TableEntry, VariableDef,
};
use std::sync::Arc;
use std::time::Instant;

/// The same of a variable of the step, whether it was subscribed to or not.
pub(crate) fn blocks_as_put(
    held: &HeldStep,
    variable: &str,
    deadline: Instant,
) -> Result<Vec<(BlockId, Region)>, ReadError> {
    let query = ResolveQuery { variable: variable.to_owned(), selection: Selection::All };
    let table = held.resolve(vec![query], deadline)?;
    let entry = held.entry(&table, variable)?;
    Ok(entry.layout.blocks().collect())
}

/// The plan for what a publisher made of the step when it was asked for: of this step alone, so it is not kept.
pub(crate) fn planned_there(
    held: &HeldStep,
    entry: &TableEntry,
    request: Request<'_>,
) -> Result<Arc<FetchPlan>, ReadError> {
    let key = key(held, request.of_variable(&entry.def.name), entry.layout.shape())?;
    of_layout(held, entry.def.clone(), &entry.layout, &key).map(Arc::new)
}

/// The plan for a variable of the step.
pub(crate) fn planned_as_put(held: &HeldStep, request: Request<'_>) -> Result<Arc<FetchPlan>, ReadError> {
    let planned = match recent_plan(held, request) {
        Some(planned) => planned,
        None => found_plan(held, request)?,
    };
    check_dtype(held, &planned, request.dtype)?;
    Ok(planned)
}

fn recent_plan(held: &HeldStep, request: Request<'_>) -> Option<Arc<FetchPlan>> {
    let Request { variable, select, has_fill: fill, .. } = request;
    let (table, selection, order) = (held.assignment.table, select.exact()?, select.order());
    let query = PlanQuery { epoch: held.epoch, table, variable, selection, fill, order };
    held.shared.plans.find_recent(&query)
}

fn found_plan(held: &HeldStep, request: Request<'_>) -> Result<Arc<FetchPlan>, ReadError> {
    let shape = match request.select.needs_shape() {
        true => {
            let table = held.table(request.deadline)?;
            held.entry(&table, request.variable)?.layout.shape().copied()
        }
        false => None,
    };
    let key = key(held, request, shape.as_ref())?;
    match held.shared.plans.find(&key) {
        Some(planned) => Ok(planned),
        None => plan(held, key, request.deadline),
    }
}

/// The plan for a variable of the step, if it was made before.
pub(crate) fn known_plan_as_put(
    held: &HeldStep,
    request: Request<'_>,
) -> Result<Option<Arc<FetchPlan>>, ReadError> {
    let shape = match request.select.needs_shape() {
        true => {
            let Some(table) = held.known_table() else { return Ok(None) };
            held.entry(&table, request.variable)?.layout.shape().copied()
        }
        false => None,
    };
    let key = key(held, request, shape.as_ref())?;
    let Some(planned) = held.shared.plans.find(&key) else { return Ok(None) };
    check_dtype(held, &planned, request.dtype)?;
    Ok(Some(planned))
}

/// Whether the variable may be read.
pub(crate) fn admit(held: &HeldStep, variable: &str) -> Result<(), ReadError> {
    held.shared.check_open()?;
    let step = held.step();
    match held.wants.contains(variable) {
        true => Ok(()),
        false => Err(held.misuse(Misuse::NotSubscribed { step, variable: variable.to_owned() })),
    }
}

/// What a plan is known by.
pub(crate) fn key(
    held: &HeldStep,
    request: Request<'_>,
    shape: Option<&Shape>,
) -> Result<PlanKey, ReadError> {
    let (step, epoch) = held.identity();
    let Request { variable, select, has_fill: fill, .. } = request;
    let (table, variable, order) = (held.assignment.table, variable.to_owned(), select.order());
    match select.resolve(shape) {
        Ok(selection) => {
            check_rank(held, &variable, &selection)?;
            Ok(PlanKey { epoch, table, variable, selection, fill, order })
        }
        Err(NoSelection::Shape(source)) => {
            Err(held.misuse(Misuse::Selection { step, variable, source: Box::new(source) }))
        }
        Err(NoSelection::Local) => Err(held.misuse(Misuse::WrongKind {
            variable,
            kind: ArrayKind::LocalArray.to_string(),
            instead: "it has no positions over all ranks: select a rank, a block or all, as [rank 0], [block 0.1] or [...]",
        })),
        Err(NoSelection::Text(source)) => {
            Err(held.misuse(Misuse::SelectionText { variable, source: Box::new(source) }))
        }
    }
}

/// A rank that is selected must be one of the publisher's. It may have put nothing, but no other puts anything.
fn check_rank(held: &HeldStep, variable: &str, selection: &Selection) -> Result<(), ReadError> {
    let Selection::Rank(rank) = *selection else { return Ok(()) };
    let publisher_size = held.shared.endpoint.inspect(|state| {
        let of_epoch = held.epoch.is_some() && state.machine.attachment() == held.epoch;
        of_epoch.then(|| state.machine.publisher_size())
    });
    match publisher_size.filter(|&ranks| rank.0 >= ranks) {
        None => Ok(()),
        Some(ranks) => {
            let (step, variable) = (held.step(), variable.to_owned());
            Err(held.misuse(Misuse::NoSuchRank { step, variable, rank, ranks }))
        }
    }
}

/// Whether the variable has the element type that is asked for, if one is.
pub(crate) fn check_dtype(
    held: &HeldStep,
    planned: &FetchPlan,
    dtype: Option<Dtype>,
) -> Result<(), ReadError> {
    let (step, expected) = (held.step(), planned.def.dtype);
    match dtype.filter(|&found| !goes_with(expected, found)) {
        None => Ok(()),
        Some(found) if planned.def.record.is_some() => {
            let variable = planned.def.name.clone();
            Err(held.misuse(Misuse::NoNumbers { step, variable, found }))
        }
        Some(found) => {
            let variable = planned.def.name.clone();
            Err(held.misuse(Misuse::WrongDtype { step, variable, expected, found }))
        }
    }
}

fn plan(held: &HeldStep, key: PlanKey, deadline: Instant) -> Result<Arc<FetchPlan>, ReadError> {
    let query = ResolveQuery { variable: key.variable.clone(), selection: key.selection.clone() };
    let table = held.resolve(vec![query], deadline)?;
    make_plan(held, &table, key)
}

/// The plans for whole blocks of variables, with elements in that order: one question for all that are not known.
pub(crate) fn planned_blocks(
    held: &HeldStep,
    wanted: &[(&str, BlockId)],
    order: MemoryOrder,
    deadline: Instant,
) -> Result<Vec<Arc<FetchPlan>>, ReadError> {
    let there = |&(variable, _): &(&str, BlockId)| held.there.find(variable);
    if let Some(entries) = wanted.iter().map(there).collect::<Option<Vec<_>>>() {
        let plan = |(&(variable, block), entry): (&(&str, BlockId), Arc<TableEntry>)| {
            let select = Select::from(block).with_order(order);
            planned_there(held, &entry, Request::new(variable, &select, deadline))
        };
        return wanted.iter().zip(entries).map(plan).collect();
    }
    let key = |&(variable, block): &(&str, BlockId)| {
        let select = Select::from(block).with_order(order);
        key(held, Request::new(variable, &select, deadline), None)
    };
    let keys: Vec<PlanKey> = wanted.iter().map(key).collect::<Result<_, _>>()?;
    let query =
        |key: &PlanKey| ResolveQuery { variable: key.variable.clone(), selection: key.selection.clone() };
    let unknown = keys.iter().filter(|key| held.shared.plans.find(key).is_none()).map(query);
    let unknown: Vec<ResolveQuery> = unknown.collect();
    let table = match unknown.is_empty() {
        true => None,
        false => Some(held.resolve(unknown, deadline)?),
    };
    let plan = |key: PlanKey| match (held.shared.plans.find(&key), &table) {
        (Some(planned), _) => Ok(planned),
        (None, Some(table)) => make_plan(held, table, key),
        (None, None) => plan(held, key, deadline),
    };
    keys.into_iter().map(plan).collect()
}

fn make_plan(held: &HeldStep, table: &StepTable, key: PlanKey) -> Result<Arc<FetchPlan>, ReadError> {
    let entry = held.entry(table, &key.variable)?;
    let planned = Arc::new(of_layout(held, entry.def.clone(), &entry.layout, &key)?);
    held.shared.plans.keep(key, planned.clone());
    Ok(planned)
}

/// The plan for a selection of what lies so, or why there is none.
pub(crate) fn of_layout(
    held: &HeldStep,
    def: Arc<VariableDef>,
    layout: &Layout,
    key: &PlanKey,
) -> Result<FetchPlan, ReadError> {
    FetchPlan::of_layout(def, layout, key).map_err(|error| {
        let (step, variable) = (held.step(), key.variable.clone());
        if let PlanError::Selection(source) = error {
            return held.misuse(Misuse::Selection { step, variable, source: Box::new(source) });
        }
        ReadError::Plan { stream: held.stream().to_owned(), step, variable, source: error }
    })
}
