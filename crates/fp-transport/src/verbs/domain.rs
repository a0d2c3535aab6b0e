//! What the links of one stream share over verbs: a protection domain for each device, and memory to read to.

use super::device::Device;
use super::error::VerbsTrouble;
use super::landing_memory::{Landing, Landings};
use super::protection::{Counters, Protection};
use crate::lock::lock;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What the links of one stream share over verbs: a protection domain on each device. No key of the stream means
/// anything outside of it. Clones are the same one. No library and no device is needed to make one.
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
    /// Reads whose queue pair could not be destroyed while requests were under way. Their memory was taken from the
    /// device by ending its registration, or is used no more.
    pub unsettled_reads: u64,
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
        let Counters { registrations, registered_bytes, reads, read_bytes, unsettled_reads } =
            &*self.shared.counters;
        DomainStats {
            registrations: of(registrations),
            registered_bytes: of(registered_bytes),
            reads: of(reads),
            read_bytes: of(read_bytes),
            unsettled_reads: of(unsettled_reads),
        }
    }

    /// Whether it has a device already: a link of the stream goes over it, or could.
    pub fn is_used(&self) -> bool {
        !lock(&self.shared.protections).is_empty()
    }

    /// Memory of so many bytes to read to, which the domain keeps when it comes back. Its bytes are as they happen to
    /// be.
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
        let protection = Arc::new(Protection::new(device, Arc::clone(&self.shared.counters))?);
        known.push(Arc::clone(&protection));
        Ok(protection)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").field("device", &self.shared.device).field("stats", &self.stats()).finish()
    }
}
