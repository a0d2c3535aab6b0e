//! The work itself: blocks of records through transforms, by a thread that may wait for these.

use crate::coordinator::workers::Task;
use crate::data::owner::block::BlockBytes;
use crate::data::owner::block_store::BlockStore;
use crate::error::record_block::RecordBlockError;
use crate::error::transform::TransformProblem;
use crate::records::apply::{ApplyProblem, Applying, given_def};
use crate::records::block::RecordBlock;
use fp_transform::{CallError, DeriveError, PoolError, Transforms};
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{ArrayKind, Region, Shape, StepId, VariableDef, VariableOrigin};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

/// Why a block is not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MakeProblem {
    #[error("this publisher offers no transform {name:?} of {kind}s of records")]
    NotOffered { name: String, kind: ArrayKind },
    #[error(transparent)]
    Apply(#[from] ApplyProblem),
    #[error(transparent)]
    Array(#[from] DeriveError),
    #[error(transparent)]
    Records(#[from] RecordBlockError),
    #[error("the records cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("the step is gone")]
    Gone,
    #[error("it ended in a panic")]
    Panicked,
    #[error("too many types of records were put here")]
    TooManyTypes,
    #[error("no room for {len_bytes} bytes of results: live steps take all that this stream may hold")]
    NoRoom { len_bytes: u64 },
}

/// A block before and after.
pub(crate) struct Source {
    pub(crate) index: u32,
    pub(crate) region: Region,
    pub(crate) fixed: BlockBytes,
    /// What the fixed parts refer to.
    pub(crate) parts: Option<BlockBytes>,
}

impl Source {
    /// A copy: a transform that is stuck keeps what it got, which must never be memory that another step is put into.
    fn records(&self) -> Result<Payload, MakeProblem> {
        let mut records = Vec::new();
        for bytes in [Some(&self.fixed), self.parts.as_ref()].into_iter().flatten() {
            match bytes {
                BlockBytes::Memory(payload) => records.extend_from_slice(payload.as_slice()),
                BlockBytes::Stored(stored) => {
                    records.append(&mut stored.read().map_err(MakeProblem::Unreadable)?)
                }
            }
        }
        Ok(Payload::from_owner(records))
    }
}

pub(crate) struct MadeOne {
    pub(crate) index: u32,
    pub(crate) region: Region,
    pub(crate) block: RecordBlock,
}

/// Blocks that are to be sent through transforms, by a thread that may wait for these.
pub(crate) struct MakeTask {
    pub(crate) server: Weak<BlockStore>,
    pub(crate) transforms: Option<Transforms>,
    pub(crate) step: StepId,
    pub(crate) name: String,
    pub(crate) def: Arc<VariableDef>,
    pub(crate) schema: RecordSchema,
    pub(crate) path: Vec<String>,
    pub(crate) sources: Vec<Source>,
}

pub(crate) type Outcome = Result<MadeOne, MakeProblem>;

/// What the results of a task are blocks of, and these.
pub(crate) type Results = Result<(Arc<VariableDef>, Vec<Outcome>), MakeProblem>;

impl Task for MakeTask {
    fn stream(&self) -> usize {
        self.server.as_ptr() as usize
    }

    fn run(&self) {
        let made = catch_unwind(AssertUnwindSafe(|| self.make()));
        if let Some(server) = self.server.upgrade() {
            server.made(self, made.unwrap_or(Err(MakeProblem::Panicked)));
        }
    }

    fn is_withdrawn(&self) -> bool {
        self.server.strong_count() == 0
    }
}

impl MakeTask {
    /// What comes of each block; of all of them the same where none can be made.
    fn make(&self) -> Results {
        let legs = self.legs()?;
        let keeps_places = legs.iter().all(|leg| leg.keeps_places);
        let given = legs.last().map_or(&self.schema, |leg| &leg.given);
        let def = Arc::new(given_def((&self.name, VariableOrigin::Made), &self.def, keeps_places, given));
        let made = self.sources.iter().map(|source| self.make_one(source, &legs, keeps_places));
        Ok((def, made.collect()))
    }

    /// Whether the step is there. Asking keeps nothing: neither the block store nor, of what was released, more than a
    /// copy.
    fn is_wanted(&self) -> bool {
        self.server.upgrade().is_some_and(|server| server.lock().steps.contains_key(&self.step))
    }

    /// The transforms, one after the other; each must be one that is offered.
    fn legs(&self) -> Result<Vec<Applying>, MakeProblem> {
        let offers = self.transforms.as_ref().map(Transforms::offers).unwrap_or_default();
        let (mut legs, mut found, mut kind) = (Vec::new(), self.schema.clone(), self.def.kind);
        for name in &self.path {
            let leg = Applying::find((self.transforms.as_ref(), "publisher"), name, (Some(&found), kind))?;
            if offers.iter().all(|offer| offer.name != *name) {
                return Err(MakeProblem::NotOffered { name: name.clone(), kind });
            }
            found = leg.given.clone();
            if !leg.keeps_places {
                kind = ArrayKind::JoinedArray { joined_dim: 0 };
            }
            legs.push(leg);
        }
        Ok(legs)
    }

    fn make_one(&self, source: &Source, legs: &[Applying], keeps: bool) -> Outcome {
        if !self.is_wanted() {
            return Err(MakeProblem::Gone);
        }
        let mut shape = Shape::new(*source.region.count()).map_err(DeriveError::from)?;
        let (mut bytes, mut count, mut schema) = (source.records()?, 0, &self.schema);
        for leg in legs {
            let applied = leg.run((shape, self.def.order), bytes)?;
            (count, schema) = (applied.count, &leg.given);
            bytes = Payload::from_owner(applied.bytes);
            if !leg.keeps_places {
                shape = Shape::new([count as u64]).map_err(DeriveError::from)?;
            }
        }
        let block = RecordBlock::encoded(schema, count, bytes)?;
        let region = match keeps {
            true => source.region,
            false => Region::new([0], [count as u64]).map_err(DeriveError::from)?,
        };
        Ok(MadeOne { index: source.index, region, block })
    }
}

impl MakeProblem {
    /// Whether it has to do with what else is going on, and not with the block.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Apply(ApplyProblem::Transform(TransformProblem::Call(CallError::Pool {
                source, ..
            }))) => {
                matches!(source, PoolError::Full { .. } | PoolError::Busy { .. })
            }
            Self::NoRoom { .. } | Self::TooManyTypes | Self::Gone | Self::Unreadable(_) => true,
            Self::NotOffered { .. } | Self::Apply(_) | Self::Array(_) | Self::Records(_) | Self::Panicked => {
                false
            }
        }
    }
}
