//! Messages of the data plane, between the rank that owns blocks and the rank that wants them. They have a link of
//! their own. No machine sees them: asking, placing and copying is straight-line code of the coordinator's crate.
//!
//! In the steady state the owner sends `Placed` at the end of each step to everybody who said `Want`. So a fetch costs
//! no round trip. Whoever has a condition is told when the step is assigned. A placement is a hint: where it is missing,
//! `Fetch` asks.
//!
//! Messages do not go by way of the coordinator: each fetch would wait for two threads instead of one
//! (`docs/decisions/0007-one-endpoint-for-each-handle.md`).

use crate::access::Denial;
use crate::bounds::{LIMIT_ITEMS, LIMIT_NAME_BYTES};
use crate::few;
use crate::message::MemberId;
use compact_str::CompactString;
use fp_types::record::MAX_RECORD_TYPE_BYTES;
use fp_types::{Fingerprint, Part, Selection, StepId, SubscriptionId};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Pieces at most this long travel inside `Placed`.
pub const EAGER_BYTES: u64 = 4096;
/// The longest encoded message of the data plane, bodies not counted.
pub const LIMIT_DATA_BYTES: usize = 64 << 20;
/// Blocks or pieces in one message.
pub const LIMIT_PIECES: usize = 1 << 20;
/// Transforms that an owner tells of.
pub const LIMIT_OFFERS: usize = 1024;
/// Transforms one after the other.
pub const LIMIT_PATH: usize = 16;
/// Bytes of a failure in words.
pub const LIMIT_WORDS_BYTES: usize = 4096;

/// A variable that a subscriber rank will read in every step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedVariable {
    /// Its name.
    pub name: String,
    /// What part of it is to be pushed without being asked, where placing is not possible; `None`: nothing.
    pub push: Option<Selection>,
}

/// A part of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPart {
    /// The variable.
    pub variable: String,
    /// The block's index on its rank: the how-manieth put of this variable in this step.
    pub block: u32,
    /// The part, in coordinates that count from the block's own corner. A rank does not know the place of its block in
    /// a joined array.
    pub part: Part,
}

/// Where a block's bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In a segment that was announced on this link.
    Segment {
        /// Which.
        segment: u64,
        /// The first byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// In this process, under this key.
    Inproc {
        /// The key.
        key: u128,
    },
    /// Here.
    Inline {
        /// The whole block.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
}

impl Place {
    /// The bytes that are here.
    pub fn inline_len_bytes(&self) -> usize {
        match self {
            Self::Inline { bytes } => bytes.len(),
            Self::Segment { .. } | Self::Inproc { .. } => 0,
        }
    }
}

/// What a placement says that nobody asked for, of one block that goes along with it: most steps of small blocks are
/// told of so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineBlock<'a> {
    /// The step.
    pub step: StepId,
    /// The variable.
    pub variable: &'a str,
    /// The block's index on its rank.
    pub block: u32,
    /// The whole block.
    pub bytes: &'a [u8],
}

impl From<InlineBlock<'_>> for DataMessage {
    fn from(InlineBlock { step, variable, block, bytes }: InlineBlock<'_>) -> Self {
        let place = Place::Inline { bytes: bytes.to_vec() };
        let blocks = [PlacedBlock { variable: variable.into(), block, place }].into();
        Self::Placed { step, request: None, blocks }
    }
}

/// A block and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedBlock {
    /// The variable.
    pub variable: CompactString,
    /// The block's index on its rank.
    pub block: u32,
    /// Where.
    pub place: Place,
}

/// The blocks of which one message says where they are: one, as a rule.
pub type PlacedBlocks = SmallVec<[PlacedBlock; 1]>;

/// As [`Place`], of bytes that lie elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceRef<'a> {
    /// In a segment that was announced on this link.
    Segment {
        /// Which.
        segment: u64,
        /// The first byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// In this process, under this key.
    Inproc {
        /// The key.
        key: u128,
    },
    /// Here.
    Inline {
        /// The whole block.
        bytes: &'a [u8],
    },
}

impl PlaceRef<'_> {
    /// The bytes that are here.
    pub fn inline_len_bytes(&self) -> usize {
        match self {
            Self::Inline { bytes } => bytes.len(),
            Self::Segment { .. } | Self::Inproc { .. } => 0,
        }
    }
}

