//! What a subscriber hands over, and what a derivation made of a block. The first byte says which it is.

use crate::again;
use fp_transform::{ArrayType, Derivation, decompress};
use fp_types::record::{ArrayRef, RecordRef, RecordSchema, Records, Value};
use fp_types::{Condition, Dtype, Shape};

/// The readers, each at the number that the first byte has.
pub const DECODERS: [(&str, fn(&[u8]) -> bool); 7] = [
    ("condition", condition),
    ("derivation", derivation),
    ("record-type", record_type),
    ("records", records),
    ("compressed", compressed),
    ("partial", partial),
    ("packed", |bytes| with_derivation(bytes, fp_core::fuzzed::packed)),
];

/// Elements of a compressed block, at most.
const LIMIT_ELEMENTS: usize = 1 << 16;

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    let Some((number, bytes)) = bytes.split_first() else { return 0 };
    usize::from(DECODERS.get(usize::from(*number)).is_some_and(|(_, reader)| reader(bytes)))
}

fn condition(bytes: &[u8]) -> bool {
    again::canonical(bytes, |bytes| Some(Condition::decode(bytes).ok()?.encode()))
}

/// The bytes of a derivation, which is also a text.
fn derivation(bytes: &[u8]) -> bool {
    again::canonical(bytes, |bytes| {
        let derivation = Derivation::from_bytes(bytes).ok()?;
        assert!(again::text::<Derivation>(&derivation.to_string()), "{derivation} is no text");
        Some(derivation.to_bytes())
    })
}

/// The bytes of a type, which is laid out anew.
fn record_type(bytes: &[u8]) -> bool {
    again::canonical(bytes, |bytes| {
        let schema = RecordSchema::from_bytes(bytes).ok()?;
        let again = schema.record().clone().build_in(schema.byte_order()).ok()?;
        Some(again.to_bytes().to_vec())
    })
}

/// The length of a type's bytes, these, how many records, and their bytes.
fn records(bytes: &[u8]) -> bool {
    let Some((schema, rest)) = cut(bytes) else { return false };
    let Some((count, rest)) = rest.split_first() else { return false };
    let Ok(schema) = RecordSchema::from_bytes(schema) else { return false };
    let Ok(records) = Records::new(&schema, rest, usize::from(*count)) else { return false };
    let mut left = LIMIT_ELEMENTS;
    records.iter().for_each(|record| walk_record(record, &mut left));
    true
}

/// Reads each value; of an array no more than are left to be read.
fn walk_record(record: RecordRef<'_>, left: &mut usize) {
    for index in 0..record.record_type().fields.len() {
        if let Ok(value) = record.field(index) {
            walk_value(value, left);
        }
    }
}

fn walk_value(value: Value<'_>, left: &mut usize) {
    match value {
        Value::Record(record) => walk_record(record, left),
        Value::Array(array) => walk_array(array, left),
        Value::Absent
        | Value::Default(_)
        | Value::Bool(_)
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Complex(..)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Enum(..) => {}
    }
}

fn walk_array(array: ArrayRef<'_>, left: &mut usize) {
    for index in 0..array.count() {
        let Some(fewer) = left.checked_sub(1) else { return };
        *left = fewer;
        if let Ok(value) = array.value(index) {
            walk_value(value, left);
        }
    }
    assert!(array.value(array.count()).is_err(), "an element past the end");
}

/// An element type, how many elements, and their compressed bytes.
fn compressed(bytes: &[u8]) -> bool {
    let [dtype, low, high, rest @ ..] = bytes else { return false };
    let Ok(dtype) = Dtype::try_from(*dtype) else { return false };
    let count = usize::from(u16::from_le_bytes([*low, *high])).min(LIMIT_ELEMENTS);
    let len_bytes = count * dtype.size_bytes().unwrap_or(1);
    let Ok(elements) = decompress(dtype, rest, len_bytes) else { return false };
    assert_eq!(elements.len(), len_bytes, "another length than was asked for");
    true
}

fn partial(bytes: &[u8]) -> bool {
    with_derivation(bytes, |plan, bytes| Some(plan.partial_from_bytes(bytes).ok()?.to_bytes()))
}

/// The length of a derivation's text, that text, and bytes that are read by its plan over a small array.
fn with_derivation(
    bytes: &[u8],
    again: impl Fn(&fp_transform::DerivationPlan, &[u8]) -> Option<Vec<u8>>,
) -> bool {
    let Some((text, rest)) = cut(bytes) else { return false };
    let derivation = std::str::from_utf8(text).ok().and_then(|text| text.parse::<Derivation>().ok());
    let shape = Shape::new([4, 3]).expect("a small shape");
    let plan =
        derivation.and_then(|derivation| derivation.plan(&[ArrayType { dtype: Dtype::F64, shape }]).ok());
    plan.is_some_and(|plan| again::bytes(rest, |bytes| again(&plan, bytes)))
}

/// A length of two bytes, what is so long, and the rest.
fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*len)))
}
