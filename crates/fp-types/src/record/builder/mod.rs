//! Records of a type that is known only at run time, set field by field.

mod error;
mod rows;

pub use error::RecordBuildError;

use self::rows::{Cell, Row, reserved, room};
use crate::dtype::Dtype;
use crate::record::rust::encode_with;
use crate::record::schema::RecordSchema;
use crate::record::types::Field;

/// Records that are set field by field, by names: for programs that have no Rust type of them.
///
/// What was not set is 0, empty or absent. The length field of a list need not be set. A path is the field's name; in a
/// nested record with a dot, in a list of records with an index: `cell.corner[3].x`.
#[derive(Clone, Debug)]
pub struct RecordBuilder {
    schema: RecordSchema,
    rows: Vec<Row>,
}

impl RecordBuilder {
    /// `count` records with nothing set.
    pub fn new(schema: &RecordSchema, count: usize) -> Result<Self, RecordBuildError> {
        Ok(Self { schema: schema.clone(), rows: room(count)? })
    }

    /// How many records there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Sets all numbers of a field of the record at `index`. They are `bytes` of that type in this machine's byte order.
    /// The field's type must hold all its values. Opaque bytes are set as `Dtype::U8`.
    pub fn set_numbers(
        &mut self,
        index: usize,
        path: &str,
        (dtype, bytes): (Dtype, &[u8]),
    ) -> Result<(), RecordBuildError> {
        let (cell, field) = self.follow(index, path)?;
        cell.set_numbers(field, dtype, bytes)
    }

    /// Sets all texts of a field of the record at `index`.
    pub fn set_texts(
        &mut self,
        index: usize,
        path: &str,
        texts: &[impl AsRef<[u8]>],
    ) -> Result<(), RecordBuildError> {
        let (cell, field) = self.follow(index, path)?;
        cell.set_texts(field, texts)
    }

    /// Sets how many records a list of records has, in the record at `index`. New ones have nothing set.
    pub fn set_len(&mut self, index: usize, path: &str, len: usize) -> Result<(), RecordBuildError> {
        let (cell, field) = self.follow(index, path)?;
        cell.set_len(field, len)
    }

    fn follow(&mut self, index: usize, path: &str) -> Result<(&mut Cell, &Field), RecordBuildError> {
        let count = self.rows.len();
        let row = self.rows.get_mut(index).ok_or(RecordBuildError::Record { index, count })?;
        row.follow(self.schema.record(), path)
    }

    /// The bytes of all records, as [`Records`](crate::record::Records) reads them.
    pub fn encode(&self) -> Result<Vec<u8>, RecordBuildError> {
        // The memory that the encoding takes at once.
        reserved::<u8>(self.rows.len().saturating_mul(self.schema.size_bytes()))?;
        let record = self.schema.record();
        let bytes = encode_with(&self.schema, self.rows.len(), |index, to| {
            self.rows.get(index).map_or(Ok(()), |row| row.put(record, to))
        });
        Ok(bytes?)
    }
}
