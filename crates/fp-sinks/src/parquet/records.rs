//! Records as columns, field by field, whatever their type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, Float32Array, Float64Array, ListArray,
    PrimitiveArray, StringArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use fp_core::record::{
    Extent, Field, FieldElement, RecordReadError, RecordRef, RecordSchema, RecordType, Records, Value,
};
use fp_core::{AttributeValue, Dtype, MemoryOrder, Shape};

use super::fields;

/// What one row has in a column, or one element in a list.
enum Item<'a> {
    Absent,
    Bool(bool),
    Integer(i128),
    Real(f64),
    Complex(f64, f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Record(RecordRef<'a>),
    List(Vec<Item<'a>>),
}

/// The columns of so many records.
pub(super) fn columns(schema: &RecordSchema, bytes: &[u8], count: usize) -> Result<Vec<ArrayRef>, String> {
    let records = Records::new(schema, bytes, count).map_err(|error| error.to_string())?;
    let records: Vec<Option<RecordRef<'_>>> = records.iter().map(Some).collect();
    of_records(schema.record(), &records)
}

/// The fields of records, of which some may be absent.
fn of_records<'a>(
    record: &'a RecordType,
    records: &[Option<RecordRef<'a>>],
) -> Result<Vec<ArrayRef>, String> {
    let column = |(index, field): (usize, &'a Field)| {
        let item = |record: &Option<RecordRef<'a>>| match record {
            Some(record) => Item::of(&record.field(index)?, field),
            None => Ok(Item::Absent),
        };
        let items: Result<Vec<Item<'a>>, RecordReadError> = records.iter().map(item).collect();
        of_field(field, &items.map_err(|error| format!("{}: {error}", field.name))?)
    };
    record.fields.iter().enumerate().map(column).collect()
}

impl<'a> Item<'a> {
    fn of(value: &Value<'a>, field: &'a Field) -> Result<Self, RecordReadError> {
        Ok(match value {
            Value::Absent => Self::Absent,
            Value::Default(value) => match &field.extent {
                Extent::Fixed(shape, _) => {
                    Self::List((0..shape.element_count()).map(|_| Self::of_default(value, field)).collect())
                }
                Extent::One | Extent::Variable | Extent::SizedBy(_) => Self::of_default(value, field),
            },
            Value::Bool(value) => Self::Bool(*value),
            Value::Integer(number) => Self::Integer(*number),
            Value::Real(number) => Self::Real(*number),
            Value::Complex(real, imaginary) => Self::Complex(*real, *imaginary),
            Value::Text(text) | Value::Enum(text, _) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            Value::Record(record) => Self::Record(*record),
            Value::Array(array) => {
                let element = |index| Self::of(&array.value(index)?, field);
                let indices = places(array.extent(), array.count());
                Self::List(indices.into_iter().map(element).collect::<Result<_, _>>()?)
            }
        })
    }

    /// What stands for a field that is not there. A list has no default but its absence.
    fn of_default(value: &'a AttributeValue, field: &'a Field) -> Self {
        if let (AttributeValue::Integer(number), FieldElement::Enum(names)) = (value, &field.element) {
            return names.name_of(*number).map_or(Self::Absent, Self::Text);
        }
        match value {
            AttributeValue::Bool(value) => Self::Bool(*value),
            AttributeValue::Integer(number) => Self::Integer(i128::from(*number)),
            AttributeValue::Unsigned(number) => Self::Integer(i128::from(*number)),
            AttributeValue::Real(number) => Self::Real(number.0),
            AttributeValue::Text(text) => Self::Text(text),
            AttributeValue::Bytes(bytes) => Self::Bytes(bytes),
            AttributeValue::Integers(_) | AttributeValue::Reals(_) | AttributeValue::Texts(_) => Self::Absent,
        }
    }

    fn integer(&self) -> Option<i128> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    /// An integer that stands for a missing real number is one too.
    fn real(&self) -> Option<f64> {
        if let Self::Real(number) = self { Some(*number) } else { self.integer().map(|number| number as f64) }
    }
}

/// What a column of one block may not have.
pub(super) const TOO_MANY: &str =
    "a block has more than 2^31 bytes of texts or elements of lists: put it in smaller blocks";

/// Where the elements of an array lie, in row-major order.
fn places(extent: &Extent, count: usize) -> Vec<usize> {
    match extent {
        Extent::Fixed(shape, MemoryOrder::ColumnMajor) => row_major(shape),
        Extent::Fixed(_, MemoryOrder::RowMajor) | Extent::One | Extent::Variable | Extent::SizedBy(_) => {
            (0..count).collect()
        }
    }
}

/// Where the elements of an array in column-major order lie, in row-major order.
fn row_major(shape: &Shape) -> Vec<usize> {
    let mut places = vec![0];
    let mut stride = 1;
    for extent in shape.dims().iter().map(|extent| *extent as usize) {
        let next = |place: &usize| (0..extent).map(move |at| place + at * stride).collect::<Vec<usize>>();
        places = places.iter().flat_map(next).collect();
        stride *= extent;
    }
    places
}

/// The column of a field.
fn of_field<'a>(field: &'a Field, items: &[Item<'a>]) -> Result<ArrayRef, String> {
    if field.extent == Extent::One {
        return of_elements(&field.element, &items.iter().collect::<Vec<_>>());
    }
    let lengths = items.iter().map(|item| if let Item::List(elements) = item { elements.len() } else { 0 });
    let offsets = OffsetBuffer::try_from_lengths(lengths).map_err(|_| TOO_MANY)?;
    let elements: Vec<&Item<'a>> = items
        .iter()
        .filter_map(|item| if let Item::List(all) = item { Some(all) } else { None })
        .flatten()
        .collect();
    let elements = of_elements(&field.element, &elements)?;
    let item = fields::item(fields::of_element(&field.element)?);
    let lists = ListArray::try_new(item, offsets, elements, present(items.iter()));
    Ok(Arc::new(lists.map_err(|error| error.to_string())?))
}

/// Which of them are there.
fn present<'a>(items: impl Iterator<Item = &'a Item<'a>>) -> Option<NullBuffer> {
    let there: Vec<bool> = items.map(|item| !matches!(item, Item::Absent)).collect();
    Some(NullBuffer::from(there)).filter(|nulls| nulls.null_count() > 0)
}

