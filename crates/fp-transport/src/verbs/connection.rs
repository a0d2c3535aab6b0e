//! Connections as librdmacm makes them: identifiers, and the descriptor that their events come by.
#![allow(unsafe_code)] // calls of the C libraries

use super::call_outcome::{do_not_block, made, none, succeed};
use super::device::Device;
use super::device_list::{DeviceList, device_of};
use super::error::VerbsTrouble;
use super::library::Library;
use super::protection::Protection;
use super::sys::{self, CmEvent, CmId, ConnParam, EventChannel, Qp, QpAttr, QpInitAttr};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// Where the events of identifiers come.
pub(super) struct EventSource {
    library: &'static Library,
    raw: NonNull<EventChannel>,
}

// SAFETY: librdmacm may be called from any thread.
unsafe impl Send for EventSource {}
// SAFETY: as above.
unsafe impl Sync for EventSource {}

/// What happened to an identifier.
pub(super) struct Happening {
    pub(super) event: u32,
    pub(super) status: i32,
    /// Of a request: READs that this side is asked to answer at one time, and that it may have under way.
    pub(super) reads: (u8, u8),
    /// The new connection of a request.
    requested: *mut CmId,
}

impl EventSource {
    pub(super) fn new() -> Result<EventSource, VerbsTrouble> {
        let list = DeviceList::of_process()?;
        list.devices()?;
        let library = list.library;
        // SAFETY: no arguments.
        let raw = made(unsafe { (library.rdma_create_event_channel)() }, "rdma_create_event_channel")?;
        let source = EventSource { library, raw };
        do_not_block(source.fd())?;
        Ok(source)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: alive, and its descriptor is open as long.
        unsafe { BorrowedFd::borrow_raw(self.raw.as_ref().fd) }
    }

    /// The next event, if there is one. It is acknowledged at once, so that nothing waits for it.
    pub(super) fn next(&self) -> Option<Happening> {
        let mut event: *mut CmEvent = none();
        // SAFETY: alive, with a descriptor that does not block, and room for a pointer.
        if unsafe { (self.library.rdma_get_cm_event)(self.raw.as_ptr(), &mut event) } != 0 {
            return None;
        }
        // SAFETY: the event was just made, and its first fields are those that every event has. `conn` is read for the
        // events that have it, and is memory of the event for all.
        let happening = unsafe {
            let CmEvent { id, event, status, conn, .. } = *event;
            let reads = (conn.responder_resources, conn.initiator_depth);
            let requested = if event == sys::CM_CONNECT_REQUEST { id } else { none() };
            Happening { event, status, reads, requested }
        };
        // SAFETY: as above, once.
        unsafe { (self.library.rdma_ack_cm_event)(event) };
        Some(happening)
    }
}

impl Drop for EventSource {
    fn drop(&mut self) {
        // SAFETY: its identifiers are gone: owners hold them before it.
        unsafe { (self.library.rdma_destroy_event_channel)(self.raw.as_ptr()) };
    }
}

/// A connection, or one that listens.
pub(super) struct Identifier {
    library: &'static Library,
    raw: NonNull<CmId>,
    /// Its queue pair is in the error state: the call that moved it there said so.
    failed: bool,
}

// SAFETY: librdmacm may be called from any thread.
unsafe impl Send for Identifier {}
// SAFETY: as above; fields are only read.
unsafe impl Sync for Identifier {}

impl Identifier {
    pub(super) fn new(source: &EventSource) -> Result<Identifier, VerbsTrouble> {
        let mut raw = none();
        // SAFETY: a live source and room for a pointer.
        let outcome =
            unsafe { (source.library.rdma_create_id)(source.raw.as_ptr(), &mut raw, none(), sys::PS_TCP) };
        succeed("rdma_create_id", outcome)?;
        Ok(Identifier { library: source.library, raw: made(raw, "rdma_create_id")?, failed: false })
    }

    #[cfg(test)]
    pub(super) fn fake(library: &'static Library, raw: NonNull<CmId>) -> Identifier {
        Identifier { library, raw, failed: false }
    }

    /// The connection that a peer asks for, with a source of its own.
    pub(super) fn requested(happening: Happening) -> Result<(EventSource, Identifier), VerbsTrouble> {
        let source = EventSource::new()?;
        let raw = NonNull::new(happening.requested).ok_or(VerbsTrouble::NoDevice)?;
        let identifier = Identifier { library: source.library, raw, failed: false };
        // SAFETY: both are alive, and the event that brought the identifier was acknowledged.
        let outcome = unsafe { (source.library.rdma_migrate_id)(raw.as_ptr(), source.raw.as_ptr()) };
        succeed("rdma_migrate_id", outcome)?;
        Ok((source, identifier))
    }

