//! Memory that is registered in a protection domain: what devices, and through them peers, may do with it.
#![allow(unsafe_code)] // calls of the C libraries

use super::call_outcome::{made, succeed};
use super::error::VerbsTrouble;
use super::protection::Protection;
use super::sys::{self, Mr};
use crate::memory::{Mapping, Registered, Registrar, RemoteMemory};
use rustix::process::{Resource, getrlimit};
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Who may do what with registered memory. This side may read it in any case.
#[derive(Debug, Clone, Copy)]
pub(super) enum Access {
    /// This side's device writes to it, and the peer may read it.
    LocalAndRemoteRead,
    /// This side's device writes to it.
    Local,
    /// The peer may read it.
    RemoteRead,
}

/// Registered memory. It is let go when this is dropped.
pub(super) struct Registration {
    mr: NonNull<Mr>,
    protection: Arc<Protection>,
    /// It has ended.
    ended: bool,
    /// What keeps the memory, if it is a mapping.
    _mapping: Option<Arc<Mapping>>,
}

// SAFETY: libibverbs may be called from any thread; the fields of the region are not written after it was made.
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers a whole mapping, which lives as long as the registration.
    pub(super) fn of_mapping(
        protection: &Arc<Protection>,
        mapping: Arc<Mapping>,
        access: Access,
    ) -> Result<Registration, VerbsTrouble> {
        // SAFETY: the mapping is kept beside the registration.
        let mut made = unsafe { Registration::of(protection, mapping.pointer(), mapping.len(), access)? };
        made._mapping = Some(mapping);
        Ok(made)
    }

    /// Registers memory.
    ///
    /// # Safety
    /// The memory must be there until the registration is dropped.
    pub(super) unsafe fn of(
        protection: &Arc<Protection>,
        pointer: NonNull<u8>,
        len: usize,
        access: Access,
    ) -> Result<Registration, VerbsTrouble> {
        let flags: c_int = match access {
            Access::LocalAndRemoteRead => sys::ACCESS_LOCAL_WRITE | sys::ACCESS_REMOTE_READ,
            Access::Local => sys::ACCESS_LOCAL_WRITE,
            Access::RemoteRead => sys::ACCESS_REMOTE_READ,
        };
        let library = protection.device.library;
        // SAFETY: the protection domain is alive, and the memory is there, as the caller says.
        let mr = unsafe { (library.ibv_reg_mr)(protection.pd.as_ptr(), pointer.as_ptr().cast(), len, flags) };
        let mr = made(mr, "ibv_reg_mr").map_err(|trouble| lock_limit(len, trouble))?;
        protection.counters.registrations.fetch_add(1, Ordering::Relaxed);
        protection.counters.registered_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(Registration { mr, protection: Arc::clone(protection), ended: false, _mapping: None })
    }

    /// The key for this side's own requests.
    pub(super) fn local_key(&self) -> u32 {
        // SAFETY: the region is alive and its fields do not change.
        unsafe { self.mr.as_ref().lkey }
    }

    /// The key for the peer.
    pub(super) fn remote_key(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.mr.as_ref().rkey }
    }

    /// First byte, as a peer names it.
    pub(super) fn address(&self) -> u64 {
        // SAFETY: as above.
        unsafe { self.mr.as_ref().addr as u64 }
    }

    /// Ends it. Success means that no device touches the memory any more, though requests name it still: the device has
    /// no key for it. After an error it may be called again.
    pub(super) fn end(&mut self) -> Result<(), VerbsTrouble> {
        if !self.ended {
            // SAFETY: made by `of`, and let go once: after success it is not called again.
            let outcome = unsafe { (self.protection.device.library.ibv_dereg_mr)(self.mr.as_ptr()) };
            succeed("ibv_dereg_mr", outcome)?;
            self.ended = true;
        }
        Ok(())
    }

    pub(super) fn is_of(&self, protection: &Arc<Protection>) -> bool {
        Arc::ptr_eq(&self.protection, protection)
    }
}

impl Registered for Registration {
    fn remote(&self) -> RemoteMemory {
        // SAFETY: as above.
        let len_bytes = unsafe { self.mr.as_ref().length } as u64;
        RemoteMemory { address: self.address(), key: self.remote_key(), len_bytes }
    }
}

/// The peers of links over one device may read what is registered here.
impl Registrar for Arc<Protection> {
    type Error = VerbsTrouble;

    /// Where it lies: every registration keeps it there.
    fn number(&self) -> usize {
        Arc::as_ptr(self) as usize
    }

    fn register(&self, mapping: Arc<Mapping>) -> Result<Box<dyn Registered>, VerbsTrouble> {
        Ok(Box::new(Registration::of_mapping(self, mapping, Access::RemoteRead)?))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Err(trouble) = self.end() {
            // The kernel gives the pages to nobody else before the registration has ended.
            tracing::warn!(%trouble, "memory stays registered");
        }
    }
}

/// The limit of locked memory shows as a shortage: says so where there is one.
fn lock_limit(len: usize, trouble: VerbsTrouble) -> VerbsTrouble {
    let errno = std::io::Error::last_os_error().raw_os_error();
    let short = matches!(errno, Some(libc::ENOMEM | libc::EPERM | libc::EAGAIN));
    match getrlimit(Resource::Memlock).current {
        Some(limit_bytes) if short => VerbsTrouble::MemoryLock { needed_bytes: len as u64, limit_bytes },
        _ => trouble,
    }
}
