//! Immutable bytes with an owner: what is put, sent and received.
#![allow(unsafe_code)] // slices are made from the owner's memory once and then handed out

use super::segment::SegmentId;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

/// Where bytes lie in a shareable segment: what a peer that mapped the segment needs to find them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The segment, named by the process that made it.
    pub segment: SegmentId,
    /// First byte within the segment.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

/// Immutable bytes that are kept alive by every clone: memory of a pool, or of an owner of the application's own.
/// When the last clone is dropped the memory goes back to where it came from.
#[derive(Clone)]
pub struct Payload {
    pointer: NonNull<u8>,
    len: usize,
    location: Option<Location>,
    /// What its last drop does is the release.
    owner: Owner,
}

/// An arena, a mapping, or what the application gave.
type Owner = Arc<dyn Any + Send + Sync>;

// SAFETY: the bytes behind the pointer are never written while a Payload exists, and every owner is Send. `PoolMemory`
// gave up its exclusive access in `freeze`, and an application's owner is only borrowed shared.
unsafe impl Send for Payload {}
// SAFETY: as above; shared access reads only, and every owner is Sync.
unsafe impl Sync for Payload {}

impl Payload {
    /// Bytes of an owner of the application's own, without a copy; the drop of `owner` is the release. A slice that
    /// `owner` returns here is used for the life of the payload.
    pub fn from_owner<T: AsRef<[u8]> + Send + Sync + 'static>(owner: T) -> Payload {
        Payload::from_shared(Arc::new(owner))
    }

    /// The same of an owner that others have too. Nobody writes to its bytes while it is shared.
    pub fn from_shared<T: AsRef<[u8]> + Send + Sync + 'static>(owner: Arc<T>) -> Payload {
        let bytes: &[u8] = (*owner).as_ref();
        let (pointer, len) = (NonNull::from(bytes).cast::<u8>(), bytes.len());
        Payload::new(pointer, len, None, owner)
    }

    /// `pointer` is valid for `len` bytes and no longer written to while `owner` lives.
    pub(super) fn new(pointer: NonNull<u8>, len: usize, location: Option<Location>, owner: Owner) -> Payload {
        Payload { pointer, len, location, owner }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` bytes from `pointer` on are the owner's by construction (`slice` checks). The owner lives as long
        // as `self.owner`, and nobody writes to the bytes (see Send).
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where a peer finds the bytes, if they lie in a shareable segment.
    pub fn location(&self) -> Option<Location> {
        self.location
    }

    /// A part of the bytes, sharing the owner. `None` if `range` is not within them.
    pub fn slice(&self, range: Range<usize>) -> Option<Payload> {
        let start = range.start;
        let bytes = self.as_slice().get(range)?;
        let (pointer, len) = (NonNull::from(bytes).cast::<u8>(), bytes.len());
        let part =
            |whole: Location| Location { offset: whole.offset + start as u64, len: len as u64, ..whole };
        Some(Payload { pointer, len, location: self.location.map(part), owner: Arc::clone(&self.owner) })
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload").field("len", &self.len).field("location", &self.location()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counted(Vec<u8>, Arc<AtomicUsize>);
    impl AsRef<[u8]> for Counted {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_last_clone_releases_the_owner_once() {
        let released = Arc::new(AtomicUsize::new(0));
        let bytes = vec![1, 2, 3, 4];
        let address = bytes.as_ptr();
        let payload = Payload::from_owner(Counted(bytes, Arc::clone(&released)));
        assert_eq!(payload.as_slice().as_ptr(), address, "no copy was made");
        let part = payload.slice(1..3).expect("a part within");
        drop(payload);
        assert_eq!((part.as_slice(), released.load(Ordering::SeqCst)), (&[2u8, 3][..], 0));
        drop(part);
        assert_eq!(released.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_slice_outside_is_refused() {
        let payload = Payload::from_owner(vec![0u8; 8]);
        assert!(payload.slice(4..9).is_none());
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = payload.slice(5..4);
        assert!(reversed.is_none());
        assert_eq!(payload.slice(8..8).map(|part| part.len()), Some(0));
        assert!(payload.location().is_none());
    }
}
