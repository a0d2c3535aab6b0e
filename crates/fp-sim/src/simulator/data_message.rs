//! What travels between the data planes of two processes.

use crate::simulator::names::{FetchId, SlotId};
use crate::simulator::store::Cell;
use fp_types::StepId;

/// A block as its owner describes it: where it is, and what was there when it was read.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) variable: &'static str,
    pub(crate) index: u32,
    pub(crate) cell: Cell,
    pub(crate) values: Vec<u64>,
}

/// A message between two processes' data planes.
#[derive(Clone, Debug)]
pub(crate) enum DataMessage {
    /// A subscriber rank wants to hear where blocks are.
    Want { reader: SlotId, owner: SlotId },
    /// An owner says where the blocks of a step are.
    Placed { owner: SlotId, reader: SlotId, step: StepId, pieces: Vec<Piece> },
    /// A subscriber rank asks for the blocks of a variable.
    Fetch { reader: SlotId, owner: SlotId, fetch: FetchId, step: StepId, variable: &'static str },
    /// The answer; nothing if the step is not there.
    Fetched { owner: SlotId, reader: SlotId, fetch: FetchId, pieces: Option<Vec<Piece>> },
}

impl DataMessage {
    /// Who sends it, and to whom.
    pub(crate) fn ends(&self) -> (SlotId, SlotId) {
        match self {
            Self::Want { reader, owner } | Self::Fetch { reader, owner, .. } => (*reader, *owner),
            Self::Placed { owner, reader, .. } | Self::Fetched { owner, reader, .. } => (*owner, *reader),
        }
    }
}
