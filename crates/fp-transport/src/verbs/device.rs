//! A device of this machine, as librdmacm opens it: what it allows, and whether it or a port of it went down.
#![allow(unsafe_code)] // calls of the C libraries

use super::call_outcome::{do_not_block, succeed};
use super::error::VerbsTrouble;
use super::gids;
use super::library::Library;
use super::sys::{self, AsyncEvent, Context, DeviceAttr, PortAttr};
use crate::lock::lock;
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
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

impl Device {
    pub(super) fn new(library: &'static Library, context: NonNull<Context>) -> Result<Device, VerbsTrouble> {
        // SAFETY: zeros are a value of it.
        let mut attr: DeviceAttr = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: an open context, and room for what is written.
        let outcome = unsafe { (library.ibv_query_device)(context.as_ptr(), &mut attr) };
        succeed("ibv_query_device", outcome)?;
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
        do_not_block(device.events())?;
        Ok(device)
    }

    /// Packet size of a port that is active.
    pub(super) fn check_port(&self, port: u8) -> Result<u32, VerbsTrouble> {
        // SAFETY: zeros are a value of it.
        let mut attr: PortAttr = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: an open context, and room for what any version writes.
        let outcome = unsafe { (self.library.ibv_query_port)(self.context.as_ptr(), port, &mut attr) };
        succeed("ibv_query_port", outcome)?;
        match attr.state {
            sys::PORT_ACTIVE => Ok(128u32 << attr.active_mtu.min(5)),
            state => Err(VerbsTrouble::PortDown { device: self.name.clone(), port, state }),
        }
    }

    /// What a user is told of it.
    pub(super) fn describe(&self) -> VerbsDevice {
        let mut port = Err(VerbsTrouble::NoDevice);
        let mut mtu_bytes = 0;
        for number in (1..=self.limits.ports).rev() {
            match self.check_port(number) {
                Ok(mtu) => (port, mtu_bytes) = (Ok(number), mtu),
                Err(trouble) if port.is_err() => port = Err(trouble),
                Err(_) => {}
            }
        }
        let addresses = gids::addresses(&self.name, *port.as_ref().unwrap_or(&1));
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

    /// Whether it said that it is gone.
    pub(super) fn is_gone(&self) -> bool {
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
