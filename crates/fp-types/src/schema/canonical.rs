//! The canonical encoding of a schema, for its fingerprint. Every variant has its lasting number here.

use std::collections::BTreeMap;

use super::{ArrayKind, RecordId, Schema, VariableDef};
use crate::attribute::{AttributeValue, Real};
use crate::hash::CanonicalHasher;

pub(super) fn schema(hasher: &mut CanonicalHasher, schema: &Schema) {
    hasher.text(&schema.stream);
    let mut variables: Vec<&VariableDef> = schema.variables.iter().collect();
    variables.sort_by(|a, b| a.name.cmp(&b.name));
    hasher.count(variables.len());
    variables.into_iter().for_each(|variable| self::variable(hasher, variable));
    attributes(hasher, &schema.attributes);
}

pub(crate) fn variable(hasher: &mut CanonicalHasher, variable: &VariableDef) {
    hasher.text(&variable.name);
    hasher.byte(variable.dtype.as_u8());
    record(hasher, variable.record.as_ref());
    kind(hasher, variable.kind);
    hasher.byte(variable.origin.as_u8());
    hasher.byte(variable.order.as_u8());
    hasher.count(variable.dimensions.len());
    variable.dimensions.iter().for_each(|name| hasher.text(name));
    hasher.optional_text(variable.unit.as_deref());
    hasher.optional_text(variable.description.as_deref());
    attributes(hasher, &variable.attributes);
}

fn kind(hasher: &mut CanonicalHasher, kind: ArrayKind) {
    match kind {
        ArrayKind::Scalar => hasher.byte(0),
        ArrayKind::LocalScalar => hasher.byte(1),
        ArrayKind::GlobalArray => hasher.byte(2),
        ArrayKind::LocalArray => hasher.byte(3),
        ArrayKind::JoinedArray { joined_dim } => {
            hasher.byte(4);
            hasher.byte(joined_dim);
        }
    }
}

fn record(hasher: &mut CanonicalHasher, record: Option<&RecordId>) {
    hasher.optional_text(record.map(|record| record.name.as_str()));
    if let Some(record) = record {
        hasher.bytes(&record.fingerprint.0);
        hasher.number_u64(record.size_bytes);
    }
}

fn attributes(hasher: &mut CanonicalHasher, attributes: &BTreeMap<String, AttributeValue>) {
    hasher.count(attributes.len());
    for (name, value) in attributes {
        hasher.text(name);
        attribute(hasher, value);
    }
}

fn attribute(hasher: &mut CanonicalHasher, value: &AttributeValue) {
    match value {
        AttributeValue::Bool(value) => tagged(hasher, 0, 1, |hasher| hasher.byte(u8::from(*value))),
        AttributeValue::Integer(value) => tagged(hasher, 1, 1, |hasher| hasher.number_u64(*value as u64)),
        AttributeValue::Unsigned(value) => tagged(hasher, 2, 1, |hasher| hasher.number_u64(*value)),
        AttributeValue::Real(value) => tagged(hasher, 3, 1, |hasher| real(hasher, value)),
        AttributeValue::Text(text) => tagged(hasher, 4, 1, |hasher| hasher.text(text)),
        AttributeValue::Bytes(bytes) => tagged(hasher, 5, bytes.len(), |hasher| hasher.bytes(bytes)),
        AttributeValue::Integers(values) => {
            tagged(hasher, 6, values.len(), |hasher| {
                values.iter().for_each(|value| hasher.number_u64(*value as u64))
            });
        }
        AttributeValue::Reals(values) => {
            tagged(hasher, 7, values.len(), |hasher| values.iter().for_each(|value| real(hasher, value)));
        }
        AttributeValue::Texts(texts) => {
            tagged(hasher, 8, texts.len(), |hasher| texts.iter().for_each(|text| hasher.text(text)));
        }
    }
}

/// A variant's number, how many values follow, and those.
fn tagged(hasher: &mut CanonicalHasher, number: u8, count: usize, values: impl FnOnce(&mut CanonicalHasher)) {
    hasher.byte(number);
    hasher.count(count);
    values(hasher);
}

fn real(hasher: &mut CanonicalHasher, value: &Real) {
    hasher.number_u64(value.0.to_bits());
}
