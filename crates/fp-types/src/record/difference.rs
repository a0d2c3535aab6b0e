//! What two record types differ in, field by field.

use std::fmt;

use super::element::{ElementConversion, ElementConversionError, ElementForm, Loss};
use super::schema::RecordSchema;
use super::types::{EnumType, Extent, Field, FieldElement, RecordType};
use crate::dtype::Dtype;

/// One thing in which the type that there is differs from the one that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {kind}")]
pub struct Difference {
    /// The names that lead to the field.
    pub path: String,
    /// What differs.
    pub kind: DifferenceKind,
}

/// What differs. Texts describe types in the words of this module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// It is not there, is not optional and has no default.
    Missing,
    /// It is not there, so it will be absent, or its default.
    Filled,
    /// There, and not wanted.
    Unwanted,
    /// May be absent, and is wanted always, without a default.
    MayBeAbsent,
    /// Of a type whose values the wanted one holds.
    Widened(Dtype, Dtype),
    /// Of a type whose values the wanted one does not all hold.
    Lossy(Dtype, Dtype),
    /// Of a type from which no conversion leads to the wanted one.
    Unlike(String, String),
    /// An array of another shape, or none.
    Extent(String, String),
    /// An array in the other memory order.
    Transposed,
    /// In another unit.
    Unit(String, String),
    /// A name of an enumeration that the wanted one does not have, or by another number.
    Name(String, i64),
    /// The bytes of numbers in the other order; said once, of the whole.
    ByteOrder,
}

impl Difference {
    /// Whether no conversion gets over it.
    pub fn is_fatal(&self, loss: Loss) -> bool {
        use DifferenceKind as Kind;
        match self.kind {
            Kind::Lossy(..) => loss == Loss::Refused,
            Kind::Missing | Kind::MayBeAbsent | Kind::Unlike(..) => true,
            Kind::Extent(..) | Kind::Unit(..) | Kind::Name(..) => true,
            Kind::Filled | Kind::Unwanted | Kind::Widened(..) | Kind::Transposed | Kind::ByteOrder => false,
        }
    }
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is wanted, but not there"),
            Self::Filled => f.write_str("is not there, and may be absent or has a default"),
            Self::Unwanted => f.write_str("is there, but not wanted"),
            Self::MayBeAbsent => f.write_str("may be absent, but is wanted always and has no default"),
            Self::Widened(from, to) => write!(f, "is {from}, wanted as {to}, which holds it"),
            Self::Lossy(from, to) => write!(f, "is {from}, wanted as {to}, which does not hold every value"),
            Self::Unlike(from, to) => write!(f, "is {from}, wanted as {to}"),
            Self::Extent(from, to) => write!(f, "is {from}, wanted as {to}"),
            Self::Transposed => f.write_str("is in the other memory order"),
            Self::Unit(from, to) => write!(f, "is in {from:?}, wanted in {to:?}"),
            Self::Name(name, number) => write!(f, "the name {name:?} = {number} is not known"),
            Self::ByteOrder => f.write_str("numbers are in the other byte order"),
        }
    }
}

/// Everything in which `from`, which there is, differs from `to`, which is wanted. The order of fields, names of
/// records and descriptions are no differences.
pub fn differences(from: &RecordSchema, to: &RecordSchema) -> Vec<Difference> {
    let mut found = Found(Vec::new());
    let path = &to.record().name;
    if from.byte_order() != to.byte_order() {
        found.add(path, DifferenceKind::ByteOrder);
    }
    found.records(path, from.record(), to.record());
    found.0
}

struct Found(Vec<Difference>);

impl Found {
    fn add(&mut self, path: &str, kind: DifferenceKind) {
        self.0.push(Difference { path: path.to_owned(), kind });
    }

    fn records(&mut self, path: &str, from: &RecordType, to: &RecordType) {
        for wanted in &to.fields {
            let path = format!("{path}.{}", wanted.name);
            match from.fields.iter().find(|field| field.name == wanted.name) {
                Some(field) => self.fields(&path, field, wanted),
                None if wanted.optional || wanted.default.is_some() || is_counted(from, to, wanted) => {
                    self.add(&path, DifferenceKind::Filled);
                }
                None => self.add(&path, DifferenceKind::Missing),
            }
        }
        let wanted = |field: &&Field| to.fields.iter().any(|wanted| wanted.name == field.name);
        for field in from.fields.iter().filter(|field| !wanted(field)) {
            self.add(&format!("{path}.{}", field.name), DifferenceKind::Unwanted);
        }
    }

    fn fields(&mut self, path: &str, from: &Field, to: &Field) {
        if from.optional && !to.optional && to.default.is_none() {
            self.add(path, DifferenceKind::MayBeAbsent);
        }
        if let (Some(found), Some(wanted)) = (&from.unit, &to.unit)
            && found != wanted
        {
            self.add(path, DifferenceKind::Unit(found.clone(), wanted.clone()));
        }
        match (&from.extent, &to.extent) {
            (Extent::One, Extent::One) => {}
            (Extent::Fixed(found, a), Extent::Fixed(wanted, b)) if found == wanted && a == b => {}
            // Only numbers are put into another order.
            (Extent::Fixed(found, _), Extent::Fixed(wanted, _))
                if found == wanted && is_number(&to.element) =>
            {
                self.add(path, DifferenceKind::Transposed);
            }
            (Extent::Variable | Extent::SizedBy(_), Extent::Variable | Extent::SizedBy(_)) => {}
            (found, wanted) => {
                self.add(path, DifferenceKind::Extent(describe_extent(found), describe_extent(wanted)));
            }
        }
        self.elements(path, &from.element, &to.element);
    }

