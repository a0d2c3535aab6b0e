//! What calls of the C libraries answer, as values and errors of Rust.

use super::error::VerbsTrouble;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::ffi::c_int;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

/// A null pointer of the libraries is an error in `errno`.
pub(super) fn made<T>(pointer: *mut T, call: &'static str) -> Result<NonNull<T>, VerbsTrouble> {
    NonNull::new(pointer).ok_or_else(|| VerbsTrouble::call(call))
}

/// No pointer.
pub(super) fn none<T>() -> *mut T {
    ptr::null_mut()
}

/// Makes the calls on a descriptor return at once.
pub(super) fn do_not_block(fd: BorrowedFd<'_>) -> Result<(), VerbsTrouble> {
    let set = fcntl_getfl(fd).and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK));
    set.map_err(VerbsTrouble::of_call("fcntl"))
}

/// Calls that give 0, an error of theirs, or a negative number with the error in `errno`.
pub(super) fn succeed(call: &'static str, outcome: c_int) -> Result<(), VerbsTrouble> {
    match outcome {
        0 => Ok(()),
        ..0 => Err(VerbsTrouble::call(call)),
        code => Err(VerbsTrouble::of_call(call)(io::Error::from_raw_os_error(code))),
    }
}
