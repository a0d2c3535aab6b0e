//! What was set of each record, field by field, and how it becomes bytes.

use super::error::RecordBuildError;
use crate::dtype::Dtype;
use crate::record::element::{ElementConversion, ElementForm, Loss};
use crate::record::rust::{EncodeError, RecordTarget};
use crate::record::types::{EnumType, Extent, Field, FieldElement, RecordType};

/// What was set of one record: a cell for each field, or nothing yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Row(Vec<Cell>);

/// What was set of one field.
#[derive(Clone, Debug, Default)]
pub(super) enum Cell {
    /// Nothing: 0, empty, or absent.
    #[default]
    Unset,
    /// Numbers as they lie in the record.
    Numbers(Vec<u8>),
    /// Texts, or opaque bytes.
    Texts(Vec<Vec<u8>>),
    /// Records.
    Records(Vec<Row>),
}

/// A part of a path: a name, and an index where there is one.
fn part(text: &str) -> Option<(&str, Option<usize>)> {
    match text.split_once('[') {
        None => Some((text, None)),
        Some((name, rest)) => Some((name, Some(rest.strip_suffix(']')?.parse().ok()?))),
    }
}

fn unlike(field: &Field, wanted: &'static str) -> RecordBuildError {
    RecordBuildError::Unlike { field: field.name.clone(), wanted }
}

/// How many elements a field of a fixed number of them has.
fn fixed(field: &Field) -> Option<usize> {
    match &field.extent {
        Extent::One => Some(1),
        Extent::Fixed(shape, _) => Some(usize::try_from(shape.element_count()).unwrap_or(usize::MAX)),
        Extent::Variable | Extent::SizedBy(_) => None,
    }
}

/// So many empty ones, if there is memory for them.
pub(super) fn room<T: Clone + Default>(count: usize) -> Result<Vec<T>, RecordBuildError> {
    let mut made = reserved(count)?;
    made.resize(count, T::default());
    Ok(made)
}

/// Memory for so many, if there is so much.
pub(super) fn reserved<T>(count: usize) -> Result<Vec<T>, RecordBuildError> {
    let mut made = Vec::new();
    let refused = |_| RecordBuildError::NoMemory { count, size_bytes: size_of::<T>() };
    made.try_reserve_exact(count).map_err(refused)?;
    Ok(made)
}

