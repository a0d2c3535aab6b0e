//! Records: elements of named fields, which may be records or arrays themselves.

use serde::{Deserialize, Serialize};

use crate::dtype::Dtype;
use crate::shape::Shape;

/// An element type of named fields.
///
/// Records refer to one another by name and only backwards, so a list of them is flat and never circular.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordDef {
    /// The name, unique in the schema.
    pub name: String,
    /// The fields, in their order in memory.
    pub fields: Vec<FieldDef>,
}

/// One field of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FieldDef {
    /// The name, unique in the record.
    pub name: String,
    /// What each of the field's elements is.
    pub element: FieldType,
    /// How many of them there are.
    pub extent: FieldExtent,
    /// Whether the field may be missing.
    pub optional: bool,
    /// The unit of the values.
    pub unit: Option<String>,
    /// What the field is, for people.
    pub description: Option<String>,
}

/// What one element of a field is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FieldType {
    /// A number, text or bytes.
    Dtype(Dtype),
    /// A record listed earlier in the schema, by name.
    Record(String),
}

/// How many elements a field has.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FieldExtent {
    /// One.
    One,
    /// An array of that shape.
    Fixed(Shape),
    /// As many as an earlier field of the same record says, which is a single integer and not optional.
    SizedBy(String),
}

impl FieldDef {
    /// A field of one element, present always.
    pub fn new(name: impl Into<String>, dtype: Dtype) -> Self {
        Self {
            name: name.into(),
            element: FieldType::Dtype(dtype),
            extent: FieldExtent::One,
            optional: false,
            unit: None,
            description: None,
        }
    }

    /// A field that is a record of that name.
    pub fn of_record(name: impl Into<String>, record: impl Into<String>) -> Self {
        Self { element: FieldType::Record(record.into()), ..Self::new(name, Dtype::Bytes) }
    }

    /// The same as an array of that shape.
    #[must_use]
    pub fn fixed(mut self, shape: Shape) -> Self {
        self.extent = FieldExtent::Fixed(shape);
        self
    }

    /// The same as an array of as many elements as the field `length` says.
    #[must_use]
    pub fn sized_by(mut self, length: impl Into<String>) -> Self {
        self.extent = FieldExtent::SizedBy(length.into());
        self
    }
}
