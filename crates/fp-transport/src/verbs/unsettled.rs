//! Memory that a device may still write to. READs were under way, and the queue pair could be neither moved to the error
//! state nor destroyed. Without the registration the device has no business with the memory either. So that is what
//! ends then. Memory of ours is given up. Memory of the program's is not given back before one of these calls
//! succeeds: where none does, the process ends (`docs/decisions/0053-a-borrow-ends-or-the-process-does.md`).

use super::landing_memory::{Keys, Landing};
use super::stream::Stream;
use crate::socket::wait_for;
use rustix::event::PollFlags;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the calls are tried again, and how long the kernel has to take a device away that is gone.
const PATIENCE: Duration = Duration::from_secs(1);
/// How soon after a refusal.
const AGAIN: Duration = Duration::from_millis(20);

impl Stream {
    /// Ends what the device may do with memory of the program's. Returns when it writes there no more.
    pub(super) fn take_back(&mut self, keys: &Keys) {
        self.count_unsettled();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Err(refused) = keys.end(&self.queue.protection) else { return };
            let Err(stays) = self.queue.identifier.destroy_pair() else { return };
            if Instant::now() < deadline {
                self.rest();
                continue;
            }
            if self.queue.device().is_gone() {
                tracing::error!(%refused, %stays, "the device is gone, and the kernel took it from this process");
                return;
            }
            end_process(&format!(
                "the RDMA device {} may write to {} bytes of the program's memory, and cannot be stopped: {refused}; \
                 {stays}. The process ends, so that nothing is read or written there. See `dmesg` for the driver's \
                 error; FLEXPATH_TRANSPORTS=tcp does without RDMA",
                self.device_name(),
                keys.len_bytes()
            ));
        }
    }

    /// Nobody uses this landing any more: its pages stay the device's as long as it has them registered.
    pub(super) fn give_up_landing(&mut self, landing: &mut Landing) {
        self.count_unsettled();
        landing.give_up();
    }

    fn count_unsettled(&self) {
        self.queue.protection.counters.unsettled_reads.fetch_add(1, Ordering::Relaxed);
    }

    /// For a moment, or until something happens to the device.
    fn rest(&mut self) {
        let _ = wait_for(self.queue.device().events(), PollFlags::IN, Instant::now() + AGAIN);
        // Its removal is told by the connection or by the device.
        self.hear();
        self.queue.device().hear_events();
    }
}

/// To unwind would give the memory back.
fn end_process(why: &str) -> ! {
    tracing::error!(why, "the process ends");
    eprintln!("flexpath: {why}");
    std::process::abort()
}
