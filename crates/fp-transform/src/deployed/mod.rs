//! Code that a subscriber hands over at run time, as WebAssembly: checked, limited in memory, work and time, and run on
//! blocks.
//!
//! What a module exports is told in `guest/flexpath_guest.h` and docs/transforms.md. Each call has a memory of its own in which
//! all is as the module says it is at first, so that nothing of one block, step or subscriber is seen by another.

mod engines;
mod error;
mod guest;
mod module;
mod ticker;

pub use error::{DeployError, OutputFault};
pub use module::{Deployed, Runtime};
