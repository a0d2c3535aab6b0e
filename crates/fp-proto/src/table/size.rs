//! How many bytes an encoding takes, at most: known before it is built.

use std::collections::BTreeMap;

use fp_types::{AttributeValue, Layout, Schema, StepTable, VariableDef};

/// More than any table, record, field or attribute takes beside its texts and values.
const FIXED_BYTES: u64 = 256;

/// What a text takes beside itself: where it is, its length, its end, its alignment.
const TEXT_BYTES: u64 = 16;

pub(super) fn of_layout(layout: &Layout) -> u64 {
    FIXED_BYTES + layout.block_count() as u64 * (8 + 16 * layout.ndims() as u64)
}

pub(super) fn of_table(table: &StepTable) -> u64 {
    let layouts: u64 = table.layouts().into_iter().map(|layout| of_layout(layout)).sum();
    let variables: u64 = table.entries().iter().map(|entry| of_variable(&entry.def)).sum();
    FIXED_BYTES + layouts + variables
}

pub(super) fn of_schema(schema: &Schema) -> u64 {
    let variables: u64 = schema.variables.iter().map(of_variable).sum();
    FIXED_BYTES + of_texts([&schema.stream]) + variables + of_attributes(&schema.attributes)
}

pub(super) fn of_variable(variable: &VariableDef) -> u64 {
    let optional = [&variable.unit, &variable.description].into_iter().flatten();
    let texts = of_texts([&variable.name]) + of_texts(&variable.dimensions) + of_texts(optional);
    let record = variable.record.iter().map(|record| FIXED_BYTES + of_texts([&record.name])).sum::<u64>();
    FIXED_BYTES + texts + record + of_attributes(&variable.attributes)
}

fn of_attributes(attributes: &BTreeMap<String, AttributeValue>) -> u64 {
    attributes.iter().map(|(name, value)| FIXED_BYTES + of_texts([name]) + of_value(value)).sum()
}

fn of_value(value: &AttributeValue) -> u64 {
    match value {
        AttributeValue::Bool(_)
        | AttributeValue::Integer(_)
        | AttributeValue::Unsigned(_)
        | AttributeValue::Real(_) => 8,
        AttributeValue::Text(text) => of_texts([text]),
        AttributeValue::Bytes(bytes) => bytes.len() as u64,
        AttributeValue::Integers(values) => 8 * values.len() as u64,
        AttributeValue::Reals(values) => 8 * values.len() as u64,
        AttributeValue::Texts(texts) => of_texts(texts),
    }
}

fn of_texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> u64 {
    texts.into_iter().map(|text| text.len() as u64 + TEXT_BYTES).sum()
}
