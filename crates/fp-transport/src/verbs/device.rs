//! The devices of this machine, as librdmacm opens them: each once, and for the life of the process. Which there are is
//! looked at again when one is not found, and when one says that it is gone.
#![allow(unsafe_code)] // calls of the C libraries

use super::library::{Library, library};
use super::sys::{self, AsyncEvent, Context, DeviceAttr, PortAttr};
use super::trouble::VerbsTrouble;
use crate::memory::lock;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Weak};

/// An open device.
pub(crate) struct Device {
    pub(super) library: &'static Library,
    pub(super) context: NonNull<Context>,
    pub(super) name: String,
    pub(super) limits: Limits,
    /// A bit for each port that went down, and the highest for itself.
    down: AtomicU64,
    /// What wakes the links over it.
    bells: Mutex<Vec<Weak<OwnedFd>>>,
}

/// What a device allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Places of memory of one request.
    pub(super) places: usize,
    /// READs that a queue pair may have under way, and that it answers at one time.
    pub(super) reads_out: u8,
    pub(super) reads_in: u8,
    ports: u8,
}

// SAFETY: libibverbs may be called from any thread; the context is never closed.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

const ITSELF: u64 = 1 << 63;

fn bit_of(port: u8) -> u64 {
    1 << (port % 63)
}

/// What a user is told of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerbsDevice {
    /// Its name, as the option that pins a device wants it.
    pub name: String,
    /// Its first active port, from 1; an error where none is.
    pub port: Result<u8, VerbsTrouble>,
    /// Bytes of a packet on that port; 0 where none is active.
    pub mtu_bytes: u32,
    /// Addresses of it that can be dialled over RoCE v2: IPv4 ones first.
    pub addresses: Vec<std::net::IpAddr>,
}

/// The devices that this machine has now, or why there are none.
///
/// # Errors
/// [`VerbsTrouble`]: no library, no kernel support, no device, no permission.
pub fn verbs_devices() -> Result<Vec<VerbsDevice>, VerbsTrouble> {
    Ok(look(library()?)?.iter().map(|device| device.describe()).collect())
}

/// The open devices, as the last look found them. Without any, or where one has said since that it is gone, this looks
/// again.
pub(super) fn devices() -> Result<Vec<&'static Device>, VerbsTrouble> {
    let library = library()?;
    let known = lock(&library.known).clone();
    known.iter().for_each(|device| device.hear_events());
    if known.is_empty() || known.iter().any(|device| device.is_gone()) { look(library) } else { Ok(known) }
}

/// Looks which devices there are. One that was known stays the same; one that is not there any more is forgotten here, but
/// never closed: who uses it goes on to do so, until it hears that it is gone.
fn look(library: &'static Library) -> Result<Vec<&'static Device>, VerbsTrouble> {
    let mut known = lock(&library.known);
    check_kernel(library)?;
    check_permission(library.files)?;
    *known = open_all(library, &known)?;
    Ok(known.clone())
}

fn check_kernel(library: &'static Library) -> Result<(), VerbsTrouble> {
    let mut count: c_int = 0;
    // SAFETY: a valid place for the count.
    let list = unsafe { (library.ibv_get_device_list)(&mut count) };
    if list.is_null() {
        return Err(VerbsTrouble::NoKernel { error: io::Error::last_os_error().to_string() });
    }
    // SAFETY: the list that was just made.
    unsafe { (library.ibv_free_device_list)(list) };
    if count == 0 { Err(VerbsTrouble::NoDevice) } else { Ok(()) }
}

/// The files that the libraries open. They would only say that there is no device.
fn check_permission(folder: &str) -> Result<(), VerbsTrouble> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = listed.filter_map(|entry| entry.file_name().into_string().ok());
    let verbs = names.filter(|name| name.starts_with("uverbs"));
    for name in verbs.chain(["rdma_cm".to_owned()]) {
        let path = format!("{folder}/{name}");
        match rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
            Ok(_) | Err(Errno::BUSY) => {}
            Err(errno @ (Errno::ACCESS | Errno::PERM)) => {
                return Err(VerbsTrouble::NoPermission { path, error: io::Error::from(errno).to_string() });
            }
            Err(errno) => {
                let error = format!("{path}: {}", io::Error::from(errno));
                return Err(VerbsTrouble::NoKernel { error });
            }
        }
    }
    Ok(())
}

