//! The type of a stream: its variables and attributes, and the fingerprint of all that. What their records are is in
//! [`crate::record`]: here stand their fingerprints.

mod canonical;
mod origin;
mod validate;
mod variable;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use canonical::variable as encode_variable;
pub use origin::VariableOrigin;
pub use validate::{MAX_ATTRIBUTE_VALUES, MAX_ATTRIBUTES, MAX_VARIABLES, SchemaError};
pub use variable::{ArrayKind, RecordId, VariableDef};

use crate::attribute::AttributeValue;
use crate::hash::CanonicalHasher;
use crate::id::Fingerprint;

/// What goes before the content in the hash. A change of the encoding changes the version.
const DOMAIN: &str = "flexpath schema 3";

/// The type of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Schema {
    /// The stream's name.
    pub stream: String,
    /// The variables. Their order means nothing: the fingerprint does not depend on it.
    pub variables: Vec<VariableDef>,
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

    /// Checks names, bounds, and that kinds and dimensions go together.
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
        let near = VariableDef::joined_array("near", Dtype::Bytes, 1, 0).with_record(RecordId {
            name: "Neighbours".into(),
            fingerprint: Fingerprint([7; 16]),
            size_bytes: 24,
        });
        schema.variables = vec![x, VariableDef::scalar("time", Dtype::F64), near];
        schema.attributes.insert("version".into(), AttributeValue::Text("29 Sep 2021".into()));
        schema
    }

    #[test]
    fn the_fingerprint_never_changes() {
        assert_eq!(atoms().validate(), Ok(()));
        assert_eq!(atoms().fingerprint().to_string(), "34757066fe36e86c6b450bcfaea1a0b4");
        assert_eq!(Schema::new("s").fingerprint().to_string(), "26527b0f946bc1e939cceb4cbca7e826");
    }

    #[test]
    fn the_order_of_variables_does_not_count() {
        let mut schema = atoms();
        schema.variables.reverse();
        assert_eq!(schema.fingerprint(), atoms().fingerprint());
    }

    #[test]
    fn a_variable_says_what_its_elements_take() {
        let near = &atoms().variables[2];
        let bytes = [Dtype::F64, Dtype::C64, Dtype::String].map(|dtype| VariableDef::scalar("a", dtype));
        assert_eq!(bytes.map(|def| def.element_bytes()), [Some(8), Some(16), None]);
        assert_eq!(near.element_bytes(), Some(24), "a record");
        assert_eq!(near.parts().and_then(|parts| parts.element_bytes()), Some(1));
        let scalars = [ArrayKind::Scalar, ArrayKind::LocalScalar, ArrayKind::GlobalArray, near.kind];
        assert_eq!(scalars.map(ArrayKind::is_scalar), [true, true, false, false]);
    }

    fn record(schema: &mut Schema) -> &mut RecordId {
        schema.variables[2].record.as_mut().unwrap()
    }

    #[test]
    fn every_part_counts() {
        let changes: [fn(&mut Schema); 15] = [
            |schema| schema.stream.push('2'),
            |schema| schema.variables[0].dtype = Dtype::F32,
            |schema| schema.variables[0].name = "y".into(),
            |schema| schema.variables[0].kind = ArrayKind::JoinedArray { joined_dim: 1 },
            |schema| schema.variables[0].order = crate::MemoryOrder::ColumnMajor,
            |schema| schema.variables[0].origin = VariableOrigin::Derived,
            |schema| schema.variables[0].unit = None,
            |schema| schema.variables[0].description = Some(String::new()),
            |schema| schema.variables[0].dimensions[1] = "axis".into(),
            |schema| schema.variables[0].attributes.clear(),
            |schema| schema.variables[2].record = None,
            |schema| record(schema).name.push('2'),
            |schema| record(schema).fingerprint = Fingerprint([8; 16]),
            |schema| record(schema).size_bytes = 32,
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
        assert_eq!(fingerprints.len(), 16);
    }
}
