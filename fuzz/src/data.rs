//! Messages between an owner and a taker, with all that is in them: places, blocks, offers of transforms.

use crate::again;
use fp_proto::data::DataMessage;

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    usize::from(again::bytes(bytes, |bytes| DataMessage::decode(bytes).ok().map(|message| message.encode().into_vec())))
}
