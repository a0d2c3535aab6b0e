//! The small part of a frame: short ones ask for no memory.

use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes that ask for no memory.
const SHORT_BYTES: usize = 128;
/// Most bytes of memory that are kept for the next frame.
const KEPT_BYTES: usize = 16 << 10;

/// The small part of a frame. Up to 128 bytes ask for no memory.
pub struct Head {
    short: [u8; SHORT_BYTES],
    /// All of the bytes, where they are more; behind them, what an earlier frame left.
    long: Vec<u8>,
    len: usize,
}

impl Head {
    /// One without bytes.
    pub fn new() -> Head {
        Head { short: [0; SHORT_BYTES], long: Vec::new(), len: 0 }
    }

    /// Makes it so long. Its bytes are what was there before or zeros, and are to be written. It keeps its memory, unless
    /// that is much.
    pub(crate) fn renew(&mut self, len_bytes: usize) -> &mut [u8] {
        if self.long.capacity() > KEPT_BYTES {
            self.long = Vec::new();
        }
        if len_bytes > SHORT_BYTES && self.long.len() < len_bytes {
            self.long.resize(len_bytes, 0);
        }
        self.len = len_bytes;
        self
    }

    /// Makes it so much longer. What is new is what was there before or zeros, and is to be written.
    pub(crate) fn grow(&mut self, more_bytes: usize) {
        let len_bytes = self.len + more_bytes;
        self.use_long(len_bytes);
        self.len = len_bytes;
    }

    /// Has the bytes lie where so many have room.
    fn use_long(&mut self, len_bytes: usize) {
        if len_bytes <= SHORT_BYTES {
            return;
        }
        if self.len <= SHORT_BYTES {
            self.long.clear();
            self.long.extend_from_slice(&self.short[..self.len]);
        }
        if self.long.len() < len_bytes {
            self.long.resize(len_bytes, 0);
        }
    }

    /// Leaves no more than so many bytes.
    pub(crate) fn truncate(&mut self, len_bytes: usize) {
        if len_bytes >= self.len {
            return;
        }
        if self.len > SHORT_BYTES && len_bytes <= SHORT_BYTES {
            self.short[..len_bytes].copy_from_slice(&self.long[..len_bytes]);
        }
        self.len = len_bytes;
    }

    /// Adds bytes at the end.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        let known = self.len;
        self.use_long(known + bytes.len());
        self.len += bytes.len();
        self[known..].copy_from_slice(bytes);
    }

    /// The bytes as a vector.
    pub fn into_vec(mut self) -> Vec<u8> {
        if self.len <= SHORT_BYTES {
            return self.to_vec();
        }
        self.long.truncate(self.len);
        self.long
    }
}

impl Default for Head {
    fn default() -> Head {
        Head::new()
    }
}

impl Clone for Head {
    fn clone(&self) -> Head {
        Head::from(&**self)
    }
}

impl Deref for Head {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all: &[u8] = if self.len <= SHORT_BYTES { &self.short } else { &self.long };
        &all[..self.len]
    }
}

impl DerefMut for Head {
    fn deref_mut(&mut self) -> &mut [u8] {
        let all: &mut [u8] = if self.len <= SHORT_BYTES { &mut self.short } else { &mut self.long };
        &mut all[..self.len]
    }
}

impl From<SmallVec<[u8; SHORT_BYTES]>> for Head {
    fn from(bytes: SmallVec<[u8; SHORT_BYTES]>) -> Head {
        if bytes.spilled() { Head::from(bytes.into_vec()) } else { Head::from(&bytes[..]) }
    }
}

impl From<Vec<u8>> for Head {
    fn from(bytes: Vec<u8>) -> Head {
        match bytes.len() <= SHORT_BYTES {
            true => Head::from(&bytes[..]),
            false => Head { len: bytes.len(), long: bytes, ..Head::new() },
        }
    }
}

impl From<&[u8]> for Head {
    fn from(bytes: &[u8]) -> Head {
        let mut head = Head::new();
        head.extend_from_slice(bytes);
        head
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        **self == **other
    }
}

impl Eq for Head {}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Head {
    fn eq(&self, bytes: &T) -> bool {
        **self == *bytes.as_ref()
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is done to it, it has the bytes that a vector would have.
        #[test]
        fn is_a_vector(ops in prop::collection::vec((0u8..6, 0usize..400, any::<u8>()), 0..20)) {
            let (mut ours, mut model) = (Head::new(), Vec::new());
            for (op, len, byte) in ops {
                match op {
                    0 => {
                        ours.renew(len).fill(byte);
                        model = vec![byte; len];
                    }
                    1 if len >= model.len() => {
                        let known = model.len();
                        ours.grow(len - known);
                        ours[known..].fill(byte);
                        model.resize(len, byte);
                    }
                    1 | 2 => {
                        ours.truncate(len);
                        model.truncate(len);
                    }
                    3 => {
                        ours.extend_from_slice(&vec![byte; len]);
                        model.extend_from_slice(&vec![byte; len]);
                    }
                    4 => ours = Head::from(ours.into_vec()),
                    _ => ours = ours.clone(),
                }
                prop_assert_eq!(&*ours, &model[..]);
                prop_assert_eq!(ours == model, true);
            }
            let short: SmallVec<[u8; SHORT_BYTES]> = SmallVec::from_slice(&model);
            prop_assert_eq!(Head::from(short).into_vec(), model);
        }
    }

    #[test]
    fn much_memory_is_not_kept() {
        let mut head = Head::from(vec![1; KEPT_BYTES + 1]);
        head.renew(200);
        assert!(head.long.capacity() <= KEPT_BYTES);
        head.renew(KEPT_BYTES).fill(7);
        let at = head.as_ptr();
        head.renew(200);
        assert_eq!((head.as_ptr(), &*head), (at, &[7; 200][..]));
    }
}
