//! What stays C's until its release is called: memory that is read later, and the context of a function.

use crate::raw::values;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What C calls when its memory or its context is needed no more.
type Release = Option<extern "C" fn(context: *mut c_void)>;

/// The release, owed once. The drop calls it, on whatever thread that is.
pub(crate) struct Owed {
    release: Release,
    context: AtomicPtr<c_void>,
}

impl Owed {
    pub(crate) fn new(release: Release, context: *mut c_void) -> Self {
        Self { release, context: AtomicPtr::new(context) }
    }

    /// What is only ever handed back to C.
    pub(crate) fn context(&self) -> *mut c_void {
        self.context.load(Ordering::Relaxed)
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            release(self.context());
        }
    }
}

/// Memory of C that is read until the release is called.
pub(crate) struct External {
    bytes: AtomicPtr<u8>,
    len: usize,
    _owed: Owed,
}

impl External {
    /// The bytes are those that the header asks for: readable from any thread, and unchanged until the release.
    pub(crate) fn new(bytes: &[u8], owed: Owed) -> Self {
        Self { bytes: AtomicPtr::new(bytes.as_ptr().cast_mut()), len: bytes.len(), _owed: owed }
    }
}

impl AsRef<[u8]> for External {
    fn as_ref(&self) -> &[u8] {
        // Checked before it was made; a failure cannot come.
        values(self.bytes.load(Ordering::Relaxed), self.len, "elements").unwrap_or_default()
    }
}
