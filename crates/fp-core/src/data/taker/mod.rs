//! The side that takes blocks: links to their owners, plans, and fetches.

pub(crate) mod block_locations;
pub(crate) mod buffers;
pub(crate) mod context;
pub(crate) mod fetch;
pub(crate) mod fetch_plan;
pub(crate) mod owner_directory;
pub(crate) mod owner_link;
pub(crate) mod owner_wait;
pub(crate) mod piece_copies;
mod placed;
