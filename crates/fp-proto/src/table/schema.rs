//! Schemas: variables and records.

use fp_types::{
    ArrayKind, Dtype, FieldDef, FieldExtent, FieldType, MemoryOrder, RecordDef, Schema, VariableDef,
};
use fp_wire::flatbuffers::WIPOffset;
use fp_wire::wire::{self, FieldForm};

use super::attribute::{decode_attributes, encode_attributes};
use super::layout::decode_shape;
use super::{Builder, DecodeError};

pub(super) fn encode<'a>(builder: &mut Builder<'a>, schema: &Schema) -> WIPOffset<wire::Schema<'a>> {
    let stream = Some(builder.create_string(&schema.stream));
    let variables: Vec<_> =
        schema.variables.iter().map(|variable| encode_variable(builder, variable)).collect();
    let variables = Some(builder.create_vector(&variables));
    let records: Vec<_> = schema.records.iter().map(|record| encode_record(builder, record)).collect();
    let records = Some(builder.create_vector(&records));
    let attributes = encode_attributes(builder, &schema.attributes);
    wire::Schema::create(builder, &wire::SchemaArgs { stream, variables, records, attributes })
}

pub(super) fn decode(encoded: wire::Schema<'_>) -> Result<Schema, DecodeError> {
    let variables = encoded.variables().into_iter().flatten().map(decode_variable);
    let records = encoded.records().into_iter().flatten().map(decode_record);
    let schema = Schema {
        stream: encoded.stream().to_owned(),
        variables: variables.collect::<Result<_, _>>()?,
        records: records.collect::<Result<_, _>>()?,
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
        record: variable.record.as_deref().map(|text| builder.create_string(text)),
        kind,
        joined_dim,
        dimensions: Some(builder.create_vector(&dimensions)),
        order: wire::MemoryOrder(variable.order.as_u8()),
        unit: variable.unit.as_deref().map(|text| builder.create_string(text)),
        description: variable.description.as_deref().map(|text| builder.create_string(text)),
        attributes: encode_attributes(builder, &variable.attributes),
    };
    wire::Variable::create(builder, &args)
}

/// The variable, not yet validated.
pub(super) fn decode_variable(encoded: wire::Variable<'_>) -> Result<VariableDef, DecodeError> {
    let order = encoded.order().0;
    let unknown_order = DecodeError::UnknownNumber { what: "memory order", number: order };
    Ok(VariableDef {
        name: encoded.name().to_owned(),
        dtype: decode_dtype(encoded.dtype())?,
        record: encoded.record().map(str::to_owned),
        kind: decode_kind(encoded.kind(), encoded.joined_dim())?,
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

fn decode_kind(kind: wire::ArrayKind, joined_dim: u8) -> Result<ArrayKind, DecodeError> {
    match kind {
        wire::ArrayKind::Scalar => Ok(ArrayKind::Scalar),
        wire::ArrayKind::LocalScalar => Ok(ArrayKind::LocalScalar),
        wire::ArrayKind::GlobalArray => Ok(ArrayKind::GlobalArray),
        wire::ArrayKind::LocalArray => Ok(ArrayKind::LocalArray),
        wire::ArrayKind::JoinedArray => Ok(ArrayKind::JoinedArray { joined_dim }),
        wire::ArrayKind(number) => Err(DecodeError::UnknownNumber { what: "array kind", number }),
    }
}

fn decode_dtype(number: u8) -> Result<Dtype, DecodeError> {
    Dtype::try_from(number).map_err(|_| DecodeError::UnknownNumber { what: "element type", number })
}

fn encode_record<'a>(builder: &mut Builder<'a>, record: &RecordDef) -> WIPOffset<wire::Record<'a>> {
    let name = Some(builder.create_string(&record.name));
    let fields: Vec<_> = record.fields.iter().map(|field| encode_field(builder, field)).collect();
    let fields = Some(builder.create_vector(&fields));
    wire::Record::create(builder, &wire::RecordArgs { name, fields })
}

fn decode_record(encoded: wire::Record<'_>) -> Result<RecordDef, DecodeError> {
    let fields = encoded.fields().into_iter().flatten().map(decode_field);
    Ok(RecordDef { name: encoded.name().to_owned(), fields: fields.collect::<Result<_, _>>()? })
}

fn encode_field<'a>(builder: &mut Builder<'a>, field: &FieldDef) -> WIPOffset<wire::Field<'a>> {
    let (dtype, record) = match &field.element {
        FieldType::Dtype(dtype) => (dtype.as_u8(), None),
        FieldType::Record(record) => (0, Some(builder.create_string(record))),
    };
    let (form, shape, length) = match &field.extent {
        FieldExtent::One => (FieldForm::One, None, None),
        FieldExtent::Fixed(shape) => {
            (FieldForm::Fixed, Some(builder.create_vector(shape.dims().as_slice())), None)
        }
        FieldExtent::SizedBy(length) => (FieldForm::SizedBy, None, Some(builder.create_string(length))),
    };
    let args = wire::FieldArgs {
        name: Some(builder.create_string(&field.name)),
        dtype,
        record,
        form,
        shape,
        length,
        optional: field.optional,
        unit: field.unit.as_deref().map(|text| builder.create_string(text)),
        description: field.description.as_deref().map(|text| builder.create_string(text)),
    };
    wire::Field::create(builder, &args)
}

fn decode_field(encoded: wire::Field<'_>) -> Result<FieldDef, DecodeError> {
    let missing = |what| DecodeError::Count { what, found: 0, expected: 1 };
    let extent = match encoded.form() {
        FieldForm::One => FieldExtent::One,
        FieldForm::Fixed => {
            FieldExtent::Fixed(decode_shape(encoded.shape().ok_or(missing("shapes of an array field"))?)?)
        }
        FieldForm::SizedBy => {
            FieldExtent::SizedBy(encoded.length().ok_or(missing("lengths of an array field"))?.to_owned())
        }
        FieldForm(number) => return Err(DecodeError::UnknownNumber { what: "form of a field", number }),
    };
    let element = match encoded.record() {
        Some(record) => FieldType::Record(record.to_owned()),
        None => FieldType::Dtype(decode_dtype(encoded.dtype())?),
    };
    Ok(FieldDef {
        name: encoded.name().to_owned(),
        element,
        extent,
        optional: encoded.optional(),
        unit: encoded.unit().map(str::to_owned),
        description: encoded.description().map(str::to_owned),
    })
}
