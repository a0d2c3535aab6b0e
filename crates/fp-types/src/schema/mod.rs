//! The type of a stream: its variables, records and attributes, and the fingerprint of all that.

mod attribute;
mod canonical;
mod name;
mod record;
mod validate;
mod variable;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use attribute::{AttributeValue, Real};
pub(crate) use canonical::variable as encode_variable;
pub use name::{MAX_NAME_BYTES, NameError, validate_name};
pub use record::{FieldDef, FieldExtent, FieldType, RecordDef};
pub use validate::{
    MAX_ATTRIBUTE_VALUES, MAX_ATTRIBUTES, MAX_FIELDS, MAX_RECORDS, MAX_TEXT_BYTES, MAX_VARIABLES, SchemaError,
};
pub use variable::{ArrayKind, VariableDef};

use crate::hash::CanonicalHasher;
use crate::id::Fingerprint;

/// What goes before the content in the hash. A change of the encoding changes the version.
const DOMAIN: &str = "flexpath schema 1";

/// The type of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Schema {
    /// The stream's name.
    pub stream: String,
    /// The variables. Their order means nothing: the fingerprint does not depend on it.
    pub variables: Vec<VariableDef>,
    /// The records that variables are made of; a record uses only records listed before it.
    pub records: Vec<RecordDef>,
    /// Facts about the stream, by name.
    pub attributes: BTreeMap<String, AttributeValue>,
}

impl Schema {
    /// A schema without variables.
    pub fn new(stream: impl Into<String>) -> Self {
        Self { stream: stream.into(), ..Self::default() }
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<&VariableDef> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The record of that name.
    pub fn record(&self, name: &str) -> Option<&RecordDef> {
        self.records.iter().find(|record| record.name == name)
    }

    /// Checks names, bounds, and that records, fields and dimensions go together.
    pub fn validate(&self) -> Result<(), SchemaError> {
        validate::validate_schema(self)
    }

    /// The content hash: equal for equal schemas, in whichever order their variables were listed.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = CanonicalHasher::new(DOMAIN);
        canonical::schema(&mut hasher, self);
        Fingerprint(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;

    fn atoms() -> Schema {
        let mut schema = Schema::new("atoms");
        let mut x = VariableDef::joined_array("x", Dtype::F64, 2, 0);
        x.dimensions = vec!["atom".into(), String::new()];
        x.unit = Some("angstrom".into());
        x.attributes.insert("cutoff".into(), AttributeValue::Real(2.5.into()));
        schema.variables = vec![x, VariableDef::scalar("time", Dtype::F64)];
        let fields =
            vec![FieldDef::new("count", Dtype::U32), FieldDef::new("ids", Dtype::I64).sized_by("count")];
        schema.records.push(RecordDef { name: "neighbours".into(), fields });
        schema.attributes.insert("version".into(), AttributeValue::Text("29 Sep 2021".into()));
        schema
    }

    #[test]
    fn the_fingerprint_never_changes() {
        assert_eq!(atoms().validate(), Ok(()));
        assert_eq!(atoms().fingerprint().to_string(), "7aa447859d82024cc75788267632606e");
        assert_eq!(Schema::new("s").fingerprint().to_string(), "96024b5231bcd7ad2e2b7f0812c8da5d");
    }

    #[test]
    fn the_order_of_variables_does_not_count() {
        let mut schema = atoms();
        schema.variables.reverse();
        assert_eq!(schema.fingerprint(), atoms().fingerprint());
    }

    #[test]
    fn every_part_counts() {
        let changes: [fn(&mut Schema); 14] = [
            |schema| schema.stream.push('2'),
            |schema| schema.variables[0].dtype = Dtype::F32,
            |schema| schema.variables[0].name = "y".into(),
            |schema| schema.variables[0].kind = ArrayKind::JoinedArray { joined_dim: 1 },
            |schema| schema.variables[0].order = crate::MemoryOrder::ColumnMajor,
            |schema| schema.variables[0].unit = None,
            |schema| schema.variables[0].description = Some(String::new()),
            |schema| schema.variables[0].dimensions[1] = "axis".into(),
            |schema| schema.variables[0].attributes.clear(),
            |schema| schema.variables[1].record = Some("neighbours".into()),
            |schema| schema.records[0].fields[1].optional = true,
            |schema| schema.records[0].fields[1].extent = FieldExtent::One,
            |schema| schema.records[0].fields[0].element = FieldType::Dtype(Dtype::U64),
            |schema| *schema.attributes.get_mut("version").unwrap() = AttributeValue::Integer(3),
        ];
        let mut fingerprints = vec![atoms().fingerprint()];
        for change in changes {
            let mut schema = atoms();
            change(&mut schema);
            fingerprints.push(schema.fingerprint());
        }
        fingerprints.sort();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 15);
    }
}
