//! Why a field of a record cannot be set.

use crate::record::element::ElementConversionError;
use crate::record::rust::EncodeError;

/// Why a [`RecordBuilder`](super::RecordBuilder) does not take a value, or makes no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordBuildError {
    /// More memory than there is.
    #[error("no memory for {count} of {size_bytes} bytes")]
    NoMemory {
        /// How many there were to be.
        count: usize,
        /// The size of each.
        size_bytes: usize,
    },
    /// A record that there is not.
    #[error("record {index} of {count}: they count from 0")]
    Record {
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A path that is none.
    #[error("{path}: a name, or a name with an index in brackets")]
    Path {
        /// The path, or what is left of it.
        path: String,
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
    /// An index behind the field that is set.
    #[error("{path}: all elements of a field are set at once, so without an index")]
    Indexed {
        /// The path.
        path: String,
    },
    /// A name or a number of records after a field that is not of records.
    #[error("{field}: it is no {wanted}")]
    Unlike {
        /// The field.
        field: String,
        /// What it was taken for.
        wanted: &'static str,
    },
    /// Numbers or texts for a field of records.
    #[error("{field}: it is a record: set its fields")]
    IsRecord {
        /// The field.
        field: String,
    },
    /// A record of a list or array that there is not.
    #[error("{path}: record {index} of {count} of {field:?}: set how many there are first")]
    Beyond {
        /// What is left of the path.
        path: String,
        /// The field.
        field: String,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Another number of elements than the field has.
    #[error("{field}: it has {expected} elements, not {found}")]
    Count {
        /// The field.
        field: String,
        /// How many it has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// Elements that the field does not hold.
    #[error("{field}: {source}")]
    Element {
        /// The field.
        field: String,
        /// Why.
        r#source: ElementConversionError,
    },
    /// A truth value that is neither 0 nor 1.
    #[error("{field}: a truth value is 0 or 1")]
    NoTruthValue {
        /// The field.
        field: String,
    },
    /// A number without a name in its enumeration.
    #[error("{field}: no name of {names:?} has the number {number}")]
    UnknownName {
        /// The field.
        field: String,
        /// The enumeration.
        names: String,
        /// The number.
        number: i64,
    },
    /// What was set makes no records: a list that is longer than its length field can say, for instance.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
