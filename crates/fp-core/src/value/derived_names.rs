//! What derived variables are called in a step. A subscriber asks for them, and only the result crosses the wire.
//!
//! A subscription carries each derivation as its canonical bytes. A publisher rank derives from the blocks that were
//! put in a step, before it reports the step. It puts the result beside them, under a name made of the derivation's id,
//! and its definition says that it is derived. So two subscriptions that ask for the same share one result, and layouts, wants and transports know nothing of it.
//!
//! A result is a global array if each rank has blocks of it. A result that needs all ranks to be whole, or is
//! compressed on its way, is a local array of bytes. Each rank puts a part, and the subscriber puts the parts together
//! when it first reads them in a step. A subscriber may derive by itself instead, or let the bytes decide on which
//! side. What could not be derived is told in another local array, as text.

use fp_transform::{Derivation, DerivationId, DerivationPlan, Operation};
use fp_types::{StepTable, TableEntry, VariableOrigin};

pub(crate) fn derived_name(id: DerivationId) -> String {
    VariableOrigin::Derived.name_of(&[&id.to_string()])
}

pub(crate) fn failed_name(id: DerivationId) -> String {
    VariableOrigin::Failed.name_of(&[&id.to_string()])
}

/// What blocks are called that are made of those of a variable when a subscriber asks for them.
pub(crate) fn made_name(variable: &str, transforms: &[String]) -> String {
    let path = std::iter::once(variable).chain(transforms.iter().map(String::as_str));
    VariableOrigin::Made.name_of(&path.collect::<Vec<_>>())
}

/// What a step has under such a name. What a publisher put there is something else.
pub(crate) fn entry_not_put<'t>(table: &'t StepTable, name: &str) -> Option<&'t TableEntry> {
    table.entry(name).filter(|entry| entry.def.origin != VariableOrigin::Put)
}

/// Whether results travel as a part of each rank, to be put together where they are read.
pub(crate) fn is_packed(derivation: &Derivation) -> bool {
    derivation.compression().is_some() || derivation.operations().last().is_some_and(Operation::gathers)
}

/// Whether less travels if the inputs do. All ranks of both sides decide by this, and by the same shapes, so that
/// nothing need be agreed on. Measured sizes would not do: a rank that has not made a result does not know its size.
/// Only the elements decide how many points or rows there are: they are taken to be few. Results are taken to be as
/// long as before compression. So what grows is left to the subscriber, though it might be compressed to less than its
/// inputs.
pub(crate) fn is_better_left(plan: &DerivationPlan) -> bool {
    let (input_bytes, output_bytes) = plan.len_bytes();
    input_bytes < output_bytes && plan.outputs().iter().all(|of| !of.at_most)
}
