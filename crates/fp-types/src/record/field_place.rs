//! Where a number lies in each record, by its path: `velocity.x`, `position.2`.

use super::element::ElementForm;
use super::layout::{Place, RecordLayout, Unit};
use super::schema::RecordSchema;
use super::types::{Extent, Field, FieldElement, RecordType};
use crate::dtype::Dtype;

/// Fields that an error names at most.
const LIMIT_NAMED: usize = 16;

/// A number that every record of a type has, at the same place of its fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Where it begins, in bytes from the start of the record.
    pub offset: usize,
    /// What it is, in which byte order.
    pub form: ElementForm,
}

/// Why a path leads to no number that every record has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldPathError {
    /// No field of that name.
    #[error("record {record} has no field {field:?}; it has {known}")]
    NoField {
        /// The record.
        record: String,
        /// The name.
        field: String,
        /// The names that there are.
        known: String,
    },
    /// The path goes on, and the field has no fields.
    #[error("field {field:?} is one number: nothing of it can be named")]
    Number {
        /// The field.
        field: String,
    },
    /// The path ends at a record.
    #[error("{place} is a record: say which field of it, of {known}")]
    Record {
        /// The field, or the record itself.
        place: String,
        /// The names that there are.
        known: String,
    },
    /// The path ends at an array, or names no element of it.
    #[error(
        "field {field:?} is an array of {shape}: say which element as {field}.0, if it has one dimension"
    )]
    Array {
        /// The field.
        field: String,
        /// Its shape.
        shape: String,
    },
    /// A list, whose elements are elsewhere.
    #[error("field {field:?} is a list: only fields that are one number of each record are measured")]
    List {
        /// The field.
        field: String,
    },
    /// A text, opaque bytes, or one of several names.
    #[error("field {field:?} is {what}: only numbers are measured")]
    NoNumber {
        /// The field.
        field: String,
        /// What it is.
        what: &'static str,
    },
    /// A field that some records may lack.
    #[error("field {field:?} may be absent: only fields that each record has are measured")]
    Optional {
        /// The field.
        field: String,
    },
}

impl RecordSchema {
    /// Where the number lies that the path leads to. A path is the names of fields in one another, with dots between them.
    /// An element of an array with one dimension is named by its index.
    ///
    /// # Errors
    /// A path that leads to no such number; why says so.
    pub fn place_of(&self, path: &str) -> Result<FieldPlace, FieldPathError> {
        let mut parts = path.split('.').filter(|part| !part.is_empty());
        let (offset, number) = follow((self.record(), self.layout()), "it", &mut parts)?;
        Ok(FieldPlace { offset, form: ElementForm { dtype: number, byte_order: self.byte_order() } })
    }
}

/// The names of a record's fields.
fn names(record: &RecordType) -> String {
    let names: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).take(LIMIT_NAMED).collect();
    names.join(", ")
}

/// Where the rest of a path leads from the start of a record, which is as deep as types may be nested.
fn follow<'p>(
    (record, layout): (&RecordType, &RecordLayout),
    place: &str,
    parts: &mut impl Iterator<Item = &'p str>,
) -> Result<(usize, Dtype), FieldPathError> {
    let known = || names(record);
    let Some(part) = parts.next() else {
        return Err(FieldPathError::Record { place: place.to_owned(), known: known() });
    };
    let position = record.fields.iter().position(|field| field.name == part);
    let found = position.and_then(|at| record.fields.get(at).zip(layout.slots.get(at)));
    let Some((field, slot)) = found else {
        let (record, field) = (record.name.clone(), part.to_owned());
        return Err(FieldPathError::NoField { record, field, known: known() });
    };
    let name = || field.name.clone();
    if field.optional {
        return Err(FieldPathError::Optional { field: name() });
    }
    let Place::Inline(count) = slot.place else { return Err(FieldPathError::List { field: name() }) };
    let start = slot.offset + slot.unit.size_bytes() * index_of(field, count, parts)?;
    match (&slot.unit, &field.element) {
        (Unit::Record(layout), FieldElement::Record(record)) => {
            let (within, number) = follow((record, layout), &format!("field {:?}", field.name), parts)?;
            Ok((start + within, number))
        }
        (Unit::Number(_), FieldElement::Enum(_)) => {
            Err(FieldPathError::NoNumber { field: name(), what: "one of several names" })
        }
        (Unit::Number(_), _) if parts.next().is_some() => Err(FieldPathError::Number { field: name() }),
        (Unit::Number(number), _) => Ok((start, *number)),
        (Unit::Text | Unit::Record(_), _) => {
            Err(FieldPathError::NoNumber { field: name(), what: "a text or bytes" })
        }
    }
}

