//! Telling a subscriber of a segment, once for each link. Over shared memory it gets the segment's descriptor. Over
//! verbs it gets the address and the key by which the blocks are READ.

use crate::data::owner::block_store::BlockStore;
use crate::data::owner::subscriber_link::SubscriberLink;
use crate::data::segment::telling;
use fp_proto::data::DataMessage;
use fp_transport::{LinkError, OutFrame, Payload, SegmentId};

impl BlockStore {
    /// Whether the subscriber knows the segment now. Not if the pool has let it go, or it cannot be shared.
    pub(crate) fn announce(
        &self,
        segment: SegmentId,
        served: &mut SubscriberLink,
    ) -> Result<bool, LinkError> {
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

    /// What is not registered is gathered and sent when it is asked for.
    fn remote(&self, segment: SegmentId, served: &SubscriberLink) -> Option<OutFrame> {
        // Registered when a verbs link is first to be told of it: memory that nobody READs is not locked. Never here,
        // as whoever places holds the store.
        let registrar = served.link.memory_registrar().ok()?;
        let memory = self.pool.known_remote_memory(segment, &registrar)?;
        let message = DataMessage::SegmentIs { segment: segment.0, len: memory.len_bytes };
        Some(OutFrame::new(message.encode()).with_body(vec![Payload::from_owner(telling(&memory))]))
    }
}
