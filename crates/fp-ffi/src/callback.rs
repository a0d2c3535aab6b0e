//! What calls a function of C with each step: how it is stopped.

use crate::failure::{Failure, Status};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{ThreadId, current};
use std::time::Duration;

/// How long a close waits for the function to return.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a subscriber has of the thread that calls its function.
pub(crate) struct Callback {
    /// Readable once the thread is to stop.
    pub(crate) stop: Arc<OwnedFd>,
    pub(crate) thread: ThreadId,
    /// Hung up once the function will be called no more.
    pub(crate) over: Receiver<()>,
}

impl Callback {
    /// Whether this is the thread on which the function runs.
    pub(crate) fn is_here(&self) -> bool {
        current().id() == self.thread
    }

    /// Has it called no more, and waits until it has returned.
    pub(crate) fn stop(self) -> Result<(), Failure> {
        // It never blocks: it is written once.
        let _ = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
        match self.over.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Timeout) => {
                let text = "the function of flexpath_subscriber_on_step has not returned for";
                Err(Failure::new(
                    Status::NotClean,
                    format!("{text} {} s, and still runs", PATIENCE.as_secs()),
                ))
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Ok(()),
        }
    }
}
