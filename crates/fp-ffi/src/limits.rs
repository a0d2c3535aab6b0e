//! What bounds the whole process.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status, guard};

/// Bounds the live steps of all streams that this process publishes together, in bytes, from the next step of each on.
/// The option `LimitBytes` bounds each stream besides. Unless this is called, `FLEXPATH_LIMIT_BYTES` in the environment
/// says it, else it is 1 GiB or the largest `LimitBytes`, whichever is more. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_limit_process_bytes(limit_bytes: u64) -> Status {
    guard(|| match limit_bytes {
        0 => Err(Failure::misuse("0 bytes hold no step: the process's bound is at least 1")),
        _ => {
            fp_core::limit_process_bytes(limit_bytes);
            Ok(Status::Ok)
        }
    })
}