    fn elements(&mut self, path: &str, from: &FieldElement, to: &FieldElement) {
        match (from, to) {
            (FieldElement::Record(from), FieldElement::Record(to)) => self.records(path, from, to),
            (FieldElement::Enum(from), FieldElement::Enum(to)) => self.names(path, from, to),
            (FieldElement::Dtype(from), FieldElement::Dtype(to)) => self.dtypes(path, *from, *to),
            _ => self.add(path, DifferenceKind::Unlike(describe(from), describe(to))),
        }
    }

    fn names(&mut self, path: &str, from: &EnumType, to: &EnumType) {
        for (name, number) in &from.variants {
            if to.name_of(*number) != Some(name) {
                self.add(path, DifferenceKind::Name(name.clone(), *number));
            }
        }
        if from.dtype != to.dtype {
            // Every number that occurs is checked above, so the width of the integer says nothing.
            self.add(path, DifferenceKind::Widened(from.dtype, to.dtype));
        }
    }

    fn dtypes(&mut self, path: &str, from: Dtype, to: Dtype) {
        let form = ElementForm::native;
        match ElementConversion::new(form(from), form(to), Loss::Refused) {
            _ if from == to => {}
            Ok(_) => self.add(path, DifferenceKind::Widened(from, to)),
            Err(ElementConversionError::Lossy { .. }) => self.add(path, DifferenceKind::Lossy(from, to)),
            Err(_) => self.add(path, DifferenceKind::Unlike(from.to_string(), to.to_string())),
        }
    }
}

/// Whether a field says how long a list is that is always there: then it is known without being there. The first list
/// that it sizes counts.
pub(super) fn is_counted(from: &RecordType, to: &RecordType, length: &Field) -> bool {
    let sized = |field: &&Field| matches!(&field.extent, Extent::SizedBy(name) if *name == length.name);
    let always = |field: &&Field| from.fields.iter().any(|known| known.name == field.name && !known.optional);
    to.fields.iter().find(sized).is_some_and(|field| always(&field))
}

fn is_number(element: &FieldElement) -> bool {
    element.dtype().is_some_and(|dtype| dtype.size_bytes().is_some())
}

fn describe(element: &FieldElement) -> String {
    match element {
        FieldElement::Dtype(dtype) => dtype.to_string(),
        FieldElement::Enum(names) => format!("the enumeration {:?}", names.name),
        FieldElement::Record(record) => format!("the record {:?}", record.name),
    }
}

fn describe_extent(extent: &Extent) -> String {
    match extent {
        Extent::One => "one element".into(),
        Extent::Fixed(shape, order) => format!("a {order} array of {shape}"),
        Extent::Variable => "a list".into(),
        Extent::SizedBy(length) => format!("a list sized by {length:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    fn schema(fields: impl IntoIterator<Item = Field>) -> RecordSchema {
        fields.into_iter().fold(RecordType::new("T"), RecordType::field).build().unwrap()
    }

    #[test]
    fn each_difference_is_named() {
        let square = Shape::new([2, 2]).unwrap();
        let names = |names: EnumType| Field::new("kind", names);
        let from = schema([
            Field::new("same", Dtype::F64).with_unit("m"),
            Field::new("wide", Dtype::I16),
            Field::new("narrow", Dtype::F64),
            Field::new("text", Dtype::String),
            Field::new("shape", Dtype::F64),
            Field::new("unit", Dtype::F64).with_unit("m"),
            Field::new("maybe", Dtype::F64).optional(),
            Field::new("spare", Dtype::F64),
            Field::new("texts", Dtype::String).fixed(square),
            names(EnumType::new("K", Dtype::I8).variant("a", 1).variant("b", 2)),
        ]);
        let to = schema([
            Field::new("same", Dtype::F64),
            Field::new("wide", Dtype::F32),
            Field::new("narrow", Dtype::F32),
            Field::new("text", Dtype::F64),
            Field::new("shape", Dtype::F64).fixed(square),
            Field::new("unit", Dtype::F64).with_unit("cm"),
            Field::new("maybe", Dtype::F64),
            Field::new("more", Dtype::F64),
            Field::new("less", Dtype::F64).with_default(0.0),
            Field::new("texts", Dtype::String).fixed_in(square, crate::MemoryOrder::ColumnMajor),
            names(EnumType::new("K", Dtype::I8).variant("a", 1).variant("b", 3)),
        ]);
        let found = differences(&from, &to);
        let fatal: Vec<String> =
            found.iter().filter(|one| one.is_fatal(Loss::Allowed)).map(|one| one.path.clone()).collect();
        assert_eq!(fatal, ["T.text", "T.shape", "T.unit", "T.maybe", "T.more", "T.texts", "T.kind"]);
        let texts: Vec<String> = found.iter().map(Difference::to_string).collect();
        assert!(texts.contains(&"T.unit: is in \"m\", wanted in \"cm\"".into()), "{texts:#?}");
        assert!(texts.contains(&"T.wide: is i16, wanted as f32, which holds it".into()), "{texts:#?}");
        assert!(texts.contains(&"T.spare: is there, but not wanted".into()), "{texts:#?}");
        assert_eq!(found.iter().filter(|one| one.is_fatal(Loss::Refused)).count(), 8);
        assert!(differences(&from, &from).is_empty());
    }
}
