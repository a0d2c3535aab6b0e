//! Waiting for the bytes of an owner that may be lost, or stopped, in the midst of them.

use crate::value::interrupt::{ASK, Interrupt};
use crate::value::limit::Limit;
use fp_proto::subscriber::AttachmentId;
use fp_transport::{Link, LinkError};
use fp_types::{Rank, StepId};
use std::io;
use std::io::IoSliceMut;
use std::time::Instant;

/// Bytes that are passed over at a time.
const LIMIT_DISCARD_BYTES: usize = 64 << 10;

/// What is known of owners while their bytes are awaited.
pub(crate) trait OwnerFate {
    /// Whether nothing is to be expected of a rank any more.
    fn is_lost(&self, rank: Rank, epoch: Option<AttachmentId>) -> bool;
    /// Whether a step is held, or may come yet.
    fn may_read(&self, step: StepId) -> bool;
}

/// How long the bytes of one owner are waited for: until the deadline, or until it is known to be lost.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'s> {
    pub(crate) owners: &'s dyn OwnerFate,
    pub(crate) rank: Rank,
    pub(crate) epoch: Option<AttachmentId>,
    pub(crate) limit: Limit<'s>,
    pub(crate) interrupt: Option<&'s Interrupt>,
}

impl Patience<'_> {
    /// Waits until the link has something, or `until` is past.
    pub(crate) fn await_bytes(&self, link: &mut Link, until: Instant) -> Result<(), LinkError> {
        match link.await_readable(self.wake(until)?) {
            Ok(true) => Ok(()),
            Ok(false) => self.go_on(),
            Err(error) => Err(LinkError::Lost(error)),
        }
    }

    /// When to wake from a wait until then, as others are asked meanwhile whether it is to go on.
    pub(crate) fn wake(&self, until: Instant) -> Result<Instant, LinkError> {
        let now = Instant::now();
        if now >= self.limit.deadline {
            return Err(LinkError::Deadline { waiting_for: "the bytes of a piece" });
        }
        Ok(until.min(self.limit.deadline).min(now + ASK))
    }

    /// Nothing came for a while: an error if nothing will, or nobody wants it.
    pub(crate) fn go_on(&self) -> Result<(), LinkError> {
        if self.owners.is_lost(self.rank, self.epoch) {
            return Err(LinkError::Lost(io::Error::other("the stream has ended without it")));
        }
        if self.limit.is_given_up() || self.interrupt.is_some_and(Interrupt::is_asked) {
            return Err(LinkError::Deadline { waiting_for: "bytes that nobody waits for any more" });
        }
        Ok(())
    }

    /// Passes over `len` bytes of the body of the link's frame.
    pub(crate) fn discard(&self, link: &mut Link, len: usize) -> Result<(), LinkError> {
        let mut aside = vec![0; len.min(LIMIT_DISCARD_BYTES)];
        let mut left = len;
        while left > 0 {
            let part = aside.get_mut(..left.min(LIMIT_DISCARD_BYTES)).unwrap_or_default();
            left -= part.len();
            self.receive(link, &mut [IoSliceMut::new(part)])?;
        }
        Ok(())
    }

    /// Fills the slices from the body of the link's frame.
    pub(crate) fn receive(&self, link: &mut Link, slices: &mut [IoSliceMut<'_>]) -> Result<(), LinkError> {
        let mut left = slices;
        let mut missing: usize = left.iter().map(|slice| slice.len()).sum();
        while missing > 0 {
            let received = link.recv_body(left)?;
            missing -= received.min(missing);
            IoSliceMut::advance_slices(&mut left, received);
            if received == 0 {
                if link.body_remaining() == 0 {
                    let what = "body shorter than its pieces";
                    return Err(LinkError::Malformed { what, value: 0, limit: missing as u64 });
                }
                self.await_bytes(link, self.limit.deadline)?;
            }
        }
        Ok(())
    }
}
