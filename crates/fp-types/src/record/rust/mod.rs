//! Rust types that are records, fields of records, or elements of fields.

mod encode;
mod plain;

pub use encode::{ElementTarget, EncodeError, FieldTarget, RecordTarget, encode_records, encode_with};
pub use plain::{PlainForm, plain_bytes, plain_number};

use half::{bf16, f16};

use super::check::RecordError;
use super::schema::RecordSchema;
use super::types::{Field, FieldElement, RecordType};
use super::view::{ArrayRef, RecordReadError, RecordRef, Records, Value, describe};
use crate::attribute::AttributeValue;
use crate::dtype::Dtype;
use crate::shape::Shape;

/// A Rust type that is a record. `#[derive(Record)]` writes this; nothing breaks memory safety if it is written by
/// hand and wrong, as every place is checked.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no record",
    label = "no record",
    note = "a struct of named fields becomes one by `#[derive(Record)]`"
)]
pub trait Record: Sized {
    /// How the fields lie where all records have each at the same place; empty where not, and unless it is derived.
    const PLAIN_FIELDS: &'static [Option<PlainForm>] = &[];

    /// The record type.
    fn record_type() -> RecordType;

    /// The record type, checked and laid out for this machine. The derive keeps it.
    fn schema() -> Result<RecordSchema, RecordError> {
        Self::record_type().build()
    }

    /// Writes all fields, in their order.
    fn put_fields(&self, to: &mut RecordTarget<'_>) -> Result<(), EncodeError>;

    /// Reads all fields.
    fn take_fields(from: &RecordRef<'_>) -> Result<Self, RecordReadError>;

    /// Whether values lie in memory as their records do: then many of them are put, and viewed, as they lie.
    fn lies_as_record() -> bool {
        false
    }

    /// Reads a record that lies as [`Record::PLAIN_FIELDS`] from the bytes that it starts. What is no value it says by
    /// setting the flag to `false`, and gives any other. Without it [`Record::take_fields`] reads every record.
    #[inline(always)]
    fn plain_record() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        None::<fn(&[u8], &mut bool) -> Self>
    }
}

/// A Rust type that is an element of fields: numbers, `bool`, `String`, records, enumerations.
pub trait ElementValue: Sized {
    /// How an element lies that has all its bytes in the record.
    const PLAIN_ELEMENT: Option<PlainForm> = None;

    /// The element's type.
    fn element() -> FieldElement;

    /// Writes elements.
    fn put_elements(values: &[Self], to: &mut ElementTarget<'_>) -> Result<(), EncodeError>;

    /// Whether an element lies in memory as it does in a record.
    fn lies_as_element() -> bool {
        false
    }

    /// Reads one element.
    fn take_element(value: Value<'_>) -> Result<Self, RecordReadError>;

    /// Reads an element that lies so, as [`Record::plain_record`] does a record. Without it
    /// [`ElementValue::take_element`] reads every element.
    #[inline(always)]
    fn plain_element() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        None::<fn(&[u8], &mut bool) -> Self>
    }

    /// Reads all elements of an array.
    fn take_elements(array: &ArrayRef<'_>) -> Result<Vec<Self>, RecordReadError> {
        (0..array.count()).map(|index| Self::take_element(array.value(index)?)).collect()
    }
}

/// A Rust type that is a field: an element, an array of them, a list of them, or any of these as an option.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a record's field",
    label = "no field of a record is of this type",
    note = "numbers, `bool`, `String`, types with `#[derive(Record)]`, and `[T; N]`, `Vec<T>` and `Option<T>` of these are"
)]
pub trait FieldValue: Sized {
    /// How a field lies that has all its bytes in the record, and is always there.
    const PLAIN_FIELD: Option<PlainForm> = None;

    /// The field of that name.
    fn field(name: &str) -> Field;

