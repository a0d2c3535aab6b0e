//! What derived variables are called in a step. A subscriber asks for them, and only the result crosses the wire.
//!
//! A subscription carries each derivation as its canonical bytes. A publisher rank derives from the blocks that were
//! put in a step, before it reports the step. It puts the result beside them, under a name made of the derivation's id.
//! So two subscriptions that ask for the same share one result, and layouts, wants and transports know nothing of it.
//!
//! A result is a global array if each rank has blocks of it. A result that needs all ranks to be whole, or is
//! compressed on its way, is a local array of bytes. Each rank puts a part, and the subscriber puts the parts together
//! when it first reads them in a step. A subscriber may derive by itself instead, or let the bytes decide on which
//! side. What could not be derived is told in another local array, as text.

use fp_transform::{Derivation, DerivationId, DerivationPlan, Operation};

/// What follows the id in the name of the array that a derivation gives.
const DERIVED: &str = "#derived";

/// What follows the id in the name of the texts that say why there is none.
const FAILED: &str = "#failed";

/// What follows the id in the name of blocks that were made when somebody asked for them.
const MADE: &str = "#made";

pub(crate) fn derived_name(id: DerivationId) -> String {
    derived_name_of(&id.to_string())
}

pub(crate) fn failed_name(id: DerivationId) -> String {
    failed_name_of(&id.to_string())
}

pub(crate) fn derived_name_of(what: &str) -> String {
    format!("{what}{DERIVED}")
}

pub(crate) fn failed_name_of(what: &str) -> String {
    format!("{what}{FAILED}")
}

/// What blocks are called that were made of those of a variable when a subscriber asked for them.
pub(crate) fn made_name_of(variable: &str, transforms: &[String]) -> String {
    format!("{}{MADE}", fp_transform::made_id(variable, transforms))
}

/// Whether blocks of such a variable, or what they refer to, are made only when somebody asks for them.
pub(crate) fn is_made_when_asked(name: &str) -> bool {
    fp_types::VariableDef::base_name(name).ends_with(MADE)
}

/// Whether a variable of a step is one that users do not know.
pub(crate) fn is_internal(name: &str) -> bool {
    [DERIVED, FAILED, MADE].iter().any(|ending| name.ends_with(ending))
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
