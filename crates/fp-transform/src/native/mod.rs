//! Transforms that a program registers: Rust functions by name and by the types that they lead from and to.

mod elements;
mod function;
mod offers;
mod path;
mod records;
mod side;
mod transforms;

pub use elements::NativeElement;
pub use offers::{Offer, Offers};
pub use path::{MAX_PATH, PathError, TransformPath};
pub use records::record_array;
pub use side::{CohortSide, DecidedSide, MeasuredCalls, SideDecision, SideReason};
pub use transforms::{MAX_TRANSFORMS, RegisterError, TransformOptions, Transforms};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fp_types::record::RecordSchema;
use fp_types::{Dtype, Fingerprint};

use crate::block::Array;

/// A type that transforms lead from or to: of a record or of an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataType {
    name: String,
    fingerprint: Fingerprint,
}

impl DataType {
    /// A type by the fingerprint of its schema; the name is for people.
    pub fn new(name: impl Into<String>, fingerprint: Fingerprint) -> Self {
        Self { name: name.into(), fingerprint }
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What tells types apart.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl From<&RecordSchema> for DataType {
    fn from(schema: &RecordSchema) -> Self {
        Self::new(schema.record().name.clone(), schema.fingerprint())
    }
}

/// Arrays of numbers: their element type is all that matters.
impl From<Dtype> for DataType {
    fn from(dtype: Dtype) -> Self {
        let mut fingerprint = [0; 16];
        fingerprint[15] = dtype.as_u8();
        Self::new(dtype.name(), Fingerprint(fingerprint))
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// What a native transform fails with: whatever its author finds fit to say.
pub type NativeError = Box<dyn std::error::Error + Send + Sync>;

/// A native transform: from arrays to arrays. Records are arrays of [`Dtype::Bytes`] with the records' encoding, as by
/// [`record_array`].
pub type NativeFunction = Arc<dyn Fn(&[Array]) -> Result<Vec<Array>, NativeError> + Send + Sync>;

/// What a transform is expected to cost, until it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds for each byte that goes in.
    pub nanos_per_byte: f64,
    /// Bytes that come out for each that goes in.
    pub output_ratio: f64,
}

impl Default for Cost {
    fn default() -> Self {
        Self { nanos_per_byte: 1.0, output_ratio: 1.0 }
    }
}

/// A native transform with its name and what is declared of it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Native {
    /// The name by which it is asked for.
    pub name: String,
    /// The types that it leads from and to, if it is to be found by them.
    pub types: Option<(DataType, DataType)>,
    /// The same where both are records and their schemas are known. Then it also takes records that convert to the
    /// first schema, and gives those that the second converts to.
    pub schemas: Option<(RecordSchema, RecordSchema)>,
    /// Whether each record is made of one alone, so that whoever wants a few of them needs to transform no others.
    pub is_one_by_one: bool,
    /// Whether what it gives of blocks, one after the other, is what it gives of all. Then a publisher may run it on
    /// blocks as they are put.
    pub is_per_block: bool,
    /// What it is expected to cost.
    pub cost: Cost,
    /// On which side it runs.
    pub placement: CohortSide,
    /// How long one call may take; else as long as [`TransformOptions::limit`].
    pub limit: Option<Duration>,
    /// The function.
    pub function: NativeFunction,
}

impl Native {
    /// A function under a name.
    pub fn new<F>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(&[Array]) -> Result<Vec<Array>, NativeError> + Send + Sync + 'static,
    {
        Self {
            name: name.into(),
            types: None,
            schemas: None,
            is_one_by_one: false,
            is_per_block: false,
            cost: Cost::default(),
            placement: CohortSide::default(),
            limit: None,
            function: Arc::new(function),
        }
    }

    /// To be found by the types that it leads from and to.
    pub fn with_types(mut self, from: impl Into<DataType>, to: impl Into<DataType>) -> Self {
        self.types = Some((from.into(), to.into()));
        self
    }

    /// With what it is expected to cost.
    pub fn with_cost(mut self, nanos_per_byte: f64, output_ratio: f64) -> Self {
        self.cost = Cost { nanos_per_byte, output_ratio };
        self
    }

    /// With the side on which it runs.
    pub fn with_placement(mut self, placement: CohortSide) -> Self {
        self.placement = placement;
        self
    }

    /// With a limit of its own for the time of one call.
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Whether others may ask for it by the types of its records. It can do with a block at a time, and is not to run
    /// where its result is wanted.
    fn is_offered(&self) -> bool {
        let is_found = self.types.is_some() && self.schemas.is_some();
        is_found && (self.is_per_block || self.is_one_by_one) && self.placement != CohortSide::Subscriber
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Native({:?}, {:?}, {:?})", self.name, self.types, self.placement)
    }
}