    /// Writes the field.
    fn put(&self, to: &mut FieldTarget<'_>) -> Result<(), EncodeError>;

    /// Reads the field.
    fn take(value: Value<'_>) -> Result<Self, RecordReadError>;

    /// Reads the field of that index of a record.
    fn take_from(from: &RecordRef<'_>, index: usize) -> Result<Self, RecordReadError> {
        Self::take(from.field(index)?)
    }

    /// Whether the field lies in memory as it does in a record.
    fn lies_as_field() -> bool {
        false
    }

    /// Reads a field that lies so, as [`Record::plain_record`] does a record.
    #[inline(always)]
    fn plain_field() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        None::<fn(&[u8], &mut bool) -> Self>
    }

    /// Whether there is anything to write.
    fn is_present(&self) -> bool {
        true
    }
}

/// Reads all records as values of a Rust type, which must be of the same schema: convert them first where it is not.
pub fn decode_records<T: Record>(records: &Records<'_>) -> Result<Vec<T>, RecordReadError> {
    let wanted = T::schema()?;
    if *records.schema() != wanted {
        let (found, wanted) = (records.schema().record().name.clone(), wanted.record().name.clone());
        return Err(RecordReadError::OtherType { found, wanted });
    }
    if let Some(values) = plain::plain_values(records.as_bytes()) {
        return Ok(values);
    }
    // A count is believed as far as there are bytes for it.
    let mut values = Vec::with_capacity(records.count().min(records.as_bytes().len()));
    for record in records.iter() {
        values.push(T::take_fields(&record)?);
    }
    Ok(values)
}

impl RecordRef<'_> {
    /// The field of that index as a value of a Rust type.
    pub fn take<T: FieldValue>(&self, index: usize) -> Result<T, RecordReadError> {
        T::take_from(self, index)
    }
}

impl<T: Record> ElementValue for T {
    const PLAIN_ELEMENT: Option<PlainForm> = PlainForm::record(T::PLAIN_FIELDS);

    fn element() -> FieldElement {
        FieldElement::Record(T::record_type())
    }

    fn put_elements(values: &[Self], to: &mut ElementTarget<'_>) -> Result<(), EncodeError> {
        to.put_records(values)
    }

    fn lies_as_element() -> bool {
        T::lies_as_record()
    }

    #[inline(always)]
    fn plain_element() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        T::plain_record()
    }

    fn take_element(value: Value<'_>) -> Result<Self, RecordReadError> {
        let record = value.as_record().ok_or_else(|| wrong(&value, "a record"))?;
        T::take_fields(&record)
    }
}

fn wrong(value: &Value<'_>, wanted: &'static str) -> RecordReadError {
    RecordReadError::Type { found: describe(value), wanted }
}

/// Number types; the last argument reads one from a value.
macro_rules! numbers {
    ($($rust:ty => $dtype:ident, $take:expr;)*) => {
        $(impl ElementValue for $rust {
            const PLAIN_ELEMENT: Option<PlainForm> = PlainForm::of(Dtype::$dtype);

            fn element() -> FieldElement {
                FieldElement::Dtype(Dtype::$dtype)
            }

            fn lies_as_element() -> bool {
                true
            }

            fn put_elements(values: &[Self], to: &mut ElementTarget<'_>) -> Result<(), EncodeError> {
                const SIZE: usize = size_of::<$rust>();
                let (places, _) = to.places(values.len(), Dtype::$dtype)?.as_chunks_mut::<SIZE>();
                for (place, value) in places.iter_mut().zip(values) {
                    *place = value.to_ne_bytes();
                }
                Ok(())
            }

            #[inline(always)]
            fn plain_element() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
                Some(|bytes: &[u8], is_sound: &mut bool| {
                    <$rust>::from_ne_bytes(plain_number(bytes, is_sound))
                })
            }

            fn take_element(value: Value<'_>) -> Result<Self, RecordReadError> {
                let take: fn(&Value<'_>) -> Result<Option<$rust>, RecordReadError> = $take;
                take(&value)?.ok_or_else(|| wrong(&value, stringify!($rust)))
            }

            fn take_elements(array: &ArrayRef<'_>) -> Result<Vec<Self>, RecordReadError> {
                if !array.is_native(Dtype::$dtype) {
                    return (0..array.count()).map(|index| Self::take_element(array.value(index)?)).collect();
                }
                let (elements, _) = array.as_bytes().as_chunks();
                Ok(elements.iter().map(|bytes| <$rust>::from_ne_bytes(*bytes)).collect())
            }
        })*
    };
}

/// How an integer type is read from a value.
macro_rules! integer {
    ($rust:ty) => {
        |value| {
            let range = |number| RecordReadError::Range { number, wanted: stringify!($rust) };
            value.as_integer().map(|number| <$rust>::try_from(number).map_err(|_| range(number))).transpose()
        }
    };
}

