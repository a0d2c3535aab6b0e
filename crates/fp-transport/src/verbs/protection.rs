//! A protection domain of one stream on one device.
#![allow(unsafe_code)] // calls of the C libraries

use super::call_outcome::made;
use super::device::Device;
use super::error::VerbsTrouble;
use super::sys::Pd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What is counted of all protection domains of a stream.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) registrations: AtomicU64,
    pub(super) registered_bytes: AtomicU64,
    pub(super) reads: AtomicU64,
    pub(super) read_bytes: AtomicU64,
    pub(super) unsettled_reads: AtomicU64,
}

/// A protection domain on one device. It goes when the last registration and queue pair of it is gone.
pub(crate) struct Protection {
    pub(super) pd: NonNull<Pd>,
    pub(super) device: &'static Device,
    pub(super) counters: Arc<Counters>,
}

// SAFETY: libibverbs may be called from any thread.
unsafe impl Send for Protection {}
// SAFETY: as above.
unsafe impl Sync for Protection {}

impl Protection {
    pub(super) fn new(device: &'static Device, counters: Arc<Counters>) -> Result<Protection, VerbsTrouble> {
        // SAFETY: an open context.
        let pd = made(unsafe { (device.library.ibv_alloc_pd)(device.context.as_ptr()) }, "ibv_alloc_pd")?;
        Ok(Protection { pd, device, counters })
    }
}

impl Drop for Protection {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and whatever was made of it held this value.
        unsafe { (self.device.library.ibv_dealloc_pd)(self.pd.as_ptr()) };
    }
}