/// The devices that librdmacm has open now: those that were known, and new ones.
fn open_all(
    library: &'static Library,
    known: &[&'static Device],
) -> Result<Vec<&'static Device>, VerbsTrouble> {
    let mut count: c_int = 0;
    // SAFETY: a valid place for the count.
    let list = unsafe { (library.rdma_get_devices)(&mut count) };
    if list.is_null() || count <= 0 {
        return Err(VerbsTrouble::call("rdma_get_devices"));
    }
    // SAFETY: librdmacm gave so many contexts, which stay open as long as the list is not freed.
    let contexts = unsafe { std::slice::from_raw_parts(list, count as usize) };
    let (mut found, mut new) = (Vec::new(), false);
    for context in contexts.iter().filter_map(|context| NonNull::new(*context)) {
        if let Some(device) = known.iter().find(|device| device.context == context) {
            found.push(*device);
            continue;
        }
        new = true;
        match Device::new(library, context) {
            Ok(device) => found.push(Box::leak(Box::new(device))),
            Err(trouble) if contexts.len() == 1 => return Err(trouble),
            Err(trouble) => tracing::warn!(%trouble, "an RDMA device is passed over"),
        }
    }
    if !new {
        // SAFETY: the list that was just made. What keeps each device open is the list that first had it, which is never
        // freed.
        unsafe { (library.rdma_free_devices)(list) };
    }
    Ok(found)
}

impl Device {
    #[cfg(test)]
    pub(super) fn fake(library: &'static Library, context: NonNull<Context>) -> &'static Device {
        let limits = Limits { places: 4, reads_out: 1, reads_in: 1, ports: 1 };
        let (down, bells) = (AtomicU64::new(0), Mutex::default());
        Box::leak(Box::new(Device { library, context, name: "none".to_owned(), limits, down, bells }))
    }

    /// The device of a context that librdmacm named.
    pub(super) fn of(context: *mut Context) -> Result<&'static Device, VerbsTrouble> {
        let context = NonNull::new(context).ok_or(VerbsTrouble::NoDevice)?;
        let among =
            |devices: Vec<&'static Device>| devices.into_iter().find(|device| device.context == context);
        if let Some(known) = among(devices()?) {
            return Ok(known);
        }
        // librdmacm has opened one that is new.
        among(look(library()?)?).ok_or(VerbsTrouble::NoDevice)
    }

    fn new(library: &'static Library, context: NonNull<Context>) -> Result<Device, VerbsTrouble> {
        // SAFETY: zeros are a value of it.
        let mut attr: DeviceAttr = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: an open context, and room for what is written.
        let outcome = unsafe { (library.ibv_query_device)(context.as_ptr(), &mut attr) };
        if outcome != 0 {
            return Err(VerbsTrouble::code("ibv_query_device", outcome));
        }
        // SAFETY: an open context has a device, whose name is a C string that lives as long.
        let name = unsafe { CStr::from_ptr((library.ibv_get_device_name)(context.as_ref().device)) };
        let places = if attr.max_sge_rd > 0 { attr.max_sge.min(attr.max_sge_rd) } else { attr.max_sge };
        let depth = |reads: c_int| u8::try_from(reads.clamp(1, 16)).unwrap_or(1);
        let device = Device {
            library,
            context,
            name: name.to_string_lossy().into_owned(),
            limits: Limits {
                places: usize::try_from(places.clamp(1, 16)).unwrap_or(1),
                reads_out: depth(attr.max_qp_init_rd_atom),
                reads_in: depth(attr.max_qp_rd_atom),
                ports: attr.phys_port_cnt,
            },
            down: AtomicU64::new(0),
            bells: Mutex::default(),
        };
        super::queue::do_not_block(device.events())?;
        Ok(device)
    }

    /// State and packet size of a port.
    fn query_port(&self, port: u8) -> Result<(u32, u32), VerbsTrouble> {
        // SAFETY: zeros are a value of it.
        let mut attr: PortAttr = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: an open context, and room for what any version writes.
        let outcome = unsafe { (self.library.ibv_query_port)(self.context.as_ptr(), port, &mut attr) };
        if outcome != 0 {
            return Err(VerbsTrouble::code("ibv_query_port", outcome));
        }
        Ok((attr.state, 128u32 << attr.active_mtu.min(5)))
    }

