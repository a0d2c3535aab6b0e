//! Why bytes are no records, and why a value of one cannot be read.

use crate::dtype::Dtype;
use crate::record::check::RecordError;
use crate::record::element::ElementConversionError;

/// Why bytes are no values of a record type. Offsets are in bytes, from the start of them all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Fewer or more bytes than the records need.
    #[error("{count} records {record:?} take {expected} bytes, but there are {found}")]
    Len {
        /// The record type.
        record: String,
        /// How many records there are to be.
        count: usize,
        /// How many bytes they take.
        expected: u128,
        /// How many there are.
        found: usize,
    },
    /// A reference that does not point at the next part.
    #[error("the reference at {at} points to {found}, but its part starts at {expected}")]
    Misplaced {
        /// Where the reference is.
        at: usize,
        /// Where it points to.
        found: u64,
        /// Where its part has to start.
        expected: usize,
    },
    /// A part that ends beyond the end.
    #[error("the part at {at} has {count} elements of {size} bytes, beyond the end at {end}")]
    Beyond {
        /// Where the part starts.
        at: usize,
        /// How many elements it is to have.
        count: u64,
        /// The size of each.
        size: usize,
        /// Where the bytes end.
        end: usize,
    },
    /// A list that is not as long as the field that sizes it says.
    #[error("the reference at {at} has {found} elements, but its length field says {expected}")]
    Length {
        /// Where the reference is.
        at: usize,
        /// How many elements it has.
        found: u64,
        /// What the field says.
        expected: i128,
    },
    /// A list of more elements than its length field can say.
    #[error("a list of {count} elements, but its length field is {dtype}")]
    LengthRange {
        /// How many elements it has.
        count: usize,
        /// The type of the length field.
        dtype: Dtype,
    },
}

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordReadError {
    /// A path that is none: an empty name, or brackets without a number.
    #[error("{path:?} is no path, from byte {at} on")]
    Path {
        /// The path.
        path: String,
        /// Where it goes wrong.
        at: usize,
    },
    /// A record without a field of that name.
    #[error("record {record:?} has no field {field:?}; it has {known}")]
    NoField {
        /// The record type.
        record: String,
        /// The name.
        field: String,
        /// The names that there are.
        known: String,
    },
    /// A record without a field of that index.
    #[error("record {record:?} has no field of index {index}")]
    NoFieldIndex {
        /// The record type.
        record: String,
        /// The index.
        index: usize,
    },
    /// Names after something that is no record.
    #[error("{field:?} is asked of what is no record, but {found}")]
    NotRecord {
        /// The name after it.
        field: String,
        /// What it is.
        found: String,
    },
    /// An index into something that is no array.
    #[error("an index into what is no array, but {found}")]
    NotIndexed {
        /// What it is.
        found: String,
    },
    /// An index beyond the end.
    #[error("index {index} of an array of {count}")]
    OutOfRange {
        /// The index.
        index: usize,
        /// How many elements there are.
        count: usize,
    },
    /// A truth value that is neither 0 nor 1.
    #[error("a truth value of {number}")]
    NoTruthValue {
        /// The byte.
        number: u8,
    },
    /// A number without a name in its enumeration.
    #[error("no name of {names:?} has the number {number}")]
    UnknownName {
        /// The enumeration.
        names: String,
        /// The number.
        number: i128,
    },
    /// A text that is no UTF-8.
    #[error("the text referred to at {at} is no UTF-8")]
    Utf8 {
        /// Where the reference is.
        at: usize,
    },
    /// A Rust type that is not what the value is.
    #[error("{found} is not {wanted}")]
    Type {
        /// What the value is.
        found: String,
        /// The Rust type.
        wanted: &'static str,
    },
    /// A number that a Rust type cannot hold.
    #[error("{number} is no {wanted}")]
    Range {
        /// The number.
        number: i128,
        /// The Rust type.
        wanted: &'static str,
    },
    /// Elements that are not converted.
    #[error(transparent)]
    Element(#[from] ElementConversionError),
    /// Bytes that are no values.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The Rust type's own record type is not allowed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Values of another type than the Rust type's: convert them first.
    #[error("the values are of record type {found:?}, not {wanted:?} as it is laid out here")]
    OtherType {
        /// The type of the values.
        found: String,
        /// The Rust type's.
        wanted: String,
    },
}
