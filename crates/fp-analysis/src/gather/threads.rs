//! Within one process: a channel for each rank.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::{Gather, GatherFailure, Missing, NOTICE};

/// Brings together what threads of one process have.
pub struct ThreadGather {
    way: Way,
    patience: Duration,
    is_interrupted: Arc<dyn Fn() -> bool + Send + Sync>,
}

enum Way {
    /// Of rank 0: those of the other ranks.
    In(Vec<Receiver<Vec<u8>>>),
    /// Of another rank, with its number.
    Out(Sender<Vec<u8>>),
}

impl fmt::Debug for ThreadGather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadGather").finish_non_exhaustive()
    }
}

impl ThreadGather {
    /// One for each rank, by rank. `patience` is the longest that one is awaited, and `is_interrupted` is asked meanwhile.
    pub fn of(
        ranks: u32,
        patience: Duration,
        is_interrupted: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Vec<Self> {
        let is_interrupted: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(is_interrupted);
        let (senders, receivers): (Vec<_>, Vec<_>) = (1..ranks).map(|_| mpsc::channel()).unzip();
        let ways = std::iter::once(Way::In(receivers)).chain(senders.into_iter().map(Way::Out));
        ways.map(|way| Self { way, patience, is_interrupted: is_interrupted.clone() }).collect()
    }

    fn take(&self, rank: usize, from: &Receiver<Vec<u8>>) -> Result<Vec<u8>, Missing> {
        let started = Instant::now();
        loop {
            match from.recv_timeout(NOTICE.min(self.patience)) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(Missing::Gone { rank }),
                Err(RecvTimeoutError::Timeout) if (self.is_interrupted)() => {
                    return Err(Missing::Interrupted { rank });
                }
                Err(RecvTimeoutError::Timeout) if started.elapsed() >= self.patience => {
                    return Err(Missing::TimedOut { rank, waited: self.patience });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Gather for ThreadGather {
    fn gather(&mut self, message: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, GatherFailure> {
        match &self.way {
            Way::Out(out) => {
                out.send(message).map_err(|_| Missing::Gone { rank: 0 })?;
                Ok(None)
            }
            Way::In(others) => {
                let others = others.iter().enumerate().map(|(at, from)| self.take(at + 1, from));
                let all: Result<Vec<_>, Missing> = std::iter::once(Ok(message)).chain(others).collect();
                Ok(Some(all?))
            }
        }
    }

    fn close(self: Box<Self>) -> Result<(), GatherFailure> {
        Ok(())
    }
}