impl Row {
    fn cell<'r>(
        &mut self,
        record: &'r RecordType,
        name: &str,
    ) -> Result<(&mut Cell, &'r Field), RecordBuildError> {
        self.0.resize(record.fields.len(), Cell::Unset);
        let mut cells = self.0.iter_mut().zip(&record.fields);
        cells.find(|(_, field)| field.name == name).ok_or_else(|| {
            let known: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).take(32).collect();
            let (record, field) = (record.name.clone(), name.to_owned());
            RecordBuildError::NoField { record, field, known: known.join(", ") }
        })
    }

    /// The field that the path leads to, with its place.
    pub(super) fn follow<'r>(
        &mut self,
        record: &'r RecordType,
        path: &str,
    ) -> Result<(&mut Cell, &'r Field), RecordBuildError> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let (name, at) = part(first).ok_or_else(|| RecordBuildError::Path { path: path.to_owned() })?;
        let (cell, field) = self.cell(record, name)?;
        let Some(rest) = rest else {
            return match at {
                None => Ok((cell, field)),
                Some(_) => Err(RecordBuildError::Indexed { path: path.to_owned() }),
            };
        };
        let FieldElement::Record(nested) = &field.element else { return Err(unlike(field, "record")) };
        let rows = cell.records(field)?;
        let (count, index) = (rows.len(), at.unwrap_or(0));
        let beyond = || {
            let (path, field) = (path.to_owned(), field.name.clone());
            RecordBuildError::Beyond { path, field, index, count }
        };
        rows.get_mut(index).ok_or_else(beyond)?.follow(nested, rest)
    }

    /// Writes the record: what was not set is 0, empty or absent, and a length that was not set is that of its list.
    pub(super) fn put(&self, record: &RecordType, to: &mut RecordTarget<'_>) -> Result<(), EncodeError> {
        for (index, field) in record.fields.iter().enumerate() {
            let cell = self.0.get(index).unwrap_or(&Cell::Unset);
            match (cell, &field.element) {
                (Cell::Unset, _) if field.optional => {}
                (Cell::Unset, FieldElement::Record(nested)) => {
                    let (empty, count) = (Self::default(), fixed(field).unwrap_or(0));
                    to.put_records(index, count, |_, place| empty.put(nested, place))?;
                }
                (Cell::Unset, FieldElement::Dtype(Dtype::String | Dtype::Bytes)) => {
                    to.put_texts(index, &vec![[0u8; 0]; fixed(field).unwrap_or(0)])?;
                }
                (Cell::Unset, element) => self.put_unset(record, (index, field, element), to)?,
                (Cell::Numbers(bytes), element) => {
                    to.put_bytes(index, element.dtype().ok_or(EncodeError::Type)?, bytes)?;
                }
                (Cell::Texts(texts), _) => to.put_texts(index, texts)?,
                (Cell::Records(rows), FieldElement::Record(nested)) => {
                    let put = |at: usize, place: &mut RecordTarget<'_>| {
                        rows.get(at).map_or(Ok(()), |row| row.put(nested, place))
                    };
                    to.put_records(index, rows.len(), put)?;
                }
                (Cell::Records(_), _) => return Err(EncodeError::Type),
            }
        }
        Ok(())
    }

    /// Numbers that were not set: zeros, or how long the list is that they size.
    fn put_unset(
        &self,
        record: &RecordType,
        (index, field, element): (usize, &Field, &FieldElement),
        to: &mut RecordTarget<'_>,
    ) -> Result<(), EncodeError> {
        let dtype = element.dtype().ok_or(EncodeError::Type)?;
        let sized =
            |other: &&Field| matches!(&other.extent, Extent::SizedBy(length) if *length == field.name);
        let list = record.fields.iter().enumerate().find(|(_, other)| sized(other));
        let count = list.and_then(|(at, list)| self.0.get(at).map(|cell| cell.count(list))).unwrap_or(0);
        if count == 0 {
            let len = fixed(field).unwrap_or(0) * dtype.size_bytes().unwrap_or(0);
            return to.put_bytes(index, dtype, &vec![0; len]);
        }
        // A length that the type cannot hold is noticed as the list is written.
        let bytes = (count as u64).to_ne_bytes();
        let number = converted(field, (Dtype::U64, &bytes), dtype, Loss::Allowed);
        to.put_bytes(index, dtype, &number.map_err(|_| EncodeError::Type)?)
    }
}

impl Cell {
    /// The records of a field, which is of records: as many as there are always, if there is a fixed number.
    fn records(&mut self, field: &Field) -> Result<&mut Vec<Row>, RecordBuildError> {
        if !matches!(self, Self::Records(_)) {
            *self = Self::Records(room(fixed(field).unwrap_or(0))?);
        }
        match self {
            Self::Records(rows) => Ok(rows),
            Self::Unset | Self::Numbers(_) | Self::Texts(_) => Err(unlike(field, "record")),
        }
    }

    fn count(&self, field: &Field) -> usize {
        let size = field.element.dtype().and_then(Dtype::size_bytes).unwrap_or(1);
        match self {
            Self::Unset => 0,
            Self::Numbers(bytes) => bytes.len() / size,
            Self::Texts(texts) => texts.len(),
            Self::Records(rows) => rows.len(),
        }
    }

    /// Sets how many records there are in a list of records; those that are new are empty.
    pub(super) fn set_len(&mut self, field: &Field, count: usize) -> Result<(), RecordBuildError> {
        if !matches!(field.element, FieldElement::Record(_)) || fixed(field).is_some() {
            return Err(unlike(field, "list of records"));
        }
        let rows = self.records(field)?;
        let mut made = room::<Row>(count)?;
        made.iter_mut().zip(rows.drain(..)).for_each(|(to, from)| *to = from);
        *rows = made;
        Ok(())
    }

