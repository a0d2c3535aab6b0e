//! The devices of this machine: each is opened once, and stays so for the life of the process. Which there are is
//! looked at again when one is not found, and when one says that it is gone.
#![allow(unsafe_code)] // calls of the C libraries

use super::call_outcome::succeed;
use super::device::{Device, VerbsDevice};
use super::error::VerbsTrouble;
use super::library::Library;
use super::sys::Context;
use crate::lock::lock;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::c_int;
use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock};

/// The devices that a library gave.
pub(super) struct DeviceList {
    pub(super) library: &'static Library,
    /// The folder of the files that the library opens.
    files: &'static str,
    /// Why memory that a fork would copy may not be registered, if it may not.
    fork: Option<VerbsTrouble>,
    /// The devices that there were at the last look.
    known: Mutex<Vec<&'static Device>>,
}

/// The devices that this machine has now, or why there are none.
///
/// # Errors
/// [`VerbsTrouble`]: no library, no kernel support, no device, no permission.
pub fn verbs_devices() -> Result<Vec<VerbsDevice>, VerbsTrouble> {
    Ok(DeviceList::of_process()?.look()?.iter().map(|device| device.describe()).collect())
}

/// The device of a context that librdmacm named.
pub(super) fn device_of(context: *mut Context) -> Result<&'static Device, VerbsTrouble> {
    let context = NonNull::new(context).ok_or(VerbsTrouble::NoDevice)?;
    let among = |devices: Vec<&'static Device>| devices.into_iter().find(|device| device.context == context);
    let list = DeviceList::of_process()?;
    if let Some(known) = among(list.devices()?) {
        return Ok(known);
    }
    // librdmacm has opened one that is new.
    among(list.look()?).ok_or(VerbsTrouble::NoDevice)
}

impl DeviceList {
    pub(super) fn new(library: &'static Library, files: &'static str) -> DeviceList {
        // The first call of the library, as it must be. Where the kernel copies pinned pages in a fork it does nothing.
        // SAFETY: no arguments.
        let prepared = succeed("ibv_fork_init", unsafe { (library.ibv_fork_init)() });
        let fork = prepared.err().map(|error| VerbsTrouble::Fork { error: error.to_string() });
        DeviceList { library, files, fork, known: Mutex::default() }
    }

    /// Whether memory that a fork would copy may be registered. Own mappings are not inherited, so may in any case.
    pub(super) fn check_fork(&self) -> Result<(), VerbsTrouble> {
        self.fork.clone().map_or(Ok(()), Err)
    }

    /// That of this process, whose library is opened with the first call.
    pub(super) fn of_process() -> Result<&'static DeviceList, VerbsTrouble> {
        #[cfg(test)]
        if let Some(fake) = super::fake::of_this_thread() {
            return Ok(fake);
        }
        static LIST: OnceLock<Result<DeviceList, VerbsTrouble>> = OnceLock::new();
        let open = || Ok(DeviceList::new(Box::leak(Box::new(Library::load()?)), "/dev/infiniband"));
        LIST.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// The open devices, as the last look found them. Without any, or where one has said since that it is gone, this
    /// looks again.
    pub(super) fn devices(&self) -> Result<Vec<&'static Device>, VerbsTrouble> {
        let known = lock(&self.known).clone();
        known.iter().for_each(|device| device.hear_events());
        if known.is_empty() || known.iter().any(|device| device.is_gone()) { self.look() } else { Ok(known) }
    }

    /// Looks which devices there are. One that was known stays the same. One that is not there any more is forgotten
    /// here, but never closed. Whoever uses it goes on to do so, until it hears that it is gone.
    fn look(&self) -> Result<Vec<&'static Device>, VerbsTrouble> {
        let mut known = lock(&self.known);
        check_kernel(self.library)?;
        check_permission(self.files)?;
        *known = open_all(self.library, &known)?;
        Ok(known.clone())
    }
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
        // SAFETY: the list that was just made. What keeps each device open is the list that first had it, which is
        // never freed.
        unsafe { (library.rdma_free_devices)(list) };
    }
    Ok(found)
}