/// As [`PlacedBlock`], of a name and bytes that lie elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedRef<'a> {
    /// The variable.
    pub variable: &'a str,
    /// The block's index on its rank.
    pub block: u32,
    /// Where.
    pub place: PlaceRef<'a>,
}

impl<'a> From<&'a PlacedBlock> for PlacedRef<'a> {
    fn from(PlacedBlock { variable, block, place }: &'a PlacedBlock) -> Self {
        let place = match place {
            Place::Segment { segment, offset, len } => {
                PlaceRef::Segment { segment: *segment, offset: *offset, len: *len }
            }
            Place::Inproc { key } => PlaceRef::Inproc { key: *key },
            Place::Inline { bytes } => PlaceRef::Inline { bytes },
        };
        Self { variable, block: *block, place }
    }
}

/// [`DataMessage::Placed`], read where its bytes lie: a step may have very many blocks.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// The step.
    pub step: StepId,
    /// The `Fetch` that this answers.
    pub request: Option<u64>,
    pub(crate) count: usize,
    /// All of them, found to be such.
    pub(crate) blocks: &'a [u8],
}

/// Why an owner cannot give what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GoneReason {
    /// The step was released or never kept here.
    Step,
    /// The step has no such block here.
    Block,
    /// The block has no such part.
    Part,
    /// There is no room to make it shareable.
    NoRoom,
    /// What has the block's bytes outside of memory could not be read.
    Unreadable,
}

/// A type of records by its fingerprint, with its name for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedType {
    /// What people call it.
    pub name: String,
    /// Which it is.
    pub fingerprint: Fingerprint,
}

/// A transform that an owner has registered and may run on blocks of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedTransform {
    /// Its name.
    pub name: String,
    /// The type that it takes.
    pub from: NamedType,
    /// The type that it gives.
    pub to: NamedType,
    /// Nanoseconds for each byte that goes in.
    pub nanos_per_byte: f64,
    /// Bytes that come out for each that goes in.
    pub output_ratio: f64,
    /// Whether each record is made of one alone.
    pub is_one_by_one: bool,
    /// Whether it is to run at the publisher, whoever else knows it.
    pub is_for_publisher: bool,
}

/// What transforms made of one block of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBlock {
    /// Records.
    pub count: u64,
    /// Bytes that they refer to.
    pub parts_bytes: u64,
}

/// What came of transforming blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransformOutcome {
    /// They lie beside the blocks that they were made of, with the same indices, until the step is released.
    Made {
        /// The name of the variable that they are blocks of.
        variable: String,
        /// Whether each record has the place of the one that it was made of.
        keeps_places: bool,
        /// What was made of each block, in the order asked for.
        blocks: Vec<MadeBlock>,
    },
    /// Nothing: why.
    Failed {
        /// In words, for people.
        what: String,
    },
}

/// A message of the data plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DataMessage {
    /// Subscriber: place (or push) these variables in every step from now on. Replaces the last `Want`.
    Want {
        /// Its subscription.
        subscription: SubscriptionId,
        /// Its membership: pushed is only what was assigned to it.
        member: MemberId,
        /// The variables.
        variables: Vec<WantedVariable>,
    },
    /// Subscriber: these pieces, now.
    Fetch {
        /// To be named in the answer.
        request: u64,
        /// The step.
        step: StepId,
        /// The pieces.
        pieces: Vec<BlockPart>,
    },
    /// Owner: a segment's descriptor comes with this message.
    SegmentIs {
        /// Its number in later `Placed` on this link.
        segment: u64,
        /// Its length.
        len: u64,
    },
    /// Owner: a segment will be named no more.
    SegmentGone {
        /// Its number.
        segment: u64,
    },
    /// Owner: where blocks of a step are.
    Placed {
        /// The step.
        step: StepId,
        /// The `Fetch` that this answers; `None` if nobody asked.
        request: Option<u64>,
        /// The blocks.
        #[serde(deserialize_with = "few::read")]
        blocks: PlacedBlocks,
    },
    /// Owner: the bytes of a `Fetch`'s pieces follow as the body, in the order asked for. Each piece is packed densely
    /// in the memory order of its variable.
    Pieces {
        /// The `Fetch`.
        request: u64,
        /// The step.
        step: StepId,
    },
    /// Owner: the bytes of these pieces, that a `Want` asked to push, follow as the body.
    Pushed {
        /// The step.
        step: StepId,
        /// The pieces, in the order of the body.
        pieces: Vec<BlockPart>,
    },
    /// Owner: a `Fetch` cannot be answered.
    Gone {
        /// Which.
        request: u64,
        /// Its step.
        step: StepId,
        /// Why.
        reason: GoneReason,
    },
    /// Subscriber: the record type of that fingerprint, which it does not know yet.
    Describe {
        /// To be named in the answer.
        request: u64,
        /// Which.
        fingerprint: Fingerprint,
    },
    /// Owner: a record type.
    Described {
        /// The `Describe`.
        request: u64,
        /// The canonical bytes of the type, whose hash is its fingerprint; `None` if nothing of it was put here.
        #[serde(with = "serde_bytes")]
        schema: Option<Vec<u8>>,
    },
    /// Subscriber: the transforms that blocks can be sent through.
    AskOffers {
        /// To be named in the answer.
        request: u64,
    },
    /// Owner: all that it has registered for that.
    Offers {
        /// The `AskOffers`.
        request: u64,
        /// The transforms.
        transforms: Vec<OfferedTransform>,
    },
    /// Subscriber: blocks of records are to go through transforms, to be fetched then.
    Transform {
        /// To be named in the answer.
        request: u64,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// The blocks' indices on their rank.
        blocks: Vec<u32>,
        /// The transforms' names, in the order in which they are applied.
        transforms: Vec<String>,
    },
    /// Owner: what came of it.
    Transformed {
        /// The `Transform`.
        request: u64,
        /// The step.
        step: StepId,
        /// What.
        outcome: TransformOutcome,
    },
    /// Owner: its access list lets this subscriber have nothing. Whatever else it asks over this link is not answered.
    Denied(Denial),
}

