//! Schemas: variables, and which records they are made of.

use fp_types::{ArrayKind, Dtype, Fingerprint, MemoryOrder, RecordId, Schema, VariableDef, VariableOrigin};
use fp_wire::flatbuffers::WIPOffset;
use fp_wire::wire;

use super::attribute::{decode_attributes, encode_attributes};
use super::{Builder, TableDecodeError};

pub(super) fn encode<'a>(builder: &mut Builder<'a>, schema: &Schema) -> WIPOffset<wire::Schema<'a>> {
    let stream = Some(builder.create_string(&schema.stream));
    let variables: Vec<_> =
        schema.variables.iter().map(|variable| encode_variable(builder, variable)).collect();
    let variables = Some(builder.create_vector(&variables));
    let attributes = encode_attributes(builder, &schema.attributes);
    wire::Schema::create(builder, &wire::SchemaArgs { stream, variables, attributes })
}

pub(super) fn decode(encoded: wire::Schema<'_>) -> Result<Schema, TableDecodeError> {
    let variables = encoded.variables().into_iter().flatten().map(decode_variable);
    let schema = Schema {
        stream: encoded.stream().to_owned(),
        variables: variables.collect::<Result<_, _>>()?,
        attributes: decode_attributes(encoded.attributes())?,
    };
    schema.validate()?;
    Ok(schema)
}

pub(super) fn encode_variable<'a>(
    builder: &mut Builder<'a>,
    variable: &VariableDef,
) -> WIPOffset<wire::Variable<'a>> {
    let (kind, joined_dim) = encode_kind(variable.kind);
    let dimensions: Vec<_> = variable.dimensions.iter().map(|name| builder.create_string(name)).collect();
    let args = wire::VariableArgs {
        name: Some(builder.create_string(&variable.name)),
        dtype: variable.dtype.as_u8(),
        record: variable.record.as_ref().map(|record| encode_record(builder, record)),
        kind,
        joined_dim,
        dimensions: Some(builder.create_vector(&dimensions)),
        order: wire::MemoryOrder(variable.order.as_u8()),
        unit: variable.unit.as_deref().map(|text| builder.create_string(text)),
        description: variable.description.as_deref().map(|text| builder.create_string(text)),
        attributes: encode_attributes(builder, &variable.attributes),
        origin: wire::VariableOrigin(variable.origin.as_u8()),
    };
    wire::Variable::create(builder, &args)
}

/// The variable, not yet validated.
pub(super) fn decode_variable(encoded: wire::Variable<'_>) -> Result<VariableDef, TableDecodeError> {
    let order = encoded.order().0;
    let origin = encoded.origin().0;
    let unknown_origin = TableDecodeError::UnknownNumber { what: "origin of a variable", number: origin };
    let unknown_order = TableDecodeError::UnknownNumber { what: "memory order", number: order };
    Ok(VariableDef {
        name: encoded.name().to_owned(),
        dtype: decode_dtype(encoded.dtype())?,
        record: encoded.record().map(decode_record),
        kind: decode_kind(encoded.kind(), encoded.joined_dim())?,
        origin: VariableOrigin::from_u8(origin).ok_or(unknown_origin)?,
        dimensions: encoded.dimensions().into_iter().flatten().map(str::to_owned).collect(),
        order: MemoryOrder::from_u8(order).ok_or(unknown_order)?,
        unit: encoded.unit().map(str::to_owned),
        description: encoded.description().map(str::to_owned),
        attributes: decode_attributes(encoded.attributes())?,
    })
}

fn encode_kind(kind: ArrayKind) -> (wire::ArrayKind, u8) {
    match kind {
        ArrayKind::Scalar => (wire::ArrayKind::Scalar, 0),
        ArrayKind::LocalScalar => (wire::ArrayKind::LocalScalar, 0),
        ArrayKind::GlobalArray => (wire::ArrayKind::GlobalArray, 0),
        ArrayKind::LocalArray => (wire::ArrayKind::LocalArray, 0),
        ArrayKind::JoinedArray { joined_dim } => (wire::ArrayKind::JoinedArray, joined_dim),
    }
}

fn decode_kind(kind: wire::ArrayKind, joined_dim: u8) -> Result<ArrayKind, TableDecodeError> {
    match kind {
        wire::ArrayKind::Scalar => Ok(ArrayKind::Scalar),
        wire::ArrayKind::LocalScalar => Ok(ArrayKind::LocalScalar),
        wire::ArrayKind::GlobalArray => Ok(ArrayKind::GlobalArray),
        wire::ArrayKind::LocalArray => Ok(ArrayKind::LocalArray),
        wire::ArrayKind::JoinedArray => Ok(ArrayKind::JoinedArray { joined_dim }),
        wire::ArrayKind(number) => Err(TableDecodeError::UnknownNumber { what: "array kind", number }),
    }
}

fn decode_dtype(number: u8) -> Result<Dtype, TableDecodeError> {
    Dtype::try_from(number).map_err(|_| TableDecodeError::UnknownNumber { what: "element type", number })
}

fn encode_record<'a>(builder: &mut Builder<'a>, record: &RecordId) -> WIPOffset<wire::RecordId<'a>> {
    let number = u128::from_le_bytes(record.fingerprint.0);
    let (low, high) = (number as u64, (number >> 64) as u64);
    let name = Some(builder.create_string(&record.name));
    wire::RecordId::create(builder, &wire::RecordIdArgs { name, low, high, size_bytes: record.size_bytes })
}

fn decode_record(encoded: wire::RecordId<'_>) -> RecordId {
    let number = u128::from(encoded.high()) << 64 | u128::from(encoded.low());
    let fingerprint = Fingerprint(number.to_le_bytes());
    RecordId { name: encoded.name().to_owned(), fingerprint, size_bytes: encoded.size_bytes() }
}