numbers! {
    i8 => I8, integer!(i8);
    i16 => I16, integer!(i16);
    i32 => I32, integer!(i32);
    i64 => I64, integer!(i64);
    u8 => U8, integer!(u8);
    u16 => U16, integer!(u16);
    u32 => U32, integer!(u32);
    u64 => U64, integer!(u64);
    f16 => F16, |value| Ok(value.as_f64().map(f16::from_f64));
    bf16 => BF16, |value| Ok(value.as_f64().map(bf16::from_f64));
    f32 => F32, |value| Ok(value.as_f64().map(|number| number as f32));
    f64 => F64, |value| Ok(value.as_f64());
}

impl ElementValue for bool {
    const PLAIN_ELEMENT: Option<PlainForm> = PlainForm::of(Dtype::Bool);

    fn element() -> FieldElement {
        FieldElement::Dtype(Dtype::Bool)
    }

    fn lies_as_element() -> bool {
        true
    }

    fn put_elements(values: &[Self], to: &mut ElementTarget<'_>) -> Result<(), EncodeError> {
        let places = to.places(values.len(), Dtype::Bool)?;
        places.iter_mut().zip(values).for_each(|(place, value)| *place = u8::from(*value));
        Ok(())
    }

    #[inline(always)]
    fn plain_element() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        Some(|bytes: &[u8], is_sound: &mut bool| {
            let [byte] = plain_number(bytes, is_sound);
            *is_sound &= byte <= 1;
            byte == 1
        })
    }

    fn take_element(value: Value<'_>) -> Result<Self, RecordReadError> {
        if let Value::Bool(truth) | Value::Default(&AttributeValue::Bool(truth)) = value {
            return Ok(truth);
        }
        Err(wrong(&value, "bool"))
    }
}

impl ElementValue for String {
    fn element() -> FieldElement {
        FieldElement::Dtype(Dtype::String)
    }

    fn put_elements(values: &[Self], to: &mut ElementTarget<'_>) -> Result<(), EncodeError> {
        to.put_texts(values.iter().map(String::as_bytes))
    }

    fn take_element(value: Value<'_>) -> Result<Self, RecordReadError> {
        value.as_text().map(str::to_owned).ok_or_else(|| wrong(&value, "a text"))
    }
}

impl<T: ElementValue> FieldValue for T {
    const PLAIN_FIELD: Option<PlainForm> = T::PLAIN_ELEMENT;

    fn field(name: &str) -> Field {
        Field::new(name, T::element())
    }

    fn put(&self, to: &mut FieldTarget<'_>) -> Result<(), EncodeError> {
        to.put_elements(std::slice::from_ref(self))
    }

    fn lies_as_field() -> bool {
        T::lies_as_element()
    }

    #[inline(always)]
    fn plain_field() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        T::plain_element()
    }

    fn take(value: Value<'_>) -> Result<Self, RecordReadError> {
        T::take_element(value)
    }

    fn take_from(from: &RecordRef<'_>, index: usize) -> Result<Self, RecordReadError> {
        let straight = |(dtype, bytes): (Dtype, &[u8])| {
            let (read, mut is_sound) = (T::plain_element()?, PlainForm::is_number(T::PLAIN_ELEMENT, dtype));
            let number = is_sound.then(|| read(bytes, &mut is_sound))?;
            is_sound.then_some(number)
        };
        match from.number(index).and_then(straight) {
            Some(number) => Ok(number),
            None => Self::take(from.field(index)?),
        }
    }
}

impl<T: ElementValue> FieldValue for Vec<T> {
    fn field(name: &str) -> Field {
        Field::new(name, T::element()).variable()
    }

    fn put(&self, to: &mut FieldTarget<'_>) -> Result<(), EncodeError> {
        to.put_elements(self)
    }

    fn take(value: Value<'_>) -> Result<Self, RecordReadError> {
        T::take_elements(&value.as_array().ok_or_else(|| wrong(&value, "a list"))?)
    }
}

impl<T: ElementValue, const N: usize> FieldValue for [T; N] {
    const PLAIN_FIELD: Option<PlainForm> = PlainForm::array(T::PLAIN_ELEMENT, N);

    fn field(name: &str) -> Field {
        // One dimension always is a shape.
        Field::new(name, T::element()).fixed(Shape::new([N as u64]).unwrap_or_default())
    }

    fn lies_as_field() -> bool {
        T::lies_as_element()
    }

