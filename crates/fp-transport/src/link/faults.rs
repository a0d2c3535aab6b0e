//! Faults inside a link, for the conformance suite: short calls, calls that would block, a reset in the middle.

use super::Link;
use crate::channel::Channel;
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
    /// Whether anything goes wrong: then all goes by the socket, where it can.
    pub(super) fn is_set(&self) -> bool {
        let Faults { send_bytes, receive_bytes, would_block_every, reset_after_bytes, stays_open: _ } =
            self.faults;
        send_bytes.or(receive_bytes).is_some() || would_block_every.or(reset_after_bytes).is_some()
    }

    pub(super) fn after_revoke(&self) -> Result<(), VerbsTrouble> {
        let said = || "a fault of a test".to_owned();
        if self.faults.stays_open {
            return Err(VerbsTrouble::StillOpen { first: said(), second: said() });
        }
        Ok(())
    }

    pub(super) fn before_send(&mut self, limit: usize, channel: &mut Channel) -> io::Result<usize> {
        self.before(limit, self.faults.send_bytes, channel)
    }

    pub(super) fn before_receive(&mut self, limit: usize, channel: &mut Channel) -> io::Result<usize> {
        self.before(limit, self.faults.receive_bytes, channel)
    }

    fn before(&mut self, limit: usize, most: Option<usize>, channel: &mut Channel) -> io::Result<usize> {
        self.calls += 1;
        if self.faults.would_block_every.is_some_and(|every| self.calls.is_multiple_of(every)) {
            channel.remind();
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if self.faults.reset_after_bytes.is_some_and(|bytes| self.bytes >= bytes) {
            channel.break_off();
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let limit = most.map_or(limit, |most| most.max(1).min(limit));
        self.bytes += limit as u64;
        Ok(limit)
    }
}

impl Link {
    /// Makes things go wrong from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.channel.set_receive_bytes(faults.receive_bytes);
        self.faults = FaultState { faults, ..FaultState::default() };
    }

    /// Sends bytes that are no frame, as a hostile peer would that has come so far.
    ///
    /// # Errors
    /// What the system said; a fresh link has room for a few.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = self.channel.send(&[io::IoSlice::new(bytes)], &[], usize::MAX)?;
        if sent == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}
