//! Code that a subscriber hands over at run time, as WebAssembly: checked, limited in memory, work and time, and run on
//! blocks.
//!
//! `guest/flexpath_guest.h` and docs/transforms.md tell what a module exports. Each call has a memory of its own in
//! which all is as the module says it is at first. So it sees nothing of another block, step or subscriber.

mod bounds;
mod engines;
mod error;
mod guest;
mod interface;
mod memory_use;
mod module;
mod ticker;

pub use error::{DeployError, OutputFault};
pub use module::{Deployed, Runtime};
