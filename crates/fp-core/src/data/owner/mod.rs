//! The side that owns blocks: their memory from put to reclaim, and the links over which they are asked for.

pub(crate) mod block;
pub(crate) mod block_store;
pub(crate) mod part;
pub(crate) mod room;
pub(crate) mod segment_notice;
pub(crate) mod subscriber_link;