    pub(super) fn listen(&self, address: SocketAddr, backlog: c_int) -> Result<SocketAddr, VerbsTrouble> {
        let mut raw = raw_address(address);
        let place: *mut c_void = (&raw mut raw).cast();
        // SAFETY: alive, and an address.
        let bound = unsafe { (self.library.rdma_bind_addr)(self.raw.as_ptr(), place) };
        let no_route = |trouble| no_route(address, trouble);
        succeed("rdma_bind_addr", bound).map_err(no_route)?;
        if !address.ip().is_unspecified() {
            self.device().map_err(no_route)?;
        }
        // SAFETY: alive and bound.
        succeed("rdma_listen", unsafe { (self.library.rdma_listen)(self.raw.as_ptr(), backlog) })?;
        Ok(SocketAddr::new(address.ip(), self.address(true).map_or(address.port(), |own| own.port())))
    }

    pub(super) fn resolve_address(&self, address: SocketAddr, timeout_ms: c_int) -> Result<(), VerbsTrouble> {
        let mut raw = raw_address(address);
        let place: *mut c_void = (&raw mut raw).cast();
        // SAFETY: alive, and an address.
        let outcome =
            unsafe { (self.library.rdma_resolve_addr)(self.raw.as_ptr(), none(), place, timeout_ms) };
        succeed("rdma_resolve_addr", outcome).map_err(|trouble| no_route(address, trouble))
    }

    pub(super) fn resolve_route(&self, timeout_ms: c_int) -> Result<(), VerbsTrouble> {
        // SAFETY: alive.
        let outcome = unsafe { (self.library.rdma_resolve_route)(self.raw.as_ptr(), timeout_ms) };
        succeed("rdma_resolve_route", outcome)
    }

    /// Asks the peer, or says yes to one that asked. `reads`: those of this side, and those that it answers.
    pub(super) fn connect(&self, accepting: bool, (out, answered): (u8, u8)) -> Result<(), VerbsTrouble> {
        // By the rule of credit a receiver always has receives. So to try again would only hide an error of ours.
        let mut param = ConnParam {
            private_data: std::ptr::null(),
            private_data_len: 0,
            responder_resources: answered,
            initiator_depth: out,
            flow_control: 1,
            retry_count: 7,
            rnr_retry_count: 0,
            srq: 0,
            qp_num: 0,
        };
        let (name, call) = match accepting {
            true => ("rdma_accept", self.library.rdma_accept),
            false => ("rdma_connect", self.library.rdma_connect),
        };
        // SAFETY: alive, with a queue pair, and parameters that are copied.
        succeed(name, unsafe { call(self.raw.as_ptr(), &mut param) })
    }

    /// Turns a request down.
    pub(super) fn reject(&self) {
        // SAFETY: alive.
        unsafe { (self.library.rdma_reject)(self.raw.as_ptr(), std::ptr::null(), 0) };
    }

    /// Tells the peer that this is the end. It may not hear of it, and nothing rests on it: `end_access` is what ends
    /// what the peer may do here.
    pub(super) fn disconnect(&self) {
        // SAFETY: alive.
        unsafe { (self.library.rdma_disconnect)(self.raw.as_ptr()) };
    }

    pub(super) fn create_pair(
        &mut self,
        protection: &Arc<Protection>,
        attr: &mut QpInitAttr,
    ) -> Result<(), VerbsTrouble> {
        // SAFETY: alive, with a device; the protection domain is of that device and outlives the pair.
        let outcome =
            unsafe { (self.library.rdma_create_qp)(self.raw.as_ptr(), protection.pd.as_ptr(), attr) };
        succeed("rdma_create_qp", outcome)
    }

    /// Moves the queue pair to the error state. From when this succeeds, the peer reads and writes nothing here any
    /// more. What was under way completes with an error. No way leads back: librdmacm moves pairs that are not in it.
    fn fail(&mut self) -> Result<(), VerbsTrouble> {
        let Some(pair) = self.pair().filter(|_| !self.failed) else { return Ok(()) };
        let mut attr = QpAttr { qp_state: sys::QPS_ERR, rest: [0; 63] };
        // SAFETY: a live queue pair, and attributes that are longer than any version's.
        let outcome = unsafe { (self.library.ibv_modify_qp)(pair, &mut attr, sys::QP_STATE) };
        succeed("ibv_modify_qp", outcome)?;
        self.failed = true;
        Ok(())
    }

