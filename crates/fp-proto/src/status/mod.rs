//! What ranks tell observers (`docs/protocol.md`, section 17): who asks for status takes no data and holds nobody up.

pub(crate) mod answer;
pub(crate) mod merge;
pub(crate) mod observers;
pub mod questions;
pub mod report;