/// Which element of a field is meant: of one there is no choice.
fn index_of<'p>(
    field: &Field,
    count: usize,
    parts: &mut impl Iterator<Item = &'p str>,
) -> Result<usize, FieldPathError> {
    let Extent::Fixed(shape, _) = &field.extent else { return Ok(0) };
    let fail = || FieldPathError::Array { field: field.name.clone(), shape: shape.to_string() };
    let index = parts.next().and_then(|part| part.parse().ok()).filter(|index| *index < count);
    index.filter(|_| shape.ndims() == 1).ok_or_else(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::Dims;
    use crate::record::{ByteOrder, EnumType};
    use crate::shape::Shape;

    fn cell() -> RecordSchema {
        let vector =
            RecordType::new("Vector").field(Field::new("x", Dtype::F64)).field(Field::new("y", Dtype::F32));
        let of = |dims: &[u64]| Shape::new(Dims::try_from(dims).unwrap()).unwrap();
        RecordType::new("Cell")
            .field(Field::new("kind", EnumType::new("Kind", Dtype::U8).variant("Cu", 29)))
            .field(Field::new("level", Dtype::U16))
            .field(Field::new("velocity", FieldElement::Record(vector.clone())))
            .field(Field::new("corners", FieldElement::Record(vector)).fixed(of(&[2])))
            .field(Field::new("place", Dtype::I32).fixed(of(&[3])))
            .field(Field::new("grid", Dtype::I32).fixed(of(&[2, 2])))
            .field(Field::new("note", Dtype::String))
            .field(Field::new("near", Dtype::U64).variable())
            .field(Field::new("mass", Dtype::F64).optional())
            .build_in(ByteOrder::Big)
            .unwrap()
    }

    #[test]
    fn paths_lead_to_numbers() {
        let schema = cell();
        let at = |field: &str| schema.offset_of(field).unwrap();
        for (path, offset, dtype) in [
            ("level", at("level"), Dtype::U16),
            ("velocity.x", at("velocity"), Dtype::F64),
            ("velocity.y", at("velocity") + 8, Dtype::F32),
            ("corners.1.y", at("corners") + 16 + 8, Dtype::F32),
            ("place.2", at("place") + 8, Dtype::I32),
        ] {
            let form = ElementForm { dtype, byte_order: ByteOrder::Big };
            assert_eq!(schema.place_of(path), Ok(FieldPlace { offset, form }), "{path}");
        }
    }

    #[test]
    fn what_is_no_number_says_so() {
        for (path, said) in [
            ("", "it is a record: say which field of it, of kind, level,"),
            ("velocity", "field \"velocity\" is a record: say which field of it, of x, y"),
            ("velocity.z", "record Vector has no field \"z\"; it has x, y"),
            ("velocity.x.x", "field \"x\" is one number"),
            ("place", "field \"place\" is an array of [3]: say which element as place.0"),
            ("place.3", "field \"place\" is an array of [3]"),
            ("place.x", "field \"place\" is an array of [3]"),
            ("grid.1", "field \"grid\" is an array of [2, 2]"),
            ("note", "field \"note\" is a text or bytes"),
            ("near", "field \"near\" is a list"),
            ("mass", "field \"mass\" may be absent"),
            ("kind", "field \"kind\" is one of several names"),
        ] {
            let error = cell().place_of(path).expect_err(path).to_string();
            assert!(error.starts_with(said), "{path}: {error}");
        }
    }
}
