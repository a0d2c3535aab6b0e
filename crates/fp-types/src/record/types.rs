//! Record types as a program writes them down.

use crate::attribute::AttributeValue;
use crate::dtype::Dtype;
use crate::order::MemoryOrder;
use crate::shape::Shape;

/// A record type: named fields in their order in memory. Nothing is checked before [`RecordType::build`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordType {
    /// The name.
    pub name: String,
    /// What the record is, for people.
    pub description: Option<String>,
    /// The fields, in their order in memory.
    pub fields: Vec<Field>,
}

/// One field of a record type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name, unique in the record.
    pub name: String,
    /// What each of the field's elements is.
    pub element: FieldElement,
    /// How many of them there are.
    pub extent: Extent,
    /// Whether the field may be absent from a value.
    pub optional: bool,
    /// What stands for the field where it is absent, or where the publisher's type does not know it. Every element
    /// of a fixed array has this value.
    pub default: Option<AttributeValue>,
    /// The unit of the values.
    pub unit: Option<String>,
    /// What the field is, for people.
    pub description: Option<String>,
    /// For graphs: the array field of the same record that the values are indices into.
    pub indexes: Option<String>,
}

/// What one element of a field is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldElement {
    /// A number, a truth value, text or bytes.
    Dtype(Dtype),
    /// One of several names, which travels as an integer.
    Enum(EnumType),
    /// A record.
    Record(RecordType),
}

/// An enumeration: names with their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// The name.
    pub name: String,
    /// The integer type that represents it.
    pub dtype: Dtype,
    /// The names, each with its number; no name and no number occurs twice.
    pub variants: Vec<(String, i64)>,
}

/// How many elements a field has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// One.
    One,
    /// An array of that shape, within the record.
    Fixed(Shape, MemoryOrder),
    /// A list that carries its own length.
    Variable,
    /// As many as an earlier field of the same record says, which is a single integer and always present.
    SizedBy(String),
}

impl RecordType {
    /// A record without fields.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: None, fields: Vec::new() }
    }

    /// The same with one more field.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }

    /// The same with that description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

impl EnumType {
    /// An enumeration without names.
    pub fn new(name: impl Into<String>, dtype: Dtype) -> Self {
        Self { name: name.into(), dtype, variants: Vec::new() }
    }

    /// The same with one more name.
    #[must_use]
    pub fn variant(mut self, name: impl Into<String>, number: i64) -> Self {
        self.variants.push((name.into(), number));
        self
    }

    /// The name that has that number.
    pub fn name_of(&self, number: i64) -> Option<&str> {
        self.variants.iter().find(|(_, known)| *known == number).map(|(name, _)| name.as_str())
    }
}

impl Field {
    /// One element, present always.
    pub fn new(name: impl Into<String>, element: impl Into<FieldElement>) -> Self {
        Self {
            name: name.into(),
            element: element.into(),
            extent: Extent::One,
            optional: false,
            default: None,
            unit: None,
            description: None,
            indexes: None,
        }
    }

    /// The same as an array of that shape in row-major order.
    #[must_use]
    pub fn fixed(self, shape: Shape) -> Self {
        self.fixed_in(shape, MemoryOrder::RowMajor)
    }

    /// The same as an array of that shape and memory order.
    #[must_use]
    pub fn fixed_in(mut self, shape: Shape, order: MemoryOrder) -> Self {
        self.extent = Extent::Fixed(shape, order);
        self
    }

    /// The same as a list that carries its own length.
    #[must_use]
    pub fn variable(mut self) -> Self {
        self.extent = Extent::Variable;
        self
    }

    /// The same as a list of as many elements as the earlier field `length` says.
    #[must_use]
    pub fn sized_by(mut self, length: impl Into<String>) -> Self {
        self.extent = Extent::SizedBy(length.into());
        self
    }

    /// The same, but it may be absent.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The same with that value where there is none.
    #[must_use]
    pub fn with_default(mut self, value: impl Into<AttributeValue>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// The same with that unit.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// The same with that description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The same, as indices into the array `field` of the same record.
    #[must_use]
    pub fn indexing(mut self, field: impl Into<String>) -> Self {
        self.indexes = Some(field.into());
        self
    }
}

impl From<Dtype> for FieldElement {
    fn from(dtype: Dtype) -> Self {
        Self::Dtype(dtype)
    }
}

impl From<EnumType> for FieldElement {
    fn from(names: EnumType) -> Self {
        Self::Enum(names)
    }
}

impl From<RecordType> for FieldElement {
    fn from(record: RecordType) -> Self {
        Self::Record(record)
    }
}

impl FieldElement {
    /// The element type of what is no record.
    pub fn dtype(&self) -> Option<Dtype> {
        match self {
            Self::Dtype(dtype) => Some(*dtype),
            Self::Enum(names) => Some(names.dtype),
            Self::Record(_) => None,
        }
    }
}
