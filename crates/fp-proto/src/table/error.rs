//! Why bytes are no table, layout or schema.

use fp_types::{LayoutError, RegionError, SchemaError, Shape, ShapeTooLarge, TableError, TooManyDims};
use fp_wire::flatbuffers::InvalidFlatbuffer;

use super::{MAX_ENCODED_BYTES, VERSION};

/// Why bytes are no table, layout or schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableDecodeError {
    /// More bytes than are looked at.
    #[error("{len_bytes} bytes are longer than any table, {MAX_ENCODED_BYTES}")]
    TooLong {
        /// How many bytes there are.
        len_bytes: usize,
    },
    /// The sender says that what was asked for is too large to be sent.
    #[error("what was asked for takes {len_bytes} bytes, but at most {MAX_ENCODED_BYTES} are sent")]
    TooLarge {
        /// How many bytes it would take.
        len_bytes: u64,
    },
    /// The bytes do not start as Flexpath's do.
    #[error("the bytes carry no mark of a table, layout or schema")]
    Unmarked,
    /// The verifier refused the bytes.
    #[error("the bytes are malformed: {0}")]
    Malformed(Box<InvalidFlatbuffer>),
    /// Another version of the encoding.
    #[error("the encoding is of version {found}; this program knows version {VERSION}")]
    Version {
        /// The version found.
        found: u16,
    },
    /// Something else than was asked for.
    #[error("the bytes hold content {found}, not {wanted}")]
    OtherContent {
        /// The number of the content found.
        found: u8,
        /// The number of the content wanted.
        wanted: u8,
    },
    /// No content at all.
    #[error("the bytes hold no content")]
    Empty,
    /// A number that stands for nothing.
    #[error("no {what} has the number {number}")]
    UnknownNumber {
        /// What it should be.
        what: &'static str,
        /// The number.
        number: u8,
    },
    /// A part is missing, or does not go with another.
    #[error("{what}: {found} where {expected} belong")]
    Count {
        /// What there is too little or too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The shape of a joined layout is not the sum of its blocks.
    #[error("joined blocks make up {joined:?}, not {claimed:?}")]
    JoinedShape {
        /// The shape of all blocks, joined.
        joined: Option<Box<Shape>>,
        /// The shape that is claimed.
        claimed: Option<Box<Shape>>,
    },
    /// A variable refers to a layout that is not there.
    #[error("layout {index} of {layouts} does not exist")]
    NoSuchLayout {
        /// Which layout, from 0.
        index: u32,
        /// How many there are.
        layouts: usize,
    },
    /// An attribute occurs twice.
    #[error("attribute {name:?} occurs twice")]
    DuplicateAttribute {
        /// Its name.
        name: String,
    },
    /// Too many dimensions.
    #[error(transparent)]
    Dims(#[from] TooManyDims),
    /// A shape that cannot be counted.
    #[error(transparent)]
    Shape(#[from] ShapeTooLarge),
    /// A region that cannot be counted.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// Blocks that make no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A schema or variable that breaks a rule.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Variables and layouts that make no table.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl From<InvalidFlatbuffer> for TableDecodeError {
    fn from(error: InvalidFlatbuffer) -> Self {
        Self::Malformed(Box::new(error))
    }
}
