//! Records that were taken of a step, with their type.

use crate::value::counters::Counters;
use crate::value::step_hold::StepHold;
use fp_transport::Payload;
use fp_types::Shape;
use fp_types::record::{RecordSchema, Records, ValueError};

pub(crate) enum Memory {
    Shared(Payload),
    Own(Vec<u8>),
    /// What transforms gave, shared by all who asked for it.
    Computed(Payload),
}

/// Records of a step, of whatever type. The step is released when its reader, its last view and its last set are gone.
pub struct RecordSet {
    pub(crate) schema: RecordSchema,
    pub(crate) count: usize,
    pub(crate) shape: Shape,
    pub(crate) memory: Memory,
    pub(crate) held: StepHold,
}

impl RecordSet {
    /// The records, to be read one by one without their Rust type.
    ///
    /// # Errors
    /// The publisher changed shared memory meanwhile, so that they are none any more.
    pub fn records(&self) -> Result<Records<'_>, ValueError> {
        Records::new(&self.schema, self.as_bytes(), self.count)
    }

    /// Their type: the publisher's, or the one that they were asked for as.
    pub fn schema(&self) -> &RecordSchema {
        &self.schema
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The shape of the array that they are, as by `StepReader::selected_shape`.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// All bytes: the fixed parts, and what they refer to.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::Shared(payload) | Memory::Computed(payload) => payload.as_slice(),
            Memory::Own(bytes) => bytes,
        }
    }

    /// All bytes in memory that is nobody else's.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        if let Memory::Own(bytes) = self.memory {
            return bytes;
        }
        let bytes = self.as_bytes().to_vec();
        Counters::add(&self.held.counters.get_copied_bytes, bytes.len());
        bytes
    }

    /// Whether they were not copied.
    pub fn is_zero_copy(&self) -> bool {
        matches!(self.memory, Memory::Shared(_))
    }
}
