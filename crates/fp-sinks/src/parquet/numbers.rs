//! Numbers of arrays as columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray, StructArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use bytemuck::AnyBitPattern;
use fp_core::{Dtype, VariableDef};
use half::{bf16, f16};

use super::fields;
use super::records::TOO_MANY;

/// Up to so many numbers a row have a column each. More are a list in one column.
const MAX_COLUMNS: usize = 16;

/// The columns of an array with rows of that many numbers.
pub(super) fn fields(def: &VariableDef, dtype: Dtype, width: usize) -> Vec<Field> {
    let metadata = fields::metadata(&def.attributes, def.unit.as_ref(), def.description.as_ref());
    let element = fields::of_dtype(dtype);
    let field =
        |name: String, dtype: DataType| Field::new(name, dtype, false).with_metadata(metadata.clone());
    match def.ndims() {
        0 | 1 => vec![field(def.name.clone(), element)],
        _ if width > MAX_COLUMNS => vec![field(def.name.clone(), DataType::List(fields::item(element)))],
        _ => (0..width).map(|at| field(format!("{}_{at}", def.name), element.clone())).collect(),
    }
}

/// The columns of rows of so many numbers each, which lie one row after another.
pub(super) fn columns(dtype: Dtype, width: usize, bytes: &[u8]) -> Result<Vec<ArrayRef>, String> {
    let size = dtype.size_bytes().ok_or_else(|| format!("elements of type {dtype} are no numbers"))?;
    if width == 0 {
        return Ok(Vec::new());
    }
    if width > MAX_COLUMNS {
        let elements = column(dtype, bytes)?;
        let rows = elements.len() / width;
        let (item, lengths) = (fields::item(elements.data_type().clone()), vec![width; rows]);
        let offsets = OffsetBuffer::try_from_lengths(lengths).map_err(|_| TOO_MANY)?;
        let lists = ListArray::try_new(item, offsets, elements, None);
        return Ok(vec![Arc::new(lists.map_err(|error| error.to_string())?)]);
    }
    if width == 1 {
        return Ok(vec![column(dtype, bytes)?]);
    }
    let of = |at: usize| {
        let numbers = bytes.chunks_exact(size * width).flat_map(|row| &row[at * size..(at + 1) * size]);
        column(dtype, &numbers.copied().collect::<Vec<u8>>())
    };
    (0..width).map(of).collect()
}

/// The numbers as one column.
fn column(dtype: Dtype, bytes: &[u8]) -> Result<ArrayRef, String> {
    Ok(match dtype {
        Dtype::I8 => primitive::<Int8Type>(bytes),
        Dtype::I16 => primitive::<Int16Type>(bytes),
        Dtype::I32 => primitive::<Int32Type>(bytes),
        Dtype::I64 => primitive::<Int64Type>(bytes),
        Dtype::U8 => primitive::<UInt8Type>(bytes),
        Dtype::U16 => primitive::<UInt16Type>(bytes),
        Dtype::U32 => primitive::<UInt32Type>(bytes),
        Dtype::U64 => primitive::<UInt64Type>(bytes),
        Dtype::F32 => primitive::<Float32Type>(bytes),
        Dtype::F64 => primitive::<Float64Type>(bytes),
        Dtype::F16 => widened(bytes, |bits| f16::from_bits(bits).to_f32()),
        Dtype::BF16 => widened(bytes, |bits| bf16::from_bits(bits).to_f32()),
        Dtype::C32 => complex(dtype, columns(Dtype::F32, 2, bytes)?)?,
        Dtype::C64 => complex(dtype, columns(Dtype::F64, 2, bytes)?)?,
        Dtype::Bool => match bytes.iter().find(|byte| **byte > 1) {
            Some(byte) => return Err(format!("{byte} is no truth value")),
            None => Arc::new(BooleanArray::from_iter(bytes.iter().map(|byte| Some(*byte == 1)))),
        },
        Dtype::String | Dtype::Bytes => return Err(format!("elements of type {dtype} are no numbers")),
    })
}

fn primitive<T: ArrowPrimitiveType<Native: AnyBitPattern>>(bytes: &[u8]) -> ArrayRef {
    let size = size_of::<T::Native>();
    let numbers = bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned::<T::Native>);
    Arc::new(PrimitiveArray::<T>::from_iter_values(numbers))
}

fn widened(bytes: &[u8], number: impl Fn(u16) -> f32) -> ArrayRef {
    let bits = bytes.chunks_exact(2).map(|two| u16::from_ne_bytes([two[0], two[1]]));
    Arc::new(PrimitiveArray::<Float32Type>::from_iter_values(bits.map(number)))
}

/// Complex numbers of their real and imaginary parts.
pub(super) fn complex(dtype: Dtype, parts: Vec<ArrayRef>) -> Result<ArrayRef, String> {
    let DataType::Struct(fields) = fields::of_dtype(dtype) else {
        return Err(format!("{dtype} is no type of complex numbers"));
    };
    Ok(Arc::new(StructArray::try_new(fields, parts, None).map_err(|error| error.to_string())?))
}

/// The value of a scalar as text.
pub(super) fn text(dtype: Dtype, bytes: &[u8]) -> String {
    if dtype == Dtype::String {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let Ok(column) = column(dtype, bytes) else { return format!("{bytes:?}") };
    let number = |column: &dyn Array| -> Option<String> {
        let any = column.as_any();
        if let Some(reals) = any.downcast_ref::<PrimitiveArray<Float32Type>>() {
            return Some(format!("{:?}", reals.value(0)));
        }
        any.downcast_ref::<PrimitiveArray<Float64Type>>().map(|reals| format!("{:?}", reals.value(0)))
    };
    number(&column)
        .unwrap_or_else(|| arrow::util::display::array_value_to_string(&column, 0).unwrap_or_default())
}