impl DataMessage {
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let (count, limit) = match self {
            Self::Want { variables, .. } => (variables.len(), LIMIT_ITEMS),
            Self::Fetch { pieces, .. } | Self::Pushed { pieces, .. } => (pieces.len(), LIMIT_PIECES),
            Self::Placed { blocks, .. } => (blocks.len(), LIMIT_PIECES),
            Self::Described { schema, .. } => (schema.as_ref().map_or(0, Vec::len), MAX_RECORD_TYPE_BYTES),
            Self::Offers { transforms, .. } => (transforms.len(), LIMIT_OFFERS),
            Self::Transform { blocks, .. } => (blocks.len(), LIMIT_PIECES),
            Self::Transformed { outcome: TransformOutcome::Made { blocks, .. }, .. } => {
                (blocks.len(), LIMIT_PIECES)
            }
            Self::Transformed { outcome: TransformOutcome::Failed { what }, .. } => {
                (what.len(), LIMIT_WORDS_BYTES)
            }
            Self::SegmentIs { .. }
            | Self::SegmentGone { .. }
            | Self::Pieces { .. }
            | Self::Gone { .. }
            | Self::AskOffers { .. }
            | Self::Denied(_)
            | Self::Describe { .. } => (0, 0),
        };
        if count > limit {
            return Err("count");
        }
        self.check_names()
    }

    fn check_names(&self) -> Result<(), &'static str> {
        let long = |name: &str| name.len() > LIMIT_NAME_BYTES;
        let too_long = match self {
            Self::Want { variables, .. } => variables.iter().any(|wanted| long(&wanted.name)),
            Self::Fetch { pieces, .. } | Self::Pushed { pieces, .. } => {
                pieces.iter().any(|piece| long(&piece.variable))
            }
            Self::Placed { blocks, .. } => blocks.iter().any(|block| long(&block.variable)),
            Self::Offers { transforms, .. } => {
                let names = |of: &OfferedTransform| [&of.name, &of.from.name, &of.to.name].map(|of| long(of));
                transforms.iter().flat_map(names).any(|is_long| is_long)
            }
            Self::Transform { variable, transforms, .. } => {
                if transforms.len() > LIMIT_PATH {
                    return Err("path");
                }
                long(variable) || transforms.iter().any(|name| long(name))
            }
            Self::Transformed { outcome: TransformOutcome::Made { variable, .. }, .. } => long(variable),
            Self::Denied(denial) => !denial.is_within_bounds(),
            Self::SegmentIs { .. }
            | Self::SegmentGone { .. }
            | Self::Pieces { .. }
            | Self::Gone { .. }
            | Self::AskOffers { .. }
            | Self::Describe { .. }
            | Self::Described { .. }
            | Self::Transformed { .. } => false,
        };
        if too_long { Err("name") } else { Ok(()) }
    }
}
