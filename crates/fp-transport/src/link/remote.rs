//! What only a verbs link can do: read memory of the peer, and end the peer's reads of memory of this side.

use super::{Link, LinkError};
use crate::verbs::{Breakage, Destination, Protection, ReadRun, RemoteMemory, Stream, VerbsTrouble};
use std::sync::Arc;
use std::time::Instant;

impl Link {
    /// Whether the peer's registered memory can be read over this link.
    pub fn reads_remote(&self) -> bool {
        self.channel.stream_ref().is_some()
    }

    /// Registers memory to read to, for as long as the guard lives.
    ///
    /// # Errors
    /// [`VerbsTrouble`]; [`VerbsTrouble::NoDevice`] for a link that is none of verbs.
    pub fn register<'a>(&self, memory: &'a mut [u8]) -> Result<Destination<'a>, VerbsTrouble> {
        self.channel.stream_ref().ok_or(VerbsTrouble::NoDevice)?.register(memory)
    }

    /// Reads runs of the peer's memory straight to their places, several requests at a time. When it returns, with
    /// whatever outcome, nothing writes to the destination any more.
    ///
    /// # Errors
    /// [`LinkError::Malformed`]: a run lies outside its memory, nothing was read. [`LinkError::Deadline`] and
    /// [`LinkError::Lost`]: the link is of no more use, and bytes of the runs may have been written.
    pub fn read_remote(
        &mut self,
        remote: &RemoteMemory,
        destination: &mut Destination<'_>,
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let unable =
            LinkError::Malformed { what: "READ over another transport than verbs", value: 1, limit: 0 };
        self.channel.stream().ok_or(unable)?.read(remote, destination, runs, deadline)
    }

    /// Ends the link at once. Over verbs the peer's access to memory of this side has ended when this returns: its READs
    /// fail, and what it could read may be refilled.
    pub fn revoke(&mut self) {
        self.outbox.discard();
        self.channel.break_off();
    }

    /// Why a verbs link is of no more use.
    pub fn breakage(&self) -> Option<Breakage> {
        self.channel.stream_ref().and_then(Stream::breakage)
    }

    /// The protection domain in which memory must be registered for this link's peer.
    pub(crate) fn protection(&self) -> Option<&Arc<Protection>> {
        self.channel.stream_ref().map(Stream::protection)
    }
}
