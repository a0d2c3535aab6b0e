//! What a placement says, as bytes: where blocks are that its owner told of.

use crate::data::taker::buffers::Buffers;
use fp_proto::data::{PlaceRef, Placement};
use fp_transport::{InprocKey, MappedSegment, Payload, RemoteMemory, inproc};
use std::collections::HashMap;

/// Bytes of blocks that come along in one message and are copied out of it. With more the message itself is kept.
const LIMIT_COPIED_BYTES: usize = 128 << 10;

/// Whether a message is a placement whose bytes are those of its blocks, as a rule, and many.
pub(super) fn is_mostly_blocks(head: &[u8]) -> bool {
    if head.len() <= LIMIT_COPIED_BYTES {
        return false;
    }
    let blocks = Placement::decode(head).into_iter().flat_map(|placement| placement.blocks());
    blocks.map(|block| block.place.inline_len_bytes()).sum::<usize>() >= head.len() / 2
}

/// Finds the bytes of places. What the owner says wrongly is an error in words.
pub(super) struct Finder<'a> {
    pub(super) segments: &'a HashMap<u64, MappedSegment>,
    /// That of the last block: others lie there too.
    pub(super) last: Option<(u64, &'a MappedSegment)>,
    pub(super) buffers: &'a mut Buffers,
    /// All of the message, if it is kept.
    pub(super) kept: Option<&'a Payload>,
}

impl Finder<'_> {
    /// The bytes of a place; `None` if the key of an in-process block was withdrawn.
    pub(super) fn payload(&mut self, place: PlaceRef<'_>) -> Result<Option<Payload>, String> {
        match place {
            PlaceRef::Inline { bytes } => {
                Ok(Some(self.where_it_is(bytes).unwrap_or_else(|| self.buffers.payload(bytes))))
            }
            PlaceRef::Inproc { key } => Ok(inproc::import(InprocKey(key))),
            PlaceRef::Segment { segment, offset, len } => {
                let known = self.last.filter(|(last, _)| *last == segment).map(|(_, known)| known);
                let known = known.or_else(|| self.segments.get(&segment));
                let known = known.ok_or_else(|| format!("segment {segment} was not announced"))?;
                self.last = Some((segment, known));
                let slice = known.slice(offset, len).map_err(|error| error.to_string())?;
                Ok(Some(slice.into_payload()))
            }
        }
    }

    /// These bytes as a part of the message that is kept.
    fn where_it_is(&self, bytes: &[u8]) -> Option<Payload> {
        let kept = self.kept?;
        let start = bytes.as_ptr().addr().checked_sub(kept.as_slice().as_ptr().addr())?;
        kept.slice(start..start.checked_add(bytes.len())?)
    }
}

/// Where a block is READ.
pub(super) fn remote_place(
    segments: &HashMap<u64, RemoteMemory>,
    (segment, offset, len): (u64, u64, u64),
) -> Result<RemoteMemory, String> {
    let found = segments.get(&segment);
    let within = found.filter(|found| offset.checked_add(len).is_some_and(|end| end <= found.len_bytes));
    let misplaced = || format!("{len} bytes at {offset} of segment {segment}");
    let RemoteMemory { address, key, .. } = *within.ok_or_else(misplaced)?;
    Ok(RemoteMemory { address: address.wrapping_add(offset), key, len_bytes: len })
}
