//! Checks record types: names, bounds, and that their fields go together.

use std::collections::BTreeSet;

use super::types::{EnumType, Extent, Field, FieldElement, RecordType};
use crate::attribute::{AttributeValue, MAX_TEXT_BYTES};
use crate::dtype::Dtype;
use crate::name::{NameError, NamesError, validate_name, validate_names};

/// How deep records may be nested; a record without records in it is one deep.
pub const MAX_RECORD_DEPTH: usize = 16;
/// The most fields of a record type, all nested records counted as often as they occur.
pub const MAX_RECORD_FIELDS: usize = 1 << 12;
/// The most names of an enumeration.
pub const MAX_VARIANTS: usize = 1 << 12;
/// The largest fixed part of a record, in bytes.
pub const MAX_RECORD_BYTES: usize = 1 << 30;

/// Why a record type is not allowed. Places are paths of names, such as `Cell.position`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A name that breaks the rules, or holds a dot.
    #[error("in {place}: {error}")]
    Name {
        /// Where.
        place: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// One name twice.
    #[error("in {place}: {name:?} occurs twice")]
    Duplicate {
        /// Where.
        place: String,
        /// The name.
        name: String,
    },
    /// Records nested deeper than [`MAX_RECORD_DEPTH`].
    #[error("{place}: records are nested deeper than {MAX_RECORD_DEPTH}")]
    TooDeep {
        /// The first record that is too deep.
        place: String,
    },
    /// More than [`MAX_RECORD_FIELDS`] fields.
    #[error("{place}: the type has more than {MAX_RECORD_FIELDS} fields")]
    TooManyFields {
        /// The first record that has one too many.
        place: String,
    },
    /// No name, or more than [`MAX_VARIANTS`].
    #[error("{place}: an enumeration of {count} names; 1 to {MAX_VARIANTS} are allowed")]
    VariantCount {
        /// Where.
        place: String,
        /// How many there are.
        count: usize,
    },
    /// An enumeration's number that its integer type cannot hold.
    #[error("{place}: {name:?} has the number {number}, which {dtype} cannot hold")]
    VariantNumber {
        /// Where.
        place: String,
        /// The name.
        name: String,
        /// The number.
        number: i64,
        /// The integer type.
        dtype: Dtype,
    },
    /// A record that takes no byte.
    #[error("{place}: a record without bytes")]
    Empty {
        /// Where.
        place: String,
    },
    /// A fixed part larger than [`MAX_RECORD_BYTES`].
    #[error("{place}: the fixed part is larger than {MAX_RECORD_BYTES} bytes")]
    TooLarge {
        /// Where.
        place: String,
    },
    /// A field sized by something that is no single integer before it that is always present.
    #[error("{place}: sized by {length:?}, which is no integer field before it")]
    Length {
        /// Where.
        place: String,
        /// What is to size it.
        length: String,
    },
    /// Indices into something that is no array of the same record, or that are no integers.
    #[error("{place}: indices into {target:?} need integers, and an array of that name beside them")]
    Indexes {
        /// Where.
        place: String,
        /// What they are to point into.
        target: String,
    },
    /// A default that is no value of the field.
    #[error("{place}: {value:?} cannot be a default of this field")]
    Default {
        /// Where.
        place: String,
        /// The default.
        value: AttributeValue,
    },
    /// A text longer than 65,536 bytes.
    #[error("{place}: a text of {len_bytes} bytes is longer than {MAX_TEXT_BYTES}")]
    Text {
        /// Where.
        place: String,
        /// How long it is.
        len_bytes: usize,
    },
}

/// Checks all of a type but its size, which the layout knows.
pub(super) fn check(record: &RecordType) -> Result<(), RecordError> {
    check_record(record, &record.name, 1, &mut 0)
}

fn check_record(
    record: &RecordType,
    place: &str,
    depth: usize,
    fields: &mut usize,
) -> Result<(), RecordError> {
    *fields = fields.saturating_add(record.fields.len());
    let at = || place.to_owned();
    match () {
        () if depth > MAX_RECORD_DEPTH => return Err(RecordError::TooDeep { place: at() }),
        () if *fields > MAX_RECORD_FIELDS => return Err(RecordError::TooManyFields { place: at() }),
        () if record.fields.is_empty() => return Err(RecordError::Empty { place: at() }),
        () => {}
    }
    check_name(place, &record.name)?;
    check_text(place, record.description.as_deref())?;
    check_unique(place, record.fields.iter().map(|field| field.name.as_str()))?;
    for (index, field) in record.fields.iter().enumerate() {
        let place = format!("{place}.{}", field.name);
        check_field(field, &place, record, index)?;
        if let FieldElement::Record(nested) = &field.element {
            check_record(nested, &place, depth + 1, fields)?;
        }
    }
    Ok(())
}

