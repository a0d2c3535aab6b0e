//! Code that a subscriber hands over at run time, as WebAssembly: checked, limited in memory, work and time, and run on
//! blocks.
//!
//! What a module exports is told in `guest/flexpath_guest.h` and docs/transforms.md. A call, or the calls
//! of one subscription, have a memory of their own, so that nothing of one subscriber is seen by another.

mod error;
mod guest;
mod module;
mod ticker;

pub use error::{DeployError, OutputFault};
pub use module::{Deployed, Runtime};
