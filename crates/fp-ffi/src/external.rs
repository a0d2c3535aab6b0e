//! What stays C's until its release is called: memory that is read later, and the context of a function.
#![allow(unsafe_code)] // memory of C that is read later

use crate::raw::values;
use fp_core::Element;
use std::ffi::c_void;
use std::marker::PhantomData;
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
pub(crate) struct External<T> {
    elements: *const T,
    len: usize,
    _owed: Owed,
    element: PhantomData<T>,
}

impl<T> External<T> {
    /// The elements were checked before.
    pub(crate) fn new(elements: *const T, len: usize, owed: Owed) -> Self {
        Self { elements, len, _owed: owed, element: PhantomData }
    }
}

// SAFETY: the header asks for memory that stays, unchanged and readable from any thread, until its release.
unsafe impl<T: Element> Send for External<T> {}
// SAFETY: as above; it is only read.
unsafe impl<T: Element> Sync for External<T> {}

impl<T: Element> AsRef<[T]> for External<T> {
    fn as_ref(&self) -> &[T] {
        // Checked before it was made; a failure cannot come.
        values(self.elements, self.len, "elements").unwrap_or_default()
    }
}
