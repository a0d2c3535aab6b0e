//! Where the elements of a variable come from: as put, derived, transformed, or made by their owners.

pub(crate) mod derived;
pub(crate) mod inputs;
pub(crate) mod made;
pub(crate) mod parts;
pub(crate) mod transformed;

use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::options::transformed_variable::TransformedVariable;
use crate::session::derived_variables::DerivedRequest;
use crate::step::held::{HeldStep, VariableInfo};
use crate::step::plan;
use crate::step::request::Request;
use crate::value::limit::Limit;
use fp_types::{BlockId, Region, StepTable, TableEntry};
use std::sync::Arc;

/// Where the elements of a variable come from in a step.
pub(crate) enum Source<'a> {
    /// From the blocks of the publisher's variable.
    AsPut,
    /// From what the subscription had derived; with the part behind a dot.
    Derived(&'a DerivedRequest, &'a str),
    /// From what the subscription had transformed.
    Transformed(&'a TransformedVariable),
    /// From what owners made of their blocks when they were asked to.
    MadeByOwner(Arc<TableEntry>),
}

impl<'a> Source<'a> {
    /// Where the variable of that name comes from, in this step.
    pub(crate) fn of(held: &'a HeldStep, variable: &'a str) -> Self {
        if let Some(entry) = held.there.find(variable) {
            return Self::MadeByOwner(entry);
        }
        Self::of_subscription(held, variable)
    }

    /// The same, without what owners made in this step alone.
    pub(crate) fn of_subscription(held: &'a HeldStep, variable: &'a str) -> Self {
        if let Some((request, part)) = held.shared.derived.find(variable) {
            return Self::Derived(request, part);
        }
        held.shared.options.transformed_variable(variable).map_or(Self::AsPut, Self::Transformed)
    }
}

/// The plan, asking the publisher for what is not known of the layout.
pub(crate) fn planned(held: &HeldStep, request: Request<'_>) -> Result<Arc<FetchPlan>, ReadError> {
    match Source::of(held, request.variable) {
        Source::AsPut => {
            plan::admit(held, request.variable)?;
            plan::planned_as_put(held, request)
        }
        Source::Derived(asked, part) => derived::planned_derived(held, (asked, part), request),
        Source::Transformed(asked) => transformed::planned_transformed(held, asked, request),
        Source::MadeByOwner(entry) => {
            let planned = plan::planned_there(held, &entry, request)?;
            plan::check_dtype(held, &planned, request.dtype)?;
            Ok(planned)
        }
    }
}

/// The plan, if it was made before.
pub(crate) fn known_plan(held: &HeldStep, request: Request<'_>) -> Result<Option<Arc<FetchPlan>>, ReadError> {
    match Source::of_subscription(held, request.variable) {
        Source::AsPut => {
            plan::admit(held, request.variable)?;
            plan::known_plan_as_put(held, request)
        }
        Source::Derived(asked, _) => derived::known_plan_derived(held, asked, request),
        Source::Transformed(_) | Source::MadeByOwner(_) => Ok(None),
    }
}

/// Every block of a variable, with its region.
pub(crate) fn blocks(held: &HeldStep, variable: &str) -> Result<Vec<(BlockId, Region)>, ReadError> {
    let deadline = held.deadline();
    match Source::of_subscription(held, variable) {
        Source::Transformed(asked) if made::is_made_here(held, asked) => {
            made::made_blocks(held, asked, deadline.into())
        }
        Source::Transformed(asked) => plan::blocks_as_put(held, &asked.result, deadline),
        Source::Derived(asked, _) => plan::blocks_as_put(held, &asked.variable, deadline),
        Source::AsPut | Source::MadeByOwner(_) => {
            plan::admit(held, variable)?;
            plan::blocks_as_put(held, variable, deadline)
        }
    }
}

/// The step's variables, by name.
pub(crate) fn variables(held: &HeldStep, limit: Limit<'_>) -> Result<Vec<VariableInfo>, ReadError> {
    held.table(limit.deadline).map(|table| infos(held, &table))
}

/// What a table says of the variables, derived ones among them.
pub(crate) fn infos(held: &HeldStep, table: &StepTable) -> Vec<VariableInfo> {
    let known = table.entries().iter().filter(|entry| entry.def.is_public());
    let info =
        |entry: &TableEntry| VariableInfo { def: (*entry.def).clone(), shape: entry.layout.shape().copied() };
    let mut infos: Vec<VariableInfo> = known.map(info).collect();
    let mut derived = derived::derived_infos(held, table);
    derived.extend(transformed::received_infos(held, table));
    infos.retain(|info| derived.iter().all(|hides| hides.def.name != info.def.name));
    infos.extend(derived);
    infos.sort_by(|one, other| one.def.name.cmp(&other.def.name));
    infos
}
