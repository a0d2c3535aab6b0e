//! Attributes: a name, and a value in the vector of its kind.

use std::collections::BTreeMap;

use fp_types::{AttributeValue, Real};
use fp_wire::flatbuffers::{ForwardsUOffset, Vector, WIPOffset};
use fp_wire::wire::{self, AttributeForm};

use super::{Builder, TableDecodeError};

type Tables<'a, T> = WIPOffset<Vector<'a, ForwardsUOffset<T>>>;
type Attributes = BTreeMap<String, AttributeValue>;

/// No vector at all if there are no attributes.
pub(super) fn encode_attributes<'a>(
    builder: &mut Builder<'a>,
    attributes: &Attributes,
) -> Option<Tables<'a, wire::Attribute<'a>>> {
    let attributes: Vec<_> =
        attributes.iter().map(|(name, value)| encode_attribute(builder, name, value)).collect();
    (!attributes.is_empty()).then(|| builder.create_vector(&attributes))
}

pub(super) fn decode_attributes<'a>(
    encoded: Option<Vector<'a, ForwardsUOffset<wire::Attribute<'a>>>>,
) -> Result<Attributes, TableDecodeError> {
    let mut attributes = BTreeMap::new();
    for attribute in encoded.into_iter().flatten() {
        let name = attribute.name().to_owned();
        if attributes.insert(name.clone(), decode_attribute(attribute)?).is_some() {
            return Err(TableDecodeError::DuplicateAttribute { name });
        }
    }
    Ok(attributes)
}

fn encode_attribute<'a>(
    builder: &mut Builder<'a>,
    name: &str,
    value: &AttributeValue,
) -> WIPOffset<wire::Attribute<'a>> {
    let mut args = wire::AttributeArgs { name: Some(builder.create_string(name)), ..Default::default() };
    match value {
        AttributeValue::Bool(value) => {
            args.form = AttributeForm::Bool;
            args.bytes = Some(builder.create_vector(&[u8::from(*value)]));
        }
        AttributeValue::Integer(value) => {
            args.form = AttributeForm::Integer;
            args.integers = Some(builder.create_vector(&[*value]));
        }
        AttributeValue::Unsigned(value) => {
            args.form = AttributeForm::Unsigned;
            args.unsigned = Some(builder.create_vector(&[*value]));
        }
        AttributeValue::Real(value) => {
            args.form = AttributeForm::Real;
            args.reals = Some(builder.create_vector(&[value.0]));
        }
        AttributeValue::Text(text) => {
            args.form = AttributeForm::Text;
            args.texts = Some(encode_texts(builder, std::slice::from_ref(text)));
        }
        AttributeValue::Bytes(bytes) => {
            args.form = AttributeForm::Bytes;
            args.bytes = Some(builder.create_vector(bytes));
        }
        AttributeValue::Integers(values) => {
            args.form = AttributeForm::Integers;
            args.integers = Some(builder.create_vector(values));
        }
        AttributeValue::Reals(values) => {
            args.form = AttributeForm::Reals;
            args.reals = Some(builder.create_vector(&values.iter().map(|value| value.0).collect::<Vec<_>>()));
        }
        AttributeValue::Texts(texts) => {
            args.form = AttributeForm::Texts;
            args.texts = Some(encode_texts(builder, texts));
        }
    }
    wire::Attribute::create(builder, &args)
}

fn encode_texts<'a>(builder: &mut Builder<'a>, texts: &[String]) -> Tables<'a, &'a str> {
    let texts: Vec<_> = texts.iter().map(|text| builder.create_string(text)).collect();
    builder.create_vector(&texts)
}

fn decode_attribute(encoded: wire::Attribute<'_>) -> Result<AttributeValue, TableDecodeError> {
    let bytes = || encoded.bytes().map_or(Vec::new(), |bytes| bytes.bytes().to_vec());
    let integers = || encoded.integers().into_iter().flatten();
    let reals = || encoded.reals().into_iter().flatten().map(Real);
    let texts = || encoded.texts().into_iter().flatten().map(str::to_owned);
    match encoded.form() {
        AttributeForm::Bool => match single(bytes().into_iter())? {
            number @ 0..=1 => Ok(AttributeValue::Bool(number == 1)),
            number => Err(TableDecodeError::UnknownNumber { what: "truth value", number }),
        },
        AttributeForm::Integer => single(integers()).map(AttributeValue::Integer),
        AttributeForm::Unsigned => {
            single(encoded.unsigned().into_iter().flatten()).map(AttributeValue::Unsigned)
        }
        AttributeForm::Real => single(reals()).map(AttributeValue::Real),
        AttributeForm::Text => single(texts()).map(AttributeValue::Text),
        AttributeForm::Bytes => Ok(AttributeValue::Bytes(bytes())),
        AttributeForm::Integers => Ok(AttributeValue::Integers(integers().collect())),
        AttributeForm::Reals => Ok(AttributeValue::Reals(reals().collect())),
        AttributeForm::Texts => Ok(AttributeValue::Texts(texts().collect())),
        AttributeForm(number) => {
            Err(TableDecodeError::UnknownNumber { what: "form of an attribute", number })
        }
    }
}

/// The only value.
fn single<T>(mut values: impl Iterator<Item = T>) -> Result<T, TableDecodeError> {
    match (values.next(), values.count()) {
        (Some(value), 0) => Ok(value),
        (first, more) => {
            let found = usize::from(first.is_some()) + more;
            Err(TableDecodeError::Count { what: "values of a single attribute", found, expected: 1 })
        }
    }
}
