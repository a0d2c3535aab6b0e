//! Checks schemas: names, bounds, and that their parts go together.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ArrayKind, AttributeValue, FieldDef, FieldExtent, FieldType, NameError, RecordDef, Schema, VariableDef,
    validate_name,
};
use crate::dims::MAX_DIMS;
use crate::dtype::Dtype;

/// The most variables of a stream.
pub const MAX_VARIABLES: usize = 1 << 16;
/// The most records of a schema.
pub const MAX_RECORDS: usize = 1 << 12;
/// The most fields of a record.
pub const MAX_FIELDS: usize = 1 << 12;
/// The most attributes of a stream, and of each variable.
pub const MAX_ATTRIBUTES: usize = 1 << 12;
/// The most values of one attribute.
pub const MAX_ATTRIBUTE_VALUES: usize = 1 << 16;
/// The longest unit, description, or text of an attribute, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 16;

/// Why a schema, or a variable, is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A name that breaks the rules.
    #[error("in {place}: {error}")]
    Name {
        /// What holds the name: a variable, record, or the stream.
        place: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// One name twice.
    #[error("in {place}: {name:?} occurs twice")]
    Duplicate {
        /// What holds the names.
        place: String,
        /// The name.
        name: String,
    },
    /// More of something than there may be.
    #[error("{place} has {count} {what}, but at most {limit} are allowed")]
    TooMany {
        /// What holds them.
        place: String,
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A scalar with dimensions.
    #[error("{variable:?} is a {kind}, but has {ndims} dimensions")]
    ScalarWithDimensions {
        /// The variable.
        variable: String,
        /// Its kind.
        kind: ArrayKind,
        /// Its number of dimensions.
        ndims: usize,
    },
    /// A joined dimension that the array does not have.
    #[error("{variable:?} is joined along dimension {joined_dim}, but has {ndims} dimensions")]
    JoinedDimension {
        /// The variable.
        variable: String,
        /// The dimension, from 0.
        joined_dim: u8,
        /// How many there are.
        ndims: usize,
    },
    /// A record that is not listed, or not before the record that uses it.
    #[error("{place} uses the record {record:?}, which is not listed before it")]
    UnknownRecord {
        /// What uses it.
        place: String,
        /// The record.
        record: String,
    },
    /// A variable of records whose element type is not [`Dtype::Bytes`].
    #[error("{variable:?} is made of the record {record:?}, but its element type is {dtype}, not bytes")]
    RecordDtype {
        /// The variable.
        variable: String,
        /// The record.
        record: String,
        /// The element type.
        dtype: Dtype,
    },
    /// A field is sized by something that is no earlier single integer of the same record.
    #[error(
        "field {field:?} of record {record:?} is sized by {length:?}, which is no integer field before it"
    )]
    Length {
        /// The record.
        record: String,
        /// The field.
        field: String,
        /// What is to size it.
        length: String,
    },
}

pub(super) fn validate_schema(schema: &Schema) -> Result<(), SchemaError> {
    let place = "the schema";
    check_name(place, &schema.stream)?;
    check_count(place, "variables", schema.variables.len(), MAX_VARIABLES)?;
    check_count(place, "records", schema.records.len(), MAX_RECORDS)?;
    check_attributes(place, &schema.attributes)?;
    check_unique(place, schema.records.iter().map(|record| record.name.as_str()))?;
    check_unique(place, schema.variables.iter().map(|variable| variable.name.as_str()))?;
    let mut listed = BTreeSet::new();
    for record in &schema.records {
        validate_record(record, &listed)?;
        listed.insert(record.name.as_str());
    }
    for variable in &schema.variables {
        variable.validate()?;
        let place = || format!("variable {:?}", variable.name);
        variable.record.as_deref().map_or(Ok(()), |record| check_listed(place, record, &listed))?;
    }
    Ok(())
}

