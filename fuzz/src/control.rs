//! Messages of the machines, with all that is in them: requests, conditions, answers to observers, fragments.

use crate::again;
use fp_proto::codec::{decode, encode};

/// How many readers believed the bytes.
pub fn check(bytes: &[u8]) -> usize {
    usize::from(again::bytes(bytes, |bytes| decode(bytes).ok().map(|message| encode(&message).into_vec())))
}