    /// The device is done with everything that was posted when this succeeds, and there is no queue pair any more.
    /// Where it fails there still is.
    pub(super) fn destroy_pair(&mut self) -> Result<(), VerbsTrouble> {
        let Some(pair) = self.pair() else { return Ok(()) };
        // SAFETY: a live queue pair. librdmacm would do the same, but not say whether it succeeded.
        succeed("ibv_destroy_qp", unsafe { (self.library.ibv_destroy_qp)(pair) })?;
        // SAFETY: alive; nobody else reads or writes the field now, and librdmacm must not take a pair that is gone.
        unsafe { self.raw.as_mut().qp = none() };
        Ok(())
    }

    /// Ends what the peer may do with memory of this side. Success means that it has ended: the queue pair is in the
    /// error state, or destroyed. After an error it may be called again.
    pub(super) fn end_access(&mut self) -> Result<(), VerbsTrouble> {
        let Err(first) = self.fail() else { return Ok(()) };
        self.destroy_pair().map_err(|second| VerbsTrouble::StillOpen {
            first: first.to_string(),
            second: second.to_string(),
        })
    }

    pub(super) fn pair(&self) -> Option<*mut Qp> {
        // SAFETY: alive.
        Some(unsafe { self.raw.as_ref().qp }).filter(|pair| !pair.is_null())
    }

    pub(super) fn device(&self) -> Result<&'static Device, VerbsTrouble> {
        // SAFETY: alive.
        device_of(unsafe { self.raw.as_ref().verbs })
    }

    pub(super) fn port(&self) -> u8 {
        // SAFETY: alive.
        unsafe { self.raw.as_ref().port_num }
    }

    /// Its own address, or the peer's.
    pub(super) fn address(&self, own: bool) -> Option<SocketAddr> {
        // SAFETY: alive, and the addresses are plain bytes.
        let id = unsafe { self.raw.as_ref() };
        read_address(if own { &id.src } else { &id.dst })
    }
}

impl Drop for Identifier {
    fn drop(&mut self) {
        if let Err(trouble) = self.destroy_pair() {
            tracing::warn!(%trouble, "a queue pair stays");
        }
        // SAFETY: alive; its events were acknowledged when they came.
        unsafe { (self.library.rdma_destroy_id)(self.raw.as_ptr()) };
    }
}

fn no_route(address: SocketAddr, trouble: VerbsTrouble) -> VerbsTrouble {
    if trouble == VerbsTrouble::NoDevice {
        return VerbsTrouble::NoRoute { address, error: "no device has it".to_owned() };
    }
    let VerbsTrouble::Call { error, .. } = trouble else { return trouble };
    VerbsTrouble::NoRoute { address, error }
}

fn raw_address(address: SocketAddr) -> libc::sockaddr_storage {
    // SAFETY: zeros are a value of it.
    let mut storage: libc::sockaddr_storage = unsafe { MaybeUninit::zeroed().assume_init() };
    let place = &raw mut storage;
    match address {
        SocketAddr::V4(v4) => {
            let raw = libc::sockaddr_in {
                sin_family: libc::AF_INET as u16,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                sin_zero: [0; 8],
            };
            // SAFETY: the storage has room for any address and is aligned for it.
            unsafe { place.cast::<libc::sockaddr_in>().write(raw) };
        }
        SocketAddr::V6(v6) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as u16,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe { place.cast::<libc::sockaddr_in6>().write(raw) };
        }
    }
    storage
}

fn read_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let place: *const libc::sockaddr_storage = storage;
    match c_int::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is one; any bytes are a value.
            let raw = unsafe { place.cast::<libc::sockaddr_in>().read() };
            Some((Ipv4Addr::from(u32::from_be(raw.sin_addr.s_addr)), u16::from_be(raw.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let raw = unsafe { place.cast::<libc::sockaddr_in6>().read() };
            Some((Ipv6Addr::from(raw.sin6_addr.s6_addr), u16::from_be(raw.sin6_port)).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_way_through_c() {
        for text in ["10.9.0.1:4000", "[2001:db8::1]:65535"] {
            let address: SocketAddr = text.parse().expect("an address");
            assert_eq!(read_address(&raw_address(address)), Some(address));
        }
    }
}