fn check_field(field: &Field, place: &str, record: &RecordType, index: usize) -> Result<(), RecordError> {
    check_text(place, field.unit.as_deref())?;
    check_text(place, field.description.as_deref())?;
    if let FieldElement::Enum(names) = &field.element {
        check_enum(names, place)?;
    }
    if let Extent::SizedBy(length) = &field.extent {
        let sizes = |other: &Field| other.name == *length && is_length(other);
        let found = record.fields.iter().take(index).any(sizes);
        let missing = || RecordError::Length { place: place.to_owned(), length: length.clone() };
        found.then_some(()).ok_or_else(missing)?;
    }
    if let Some(target) = &field.indexes {
        let is_array = |other: &Field| other.name == *target && other.extent != Extent::One;
        let fits = record.fields.iter().any(is_array) && field.element.dtype().is_some_and(is_integer);
        let wrong = || RecordError::Indexes { place: place.to_owned(), target: target.clone() };
        fits.then_some(()).ok_or_else(wrong)?;
    }
    match &field.default {
        Some(value) if !default_fits(field, value) => {
            Err(RecordError::Default { place: place.to_owned(), value: value.clone() })
        }
        Some(_) | None => Ok(()),
    }
}

fn check_enum(names: &EnumType, place: &str) -> Result<(), RecordError> {
    check_name(place, &names.name)?;
    let count = names.variants.len();
    if count == 0 || count > MAX_VARIANTS {
        return Err(RecordError::VariantCount { place: place.to_owned(), count });
    }
    check_unique(place, names.variants.iter().map(|(name, _)| name.as_str()))?;
    let mut numbers = BTreeSet::new();
    for (name, number) in &names.variants {
        let (place, name, number) = (place.to_owned(), name.clone(), *number);
        if !holds(names.dtype, i128::from(number)) {
            return Err(RecordError::VariantNumber { place, name, number, dtype: names.dtype });
        }
        if !numbers.insert(number) {
            return Err(RecordError::Duplicate { place, name: number.to_string() });
        }
    }
    Ok(())
}

/// Whether a field can say how long another is.
fn is_length(field: &Field) -> bool {
    let integer = matches!(field.element, FieldElement::Dtype(dtype) if is_integer(dtype));
    integer && field.extent == Extent::One && !field.optional
}

pub(super) fn is_integer(dtype: Dtype) -> bool {
    range(dtype).is_some()
}

/// The smallest and largest value of an integer type.
fn range(dtype: Dtype) -> Option<(i128, i128)> {
    let signed = |bits: u32| (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let unsigned = |bits: u32| (0, (1i128 << bits) - 1);
    match dtype {
        Dtype::I8 => Some(signed(8)),
        Dtype::I16 => Some(signed(16)),
        Dtype::I32 => Some(signed(32)),
        Dtype::I64 => Some(signed(64)),
        Dtype::U8 => Some(unsigned(8)),
        Dtype::U16 => Some(unsigned(16)),
        Dtype::U32 => Some(unsigned(32)),
        Dtype::U64 => Some(unsigned(64)),
        Dtype::F16
        | Dtype::BF16
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => None,
    }
}

/// Whether an integer type can hold a number.
pub(super) fn holds(dtype: Dtype, number: i128) -> bool {
    range(dtype).is_some_and(|(low, high)| (low..=high).contains(&number))
}

/// Whether a value is one of the field's element type; lists have no defaults but their absence.
fn default_fits(field: &Field, value: &AttributeValue) -> bool {
    let (Some(dtype), Extent::One | Extent::Fixed(..)) = (field.element.dtype(), &field.extent) else {
        return false;
    };
    match (&field.element, value) {
        (FieldElement::Enum(names), AttributeValue::Integer(number)) => names.name_of(*number).is_some(),
        (_, AttributeValue::Integer(number)) => holds(dtype, i128::from(*number)),
        (_, AttributeValue::Unsigned(number)) => holds(dtype, i128::from(*number)),
        (_, AttributeValue::Real(_)) => {
            matches!(dtype, Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64)
        }
        (_, AttributeValue::Bool(_)) => dtype == Dtype::Bool,
        (_, AttributeValue::Text(text)) => dtype == Dtype::String && text.len() <= MAX_TEXT_BYTES,
        _ => false,
    }
}

/// Checks a name; a dot would be taken for the border between two names of a path.
fn check_name(place: &str, name: &str) -> Result<(), RecordError> {
    let dot = name.contains('.').then(|| NameError::Character { name: name.to_owned(), character: '.' });
    let error = validate_name(name).err().or(dot);
    error.map_or(Ok(()), |error| Err(RecordError::Name { place: place.to_owned(), error }))
}

fn check_unique<'a>(place: &str, names: impl Iterator<Item = &'a str>) -> Result<(), RecordError> {
    let names: Vec<&str> = names.collect();
    names.iter().try_for_each(|name| check_name(place, name))?;
    let place = || place.to_owned();
    validate_names(names.into_iter()).map_err(|error| match error {
        NamesError::Name(error) => RecordError::Name { place: place(), error },
        NamesError::Duplicate(name) => RecordError::Duplicate { place: place(), name },
    })
}

