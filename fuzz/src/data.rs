//! Messages between an owner and a taker, with all that is in them: places, blocks, offers of transforms.

use crate::again;
use fp_proto::data::{DataMessage, PlacedRef, Placement};

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    let whole = |bytes: &[u8]| DataMessage::decode(bytes).ok().map(|message| message.encode().into_vec());
    let placed = again::bytes(bytes, |bytes| {
        let placement = Placement::decode(bytes)?;
        let blocks: Vec<PlacedRef<'_>> = placement.blocks().collect();
        Some(Placement::encode(placement.step, placement.request, &blocks).into_vec())
    });
    assert!(!placed || DataMessage::decode(bytes).is_ok(), "a placement that is no message");
    usize::from(again::bytes(bytes, whole)) + usize::from(placed)
}
