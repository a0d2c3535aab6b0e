//! Where the files of a store are.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use zarrs::storage::{
    Bytes, OffsetBytesIterator, StorageError, StoreKey, StorePrefix, WritableStorageTraits,
};

use super::document::STEP;
use crate::error::SinkError;

/// The file of a node that says what it is.
pub(crate) const DOCUMENT: &str = "zarr.json";

/// A place for files that are written whole. Names are those of Zarr's keys: with slashes between folders.
pub(crate) trait Files: fmt::Debug + Send + Sync {
    /// The file or folder of that name, as messages call it. The empty name is that of the store.
    fn place(&self, name: &str) -> PathBuf;

    /// Whether there is nothing, but for what a kill may have left before the first step.
    fn is_vacant(&self) -> Result<bool, SinkError>;

    /// Keeps others from writing here, if the place has a means for that.
    fn claim(&self) -> Result<(), SinkError>;

    /// What a file holds; none if it is not there.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SinkError>;

    /// Writes a file. Whoever reads it finds the old one or the new one, whole. It may be on its way until `settle`.
    fn write(&self, name: &str, bytes: Bytes) -> Result<(), SinkError>;

    /// Writes the document of the root, if nobody else has done so since it was read or written here.
    fn write_root(&self, bytes: Bytes) -> Result<(), SinkError> {
        self.write(DOCUMENT, bytes)
    }

    /// All files that were written are there when this returns. With `--durable` they are on the device.
    fn settle(&self) -> Result<(), SinkError>;

    /// Removes a file, or a folder with all that is in it, if it is there.
    fn remove(&self, name: &str) -> Result<(), SinkError>;

    /// What the root says of who writes; none where others are kept from writing.
    fn writer(&self) -> Option<&str> {
        None
    }
}

/// What a kill may leave before a store has a root: the document of the first array.
pub(crate) fn is_unbegun(name: &str) -> bool {
    name.strip_prefix(STEP).and_then(|rest| rest.strip_prefix('/')) == Some(DOCUMENT)
}

/// What arrays need to store their chunks. Their chunks are stored whole.
#[derive(Debug)]
pub(crate) struct Chunks(pub(crate) Arc<dyn Files>);

/// As zarrs says it.
fn failed(error: SinkError) -> StorageError {
    StorageError::Other(error.to_string())
}

impl WritableStorageTraits for Chunks {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        self.0.write(key.as_str(), value).map_err(failed)
    }

    fn set_partial_many(&self, key: &StoreKey, _parts: OffsetBytesIterator<'_>) -> Result<(), StorageError> {
        Err(StorageError::Unsupported(format!("{key} is written whole or not at all")))
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        self.0.remove(key.as_str()).map_err(failed)
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        self.0.remove(prefix.as_str().trim_end_matches('/')).map_err(failed)
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}
