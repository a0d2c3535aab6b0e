//! Lists of bytes: each list travels as one piece, as `serde_bytes` does it for bytes themselves.

use serde::{Deserialize as _, Deserializer, Serializer};
use serde_bytes::{ByteBuf, Bytes};

pub(crate) fn serialize<S: Serializer>(lists: &[Vec<u8>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(lists.iter().map(|bytes| Bytes::new(bytes)))
}

pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Vec<u8>>, D::Error> {
    Ok(Vec::<ByteBuf>::deserialize(from)?.into_iter().map(ByteBuf::into_vec).collect())
}
