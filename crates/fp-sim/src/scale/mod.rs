//! The machines of many ranks in one thread, on virtual time, over links that cost.
//!
//! The machines are the real ones and so are their messages, encoded and decoded by the real codec. Virtual are the
//! links (`cost`), the applications (`content`, `stages`) and time. Memory is counted by [`Counting`].

mod books;
mod boot;
mod check;
mod content;
mod coordinator;
mod cost;
mod cpu;
mod crowd;
mod figures;
mod least;
mod memory;
mod observation;
mod plots;
mod rank;
mod report;
mod rest;
mod stages;
mod usual;
mod watching;
mod world;

pub use books::{Books, Traffic};
pub use boot::askers;
pub use check::missed;
pub use cost::LinkCost;
pub use crowd::{CrowdCost, crowd};
pub use figures::{Memory, ScaleFigures, Stage};
pub use memory::Counting;
pub use observation::{Observation, observe};
pub use plots::draw;
pub use report::{json, table};
pub use rest::rest;
pub use stages::run;
pub use watching::{WatchCost, watch};
pub use world::World;