    /// Sets all numbers of a field, as its type if that holds them.
    pub(super) fn set_numbers(
        &mut self,
        field: &Field,
        dtype: Dtype,
        bytes: &[u8],
    ) -> Result<(), RecordBuildError> {
        let made = match &field.element {
            FieldElement::Dtype(Dtype::Bytes) if dtype == Dtype::U8 => {
                return self.set_texts(field, &[bytes]);
            }
            FieldElement::Dtype(to) => converted(field, (dtype, bytes), *to, Loss::Refused)?,
            FieldElement::Enum(names) => of_names(field, (dtype, bytes), names)?,
            FieldElement::Record(_) => {
                return Err(RecordBuildError::IsRecord { field: field.name.clone() });
            }
        };
        if dtype == Dtype::Bool && made.iter().any(|&truth| truth > 1) {
            return Err(RecordBuildError::NoTruthValue { field: field.name.clone() });
        }
        check_count(field, bytes.len() / dtype.size_bytes().unwrap_or(1))?;
        *self = Self::Numbers(made);
        Ok(())
    }

    /// Sets all texts of a field.
    pub(super) fn set_texts(
        &mut self,
        field: &Field,
        texts: &[impl AsRef<[u8]>],
    ) -> Result<(), RecordBuildError> {
        let FieldElement::Dtype(Dtype::String | Dtype::Bytes) = field.element else {
            return Err(unlike(field, "text"));
        };
        check_count(field, texts.len())?;
        *self = Self::Texts(texts.iter().map(|text| text.as_ref().to_vec()).collect());
        Ok(())
    }
}

fn check_count(field: &Field, found: usize) -> Result<(), RecordBuildError> {
    match fixed(field) {
        Some(expected) if expected != found => {
            Err(RecordBuildError::Count { field: field.name.clone(), expected, found })
        }
        _ => Ok(()),
    }
}

fn converted(
    field: &Field,
    (from, bytes): (Dtype, &[u8]),
    to: Dtype,
    loss: Loss,
) -> Result<Vec<u8>, RecordBuildError> {
    let refused = |source| RecordBuildError::Element { field: field.name.clone(), source };
    let (from, to) = (ElementForm::native(from), ElementForm::native(to));
    let conversion = ElementConversion::new(from, to, loss).map_err(refused)?;
    let (from_bytes, to_bytes) = conversion.sizes_bytes();
    let mut made = vec![0; bytes.len() / from_bytes * to_bytes];
    conversion.run(bytes, &mut made).map_err(refused)?;
    Ok(made)
}

/// Integers of any type that stand for names which there are.
fn of_names(field: &Field, numbers: (Dtype, &[u8]), names: &EnumType) -> Result<Vec<u8>, RecordBuildError> {
    let bytes = converted(field, numbers, Dtype::I64, Loss::Refused)?;
    for chunk in bytes.as_chunks::<8>().0 {
        let number = i64::from_ne_bytes(*chunk);
        if names.name_of(number).is_none() {
            let (field, names) = (field.name.clone(), names.name.clone());
            return Err(RecordBuildError::UnknownName { field, names, number });
        }
    }
    converted(field, (Dtype::I64, &bytes), names.dtype, Loss::Allowed)
}

#[cfg(test)]
mod tests {
    use crate::dtype::Dtype;
    use crate::record::builder::{RecordBuildError, RecordBuilder};
    use crate::record::{EnumType, Field, RecordSchema, RecordType, Records, Value};

    fn cell() -> RecordSchema {
        let corner = RecordType::new("Corner").field(Field::new("x", Dtype::F64));
        let cell = RecordType::new("Cell").field(Field::new("id", Dtype::I32));
        let cell =
            cell.field(Field::new("corner", corner).variable()).field(Field::new("name", Dtype::String));
        let energy = Field::new("energy", Dtype::F64).optional().with_default(0.5);
        cell.field(energy).build().expect("a type")
    }

