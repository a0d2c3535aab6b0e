//! What a caller may do wrong, with the values that were wrong.

use crate::error::record_block::RecordBlockError;
use fp_proto::commands::CommandError;
use fp_types::record::ElementConversionError;
use fp_types::{Dtype, ParseSelectionError, Rank, Region, SelectionError, Shape, StepId};

/// What the caller did wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The handle was opened by the process that this one was forked from.
    #[error("this handle belongs to the parent process: a forked child must open its own")]
    Forked,
    /// The subscriber that took the step was closed.
    #[error("the subscriber is closed: take what you need of a step before you close it")]
    Closed,
    /// A step was to be given back, and nobody would get it.
    #[error(
        "step {step}: nobody would get it again, as this subscriber is no member of a work-sharing set that redelivers; it is released"
    )]
    NotRedelivered {
        /// The step.
        step: StepId,
    },
    /// Who takes every step reads none while it waits for an answer, and the publisher would wait for it.
    #[error(
        "a subscriber that takes every step asks for nothing: while it waits for the answer, the simulation would wait for it; \
         ask by a subscriber of its own, with DropOldest and no variables"
    )]
    RequestHoldsUp,
    /// A subscriber that was opened without a condition gets every step that its policy leaves it.
    #[error(
        "this subscriber was opened without a condition, and goes on without one: open another one with a condition"
    )]
    NoCondition,
    /// Only rank 0 of a cohort asks the simulation for something, or its publisher for another condition.
    #[error("rank {rank} may not ask for that: only rank 0 of a cohort may")]
    NotLead {
        /// The rank that asked.
        rank: Rank,
    },
    /// A step is open already.
    #[error("step {0}: it is still open: end or drop its writer first")]
    StepOpen(StepId),
    /// The step is not open any more.
    #[error("step {0}: it is not open any more")]
    StepNotOpen(StepId),
    /// The element type differs from the variable's.
    #[error("step {step}, variable {variable:?}: elements are {expected}, not {found}")]
    WrongDtype {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The variable's element type.
        expected: Dtype,
        /// The caller's.
        found: Dtype,
    },
    /// Numbers are asked of records.
    #[error(
        "step {step}, variable {variable:?}: elements are records, not {found}: read them by records or get_records"
    )]
    NoNumbers {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The caller's element type.
        found: Dtype,
    },
    /// The number of elements differs from the region's.
    #[error("step {step}, variable {variable:?}: {region} has {expected} elements, but {found} were given")]
    WrongLen {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The region, in words.
        region: String,
        /// Its elements.
        expected: u64,
        /// The caller's.
        found: u64,
    },
    /// The region lies outside the variable's shape.
    #[error("step {step}, rank {rank}, variable {variable:?}: region {region} is not inside shape {shape}")]
    OutsideShape {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// The variable.
        variable: String,
        /// The region.
        region: Box<Region>,
        /// The shape.
        shape: Box<Shape>,
    },
    /// The same block, or two definitions of one variable, in one step.
    #[error("step {step}, rank {rank}, variable {variable:?}: {what}")]
    PutTwice {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// The variable.
        variable: String,
        /// What was put twice.
        what: &'static str,
    },
    /// A call that does not go with the variable's kind.
    #[error("variable {variable:?}: it is a {kind}: {instead}")]
    WrongKind {
        /// The variable.
        variable: String,
        /// Its kind.
        kind: String,
        /// What to call instead.
        instead: &'static str,
    },
    /// The step has no such variable.
    #[error("step {step}: it has no variable {variable:?}, but: {}", known.join(", "))]
    UnknownVariable {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// The subscription did not ask for this variable.
    #[error("step {step}, variable {variable:?}: it is not among those subscribed to")]
    NotSubscribed {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
    },
    /// A selection that does not go with the array.
    #[error("step {step}, variable {variable:?}: {source}")]
    Selection {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        r#source: Box<SelectionError>,
    },
    /// A rank is selected that the publisher does not have.
    #[error(
        "step {step}, variable {variable:?}: there is no rank {rank}: the publisher has {ranks}, counted from 0"
    )]
    NoSuchRank {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The rank.
        rank: Rank,
        /// How many ranks the publisher has.
        ranks: u32,
    },
    /// A text that is no selection.
    #[error("variable {variable:?}: {source}")]
    SelectionText {
        /// The variable.
        variable: String,
        /// Why.
        r#source: Box<ParseSelectionError>,
    },
    /// Scalars of one step are too large, or the like.
    #[error(transparent)]
    Command(CommandError),
    /// The step is larger than the publisher's bound.
    #[error(
        "step {step}, rank {rank}: {len_bytes} bytes exceed the bound of {limit_bytes}: raise limit_bytes, or FLEXPATH_LIMIT_BYTES of the process"
    )]
    StepTooLarge {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// Its bytes with this block.
        len_bytes: u64,
        /// The bound.
        limit_bytes: u64,
    },
    /// A promised variable is missing.
    #[error("step {step}, rank {rank}: promised variable {variable:?} was not put")]
    PromiseBroken {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// The variable.
        variable: String,
    },
    /// A put failed, and the options refuse a step without it.
    #[error("step {step}, rank {rank}: nobody gets it, as a put of it failed: {what}")]
    StepIncomplete {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// Why the first such put failed.
        what: String,
    },
    /// A byte of a truth value that is neither 0 nor 1.
    #[error("variable {variable:?}: it is of truth values, 0 or 1, and has a byte of {value}")]
    NoTruthValue {
        /// The variable.
        variable: String,
        /// The byte.
        value: u8,
    },
    /// The number of bytes differs from that of the region's elements.
    #[error(
        "step {step}, variable {variable:?}: {region} has {expected_bytes} bytes, but {found_bytes} were given"
    )]
    WrongLenBytes {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The region, in words.
        region: String,
        /// The bytes of its elements.
        expected_bytes: u64,
        /// The caller's.
        found_bytes: u64,
    },
    /// Bytes that are to be a text and are none.
    #[error("variable {variable:?}: it is a text, and what was given is no UTF-8")]
    NoText {
        /// The variable.
        variable: String,
    },
    /// Records of another type than the variable's.
    #[error("step {step}, variable {variable:?}: records are {expected:?}, not this {found:?}")]
    WrongRecord {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The variable's record type.
        expected: String,
        /// The caller's, which has another fingerprint.
        found: String,
    },
    /// A Rust type that is no record type, or not laid out as one.
    #[error("variable {variable:?}: {source}")]
    NoRecords {
        /// The variable.
        variable: String,
        /// Why.
        r#source: Box<RecordBlockError>,
    },
    /// A rank puts records of so many types.
    #[error("variable {variable:?}: one type of records too many; a rank may put 4096")]
    TooManyTypes {
        /// The variable.
        variable: String,
    },
    /// Elements are asked for as another type, which they do not become.
    #[error("step {step}, variable {variable:?}: {source}")]
    NoConversion {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        r#source: ElementConversionError,
    },
    /// Nothing is derived by that name, so it cannot be made elsewhere.
    #[error("{variable:?} is nothing that was asked to be derived; these are: {}", .known.join(", "))]
    NotPlaced {
        /// The name.
        variable: String,
        /// Those that can.
        known: Vec<String>,
    },
    /// A transform is to be done here, and this process does not know it.
    #[error("{variable:?} cannot be made here: this process knows no transform {transform:?}; it knows: {}", .known.join(", "))]
    NoTransformHere {
        /// The variable.
        variable: String,
        /// The transform.
        transform: String,
        /// Those that it knows.
        known: Vec<String>,
    },
    /// The view needs one contiguous piece of one block.
    #[error("step {step}, variable {variable:?}: the selection is no contiguous part of one block: use get")]
    NotViewable {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
    },
}

impl Misuse {
    /// The variable at fault is known to its user by that name.
    pub(crate) fn rename(&mut self, name: &str) {
        if let Self::WrongDtype { variable, .. }
        | Self::NoNumbers { variable, .. }
        | Self::WrongLen { variable, .. }
        | Self::Selection { variable, .. }
        | Self::NoSuchRank { variable, .. }
        | Self::SelectionText { variable, .. } = self
        {
            name.clone_into(variable);
        }
    }
}
