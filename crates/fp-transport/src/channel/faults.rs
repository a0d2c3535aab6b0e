//! Faults at the channel of a link, for the conformance suite: short calls, calls that would block, a reset in the
//! middle.

use super::Channel;
use crate::verbs::VerbsTrouble;
use std::io;

/// What goes wrong. The default is nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Most bytes that one sending call moves.
    pub send_bytes: Option<usize>,
    /// Most bytes that one receiving call moves.
    pub receive_bytes: Option<usize>,
    /// Every n-th call says that it would block.
    pub would_block_every: Option<u64>,
    /// After about so many bytes, counted as asked for, the connection breaks.
    pub reset_after_bytes: Option<u64>,
    /// The peer's access cannot be ended: neither the error state nor the end of the queue pair can be had.
    pub stays_open: bool,
}

#[derive(Debug, Default)]
pub(super) struct FaultState {
    faults: Faults,
    calls: u64,
    bytes: u64,
}

impl FaultState {
    pub(super) fn after_revoke(&self) -> Result<(), VerbsTrouble> {
        let said = || "a fault of a test".to_owned();
        if self.faults.stays_open {
            return Err(VerbsTrouble::StillOpen { first: said(), second: said() });
        }
        Ok(())
    }
}

impl Channel {
    /// Makes things go wrong from now on.
    pub(crate) fn set_faults(&mut self, faults: Faults) {
        if let Some(cipher) = &mut self.tls {
            cipher.receive_bytes = faults.receive_bytes.unwrap_or(usize::MAX).max(1);
        }
        self.faults = FaultState { faults, ..FaultState::default() };
    }

    /// Whether a call may go wrong: then all goes by the socket, where it can.
    pub(super) fn is_faulty(&self) -> bool {
        let Faults { send_bytes, receive_bytes, would_block_every, reset_after_bytes, stays_open: _ } =
            self.faults.faults;
        send_bytes.or(receive_bytes).is_some() || would_block_every.or(reset_after_bytes).is_some()
    }

    /// What is left of `limit` in a call whose own limit is `most`, unless it is the one that goes wrong.
    pub(super) fn before(
        &mut self,
        limit: usize,
        most: impl Fn(&Faults) -> Option<usize>,
    ) -> io::Result<usize> {
        let FaultState { faults, calls, bytes } = &mut self.faults;
        *calls += 1;
        if faults.would_block_every.is_some_and(|every| calls.is_multiple_of(every)) {
            self.remind();
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if faults.reset_after_bytes.is_some_and(|limit| *bytes >= limit) {
            self.break_off();
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let limit = most(faults).map_or(limit, |most| most.max(1).min(limit));
        *bytes += limit as u64;
        Ok(limit)
    }
}
