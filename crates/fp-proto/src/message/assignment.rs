//! The assignment of a step.

use super::{Message, ScalarValue};
use fp_types::{Judgement, StepId, TableId};
use serde::{Deserialize, Serialize};

/// The assignment of a step to a subscriber cohort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The step.
    pub step: StepId,
    /// Its table; known already in the steady state, otherwise to be resolved.
    pub table: TableId,
    /// Steps that this subscription lost or dropped since the assignment before.
    pub skipped: u64,
    /// Whether a member had it before, and gave it back or is gone.
    pub redelivered: bool,
    /// Values of global scalars.
    pub values: Vec<ScalarValue>,
    /// Bytes of the whole step over all ranks, as kept.
    pub len_bytes: u64,
    /// Steps of this subscription that wait at the publisher behind this one.
    pub queued_steps: u32,
    /// Why the step is one that the condition asks for, where something was measured for it. It travels beside the
    /// assignment.
    #[serde(skip)]
    pub judgement: Option<Box<Judgement>>,
}

impl Assignment {
    /// The message that tells of it.
    pub(crate) fn into_message(mut self) -> Message {
        match self.judgement.take() {
            None => Message::Assign(self),
            Some(judgement) => Message::AssignJudged { assignment: Box::new(self), judgement },
        }
    }
}