/// Single elements one after another.
fn of_elements<'a>(element: &'a FieldElement, items: &[&Item<'a>]) -> Result<ArrayRef, String> {
    match element {
        FieldElement::Enum(_) => texts(items),
        FieldElement::Dtype(dtype) => of_dtype(*dtype, items),
        FieldElement::Record(record) => {
            let of = |item: &&Item<'a>| if let Item::Record(record) = item { Some(*record) } else { None };
            let records: Vec<Option<RecordRef<'a>>> = items.iter().map(of).collect();
            let columns = of_records(record, &records)?;
            structure(fields::of_records(record)?, columns, items)
        }
    }
}

fn structure(
    fields: Vec<arrow::datatypes::Field>,
    columns: Vec<ArrayRef>,
    items: &[&Item<'_>],
) -> Result<ArrayRef, String> {
    let made = StructArray::try_new(fields.into(), columns, present(items.iter().copied()));
    Ok(Arc::new(made.map_err(|error| error.to_string())?))
}

fn of_dtype(dtype: Dtype, items: &[&Item<'_>]) -> Result<ArrayRef, String> {
    Ok(match dtype {
        Dtype::I8 => integers::<Int8Type>(items),
        Dtype::I16 => integers::<Int16Type>(items),
        Dtype::I32 => integers::<Int32Type>(items),
        Dtype::I64 => integers::<Int64Type>(items),
        Dtype::U8 => integers::<UInt8Type>(items),
        Dtype::U16 => integers::<UInt16Type>(items),
        Dtype::U32 => integers::<UInt32Type>(items),
        Dtype::U64 => integers::<UInt64Type>(items),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => {
            Arc::new(Float32Array::from_iter(items.iter().map(|item| item.real().map(|real| real as f32))))
        }
        Dtype::F64 => Arc::new(Float64Array::from_iter(items.iter().map(|item| item.real()))),
        Dtype::C32 | Dtype::C64 => complex(dtype, items)?,
        Dtype::Bool => {
            let of = |item: &&Item<'_>| if let Item::Bool(value) = item { Some(*value) } else { None };
            Arc::new(BooleanArray::from_iter(items.iter().map(of)))
        }
        Dtype::String => texts(items)?,
        Dtype::Bytes => {
            let of =
                |item: &&Item<'_>| if let Item::Bytes(bytes) = item { Some(bytes.to_vec()) } else { None };
            let len = |item: &&Item<'_>| if let Item::Bytes(bytes) = item { bytes.len() } else { 0 };
            check_len(items.iter().map(len).sum())?;
            Arc::new(BinaryArray::from_iter(items.iter().map(of)))
        }
    })
}

fn integers<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(items: &[&Item<'_>]) -> ArrayRef {
    let of = |item: &&Item<'_>| item.integer().and_then(|number| T::Native::try_from(number).ok());
    Arc::new(items.iter().map(of).collect::<PrimitiveArray<T>>())
}

fn texts(items: &[&Item<'_>]) -> Result<ArrayRef, String> {
    let len = |item: &&Item<'_>| if let Item::Text(text) = item { text.len() } else { 0 };
    check_len(items.iter().map(len).sum())?;
    let of = |item: &&Item<'_>| if let Item::Text(text) = item { Some((*text).to_owned()) } else { None };
    Ok(Arc::new(StringArray::from_iter(items.iter().map(of))))
}

/// A column of a block counts bytes and elements of lists with 31 bits.
fn check_len(len: usize) -> Result<(), String> {
    if i32::try_from(len).is_ok() { Ok(()) } else { Err(TOO_MANY.to_owned()) }
}

fn complex(dtype: Dtype, items: &[&Item<'_>]) -> Result<ArrayRef, String> {
    let part = |imaginary: bool| {
        items.iter().map(move |item| {
            let Item::Complex(real, other) = item else { return None };
            Some(if imaginary { *other } else { *real })
        })
    };
    let arrow::datatypes::DataType::Struct(fields) = fields::of_dtype(dtype) else {
        return Err(format!("{dtype} is no type of complex numbers"));
    };
    let parts = [false, true].map(|imaginary| -> ArrayRef {
        if dtype == Dtype::C32 {
            Arc::new(Float32Array::from_iter(part(imaginary).map(|real| real.map(|real| real as f32))))
        } else {
            Arc::new(Float64Array::from_iter(part(imaginary)))
        }
    });
    structure(fields.iter().map(|field| field.as_ref().clone()).collect(), parts.to_vec(), items)
}
