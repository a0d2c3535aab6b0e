//! Types that a subscriber must find when it attaches: the opening itself is refused where the stream has other ones.

use crate::error::record_block::RecordBlockError;
use fp_types::record::{Record, RecordSchema};

/// A type of records that a subscriber must be provided with.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::WantedType;
/// use flexpath::record::RecordSchema;
///
/// # fn wanted(particle: &RecordSchema) -> WantedType {
/// WantedType::new(particle).with_variable("particles")
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WantedType {
    /// The variable that is to provide it, by the name that it is read by; `None`: any.
    pub variable: Option<String>,
    /// The type.
    pub schema: RecordSchema,
}

impl WantedType {
    /// A type that was made at run time, of any variable.
    pub fn new(schema: &RecordSchema) -> Self {
        Self { variable: None, schema: schema.clone() }
    }

    /// The type of a Rust type's records, of any variable.
    ///
    /// # Errors
    /// No record type.
    pub fn of<T: Record>() -> Result<Self, RecordBlockError> {
        Ok(Self::new(&T::schema()?))
    }

    /// The same of this variable alone.
    #[must_use]
    pub fn with_variable(mut self, variable: impl Into<String>) -> Self {
        self.variable = Some(variable.into());
        self
    }
}
