//! The small part of a frame: short ones ask for no memory.

use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes that ask for no memory.
const SHORT_BYTES: usize = 128;
/// Most bytes of memory that are kept for the next frame.
const KEPT_BYTES: usize = 16 << 10;

/// The small part of a frame. Up to 128 bytes ask for no memory.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Head(SmallVec<[u8; SHORT_BYTES]>);

impl Head {
    /// One without bytes.
    pub fn new() -> Head {
        Head(SmallVec::new())
    }

    /// Leaves it without bytes, and with its memory, unless that is much.
    pub(crate) fn clear(&mut self) {
        if self.0.capacity() > KEPT_BYTES {
            *self = Head::new();
        }
        self.0.clear();
    }

    /// Makes room for so many bytes more.
    pub(crate) fn reserve(&mut self, len_bytes: usize) {
        self.0.reserve(len_bytes);
    }

    /// Makes it so long, with zeros at its end.
    pub(crate) fn resize(&mut self, len_bytes: usize) {
        self.0.resize(len_bytes, 0);
    }

    /// Leaves no more than so many bytes.
    pub(crate) fn truncate(&mut self, len_bytes: usize) {
        self.0.truncate(len_bytes);
    }

    /// Adds bytes at the end.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The bytes as a vector.
    pub fn into_vec(self) -> Vec<u8> {
        self.0.into_vec()
    }
}

impl Deref for Head {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Head {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl From<SmallVec<[u8; SHORT_BYTES]>> for Head {
    fn from(bytes: SmallVec<[u8; SHORT_BYTES]>) -> Head {
        Head(bytes)
    }
}

impl From<Vec<u8>> for Head {
    fn from(bytes: Vec<u8>) -> Head {
        Head(bytes.into())
    }
}

impl From<&[u8]> for Head {
    fn from(bytes: &[u8]) -> Head {
        Head(SmallVec::from_slice(bytes))
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Head {
    fn eq(&self, bytes: &T) -> bool {
        **self == *bytes.as_ref()
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}
