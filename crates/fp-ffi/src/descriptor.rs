//! A descriptor for a program's own `poll`: the library's, and no older than its handle.

use crate::failure::{Failure, Status};
use fp_core::Signal;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::{Mutex, PoisonError};

/// A descriptor that is made when it is first asked for.
#[derive(Default)]
pub(crate) struct Descriptor(Mutex<Option<Signal>>);

impl Descriptor {
    /// Its number.
    pub(crate) fn number(&self, make: impl FnOnce() -> std::io::Result<Signal>) -> Result<i32, Failure> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let signal = match kept.take() {
            Some(signal) => signal,
            None => {
                make().map_err(|error| Failure::new(Status::System, format!("no descriptor: {error}")))?
            }
        };
        Ok(kept.insert(signal).as_fd().as_raw_fd())
    }
}