    #[inline(always)]
    fn plain_field() -> Option<impl Fn(&[u8], &mut bool) -> Self> {
        let read = T::plain_element()?;
        let size = const { PlainForm::size_of(T::PLAIN_ELEMENT) };
        Some(move |bytes: &[u8], is_sound: &mut bool| {
            std::array::from_fn(|index| read(plain_bytes(bytes, index * size), is_sound))
        })
    }

    fn put(&self, to: &mut FieldTarget<'_>) -> Result<(), EncodeError> {
        to.put_elements(self)
    }

    fn take(value: Value<'_>) -> Result<Self, RecordReadError> {
        let elements = match value {
            Value::Array(array) => T::take_elements(&array)?,
            Value::Default(_) => (0..N).map(|_| T::take_element(value)).collect::<Result<_, _>>()?,
            Value::Absent
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Complex(..)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::Enum(..)
            | Value::Record(_) => return Err(wrong(&value, "an array")),
        };
        let count = elements.len();
        elements.try_into().map_err(|_| RecordReadError::OutOfRange { index: N, count })
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    fn field(name: &str) -> Field {
        T::field(name).optional()
    }

    fn put(&self, to: &mut FieldTarget<'_>) -> Result<(), EncodeError> {
        self.as_ref().map_or(Ok(()), |value| value.put(to))
    }

    fn take(value: Value<'_>) -> Result<Self, RecordReadError> {
        if let Value::Absent = value { Ok(None) } else { T::take(value).map(Some) }
    }

    fn is_present(&self) -> bool {
        self.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ByteOrder, Conversion, EnumType, Loss, encode_with};

    /// A number of each kind of field, read the short way and as whatever value it is.
    fn both<T: FieldValue + PartialEq + std::fmt::Debug>(
        record: &RecordRef<'_>,
        index: usize,
    ) -> Result<T, RecordReadError> {
        let (short, long) = (record.take::<T>(index), T::take(record.field(index)?));
        assert_eq!(short, long, "field {index}");
        short
    }

    fn schema() -> RecordSchema {
        let names = EnumType::new("Phase", Dtype::U8).variant("Solid", 1);
        let record = RecordType::new("T")
            .field(Field::new("number", Dtype::I32))
            .field(Field::new("absent", Dtype::I32).optional())
            .field(Field::new("filled", Dtype::I32).optional().with_default(5))
            .field(Field::new("array", Dtype::I32).fixed(Shape::new([1]).unwrap()))
            .field(Field::new("name", names))
            .field(Field::new("real", Dtype::F32));
        record.build().unwrap()
    }

    fn check(schema: &RecordSchema, bytes: &[u8]) {
        let record = Records::new(schema, bytes, 1).unwrap().record(0).unwrap();
        assert_eq!(both::<i32>(&record, 0), Ok(-7));
        assert_eq!(both::<i64>(&record, 0), Ok(-7), "as another type");
        assert_eq!(both::<u8>(&record, 0), Err(RecordReadError::Range { number: -7, wanted: "u8" }));
        assert_eq!((both(&record, 1), both(&record, 2)), (Ok(None::<i32>), Ok(5)));
        assert!(both::<i32>(&record, 1).is_err() && both::<i32>(&record, 3).is_err());
        assert_eq!(both(&record, 3), Ok([9]));
        assert_eq!((both(&record, 4), both(&record, 5)), (Ok(1u8), Ok(0.5f32)));
        assert_eq!((both(&record, 5), both::<bool>(&record, 0).is_err()), (Ok(0.5f64), true));
        assert!(record.take::<i32>(6).is_err());
    }

    #[test]
    fn the_short_way_to_a_number_reads_what_the_long_one_reads() {
        let schema = schema();
        let bytes = encode_with(&schema, 1, |_, to| {
            to.put(0, &-7)?;
            to.put(3, &[9])?;
            to.put_bytes(4, Dtype::U8, &[1])?;
            to.put(5, &0.5f32)
        });
        let bytes = bytes.unwrap();
        check(&schema, &bytes);
        let other = if ByteOrder::NATIVE == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
        let other = schema.record().clone().build_in(other).unwrap();
        let swapped = Conversion::new(&schema, &other, Loss::Refused).unwrap();
        let swapped = swapped.convert(&Records::new(&schema, &bytes, 1).unwrap()).unwrap();
        assert_ne!(*swapped, bytes);
        check(&other, &swapped);
    }
}
