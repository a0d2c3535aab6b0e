//! Reading a derived variable: as any array where its blocks were put, else by putting together what each rank has.

use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::options::functions::{CallProblem, Caller, Foreign};
use crate::session::derived_variables::DerivedRequest;
use crate::step::held::{HeldStep, Merged, VariableInfo};
use crate::step::plan;
use crate::step::request::Request;
use crate::step::source::inputs::{
    RankRows, Unusable, element_types, entries, plan_in, plan_now, together_in,
};
use crate::step::source::{inputs, parts};
use crate::value::counters::Counters;
use crate::value::derivation_inputs::{Part, are_rows_better_left, must_be_left};
use crate::value::derive_pool::pool;
use crate::value::derived_names::{entry_not_put, is_better_left};
use crate::value::packed::unpack;
use fp_transform::{Array, CohortSide, DerivationPlan, Derived, OutputType};
use fp_types::{BlockId, Layout, Rank, StepTable, VariableDef, VariableOrigin};
use std::sync::Arc;
use std::time::Instant;

/// The plan for a derived variable.
pub(crate) fn planned_derived(
    held: &HeldStep,
    (asked, part): (&DerivedRequest, &str),
    request: Request<'_>,
) -> Result<Arc<FetchPlan>, ReadError> {
    let table = held.table(request.deadline)?;
    let is_left = is_left(held, asked, &table);
    if !is_left {
        check_derived(held, asked, &table, request.deadline)?;
    }
    if !asked.is_packed && !is_left {
        let planned = plan::planned_as_put(held, request.of_variable(&asked.variable));
        return planned.map_err(|error| error.renamed(&asked.name));
    }
    let planned = Arc::new(planned_merged(held, (asked, part), &table, request)?);
    plan::check_dtype(held, &planned, request.dtype)?;
    Ok(planned)
}

/// The same, if it was made before and all is well.
pub(crate) fn known_plan_derived(
    held: &HeldStep,
    asked: &DerivedRequest,
    request: Request<'_>,
) -> Result<Option<Arc<FetchPlan>>, ReadError> {
    let is_there = |table: Arc<StepTable>| {
        entry_not_put(&table, &asked.failed).is_none() && entry_not_put(&table, &asked.variable).is_some()
    };
    let is_as_put = |table: &Arc<StepTable>| !asked.is_packed && !is_left(held, asked, table);
    match held.known_table().filter(is_as_put).is_some_and(is_there) {
        true => plan::known_plan_as_put(held, request.of_variable(&asked.variable))
            .map_err(|e| e.renamed(&asked.name)),
        false => Ok(None),
    }
}

/// Whether it could be derived in this step, on every rank.
pub(crate) fn check_derived(
    held: &HeldStep,
    asked: &DerivedRequest,
    table: &StepTable,
    deadline: Instant,
) -> Result<(), ReadError> {
    if entry_not_put(table, &asked.failed).is_some() {
        return Err(not_derived(held, asked, parts::told(held, &asked.failed, deadline)?));
    }
    match entry_not_put(table, &asked.variable) {
        Some(_) => Ok(()),
        None => Err(not_derived(held, asked, why_missing(held, asked, table))),
    }
}

/// The variable could not be derived in this step, for the reason in `what`.
pub(crate) fn not_derived(held: &HeldStep, asked: &DerivedRequest, what: String) -> ReadError {
    let (stream, step) = (held.stream().to_owned(), held.step());
    let (variable, derivation) = (asked.name.clone(), asked.derivation.to_string());
    ReadError::NotDerived { stream, step, variable, derivation, what }
}

/// The plan for an array that was put together here: its blocks are in this process, and count as those of rank 0.
pub(crate) fn planned_merged(
    held: &HeldStep,
    (asked, part): (&DerivedRequest, &str),
    table: &StepTable,
    request: Request<'_>,
) -> Result<FetchPlan, ReadError> {
    let merged = merged(held, asked, table, request.deadline)?;
    let variable = if part.is_empty() { asked.name.clone() } else { format!("{}.{part}", asked.name) };
    let Some((_, shape, dtype, blocks)) = merged.arrays.iter().find(|(suffix, ..)| *suffix == part) else {
        let suffixes: Vec<String> =
            merged.arrays.iter().map(|(suffix, ..)| format!("{}.{suffix}", asked.name)).collect();
        return Err(not_derived(held, asked, format!("it gives {}", suffixes.join(" and "))));
    };
    let ids = (0..).map(|index| BlockId::new(Rank(0), index));
    let layout = Layout::global(*shape, ids.zip(blocks.iter().map(|block| *block.region())));
    let layout = layout.map_err(|error| not_derived(held, asked, error.to_string()))?;
    let key = plan::key(held, request.of_variable(&variable), Some(shape))?;
    let def = Arc::new(VariableDef::global_array(variable, *dtype, shape.ndims()));
    let planned = plan::of_layout(held, def, &layout, &key)?;
    Ok(FetchPlan { wanted: Vec::new(), here: Some(blocks.clone()), ..planned })
}

