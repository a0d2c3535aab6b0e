//! A protection domain for each stream and device, and the memory that is registered in it.
#![allow(unsafe_code)] // calls of the C libraries

use super::device::{Device, made};
use super::landing::{Landing, Landings};
use super::reading::RemoteMemory;
use super::sys::{self, Mr, Pd};
use super::trouble::VerbsTrouble;
use crate::memory::{Mapping, lock};
use rustix::process::{Resource, getrlimit};
use std::ffi::c_int;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What the links of one stream share over verbs: on each device a protection domain, outside of which no key of the
/// stream means anything. Clones are the same one. To make one needs no library and no device.
#[derive(Clone, Default)]
pub struct Domain {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    device: Option<String>,
    protections: Mutex<Vec<Arc<Protection>>>,
    landings: Arc<Landings>,
    counters: Arc<Counters>,
}

#[derive(Default)]
pub(super) struct Counters {
    registrations: AtomicU64,
    registered_bytes: AtomicU64,
    pub(super) reads: AtomicU64,
    pub(super) read_bytes: AtomicU64,
}

/// Numbers of a domain since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DomainStats {
    /// Calls that registered memory, those of links for themselves (one each) included.
    pub registrations: u64,
    /// Bytes of them.
    pub registered_bytes: u64,
    /// READ requests.
    pub reads: u64,
    /// Bytes that they brought.
    pub read_bytes: u64,
}

impl Domain {
    /// A domain that uses whichever device leads to a peer.
    pub fn new() -> Domain {
        Domain::default()
    }

    /// Uses this device and no other.
    #[must_use]
    pub fn with_device(self, device: Option<String>) -> Domain {
        Domain { shared: Arc::new(Shared { device, ..Shared::default() }) }
    }

    /// Numbers of now.
    pub fn stats(&self) -> DomainStats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { registrations, registered_bytes, reads, read_bytes } = &*self.shared.counters;
        DomainStats {
            registrations: of(registrations),
            registered_bytes: of(registered_bytes),
            reads: of(reads),
            read_bytes: of(read_bytes),
        }
    }

    /// Whether it has a device already: a link of the stream goes over it, or could.
    pub fn is_used(&self) -> bool {
        !lock(&self.shared.protections).is_empty()
    }

    /// Memory of so many bytes to read to, which the domain keeps when it comes back. Its bytes are as they happen to be.
    ///
    /// # Errors
    /// The system has no room.
    pub fn landing(&self, len_bytes: usize) -> Result<Landing, VerbsTrouble> {
        self.shared.landings.lend(len_bytes)
    }

    /// Its protection domain on a device, made with the first call.
    pub(super) fn protection(&self, device: &'static Device) -> Result<Arc<Protection>, VerbsTrouble> {
        if let Some(wanted) = self.shared.device.as_ref().filter(|wanted| **wanted != device.name) {
            return Err(VerbsTrouble::OtherDevice { wanted: wanted.clone(), found: device.name.clone() });
        }
        let mut known = lock(&self.shared.protections);
        if let Some(found) = known.iter().find(|found| std::ptr::eq(found.device, device)) {
            return Ok(Arc::clone(found));
        }
        // SAFETY: an open context.
        let pd = made(unsafe { (device.library.ibv_alloc_pd)(device.context.as_ptr()) }, "ibv_alloc_pd")?;
        let protection = Arc::new(Protection { pd, device, counters: Arc::clone(&self.shared.counters) });
        known.push(Arc::clone(&protection));
        Ok(protection)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").field("device", &self.shared.device).field("stats", &self.stats()).finish()
    }
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

impl Drop for Protection {
    fn drop(&mut self) {
        // SAFETY: made by `protection`, and whatever was made of it held this value.
        unsafe { (self.device.library.ibv_dealloc_pd)(self.pd.as_ptr()) };
    }
}

/// Who may do what with registered memory. This side may read it in any case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// This side's device writes to it, and the peer may read it.
    LocalAndRemoteRead,
    /// This side's device writes to it.
    Local,
    /// The peer may read it.
    RemoteRead,
}

/// Registered memory. It is let go when this is dropped, and then no device touches it any more.
pub(crate) struct Registration {
    mr: NonNull<Mr>,
    protection: Arc<Protection>,
    /// What keeps the memory, if it is a mapping.
    _mapping: Option<Arc<Mapping>>,
}

// SAFETY: libibverbs may be called from any thread; the fields of the region are not written after it was made.
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers a whole mapping, which lives as long as the registration.
    pub(crate) fn of_mapping(
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
        Ok(Registration { mr, protection: Arc::clone(protection), _mapping: None })
    }

    /// The key for this side's own requests.
    pub(super) fn local_key(&self) -> u32 {
        // SAFETY: the region is alive and its fields do not change.
        unsafe { self.mr.as_ref().lkey }
    }

    /// The key for the peer.
    pub(crate) fn remote_key(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.mr.as_ref().rkey }
    }

    /// First byte, as a peer names it.
    pub(crate) fn address(&self) -> u64 {
        // SAFETY: as above.
        unsafe { self.mr.as_ref().addr as u64 }
    }

    /// What a peer needs to read it.
    pub(crate) fn remote(&self) -> RemoteMemory {
        // SAFETY: as above.
        let len_bytes = unsafe { self.mr.as_ref().length } as u64;
        RemoteMemory { address: self.address(), key: self.remote_key(), len_bytes }
    }

    pub(crate) fn is_of(&self, protection: &Arc<Protection>) -> bool {
        Arc::ptr_eq(&self.protection, protection)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // SAFETY: made by `of` and let go once.
        unsafe { (self.protection.device.library.ibv_dereg_mr)(self.mr.as_ptr()) };
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
