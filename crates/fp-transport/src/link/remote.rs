//! What only a verbs link can do: read memory of the peer, and end the peer's reads of memory of this side.

use super::Link;
use super::error::LinkError;
use super::memory_registrar::MemoryRegistrar;
use crate::memory::RemoteMemory;
use crate::verbs::{
    BlockRead, Breakage, Keys, Landing, ReadLimit, ReadPlace, ReadRun, ReadTarget, ReadTrouble, Stream,
    VerbsTrouble, read_all,
};
use std::time::{Duration, Instant};

impl Link {
    /// Whether the peer's registered memory can be read over this link.
    pub fn reads_remote(&self) -> bool {
        #[cfg(feature = "testing")]
        if self.made_up_registrar.is_some() {
            return true;
        }
        self.channel.stream_ref().is_some()
    }

    /// Who registers memory of this side, so that the peer can READ it.
    ///
    /// # Errors
    /// [`VerbsTrouble::NoDevice`] for a link that is none of verbs.
    pub fn memory_registrar(&self) -> Result<MemoryRegistrar, VerbsTrouble> {
        #[cfg(feature = "testing")]
        if let Some(made_up) = &self.made_up_registrar {
            return Ok(made_up.clone());
        }
        let stream = self.channel.stream_ref().ok_or(VerbsTrouble::NoDevice)?;
        Ok(MemoryRegistrar::of(stream.protection()))
    }

    /// Registers memory to read to, for as long as the guard lives.
    ///
    /// # Errors
    /// As [`Link::register_keys`].
    pub fn register<'a>(&self, memory: &'a mut [u8]) -> Result<ReadTarget<'a>, VerbsTrouble> {
        let mut destination = ReadTarget::new(memory);
        self.register_keys(destination.parts().1)?;
        Ok(destination)
    }

    /// Registers the memory of a guard or of a landing with this link's device, unless it is.
    ///
    /// # Errors
    /// [`VerbsTrouble`]; [`VerbsTrouble::NoDevice`] for a link that is none of verbs.
    pub fn register_keys(&self, keys: &Keys) -> Result<(), VerbsTrouble> {
        self.channel.stream_ref().ok_or(VerbsTrouble::NoDevice)?.register(keys)
    }

    /// Memory of the stream's domain for [`Link::read_remote_through`], registered.
    ///
    /// # Errors
    /// As [`Link::register_keys`].
    pub fn landing(&self, len_bytes: usize) -> Result<Landing, VerbsTrouble> {
        self.channel.stream_ref().ok_or(VerbsTrouble::NoDevice)?.landing(len_bytes)
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
        destination: &mut ReadTarget<'_>,
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        self.read_remote_into(remote, destination.parts(), runs, deadline)
    }

    /// The same into a part of registered memory: runs count from the beginning of the slice.
    ///
    /// # Errors
    /// As [`Link::read_remote`].
    pub fn read_remote_into(
        &mut self,
        remote: &RemoteMemory,
        registered: (&mut [u8], &Keys),
        runs: &[ReadRun],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        Ok(self.reader()?.read(remote, registered, runs, deadline)?)
    }

    /// The same into memory that is not registered: each byte is READ into the landing and copied from there.
    ///
    /// # Errors
    /// As [`Link::read_remote`].
    pub fn read_remote_through(
        &mut self,
        remote: &RemoteMemory,
        landing: &mut Landing,
        destination: (&mut [u8], &[ReadRun]),
        deadline: Instant,
    ) -> Result<(), LinkError> {
        Ok(self.reader()?.read_through(remote, landing, destination, deadline)?)
    }

    /// Reads pieces over several links at once: all requests are posted, as far as queues have room, before one is
    /// awaited. What does not go straight to its array goes through the landings, which are registered with each
    /// link. When it returns, with whatever outcomes, nothing writes to any of the arrays any more.
    ///
    /// # Errors
    /// For each link as [`Link::read_remote`]; [`LinkError::Deadline`] too where its READs were not to go on.
    pub fn read_remote_all(
        links: Vec<(&mut Link, &[BlockRead])>,
        places: &mut [ReadPlace<'_>],
        landings: &mut [Landing],
        limit: &ReadLimit<'_>,
    ) -> Vec<Result<(), LinkError>> {
        let reader = |(link, pieces): (_, _)| Some((Link::reader(link).ok()?, pieces));
        let count = links.len();
        let readers: Vec<(&mut Stream, &[BlockRead])> = links.into_iter().filter_map(reader).collect();
        if readers.len() < count {
            let what = "READ over another transport than verbs";
            return (0..count).map(|_| Err(LinkError::Malformed { what, value: 1, limit: 0 })).collect();
        }
        let outcomes = read_all(readers, places, landings, limit);
        outcomes.into_iter().map(|outcome| Ok(outcome?)).collect()
    }

    fn reader(&mut self) -> Result<&mut Stream, LinkError> {
        let what = "READ over another transport than verbs";
        self.channel.stream().ok_or(LinkError::Malformed { what, value: 1, limit: 0 })
    }

    /// Sets how long a wait for this link looks again and again before it sleeps. Does nothing but over verbs. Default
    /// zero.
    pub fn set_busy_poll(&mut self, at_most: Duration) {
        if let Some(stream) = self.channel.stream() {
            stream.set_busy_poll(at_most);
        }
    }

    /// Ends the link at once. Over verbs the peer's access to memory of this side has ended when this succeeds. The
    /// device said that the queue pair is in the error state or destroyed. The peer's READs fail, and what it could
    /// read may be refilled. Over other transports it always succeeds, and takes nothing from the peer that it has
    /// mapped.
    ///
    /// # Errors
    /// [`VerbsTrouble::StillOpen`]: the peer may go on to READ. What it was told of must not be refilled
    /// ([`Arena::withhold`](crate::Arena::withhold)). The link is of no more use in any case; to call this again is to
    /// try again.
    pub fn revoke(&mut self) -> Result<(), VerbsTrouble> {
        self.outbox.discard();
        self.channel.revoke()
    }

    /// Why a verbs link is of no more use.
    pub fn breakage(&self) -> Option<Breakage> {
        self.channel.stream_ref().and_then(Stream::breakage)
    }
}

impl From<ReadTrouble> for LinkError {
    fn from(trouble: ReadTrouble) -> Self {
        match trouble {
            ReadTrouble::Outside { what, value, limit } => LinkError::Malformed { what, value, limit },
            ReadTrouble::Deadline => LinkError::Deadline { waiting_for: "a READ" },
            ReadTrouble::Lost(error) => LinkError::Lost(error),
        }
    }
}
