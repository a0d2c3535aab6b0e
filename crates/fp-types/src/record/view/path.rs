//! Paths to values inside records: `cell.corner[3].x`.

use super::RecordRef;
use super::error::RecordReadError;
use super::value::Value;
use crate::record::types::RecordType;

/// What `path` leads to from a record.
pub(super) fn follow<'a>(from: RecordRef<'a>, path: &str) -> Result<Value<'a>, RecordReadError> {
    let mut value = Value::Record(from);
    let mut offset = 0;
    for part in path.split('.') {
        let wrong = |at: usize| RecordReadError::Path { path: path.to_owned(), at: offset + at };
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

fn field<'a>(value: Value<'a>, name: &str) -> Result<Value<'a>, RecordReadError> {
    let Value::Record(record) = value else {
        return Err(RecordReadError::NotRecord { field: name.to_owned(), found: describe(&value) });
    };
    let position = record.record_type().fields.iter().position(|field| field.name == name);
    record.field(position.ok_or_else(|| no_field(record.record_type(), name))?)
}

fn no_field(record: &RecordType, name: &str) -> RecordReadError {
    let known: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).take(32).collect();
    RecordReadError::NoField { record: record.name.clone(), field: name.to_owned(), known: known.join(", ") }
}

fn element(value: Value<'_>, index: usize) -> Result<Value<'_>, RecordReadError> {
    let Value::Array(array) = value else {
        return Err(RecordReadError::NotIndexed { found: describe(&value) });
    };
    array.value(index)
}

/// What a value is, for people.
pub(crate) fn describe(value: &Value<'_>) -> String {
    match value {
        Value::Absent => "an absent field".into(),
        Value::Default(default) => format!("the default {default:?}"),
        Value::Bool(truth) => format!("the truth value {truth}"),
        Value::Integer(number) => format!("the integer {number}"),
        Value::Real(number) => format!("the real number {number}"),
        Value::Complex(real, imaginary) => format!("the complex number ({real}, {imaginary})"),
        Value::Text(_) => "a text".into(),
        Value::Bytes(_) => "bytes".into(),
        Value::Enum(name, _) => format!("the name {name:?}"),
        Value::Record(record) => format!("the record {:?}", record.record_type().name),
        Value::Array(array) => format!("an array of {}", array.count()),
    }
}