    #[test]
    fn what_is_set_is_read_and_the_rest_is_empty() {
        let mut made = RecordBuilder::new(&cell(), 2).expect("memory");
        made.set_numbers(1, "id", (Dtype::U8, &[7])).expect("an integer that fits");
        made.set_len(1, "corner", 2).expect("a list");
        made.set_numbers(1, "corner[1].x", (Dtype::F32, &0.25f32.to_ne_bytes())).expect("a number");
        made.set_texts(0, "name", &["first"]).expect("a text");
        let bytes = made.encode().expect("records");
        let schema = cell();
        let records = Records::new(&schema, &bytes, made.count()).expect("the same records");
        let value = |index: usize, path: &str| {
            let record = records.record(index).expect("there are two");
            let value = record.value(path).expect("a value");
            value
                .as_f64()
                .map_or_else(|| value.as_text().expect("a text").to_owned(), |real| real.to_string())
        };
        assert_eq!(
            (value(0, "id"), value(0, "name"), value(0, "energy")),
            ("0".to_owned(), "first".to_owned(), "0.5".to_owned())
        );
        assert_eq!(
            (value(1, "id"), value(1, "corner[0].x"), value(1, "corner[1].x")),
            ("7".to_owned(), "0".to_owned(), "0.25".to_owned())
        );
    }

    #[test]
    fn what_the_field_does_not_hold_is_refused_by_name() {
        let mut made = RecordBuilder::new(&cell(), 1).expect("memory");
        let two = [1i32, 2].map(i32::to_ne_bytes).concat();
        let mut refused = |index, path: &str, numbers: (Dtype, &[u8])| {
            made.set_numbers(index, path, numbers).map_err(|error| error.to_string()).expect_err("refused")
        };
        assert_eq!(refused(1, "id", (Dtype::U8, &[7])), "record 1 of 1: they count from 0");
        assert!(refused(0, "mass", (Dtype::U8, &[7])).contains("no field \"mass\"; it has id, corner, name"));
        assert_eq!(refused(0, "id", (Dtype::I32, &two)), "id: it has 1 elements, not 2");
        assert!(refused(0, "id", (Dtype::F64, &[0; 8])).starts_with("id: i32 does not hold every f64"));
        assert!(refused(0, "corner[0].x", (Dtype::U8, &[7])).contains("record 0 of 0 of \"corner\""));
        assert_eq!(refused(0, "corner", (Dtype::U8, &[7])), "corner: it is a record: set its fields");
        assert_eq!(refused(0, "name", (Dtype::U8, &[7])), "name: no conversion leads from u8 to string");
        assert!(matches!(made.set_texts(0, "id", &["a"]), Err(RecordBuildError::Unlike { .. })));
        assert!(RecordBuilder::new(&cell(), usize::MAX >> 8).is_err());
    }

    #[test]
    fn numbers_stand_for_names_for_truths_and_for_opaque_bytes() {
        let state = EnumType::new("State", Dtype::I8).variant("cold", -1).variant("hot", 5);
        let schema = RecordType::new("Site").field(Field::new("states", state).variable());
        let schema = schema.field(Field::new("raw", Dtype::Bytes)).field(Field::new("on", Dtype::Bool));
        let schema = schema.build().expect("a type");
        let mut made = RecordBuilder::new(&schema, 1).expect("memory");
        let mut set = |path: &str, dtype, bytes: &[u8]| made.set_numbers(0, path, (dtype, bytes));
        set("states", Dtype::I16, &[5i16, -1].map(i16::to_ne_bytes).concat()).expect("there are such names");
        set("raw", Dtype::U8, &[7, 2]).expect("bytes");
        set("on", Dtype::Bool, &[1]).expect("a truth value");
        assert_eq!(
            set("states", Dtype::I8, &[3]),
            Err(RecordBuildError::UnknownName { field: "states".into(), names: "State".into(), number: 3 })
        );
        assert_eq!(set("on", Dtype::Bool, &[2]), Err(RecordBuildError::NoTruthValue { field: "on".into() }));
        assert!(matches!(set("raw", Dtype::I8, &[7]), Err(RecordBuildError::Element { .. })));
        let bytes = made.encode().expect("records");
        let records = Records::new(&schema, &bytes, 1).expect("the same records");
        let record = records.record(0).expect("there is one");
        let value = |path: &str| record.value(path).expect("a value");
        assert!(matches!(value("states[0]"), Value::Enum("hot", 5)));
        assert!(matches!(value("states[1]"), Value::Enum("cold", -1)));
        assert!(matches!(value("raw"), Value::Bytes(&[7, 2])));
        assert!(matches!(value("on"), Value::Bool(true)));
    }
}
