//! What a variable is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attribute::AttributeValue;
use crate::dtype::Dtype;
use crate::id::Fingerprint;
use crate::order::MemoryOrder;
use crate::record::RecordSchema;
use crate::schema::origin::{VariableOrigin, name_of_parts};

/// How the blocks that the ranks put make up a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ArrayKind {
    /// One value for all ranks. If several put it, the highest rank's counts.
    Scalar,
    /// One value of each rank: a local array of no dimensions.
    LocalScalar,
    /// One array; each block is a region of it.
    GlobalArray,
    /// Each block is an array of its own.
    LocalArray,
    /// One array: blocks are laid one after another along one dimension, by rank and then by put.
    JoinedArray {
        /// That dimension, from 0.
        joined_dim: u8,
    },
}

impl ArrayKind {
    /// Whether the variable has no dimensions.
    pub fn is_scalar(self) -> bool {
        matches!(self, Self::Scalar | Self::LocalScalar)
    }

    /// Whether there is one array (or value) with a global shape, rather than one for each block.
    pub fn is_global(self) -> bool {
        matches!(self, Self::Scalar | Self::GlobalArray | Self::JoinedArray { .. })
    }
}

impl fmt::Display for ArrayKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar => f.write_str("scalar"),
            Self::LocalScalar => f.write_str("local scalar"),
            Self::GlobalArray => f.write_str("global array"),
            Self::LocalArray => f.write_str("local array"),
            Self::JoinedArray { joined_dim } => write!(f, "array joined along dimension {joined_dim}"),
        }
    }
}

/// The record type of a variable's elements: which one it is, and no more. Who does not know it yet asks an owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordId {
    /// The name of the type, for people.
    pub name: String,
    /// The hash of its canonical bytes.
    pub fingerprint: Fingerprint,
    /// The bytes of the fixed part of each record.
    pub size_bytes: u64,
}

impl From<&RecordSchema> for RecordId {
    fn from(schema: &RecordSchema) -> Self {
        let (name, size_bytes) = (schema.record().name.clone(), schema.size_bytes() as u64);
        Self { name, fingerprint: schema.fingerprint(), size_bytes }
    }
}

/// What a variable is. Its shape is no part of that: it may change from step to step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VariableDef {
    /// The name, unique in the stream.
    pub name: String,
    /// The type of one element.
    pub dtype: Dtype,
    /// If elements are records: their type. The `dtype` is then [`Dtype::Bytes`], and each element the fixed part of a
    /// record. What the records of one block refer to is a block of another variable ([`VariableDef::parts`]).
    pub record: Option<RecordId>,
    /// How blocks make up the variable.
    pub kind: ArrayKind,
    /// How it came into the step.
    pub origin: VariableOrigin,
    /// The dimensions' names, slowest first in row-major order, fastest first in column-major; empty if unnamed.
    pub dimensions: Vec<String>,
    /// In which order elements lie in the memory of each block.
    pub order: MemoryOrder,
    /// The unit of the values.
    pub unit: Option<String>,
    /// What the variable is, for people.
    pub description: Option<String>,
    /// Facts about the variable, by name.
    pub attributes: BTreeMap<String, AttributeValue>,
}

impl VariableDef {
    /// A variable of unnamed dimensions, in row-major order, without unit, description or attributes.
    fn new(name: impl Into<String>, dtype: Dtype, kind: ArrayKind, ndims: usize) -> Self {
        Self {
            name: name.into(),
            dtype,
            record: None,
            kind,
            origin: VariableOrigin::Put,
            dimensions: vec![String::new(); ndims],
            order: MemoryOrder::RowMajor,
            unit: None,
            description: None,
            attributes: BTreeMap::new(),
        }
    }

    /// One value for all ranks.
    pub fn scalar(name: impl Into<String>, dtype: Dtype) -> Self {
        Self::new(name, dtype, ArrayKind::Scalar, 0)
    }

    /// One value of each rank.
    pub fn local_scalar(name: impl Into<String>, dtype: Dtype) -> Self {
        Self::new(name, dtype, ArrayKind::LocalScalar, 0)
    }

    /// An array whose blocks are regions of one shape.
    pub fn global_array(name: impl Into<String>, dtype: Dtype, ndims: usize) -> Self {
        Self::new(name, dtype, ArrayKind::GlobalArray, ndims)
    }

    /// An array for each block.
    pub fn local_array(name: impl Into<String>, dtype: Dtype, ndims: usize) -> Self {
        Self::new(name, dtype, ArrayKind::LocalArray, ndims)
    }

    /// An array of blocks laid one after another along `joined_dim`.
    pub fn joined_array(name: impl Into<String>, dtype: Dtype, ndims: usize, joined_dim: u8) -> Self {
        Self::new(name, dtype, ArrayKind::JoinedArray { joined_dim }, ndims)
    }

    /// The same with that origin.
    #[must_use]
    pub fn with_origin(mut self, origin: VariableOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// The same with that memory order.
    #[must_use]
    pub fn with_order(mut self, order: MemoryOrder) -> Self {
        self.order = order;
        self
    }

    /// The same with those names of dimensions, which also say how many there are.
    #[must_use]
    pub fn with_dimensions<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.dimensions = names.map(str::to_owned).to_vec();
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

    /// The same with one attribute more.
    #[must_use]
    pub fn with_attribute(mut self, name: impl Into<String>, value: impl Into<AttributeValue>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// The same with records in place of other elements.
    #[must_use]
    pub fn with_record(mut self, record: impl Into<RecordId>) -> Self {
        self.dtype = Dtype::Bytes;
        self.record = Some(record.into());
        self
    }

    /// Bytes from one element to the next; `None` where each has its own length.
    pub fn element_bytes(&self) -> Option<usize> {
        match &self.record {
            Some(record) if self.dtype == Dtype::Bytes => usize::try_from(record.size_bytes).ok(),
            _ => self.dtype.size_bytes(),
        }
    }

    /// Where lists and texts of these records are: a local array of bytes, with a block for each block of this
    /// variable. `None` of what has no records.
    pub fn parts(&self) -> Option<Self> {
        let record = self.record.clone().filter(|_| !self.is_parts())?;
        let parts = Self::local_array(name_of_parts(&self.name), Dtype::U8, 1);
        Some(Self { record: Some(record), ..parts.with_origin(self.origin) })
    }

    /// Whether this is what the records of another variable refer to.
    pub fn is_parts(&self) -> bool {
        self.record.is_some() && self.dtype == Dtype::U8
    }

    /// Whether users know it by its name.
    pub fn is_public(&self) -> bool {
        self.origin == VariableOrigin::Put && !self.is_parts()
    }

    /// How many dimensions each block has.
    pub fn ndims(&self) -> usize {
        self.dimensions.len()
    }
}