    /// Packet size of a port that is active.
    pub(super) fn check_port(&self, port: u8) -> Result<u32, VerbsTrouble> {
        match self.query_port(port)? {
            (sys::PORT_ACTIVE, mtu_bytes) => Ok(mtu_bytes),
            (state, _) => Err(VerbsTrouble::PortDown { device: self.name.clone(), port, state }),
        }
    }

    fn describe(&self) -> VerbsDevice {
        let mut port = Err(VerbsTrouble::NoDevice);
        let mut mtu_bytes = 0;
        for number in (1..=self.limits.ports).rev() {
            match self.check_port(number) {
                Ok(mtu) => (port, mtu_bytes) = (Ok(number), mtu),
                Err(trouble) if port.is_err() => port = Err(trouble),
                Err(_) => {}
            }
        }
        let addresses = super::gids::addresses(&self.name, *port.as_ref().unwrap_or(&1));
        VerbsDevice { name: self.name.clone(), port, mtu_bytes, addresses }
    }

    /// Readable when something happened to the device.
    pub(super) fn events(&self) -> BorrowedFd<'_> {
        // SAFETY: an open context, whose descriptor stays open with it.
        unsafe { BorrowedFd::borrow_raw(self.context.as_ref().async_fd) }
    }

    /// Whether it, or this port of it, went down and did not come back.
    pub(super) fn is_down(&self, port: u8) -> bool {
        self.down.load(Ordering::Acquire) & (ITSELF | bit_of(port)) != 0
    }

    fn is_gone(&self) -> bool {
        self.down.load(Ordering::Acquire) & ITSELF != 0
    }

    /// It was removed, as a connection over it heard.
    pub(super) fn remove(&self) {
        if self.down.fetch_or(ITSELF, Ordering::AcqRel) & ITSELF == 0 {
            self.ring_bells();
        }
    }

    /// Rings this bell when the device goes down, as long as it is there.
    pub(super) fn add_bell(&self, bell: Weak<OwnedFd>) {
        let mut bells = lock(&self.bells);
        bells.retain(|bell| bell.strong_count() > 0);
        bells.push(bell);
    }

    /// Hears what happened to the device; whichever link comes first hears it for all.
    pub(super) fn hear_events(&self) {
        loop {
            let mut event = AsyncEvent { element: 0, event_type: 0 };
            // SAFETY: an open context, whose descriptor does not block, and room for an event.
            if unsafe { (self.library.ibv_get_async_event)(self.context.as_ptr(), &mut event) } != 0 {
                return;
            }
            // SAFETY: the event that was just taken.
            unsafe { (self.library.ibv_ack_async_event)(&mut event) };
            // Of an event of a port its number is the first half of the union.
            let port = bit_of(event.element as u8);
            let down = match event.event_type {
                sys::EVENT_DEVICE_FATAL => self.down.fetch_or(ITSELF, Ordering::AcqRel) | ITSELF,
                sys::EVENT_PORT_ERR => self.down.fetch_or(port, Ordering::AcqRel) | port,
                sys::EVENT_PORT_ACTIVE => self.down.fetch_and(!port, Ordering::AcqRel) & !port,
                _ => continue,
            };
            tracing::warn!(device = self.name, down, "an RDMA device or a port of it changed");
            self.ring_bells();
        }
    }

    fn ring_bells(&self) {
        for bell in lock(&self.bells).iter().filter_map(Weak::upgrade) {
            let _ = rustix::io::write(bell.as_fd(), &1u64.to_ne_bytes());
        }
    }
}

impl VerbsTrouble {
    /// A call that left its error in `errno`.
    pub(super) fn call(call: &'static str) -> VerbsTrouble {
        VerbsTrouble::Call { call, error: io::Error::last_os_error().to_string() }
    }

    /// A call that gave its error back.
    pub(super) fn code(call: &'static str, code: c_int) -> VerbsTrouble {
        if code < 0 {
            return VerbsTrouble::call(call);
        }
        VerbsTrouble::Call { call, error: io::Error::from_raw_os_error(code).to_string() }
    }
}

/// A null pointer of the libraries is an error in `errno`.
pub(super) fn made<T>(pointer: *mut T, call: &'static str) -> Result<NonNull<T>, VerbsTrouble> {
    NonNull::new(pointer).ok_or_else(|| VerbsTrouble::call(call))
}

/// No pointer.
pub(super) fn none<T>() -> *mut T {
    ptr::null_mut()
}