/// What all ranks derived, put together; once in a step.
pub(crate) fn merged(
    held: &HeldStep,
    asked: &DerivedRequest,
    table: &StepTable,
    deadline: Instant,
) -> Result<Arc<Merged>, ReadError> {
    if let Some(merged) = held.merged(&asked.variable) {
        return Ok(merged);
    }
    let plan = plan_in(held, asked, table, deadline).map_err(|why| unusable(held, asked, why))?;
    let arrays = match is_left(held, asked, table) {
        true => derive_here(held, asked, &plan, deadline)?,
        false => put_together(held, asked, (&plan, table), deadline)?,
    };
    let merged = Arc::new(Merged::new(plan.outputs(), arrays));
    held.keep_merged(&asked.variable, merged.clone());
    Ok(merged)
}

/// Derives from the inputs, whole.
pub(crate) fn derive_here(
    held: &HeldStep,
    asked: &DerivedRequest,
    plan: &DerivationPlan,
    deadline: Instant,
) -> Result<Vec<Array>, ReadError> {
    let done = match foreign(held, asked) {
        Ok(foreign) => {
            let arrays = inputs_here(held, asked, deadline)?;
            let (left, plan) = (deadline.saturating_duration_since(Instant::now()), plan.clone());
            let done = pool().run(left, move || foreign.attach(plan)?.run(&arrays));
            done.map_err(|error| error.to_string()).and_then(|done| done.map_err(|error| error.to_string()))
        }
        Err(problem) => Err(problem.to_string()),
    };
    let counters = &held.shared.counters;
    let counter = if done.is_ok() { &counters.derivations } else { &counters.failed_derivations };
    Counters::add(counter, 1);
    done.map_err(|what| not_derived(held, asked, what))
}

/// What it needs that is not built in.
pub(crate) fn foreign(held: &HeldStep, asked: &DerivedRequest) -> Result<Foreign, CallProblem> {
    let (derived, transforms) = (&held.shared.derived, held.shared.options.transforms.as_ref());
    let functions = Caller::subscriber(transforms).functions(&asked.derivation)?;
    let (modules, code) = (derived.code.clone(), derived.modules_of(&asked.derivation));
    Ok(Foreign { modules, code, functions })
}

/// The inputs, whole.
pub(crate) fn inputs_here(
    held: &HeldStep,
    asked: &DerivedRequest,
    deadline: Instant,
) -> Result<Vec<Array>, ReadError> {
    inputs::all_here(held, asked, deadline).map_err(|why| match why {
        Unusable::Read(error) => why_not_here(held, asked, error, deadline),
        why @ Unusable::Unfit(_) => unusable(held, asked, why),
    })
}

/// Nothing can be derived from the variables.
fn unusable(held: &HeldStep, asked: &DerivedRequest, why: Unusable) -> ReadError {
    match why {
        Unusable::Unfit(what) => not_derived(held, asked, what),
        Unusable::Read(error) => error,
    }
}

/// The inputs cannot be had: a rank that could not leave them said why.
pub(crate) fn why_not_here(
    held: &HeldStep,
    asked: &DerivedRequest,
    error: ReadError,
    deadline: Instant,
) -> ReadError {
    let is_told = held.known_table().is_some_and(|table| entry_not_put(&table, &asked.failed).is_some());
    match is_told.then(|| parts::told(held, &asked.failed, deadline)) {
        Some(Ok(what)) => not_derived(held, asked, what),
        _ => error,
    }
}

/// Whether it is derived here in this step: because no rank could, or by what is asked for in it. Where that depends on
/// which side has fewer bytes, the shapes decide, which all ranks of both sides know.
pub(crate) fn is_left(held: &HeldStep, asked: &DerivedRequest, table: &StepTable) -> bool {
    let together = together_in(asked, table).unwrap_or(Part::Placed);
    if must_be_left(&asked.derivation, together) {
        let chosen = Some((CohortSide::Subscriber, None));
        held.shared.sides.with_history(&asked.name, |history| history.chosen = chosen);
        return true;
    }
    match asked.requests.placement(&held.wants) {
        CohortSide::Publisher => false,
        CohortSide::Subscriber => true,
        // A rank that could not derive it told so, and left what it would have derived it from.
        CohortSide::FewerBytes => {
            is_chosen_here(held, asked, table, together) || entry_not_put(table, &asked.failed).is_some()
        }
    }
}

