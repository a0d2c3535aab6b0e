//! Variables whose elements are records.

use crate::value::variable::{Variable, VariableError};
use fp_types::VariableDef;
use fp_types::record::RecordSchema;
use std::sync::Arc;

impl Variable {
    /// One record for all ranks; of several ranks that put it in a step the highest rank's counts.
    ///
    /// # Errors
    /// As [`Variable::scalar`].
    pub fn record(name: impl Into<String>, schema: &RecordSchema) -> Result<Self, VariableError> {
        Self::scalar::<u8>(name).map(|variable| variable.of_records(schema))
    }

    /// One record of each rank.
    ///
    /// # Errors
    /// As [`Variable::scalar`].
    pub fn local_record(name: impl Into<String>, schema: &RecordSchema) -> Result<Self, VariableError> {
        Self::local_scalar::<u8>(name).map(|variable| variable.of_records(schema))
    }

    /// One array of `shape` (records in each dimension); each rank puts regions of it.
    ///
    /// # Errors
    /// As [`Variable::global`].
    pub fn global_records(
        name: impl Into<String>,
        schema: &RecordSchema,
        shape: &[u64],
    ) -> Result<Self, VariableError> {
        Self::global::<u8>(name, shape).map(|variable| variable.of_records(schema))
    }

    /// An array of records of each put, of `ndims` dimensions and any extent.
    ///
    /// # Errors
    /// As [`Variable::scalar`].
    pub fn local_records(
        name: impl Into<String>,
        schema: &RecordSchema,
        ndims: usize,
    ) -> Result<Self, VariableError> {
        Self::local::<u8>(name, ndims).map(|variable| variable.of_records(schema))
    }

    /// One array of records that is the rows of all ranks, one after another, as by [`Variable::joined`].
    ///
    /// # Errors
    /// As [`Variable::joined`].
    pub fn joined_records(
        name: impl Into<String>,
        schema: &RecordSchema,
        row: &[u64],
    ) -> Result<Self, VariableError> {
        Self::joined::<u8>(name, row).map(|variable| variable.of_records(schema))
    }

    fn of_records(mut self, schema: &RecordSchema) -> Self {
        self.def = Arc::new(Arc::unwrap_or_clone(self.def).with_record(schema));
        self.records = Some(schema.clone());
        self
    }

    /// The variable of what these records refer to; `None` where they refer to nothing.
    pub(crate) fn parts(&self) -> Option<Self> {
        let schema = self.records.as_ref().filter(|schema| !schema.is_plain())?;
        let def: VariableDef = self.def.parts()?;
        Some(Self { records: Some(schema.clone()), ..Self::shapeless(def) })
    }
}
