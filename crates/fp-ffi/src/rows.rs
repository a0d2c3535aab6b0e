//! Records on their way, field by field: what was set of each, and the bytes that they become.

use crate::failure::{Failure, Status};
use fp_core::Dtype;
use fp_core::record::{
    ElementConversion, ElementForm, EncodeError, EnumType, Extent, Field, FieldElement, Loss, RecordTarget,
    RecordType,
};

/// What was set of one record: a cell for each field, or nothing yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row(Vec<Cell>);

/// What was set of one field.
#[derive(Clone, Debug, Default)]
pub(crate) enum Cell {
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

/// Numbers of C: their type and their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    pub(crate) dtype: Dtype,
    pub(crate) bytes: &'a [u8],
}

fn wrong(place: &str, why: &str) -> Failure {
    Failure::misuse(format!("{place}: {why}"))
}

/// A part of a path: a name, and an index where there is one.
fn part(text: &str) -> Option<(&str, Option<usize>)> {
    match text.split_once('[') {
        None => Some((text, None)),
        Some((name, rest)) => Some((name, Some(rest.strip_suffix(']')?.parse().ok()?))),
    }
}

fn position(record: &RecordType, name: &str) -> Result<usize, Failure> {
    let known =
        || record.fields.iter().map(|field| field.name.as_str()).take(32).collect::<Vec<_>>().join(", ");
    let none =
        || Failure::misuse(format!("record {:?} has no field {name:?}; it has {}", record.name, known()));
    record.fields.iter().position(|field| field.name == name).ok_or_else(none)
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
pub(crate) fn room<T: Clone + Default>(count: usize) -> Result<Vec<T>, Failure> {
    let mut made = reserved(count)?;
    made.resize(count, T::default());
    Ok(made)
}

/// Memory for so many, if there is so much.
pub(crate) fn reserved<T>(count: usize) -> Result<Vec<T>, Failure> {
    let mut made = Vec::new();
    let refused =
        |_| Failure::new(Status::System, format!("no memory for {count} of {} bytes", size_of::<T>()));
    made.try_reserve_exact(count).map_err(refused)?;
    Ok(made)
}

impl Row {
    fn cell(&mut self, record: &RecordType, index: usize) -> Result<&mut Cell, Failure> {
        if self.0.is_empty() {
            self.0 = vec![Cell::Unset; record.fields.len()];
        }
        self.0.get_mut(index).ok_or_else(|| Failure::misuse("a field of another record type"))
    }

    /// The field that the path leads to, with its place.
    pub(crate) fn follow<'r>(
        &mut self,
        record: &'r RecordType,
        path: &str,
    ) -> Result<(&mut Cell, &'r Field), Failure> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let (name, at) =
            part(first).ok_or_else(|| wrong(path, "a name, or a name with an index in brackets"))?;
        let index = position(record, name)?;
        let Some(field) = record.fields.get(index) else { return Err(wrong(name, "no such field")) };
        let cell = self.cell(record, index)?;
        let Some(rest) = rest else {
            return match at {
                None => Ok((cell, field)),
                Some(_) => Err(wrong(path, "all elements of a field are set at once, so without an index")),
            };
        };
        let FieldElement::Record(nested) = &field.element else { return Err(wrong(name, "it is no record")) };
        let rows = cell.records(field)?;
        let (count, at) = (rows.len(), at.unwrap_or(0));
        let beyond =
            || wrong(path, &format!("record {at} of {count} of {name:?}: set how many there are first"));
        rows.get_mut(at).ok_or_else(beyond)?.follow(nested, rest)
    }
}

