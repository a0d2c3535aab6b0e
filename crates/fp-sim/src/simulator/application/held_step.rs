//! A step that a subscriber rank has taken and not let go: how far it has read it, and what it still looks at.

use crate::simulator::names::{CohortId, FetchId, SlotId};
use crate::simulator::store::Cell;
use fp_proto::time::Moment;
use fp_types::{Rank, StepId, TableId};
use std::collections::BTreeMap;

/// A step of an attachment.
pub(crate) type StepKey = (usize, StepId);

/// The table of a step as far as this rank asked for it.
pub(crate) type KnownTable = (usize, TableId, Vec<&'static str>);

/// How far reading a step is.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    Resolving,
    /// Fetches that are not answered, each with the owner and the variable.
    Fetching(BTreeMap<FetchId, (Rank, &'static str)>),
    /// Everything is here; it looks at it until then.
    Holding(Moment),
}

/// A view of a block: memory of a publisher rank, and what must be there.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) owner: SlotId,
    pub(crate) cell: Cell,
    pub(crate) variable: &'static str,
    pub(crate) values: Vec<u64>,
}

/// A step that a rank has taken and not let go.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) publisher: CohortId,
    pub(crate) table: KnownTable,
    pub(crate) progress: Progress,
    pub(crate) views: Vec<View>,
}

impl Held {
    /// When it is to be let go, if that is known.
    pub(crate) fn until(&self) -> Option<Moment> {
        match self.progress {
            Progress::Holding(until) => Some(until),
            Progress::Resolving | Progress::Fetching(_) => None,
        }
    }
}
