//! Records on their way into a step.

use crate::error::record_block::RecordBlockError;
use crate::value::owned_bytes;
use bytemuck::NoUninit;
use fp_transport::Payload;
use fp_types::record::{Record, RecordSchema, Records, encode_records};

/// Records that are to be put: made of Rust values or of encoded bytes, and put as one block.
pub struct RecordBlock {
    schema: RecordSchema,
    count: usize,
    bytes: Payload,
}

impl RecordBlock {
    /// Records as they lie in memory: nothing is done for each, and nothing is copied.
    ///
    /// # Errors
    /// The Rust type lies otherwise in memory than its record does, or is no record type.
    pub fn plain<T: Record + NoUninit + Send + Sync>(records: Vec<T>) -> Result<Self, RecordBlockError> {
        let (schema, count) = (plain_schema::<T>()?, records.len());
        Ok(Self { schema, count, bytes: owned_bytes::of_elements(records) })
    }

    /// Records of any Rust type, written one by one.
    ///
    /// # Errors
    /// A list that is not as long as the field that sizes it says; no record type.
    pub fn encode<T: Record>(records: &[T]) -> Result<Self, RecordBlockError> {
        let (schema, count, bytes) = (T::schema()?, records.len(), encode_records(records)?);
        Ok(Self { schema, count, bytes: Payload::from_owner(bytes) })
    }

    /// Records that are bytes already, as [`fp_types::record::encode_with`] writes them for a type without a Rust type.
    /// There are `count` of them, in a vector or any other owner of bytes that stay as they are. They are checked.
    ///
    /// # Errors
    /// The bytes are no such records.
    pub fn encoded(
        schema: &RecordSchema,
        count: usize,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Self, RecordBlockError> {
        Records::new(schema, bytes.as_ref(), count)?;
        Ok(Self::admitted(schema, count, bytes))
    }

    /// The same of bytes that were checked.
    pub(crate) fn admitted(
        schema: &RecordSchema,
        count: usize,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Self {
        Self { schema: schema.clone(), count, bytes: Payload::from_owner(bytes) }
    }

    /// Their type.
    pub fn schema(&self) -> &RecordSchema {
        &self.schema
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// All bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// All bytes, with their owner.
    pub(crate) fn payload(&self) -> &Payload {
        &self.bytes
    }

    /// The fixed parts, and what they refer to.
    pub(crate) fn split(&self) -> (Payload, Payload) {
        let (fixed, len) = (self.count * self.schema.size_bytes(), self.bytes.len());
        let part = |range| self.bytes.slice(range).unwrap_or_else(|| Payload::from_owner(Vec::new()));
        (part(0..fixed), part(fixed..len))
    }
}

/// The type of records that lie in memory as their values do.
pub(crate) fn plain_schema<T: Record>() -> Result<RecordSchema, RecordBlockError> {
    let schema = T::schema()?;
    let not_plain = || RecordBlockError::NotPlain { record: schema.record().name.clone() };
    if T::lies_as_record() { Ok(schema) } else { Err(not_plain()) }
}