impl VariableDef {
    /// Checks the variable for itself: names, bounds, dimensions. Whether its record exists, the schema knows.
    pub fn validate(&self) -> Result<(), SchemaError> {
        check_name("a variable", &self.name)?;
        let place = format!("variable {:?}", self.name);
        check_count(&place, "dimensions", self.ndims(), MAX_DIMS)?;
        let named = self.dimensions.iter().filter(|name| !name.is_empty()).map(String::as_str);
        check_unique(&place, named)?;
        [&self.unit, &self.description]
            .into_iter()
            .flatten()
            .try_for_each(|text| check_text(&place, text))?;
        check_attributes(&place, &self.attributes)?;
        self.validate_kind()?;
        match &self.record {
            Some(record) if self.dtype != Dtype::Bytes => {
                let (variable, record) = (self.name.clone(), record.clone());
                Err(SchemaError::RecordDtype { variable, record, dtype: self.dtype })
            }
            Some(record) => check_name(&place, record),
            None => Ok(()),
        }
    }

    /// Checks that the kind goes with the number of dimensions.
    fn validate_kind(&self) -> Result<(), SchemaError> {
        let (variable, ndims) = (|| self.name.clone(), self.ndims());
        match self.kind {
            ArrayKind::Scalar | ArrayKind::LocalScalar if ndims > 0 => {
                Err(SchemaError::ScalarWithDimensions { variable: variable(), kind: self.kind, ndims })
            }
            ArrayKind::JoinedArray { joined_dim } if usize::from(joined_dim) >= ndims => {
                Err(SchemaError::JoinedDimension { variable: variable(), joined_dim, ndims })
            }
            ArrayKind::Scalar
            | ArrayKind::LocalScalar
            | ArrayKind::GlobalArray
            | ArrayKind::LocalArray
            | ArrayKind::JoinedArray { .. } => Ok(()),
        }
    }
}

/// Checks a record, given the names of those before it.
fn validate_record(record: &RecordDef, listed: &BTreeSet<&str>) -> Result<(), SchemaError> {
    check_name("a record", &record.name)?;
    let place = format!("record {:?}", record.name);
    check_count(&place, "fields", record.fields.len(), MAX_FIELDS)?;
    check_unique(&place, record.fields.iter().map(|field| field.name.as_str()))?;
    let mut lengths = BTreeSet::new();
    for field in &record.fields {
        [&field.unit, &field.description]
            .into_iter()
            .flatten()
            .try_for_each(|text| check_text(&place, text))?;
        if let FieldType::Record(used) = &field.element {
            check_listed(|| place.clone(), used, listed)?;
        }
        if let FieldExtent::SizedBy(length) = &field.extent
            && !lengths.contains(length.as_str())
        {
            let (record, field, length) = (record.name.clone(), field.name.clone(), length.clone());
            return Err(SchemaError::Length { record, field, length });
        }
        lengths.extend(is_length(field).then_some(field.name.as_str()));
    }
    Ok(())
}

/// Whether a field can say how long another is.
fn is_length(field: &FieldDef) -> bool {
    let integer = match field.element {
        FieldType::Dtype(dtype) => matches!(
            dtype,
            Dtype::I8
                | Dtype::I16
                | Dtype::I32
                | Dtype::I64
                | Dtype::U8
                | Dtype::U16
                | Dtype::U32
                | Dtype::U64
        ),
        FieldType::Record(_) => false,
    };
    integer && field.extent == FieldExtent::One && !field.optional
}

fn check_listed(
    place: impl Fn() -> String,
    record: &str,
    listed: &BTreeSet<&str>,
) -> Result<(), SchemaError> {
    let unknown = || SchemaError::UnknownRecord { place: place(), record: record.to_owned() };
    listed.contains(record).then_some(()).ok_or_else(unknown)
}

fn check_name(place: &str, name: &str) -> Result<(), SchemaError> {
    validate_name(name).map_err(|error| SchemaError::Name { place: place.to_owned(), error })
}

/// Checks names, and that none occurs twice.
fn check_unique<'a>(place: &str, names: impl Iterator<Item = &'a str>) -> Result<(), SchemaError> {
    let mut seen = BTreeSet::new();
    for name in names {
        check_name(place, name)?;
        if !seen.insert(name) {
            return Err(SchemaError::Duplicate { place: place.to_owned(), name: name.to_owned() });
        }
    }
    Ok(())
}

fn check_count(place: &str, what: &'static str, count: usize, limit: usize) -> Result<(), SchemaError> {
    let too_many = || SchemaError::TooMany { place: place.to_owned(), what, count, limit };
    if count <= limit { Ok(()) } else { Err(too_many()) }
}

