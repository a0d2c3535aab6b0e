//! Blocks that are in no memory: a file has them, or whatever else.

use std::io;

/// The bytes of a block that lie outside of memory. They are read when a subscriber asks for the block, as often as one
/// does.
///
/// What has them is dropped once nobody needs the block any more. So its drop is the release.
pub trait StoredBytes: Send + Sync {
    /// How many there are.
    fn len_bytes(&self) -> u64;

    /// Reads them all, in the memory order of the variable. Several threads may ask at the same time.
    ///
    /// # Errors
    /// What kept it from that: the subscriber that asked is told so, and the step stays what it was.
    fn read(&self) -> io::Result<Vec<u8>>;
}
