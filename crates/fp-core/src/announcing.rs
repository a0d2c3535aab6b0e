//! Telling a subscriber of a segment, once a link: over shared memory with the segment's descriptor, over verbs with the
//! address and the key by which its blocks are READ.

use crate::served::Served;
use crate::server::Server;
use fp_proto::data::DataMessage;
use fp_transport::{LinkError, OutFrame, Payload, RemoteMemory, SegmentId};

/// Bytes of the body that names an address and a key: two words, little endian.
pub(crate) const REMOTE_LEN_BYTES: usize = 16;

impl Server {
    /// Whether the subscriber knows the segment now. Not if the pool has let it go, or it cannot be shared.
    pub(crate) fn announce(&self, segment: SegmentId, served: &mut Served) -> Result<bool, LinkError> {
        if served.announced.contains(&segment.0) {
            return Ok(true);
        }
        let announced =
            if served.link.reads_remote() { self.remote(segment, served) } else { self.mapped(segment) };
        let Some(frame) = announced else { return Ok(false) };
        served.link.send(frame)?;
        served.announced.insert(segment.0);
        Ok(true)
    }

    fn mapped(&self, segment: SegmentId) -> Option<OutFrame> {
        let fd = self.pool.segment_fd(segment)?;
        let len = self.pool.segment_descriptor(segment)?.len_bytes;
        let message = DataMessage::SegmentIs { segment: segment.0, len };
        Some(OutFrame::new(message.encode()).with_descriptor(fd))
    }

    /// What cannot be registered is gathered and sent when it is asked for.
    fn remote(&self, segment: SegmentId, served: &Served) -> Option<OutFrame> {
        let memory = match self.pool.remote_memory(segment, &served.link) {
            Ok(remote) => remote?,
            Err(trouble) => {
                tracing::warn!(%trouble, "a segment cannot be READ: its blocks are copied and sent");
                return None;
            }
        };
        let message = DataMessage::SegmentIs { segment: segment.0, len: memory.len_bytes };
        Some(OutFrame::new(message.encode()).with_body(vec![Payload::from_owner(telling(&memory))]))
    }
}

/// Such a body.
pub(crate) fn telling(memory: &RemoteMemory) -> Vec<u8> {
    [memory.address.to_le_bytes(), u64::from(memory.key).to_le_bytes()].concat()
}

/// The address and the key of such a body.
pub(crate) fn told(body: &[u8; REMOTE_LEN_BYTES], len_bytes: u64) -> Option<RemoteMemory> {
    let address = u64::from_le_bytes(*body.first_chunk()?);
    let key = u64::from_le_bytes(*body.last_chunk()?);
    Some(RemoteMemory { address, key: u32::try_from(key).ok()?, len_bytes })
}