impl Cell {
    /// The records of a field, which is of records: as many as there are always, if there is a fixed number.
    fn records(&mut self, field: &Field) -> Result<&mut Vec<Row>, Failure> {
        if !matches!(self, Self::Records(_)) {
            *self = Self::Records(room(fixed(field).unwrap_or(0))?);
        }
        match self {
            Self::Records(rows) => Ok(rows),
            Self::Unset | Self::Numbers(_) | Self::Texts(_) => Err(wrong(&field.name, "it is no record")),
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
    pub(crate) fn set_len(&mut self, field: &Field, count: usize) -> Result<(), Failure> {
        if !matches!(field.element, FieldElement::Record(_)) || fixed(field).is_some() {
            return Err(wrong(&field.name, "it is no list of records"));
        }
        let rows = self.records(field)?;
        let mut made = room::<Row>(count)?;
        made.iter_mut().zip(rows.drain(..)).for_each(|(to, from)| *to = from);
        *rows = made;
        Ok(())
    }

    /// Sets all numbers of a field, as its type if that holds them.
    pub(crate) fn set_numbers(&mut self, field: &Field, numbers: Numbers<'_>) -> Result<(), Failure> {
        let made = match &field.element {
            FieldElement::Dtype(Dtype::Bytes) if numbers.dtype == Dtype::U8 => {
                return self.set_texts(field, &[numbers.bytes]);
            }
            FieldElement::Dtype(dtype) => converted(&field.name, numbers, *dtype, Loss::Refused)?,
            FieldElement::Enum(names) => of_names(&field.name, numbers, names)?,
            FieldElement::Record(_) => return Err(wrong(&field.name, "it is a record: set its fields")),
        };
        if numbers.dtype == Dtype::Bool && made.iter().any(|&truth| truth > 1) {
            return Err(wrong(&field.name, "a truth value is 0 or 1"));
        }
        let size = numbers.dtype.size_bytes().unwrap_or(1);
        check_count(field, numbers.bytes.len() / size)?;
        *self = Self::Numbers(made);
        Ok(())
    }

    /// Sets all texts of a field.
    pub(crate) fn set_texts(&mut self, field: &Field, texts: &[impl AsRef<[u8]>]) -> Result<(), Failure> {
        let FieldElement::Dtype(Dtype::String | Dtype::Bytes) = field.element else {
            return Err(Failure::new(Status::WrongDtype, format!("{}: it is no text", field.name)));
        };
        check_count(field, texts.len())?;
        *self = Self::Texts(texts.iter().map(|text| text.as_ref().to_vec()).collect());
        Ok(())
    }
}

fn check_count(field: &Field, found: usize) -> Result<(), Failure> {
    match fixed(field) {
        Some(expected) if expected != found => {
            let text = format!("{}: it has {expected} elements, not {found}", field.name);
            Err(Failure::new(Status::WrongLen, text))
        }
        _ => Ok(()),
    }
}

fn converted(place: &str, numbers: Numbers<'_>, to: Dtype, loss: Loss) -> Result<Vec<u8>, Failure> {
    let refused = |why: &dyn std::fmt::Display| Failure::new(Status::WrongDtype, format!("{place}: {why}"));
    let (from, to) = (ElementForm::native(numbers.dtype), ElementForm::native(to));
    let conversion = ElementConversion::new(from, to, loss).map_err(|error| refused(&error))?;
    let (from_bytes, to_bytes) = conversion.sizes_bytes();
    let mut made = vec![0; numbers.bytes.len() / from_bytes * to_bytes];
    conversion.run(numbers.bytes, &mut made).map_err(|error| refused(&error))?;
    Ok(made)
}

/// Integers of any type that stand for names which there are.
fn of_names(place: &str, numbers: Numbers<'_>, names: &EnumType) -> Result<Vec<u8>, Failure> {
    let bytes = converted(place, numbers, Dtype::I64, Loss::Refused)?;
    for chunk in bytes.as_chunks::<8>().0 {
        let number = i64::from_ne_bytes(*chunk);
        if names.name_of(number).is_none() {
            return Err(wrong(place, &format!("no name of {:?} has the number {number}", names.name)));
        }
    }
    converted(place, Numbers { dtype: Dtype::I64, bytes: &bytes }, names.dtype, Loss::Allowed)
}

/// Writes a record: what was not set is 0, empty or absent, and a length that was not set is that of its list.
pub(crate) fn put_row(record: &RecordType, row: &Row, to: &mut RecordTarget<'_>) -> Result<(), EncodeError> {
    for (index, field) in record.fields.iter().enumerate() {
        let cell = row.0.get(index).unwrap_or(&Cell::Unset);
        match (cell, &field.element) {
            (Cell::Unset, _) if field.optional => {}
            (Cell::Unset, FieldElement::Record(nested)) => {
                let empty = Row::default();
                to.put_records(index, fixed(field).unwrap_or(0), |_, place| put_row(nested, &empty, place))?;
            }
            (Cell::Unset, FieldElement::Dtype(Dtype::String | Dtype::Bytes)) => {
                to.put_texts(index, &vec![[0u8; 0]; fixed(field).unwrap_or(0)])?;
            }
            (Cell::Unset, element) => put_unset(record, row, (index, field, element), to)?,
            (Cell::Numbers(bytes), element) => {
                to.put_bytes(index, element.dtype().ok_or(EncodeError::Type)?, bytes)?;
            }
            (Cell::Texts(texts), _) => to.put_texts(index, texts)?,
            (Cell::Records(rows), FieldElement::Record(nested)) => {
                let put = |at: usize, place: &mut RecordTarget<'_>| {
                    rows.get(at).map_or(Ok(()), |row| put_row(nested, row, place))
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
    record: &RecordType,
    row: &Row,
    (index, field, element): (usize, &Field, &FieldElement),
    to: &mut RecordTarget<'_>,
) -> Result<(), EncodeError> {
    let dtype = element.dtype().ok_or(EncodeError::Type)?;
    let sized = |other: &&Field| matches!(&other.extent, Extent::SizedBy(length) if *length == field.name);
    let list = record.fields.iter().enumerate().find(|(_, other)| sized(other));
    let count = list.and_then(|(at, list)| row.0.get(at).map(|cell| cell.count(list))).unwrap_or(0);
    if count == 0 {
        return to.put_bytes(
            index,
            dtype,
            &vec![0; fixed(field).unwrap_or(0) * dtype.size_bytes().unwrap_or(0)],
        );
    }
    let bytes = (count as u64).to_ne_bytes();
    // A length that the type cannot hold is noticed as the list is written.
    let number = converted(&field.name, Numbers { dtype: Dtype::U64, bytes: &bytes }, dtype, Loss::Allowed);
    to.put_bytes(index, dtype, &number.map_err(|_| EncodeError::Type)?)
}