fn check_text(place: &str, text: &str) -> Result<(), SchemaError> {
    check_count(place, "bytes in a text", text.len(), MAX_TEXT_BYTES)
}

fn check_attributes(place: &str, attributes: &BTreeMap<String, AttributeValue>) -> Result<(), SchemaError> {
    check_count(place, "attributes", attributes.len(), MAX_ATTRIBUTES)?;
    for (name, value) in attributes {
        check_name(place, name)?;
        match value {
            AttributeValue::Text(text) => check_text(place, text)?,
            AttributeValue::Bytes(bytes) => {
                check_count(place, "bytes in an attribute", bytes.len(), MAX_TEXT_BYTES)?;
            }
            AttributeValue::Integers(values) => check_values(place, values.len())?,
            AttributeValue::Reals(values) => check_values(place, values.len())?,
            AttributeValue::Texts(texts) => {
                check_values(place, texts.len())?;
                texts.iter().try_for_each(|text| check_text(place, text))?;
            }
            AttributeValue::Bool(_)
            | AttributeValue::Integer(_)
            | AttributeValue::Unsigned(_)
            | AttributeValue::Real(_) => {}
        }
    }
    Ok(())
}

fn check_values(place: &str, count: usize) -> Result<(), SchemaError> {
    check_count(place, "values in an attribute", count, MAX_ATTRIBUTE_VALUES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&mut Schema)) -> String {
        let mut schema = Schema::new("s");
        schema.variables = vec![VariableDef::global_array("T", Dtype::F64, 2)];
        let fields = vec![FieldDef::new("n", Dtype::U32), FieldDef::new("data", Dtype::F32).sized_by("n")];
        schema.records = vec![RecordDef { name: "r".into(), fields }];
        assert_eq!(schema.validate(), Ok(()));
        change(&mut schema);
        schema.validate().unwrap_err().to_string()
    }

    #[test]
    fn variables_are_checked() {
        let twice = refused(|schema| schema.variables.push(VariableDef::scalar("T", Dtype::I8)));
        assert_eq!(twice, "in the schema: \"T\" occurs twice");
        let scalar = refused(|schema| schema.variables[0].kind = ArrayKind::Scalar);
        assert_eq!(scalar, "\"T\" is a scalar, but has 2 dimensions");
        let joined = refused(|schema| schema.variables[0].kind = ArrayKind::JoinedArray { joined_dim: 2 });
        assert_eq!(joined, "\"T\" is joined along dimension 2, but has 2 dimensions");
        let dims = refused(|schema| schema.variables[0].dimensions = vec![String::new(); 9]);
        assert_eq!(dims, "variable \"T\" has 9 dimensions, but at most 8 are allowed");
        let name = refused(|schema| schema.variables[0].name = "T[0]".into());
        assert_eq!(name, "in the schema: the name \"T[0]\" contains '['");
        let record = refused(|schema| schema.variables[0].record = Some("r".into()));
        assert_eq!(record, "\"T\" is made of the record \"r\", but its element type is f64, not bytes");
        let text = refused(|schema| schema.variables[0].unit = Some("m".repeat(MAX_TEXT_BYTES + 1)));
        assert_eq!(text, "variable \"T\" has 65537 bytes in a text, but at most 65536 are allowed");
    }

    #[test]
    fn records_refer_backwards_only() {
        let itself = refused(|schema| schema.records[0].fields.push(FieldDef::of_record("next", "r")));
        assert_eq!(itself, "record \"r\" uses the record \"r\", which is not listed before it");
        let unknown = refused(|schema| {
            (schema.variables[0].dtype, schema.variables[0].record) = (Dtype::Bytes, Some("q".into()));
        });
        assert_eq!(unknown, "variable \"T\" uses the record \"q\", which is not listed before it");
        let late = refused(|schema| schema.records[0].fields.reverse());
        assert_eq!(
            late,
            "field \"data\" of record \"r\" is sized by \"n\", which is no integer field before it"
        );
        let real = refused(|schema| schema.records[0].fields[0].element = FieldType::Dtype(Dtype::F64));
        assert_eq!(real, late);
    }
}
