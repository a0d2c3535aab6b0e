//! A step that is in a file.

use crate::block::BlockHead;
use crate::error::SpoolError;
use crate::file_bytes;
use crate::frame::Frame;
use crate::step::StepHead;
use fp_types::{Epoch, StepId};
use std::fs::File;

/// A step in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The epoch of its publisher.
    pub epoch: Epoch,
    /// Its number in that epoch.
    pub step: StepId,
    /// Where its record begins.
    pub offset: u64,
    /// The bytes of its record.
    pub len_bytes: u64,
}

/// A step in a file: what it is, and where its blocks are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredStep {
    /// Where its record is.
    pub entry: Entry,
    /// What the step is.
    pub head: StepHead,
    /// Its blocks, in the order in which they were written.
    pub blocks: Vec<StoredBlock>,
}

/// A block in a file. [`Spool::bytes`](crate::Spool::bytes) reads it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredBlock {
    /// Which block it is.
    pub head: BlockHead,
    /// Where its frame begins.
    pub(crate) offset: u64,
    pub(crate) frame: Frame,
}

impl StoredBlock {
    /// The length of its bytes.
    pub fn len_bytes(&self) -> u64 {
        self.frame.data_bytes
    }

    /// Its bytes, checked, from its file: for those who keep no [`Spool`](crate::Spool) open.
    ///
    /// # Errors
    /// They are not as they were written; the system. No error names the file.
    pub fn read(&self, file: &File) -> Result<Vec<u8>, SpoolError> {
        let mut data = vec![0; usize::try_from(self.frame.data_bytes).unwrap_or(usize::MAX)];
        file_bytes::read(file, self.offset + self.frame.data_offset(), &mut data, "the data of a block")?;
        let damaged = |damage| SpoolError::Damaged { offset: self.offset, damage };
        self.frame.check_data(&data).map_err(damaged)?;
        Ok(data)
    }
}
