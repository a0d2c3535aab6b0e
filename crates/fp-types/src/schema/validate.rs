//! Checks schemas: names, bounds, and that their parts go together.

use std::collections::BTreeMap;

use super::{ArrayKind, RecordId, Schema, VariableDef};
use crate::attribute::{AttributeValue, MAX_TEXT_BYTES};
use crate::dims::MAX_DIMS;
use crate::dtype::Dtype;
use crate::name::{NameError, NamesError, validate_name, validate_names};
use crate::record::MAX_RECORD_BYTES;

/// The most variables of a stream.
pub const MAX_VARIABLES: usize = 1 << 16;
/// The most attributes of a stream, and of each variable.
pub const MAX_ATTRIBUTES: usize = 1 << 12;
/// The most values of one attribute.
pub const MAX_ATTRIBUTE_VALUES: usize = 1 << 16;

/// Why a schema, or a variable, is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A name that breaks the rules.
    #[error("in {place}: {error}")]
    Name {
        /// What holds the name: a variable, or the stream.
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
    /// A record type whose records have no bytes, or more than [`MAX_RECORD_BYTES`].
    #[error("{variable:?} is made of records of {size_bytes} bytes; 1 to {MAX_RECORD_BYTES} are allowed")]
    RecordSize {
        /// The variable.
        variable: String,
        /// The size of each.
        size_bytes: u64,
    },
}

pub(super) fn validate_schema(schema: &Schema) -> Result<(), SchemaError> {
    let place = "the schema";
    check_name(place, &schema.stream)?;
    check_count(place, "variables", schema.variables.len(), MAX_VARIABLES)?;
    check_attributes(place, &schema.attributes)?;
    check_unique(place, schema.variables.iter().map(|variable| variable.name.as_str()))?;
    schema.variables.iter().try_for_each(VariableDef::validate)
}

impl VariableDef {
    /// Checks the variable: names, bounds, dimensions, and what is said of its records.
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
        self.record.as_ref().map_or(Ok(()), |record| self.validate_record(&place, record))
    }

    /// Checks the record type: its name and size, and that the element type goes with it.
    fn validate_record(&self, place: &str, record: &RecordId) -> Result<(), SchemaError> {
        check_name(place, &record.name)?;
        let (variable, size_bytes) = (self.name.clone(), record.size_bytes);
        if !(1..=MAX_RECORD_BYTES as u64).contains(&size_bytes) {
            return Err(SchemaError::RecordSize { variable, size_bytes });
        }
        let is_list = self.kind == ArrayKind::LocalArray && self.ndims() == 1;
        if self.dtype == Dtype::Bytes || (self.dtype == Dtype::U8 && is_list) {
            return Ok(());
        }
        Err(SchemaError::RecordDtype { variable, record: record.name.clone(), dtype: self.dtype })
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

fn check_name(place: &str, name: &str) -> Result<(), SchemaError> {
    validate_name(name).map_err(|error| SchemaError::Name { place: place.to_owned(), error })
}

/// Checks names, and that none occurs twice.
fn check_unique<'a>(place: &str, names: impl Iterator<Item = &'a str>) -> Result<(), SchemaError> {
    let place = || place.to_owned();
    validate_names(names).map_err(|error| match error {
        NamesError::Name(error) => SchemaError::Name { place: place(), error },
        NamesError::Duplicate(name) => SchemaError::Duplicate { place: place(), name },
    })
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
    use crate::id::Fingerprint;

    fn refused(change: impl Fn(&mut Schema)) -> String {
        let mut schema = Schema::new("s");
        schema.variables = vec![VariableDef::global_array("T", Dtype::F64, 2)];
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
        let record =
            |size_bytes| RecordId { name: "r".into(), fingerprint: Fingerprint([1; 16]), size_bytes };
        let dtype = refused(|schema| schema.variables[0].record = Some(record(8)));
        assert_eq!(dtype, "\"T\" is made of the record \"r\", but its element type is f64, not bytes");
        let bomb = refused(|schema| {
            schema.variables[0] = VariableDef::local_array("T", Dtype::U8, 1).with_record(record(0));
        });
        assert_eq!(bomb, "\"T\" is made of records of 0 bytes; 1 to 1073741824 are allowed");
        let table = refused(|schema| {
            schema.variables[0] = VariableDef::local_array("T", Dtype::U8, 2);
            schema.variables[0].record = Some(record(8));
        });
        assert_eq!(table, "\"T\" is made of the record \"r\", but its element type is u8, not bytes");
        let records = VariableDef::global_array("T", Dtype::Bytes, 2).with_record(record(8));
        let parts = records.parts().expect("it has records");
        assert!(parts.is_parts() && !parts.is_public() && parts.parts().is_none());
        let whole = Schema { variables: vec![records, parts], ..Schema::new("s") };
        assert_eq!(whole.validate(), Ok(()));
        let text = refused(|schema| schema.variables[0].unit = Some("m".repeat(MAX_TEXT_BYTES + 1)));
        assert_eq!(text, "variable \"T\" has 65537 bytes in a text, but at most 65536 are allowed");
    }
}
