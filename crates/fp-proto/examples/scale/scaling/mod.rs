//! The machines of many ranks in one thread, on virtual time, over links that cost.
//!
//! The machines are the real ones and so are their messages, encoded and decoded by the real codec. Virtual are the
//! links (`cost`), the applications (`content`, `stages`) and time.

pub(crate) mod books;
pub(crate) mod boot;
pub(crate) mod check;
pub(crate) mod content;
pub(crate) mod cost;
pub(crate) mod cpu;
pub(crate) mod driving;
pub(crate) mod memory;
pub(crate) mod plots;
#[path = "../../sim/simulator/queue.rs"]
pub(crate) mod queue;
pub(crate) mod rank;
pub(crate) mod report;
pub(crate) mod stages;
pub(crate) mod usual;
pub(crate) mod world;
