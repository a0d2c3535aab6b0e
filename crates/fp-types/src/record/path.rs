//! Paths to values inside records: `cell.corner[3].x`.

use super::element::ElementConversionError;
use super::types::RecordType;
use super::value::Value;
use super::view::RecordRef;

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
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
    Value(#[from] super::view::ValueError),
    /// The Rust type's own record type is not allowed.
    #[error(transparent)]
    Record(#[from] super::check::RecordError),
    /// Values of another type than the Rust type's: convert them first.
    #[error("the values are of record type {found:?}, not {wanted:?} as it is laid out here")]
    OtherType {
        /// The type of the values.
        found: String,
        /// The Rust type's.
        wanted: String,
    },
}

/// What `path` leads to from a record.
pub(super) fn follow<'a>(from: RecordRef<'a>, path: &str) -> Result<Value<'a>, ReadError> {
    let mut value = Value::Record(from);
    let mut offset = 0;
    for part in path.split('.') {
        let wrong = |at: usize| ReadError::Path { path: path.to_owned(), at: offset + at };
        let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() {
            return Err(wrong(0));
        }
        value = field(value, name)?;
        for index in indices.split_inclusive(']') {
            let digits = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let index = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| wrong(name.len()))?;
            value = element(value, index)?;
        }
        offset += part.len() + 1;
    }
    Ok(value)
}

fn field<'a>(value: Value<'a>, name: &str) -> Result<Value<'a>, ReadError> {
    let Value::Record(record) = value else {
        return Err(ReadError::NotRecord { field: name.to_owned(), found: describe(&value) });
    };
    let position = record.record_type().fields.iter().position(|field| field.name == name);
    record.field(position.ok_or_else(|| no_field(record.record_type(), name))?)
}

fn no_field(record: &RecordType, name: &str) -> ReadError {
    let known: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).take(32).collect();
    ReadError::NoField { record: record.name.clone(), field: name.to_owned(), known: known.join(", ") }
}

fn element(value: Value<'_>, index: usize) -> Result<Value<'_>, ReadError> {
    match value {
        Value::Array(array) => array.value(index),
        other => Err(ReadError::NotIndexed { found: describe(&other) }),
    }
}

/// What a value is, for people.
pub(super) fn describe(value: &Value<'_>) -> String {
    match value {
        Value::Absent => "an absent field".into(),
        Value::Default(_) => "a default".into(),
        Value::Bool(_) => "a truth value".into(),
        Value::Integer(_) => "an integer".into(),
        Value::Real(_) => "a real number".into(),
        Value::Complex(..) => "a complex number".into(),
        Value::Text(_) => "a text".into(),
        Value::Bytes(_) => "bytes".into(),
        Value::Enum(name, _) => format!("the name {name:?}"),
        Value::Record(record) => format!("the record {:?}", record.record_type().name),
        Value::Array(array) => format!("an array of {}", array.count()),
    }
}
