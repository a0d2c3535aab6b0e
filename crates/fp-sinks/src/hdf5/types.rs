//! Element types and records as types of HDF5, in the way that h5py reads them.

use fp_core::record::{ByteOrder, EnumType, Extent, Field, FieldElement, RecordSchema, RecordType};
use fp_core::{Dtype, MemoryOrder};
use hdf5_metno::types::{CompoundField, CompoundType, EnumMember, FloatSize, IntSize, TypeDescriptor};

use crate::taken_step::TakenVariable;

/// The type that elements of a variable are written as, and how many bytes each takes; else why there is none.
pub(crate) fn of(variable: &TakenVariable) -> Result<(TypeDescriptor, usize), String> {
    match &variable.records {
        Some(schema) => of_records(schema),
        None => {
            let descriptor = of_elements(variable.dtype)?;
            let size = descriptor.size();
            Ok((descriptor, size))
        }
    }
}

fn of_elements(dtype: Dtype) -> Result<TypeDescriptor, String> {
    Ok(match dtype {
        Dtype::I8 => TypeDescriptor::Integer(IntSize::U1),
        Dtype::I16 => TypeDescriptor::Integer(IntSize::U2),
        Dtype::I32 => TypeDescriptor::Integer(IntSize::U4),
        Dtype::I64 => TypeDescriptor::Integer(IntSize::U8),
        Dtype::U8 => TypeDescriptor::Unsigned(IntSize::U1),
        Dtype::U16 => TypeDescriptor::Unsigned(IntSize::U2),
        Dtype::U32 => TypeDescriptor::Unsigned(IntSize::U4),
        Dtype::U64 => TypeDescriptor::Unsigned(IntSize::U8),
        Dtype::F16 => TypeDescriptor::Float(FloatSize::U2),
        Dtype::F32 => TypeDescriptor::Float(FloatSize::U4),
        Dtype::F64 => TypeDescriptor::Float(FloatSize::U8),
        Dtype::C32 => complex(FloatSize::U4, 4),
        Dtype::C64 => complex(FloatSize::U8, 8),
        Dtype::Bool => TypeDescriptor::Boolean,
        Dtype::BF16 => return Err("HDF5 has no bf16: write it as f32 with --cast f32".to_owned()),
        Dtype::String | Dtype::Bytes => return Err(format!("HDF5 files have no arrays of {dtype} here")),
    })
}

/// A complex number: its parts are called r and i.
fn complex(part: FloatSize, size: usize) -> TypeDescriptor {
    let field = |name, index| CompoundField::new(name, TypeDescriptor::Float(part), index * size, index);
    TypeDescriptor::Compound(CompoundType { fields: vec![field("r", 0), field("i", 1)], size: 2 * size })
}

/// Records as a compound type that lies in the file as they do in memory.
fn of_records(schema: &RecordSchema) -> Result<(TypeDescriptor, usize), String> {
    if schema.byte_order() != ByteOrder::NATIVE {
        return Err("its records have the byte order of another machine".to_owned());
    }
    let descriptor = of_record(schema.record())?;
    if descriptor.size() != schema.size_bytes() {
        return Err(format!(
            "its records take {} bytes, and those of HDF5 {}",
            schema.size_bytes(),
            descriptor.size()
        ));
    }
    Ok((descriptor, schema.size_bytes()))
}

fn of_record(record: &RecordType) -> Result<TypeDescriptor, String> {
    let field = |(index, field): (usize, &Field)| {
        let descriptor = of_field(field).map_err(|why| format!("field {:?} {why}", field.name))?;
        Ok(CompoundField::new(&field.name, descriptor, 0, index))
    };
    let fields: Result<Vec<CompoundField>, String> = record.fields.iter().enumerate().map(field).collect();
    // Offsets are those that C would choose, as are those of records.
    Ok(TypeDescriptor::Compound(CompoundType { fields: fields?, size: 0 }.to_c_repr()))
}

fn of_field(field: &Field) -> Result<TypeDescriptor, String> {
    if field.optional {
        return Err("may be absent, which HDF5 cannot say".to_owned());
    }
    let element = match &field.element {
        FieldElement::Dtype(dtype @ (Dtype::String | Dtype::Bytes)) => {
            return Err(format!("is {dtype} of any length, which a record of HDF5 cannot hold here"));
        }
        FieldElement::Dtype(dtype) => of_elements(*dtype)?,
        FieldElement::Enum(names) => of_enum(names)?,
        FieldElement::Record(record) => of_record(record)?,
    };
    match &field.extent {
        Extent::One => Ok(element),
        Extent::Fixed(shape, order) if *order == MemoryOrder::RowMajor || shape.ndims() < 2 => {
            let nested = |inner, extent: &u64| TypeDescriptor::FixedArray(Box::new(inner), *extent as usize);
            Ok(shape.dims().iter().rev().fold(element, nested))
        }
        Extent::Fixed(..) => Err("is an array in column-major order, which HDF5 does not have".to_owned()),
        Extent::Variable | Extent::SizedBy(_) => {
            Err("is a list of any length, which a record of HDF5 cannot hold here".to_owned())
        }
    }
}

/// An enumeration, in the integer type that it has.
fn of_enum(names: &EnumType) -> Result<TypeDescriptor, String> {
    let (size, signed) = match of_elements(names.dtype)? {
        TypeDescriptor::Integer(size) => (size, true),
        TypeDescriptor::Unsigned(size) => (size, false),
        other => return Err(format!("is an enumeration of {other}")),
    };
    let member = |(name, number): &(String, i64)| EnumMember { name: name.clone(), value: *number as u64 };
    Ok(TypeDescriptor::Enum(hdf5_metno::types::EnumType {
        size,
        signed,
        members: names.variants.iter().map(member).collect(),
    }))
}