fn check_text(place: &str, text: Option<&str>) -> Result<(), RecordError> {
    let len_bytes = text.map_or(0, str::len);
    let too_long = || RecordError::Text { place: place.to_owned(), len_bytes };
    (len_bytes <= MAX_TEXT_BYTES).then_some(()).ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordDecodeError, RecordSchema};
    use crate::shape::Shape;

    fn refused(field: Field) -> RecordError {
        let record = RecordType::new("T").field(Field::new("n", Dtype::U8)).field(field);
        record.build().unwrap_err()
    }

    #[test]
    fn bombs_are_defused() {
        let nest = |depth: usize, shape: Shape| {
            let inner = RecordType::new("T").field(Field::new("x", Dtype::F64));
            (0..depth)
                .fold(inner, |record, _| RecordType::new("T").field(Field::new("x", record).fixed(shape)))
        };
        let (one, many) = (Shape::new([1]).unwrap(), Shape::new([1 << 20]).unwrap());
        assert!(nest(15, one).build().is_ok());
        assert!(matches!(nest(16, one).build(), Err(RecordError::TooDeep { .. })));
        assert!(matches!(nest(4, many).build(), Err(RecordError::TooLarge { .. })));
        let wide = |count: usize| {
            let field = |index: usize| Field::new(format!("f{index}"), Dtype::U8);
            (0..count).map(field).fold(RecordType::new("T"), RecordType::field)
        };
        assert!(wide(MAX_RECORD_FIELDS).build().is_ok());
        assert!(matches!(wide(MAX_RECORD_FIELDS + 1).build(), Err(RecordError::TooManyFields { .. })));
        let nothing = Field::new("x", Dtype::F64).fixed(Shape::new([0]).unwrap());
        assert!(matches!(RecordType::new("T").field(nothing).build(), Err(RecordError::Empty { .. })));
        assert!(matches!(RecordType::new("T").build(), Err(RecordError::Empty { .. })));
    }

    #[test]
    fn bombs_from_a_peer_are_defused() {
        let schema = RecordType::new("T").field(Field::new("x", Dtype::F64)).build().unwrap();
        let bytes = schema.to_bytes().to_vec();
        // Version, byte order, name (4 + 1), no description: the number of fields.
        let mut bomb = bytes.clone();
        bomb[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(RecordSchema::from_bytes(&bomb), Err(RecordDecodeError::TooMany { .. })));
        let mut bomb = bytes.clone();
        bomb[2..6].copy_from_slice(&(1u32 << 20).to_le_bytes());
        assert!(matches!(RecordSchema::from_bytes(&bomb), Err(RecordDecodeError::Truncated { .. })));
        let trailing = [bytes.as_slice(), &[0]].concat();
        assert_eq!(RecordSchema::from_bytes(&trailing), Err(RecordDecodeError::Trailing { len_bytes: 1 }));
        // A record that begins again and again: no end to it but the limit.
        let head = [bytes[..12].to_vec(), b"\x01\0\0\0x\x02".to_vec()].concat();
        let endless = [&head[..], &head[2..].repeat(1000)].concat();
        let found = RecordSchema::from_bytes(&endless).unwrap_err();
        assert!(matches!(found, RecordDecodeError::Record(RecordError::TooDeep { .. })), "{found}");
    }

    #[test]
    fn fields_are_checked() {
        let field = |dtype: Dtype| Field::new("x", dtype);
        assert!(matches!(refused(field(Dtype::F64).sized_by("m")), RecordError::Length { .. }));
        assert!(matches!(refused(field(Dtype::F64).sized_by("x")), RecordError::Length { .. }));
        assert!(matches!(refused(field(Dtype::U8).indexing("n")), RecordError::Indexes { .. }));
        assert!(matches!(refused(field(Dtype::U8).with_default(256)), RecordError::Default { .. }));
        assert!(matches!(refused(field(Dtype::U8).with_default("no")), RecordError::Default { .. }));
        assert!(matches!(refused(field(Dtype::U8).variable().with_default(1)), RecordError::Default { .. }));
        assert!(matches!(refused(Field::new("a.b", Dtype::U8)), RecordError::Name { .. }));
        assert!(matches!(refused(Field::new("n", Dtype::U8)), RecordError::Duplicate { .. }));
        assert!(matches!(refused(field(Dtype::U8).with_unit("m".repeat(1 << 17))), RecordError::Text { .. }));
        let names = |names: EnumType| Field::new("x", names);
        let empty = EnumType::new("E", Dtype::U8);
        assert!(matches!(refused(names(empty.clone())), RecordError::VariantCount { count: 0, .. }));
        assert!(matches!(refused(names(empty.clone().variant("a", -1))), RecordError::VariantNumber { .. }));
        assert!(matches!(
            refused(names(empty.variant("a", 1).variant("b", 1))),
            RecordError::Duplicate { .. }
        ));
    }
}