/// Which side the shapes choose, to be told by [`Subscriber::placements`](crate::Subscriber::placements).
fn is_chosen_here(held: &HeldStep, asked: &DerivedRequest, table: &StepTable, together: Part) -> bool {
    let Ok((plan, has_shapes)) = plan_now(held, asked, table) else { return false };
    let is_left = match together {
        Part::Placed | Part::Value => is_better_left(&plan),
        Part::Rows { .. } => {
            let types = element_types(&entries(asked, table).unwrap_or_default());
            are_rows_better_left(&asked.derivation, &types).unwrap_or(false)
        }
    };
    let side = if is_left { CohortSide::Subscriber } else { CohortSide::Publisher };
    let (input, output) = plan.len_bytes();
    let bytes = |of: u128| u64::try_from(of).unwrap_or(u64::MAX);
    let chosen = Some((side, has_shapes.then(|| (bytes(input), bytes(output)))));
    held.shared.sides.with_history(&asked.name, |history| history.chosen = chosen);
    is_left
}

/// What each rank derived, as one.
pub(crate) fn put_together(
    held: &HeldStep,
    asked: &DerivedRequest,
    (plan, table): (&DerivationPlan, &StepTable),
    deadline: Instant,
) -> Result<Vec<Array>, ReadError> {
    let parts = parts::parts(held, &asked.variable, deadline)?;
    let rows = match plan.has_places() {
        true => RankRows::of(held, asked, table, deadline)?,
        false => None,
    };
    let mut all: Option<Derived> = None;
    for (rank, bytes) in parts {
        let derived = unpack(plan, &bytes).and_then(|derived| match &rows {
            Some(rows) => plan.placed(derived, rows.dim, rows.of_rank(rank)),
            None => Some(derived),
        });
        let derived = derived.ok_or_else(|| misbehaved(held, rank, asked))?;
        match &mut all {
            None => all = Some(derived),
            Some(all) => all.merge(derived).map_err(|error| not_derived(held, asked, error.to_string()))?,
        }
    }
    let all = all.ok_or_else(|| not_derived(held, asked, "no rank has a part of it".to_owned()))?;
    plan.finish(all).map_err(|error| not_derived(held, asked, error.to_string()))
}

/// A rank's part cannot be read: it broke the protocol.
pub(crate) fn misbehaved(held: &HeldStep, rank: Rank, asked: &DerivedRequest) -> ReadError {
    let what = format!("what it derived by {} cannot be read", asked.derivation);
    held.misbehaved(rank, what)
}

/// What the step has of the variables that this subscription has derived.
pub(crate) fn derived_infos(held: &HeldStep, table: &StepTable) -> Vec<VariableInfo> {
    let infos = |asked: &DerivedRequest| -> Vec<VariableInfo> {
        let is_there = is_left(held, asked, table) || entry_not_put(table, &asked.variable).is_some();
        let (true, Ok((plan, has_shapes))) = (is_there, plan_now(held, asked, table)) else {
            return Vec::new();
        };
        plan.outputs().iter().map(|of| info(asked, of, has_shapes)).collect()
    };
    held.shared.derived.asked().iter().flat_map(infos).collect()
}

/// What the step says of one output of a derivation; without a shape where only the elements decide it.
pub(crate) fn info(asked: &DerivedRequest, of: &OutputType, has_shape: bool) -> VariableInfo {
    let dot = if of.suffix.is_empty() { "" } else { "." };
    let name = format!("{}{dot}{}", asked.name, of.suffix);
    let def =
        VariableDef::global_array(name, of.dtype, of.shape.ndims()).with_origin(VariableOrigin::Derived);
    VariableInfo {
        def: def.with_description(asked.derivation.to_string()),
        shape: (has_shape && !of.at_most).then_some(of.shape),
    }
}

fn why_missing(held: &HeldStep, asked: &DerivedRequest, table: &StepTable) -> String {
    match plan_now(held, asked, table) {
        Err(what) => what,
        Ok(_) => {
            "no rank had anything to derive it from, or the step began before it was asked for".to_owned()
        }
    }
}
