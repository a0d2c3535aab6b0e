//! Code that a subscriber hands over at run time, as WebAssembly: checked, limited in memory, work and time, and run on
//! blocks.
//!
//! What a module exports is told in `guest/flexpath_guest.h` and docs/transforms.md. A call, or a session
//! of one subscription, has a memory of its own, so that nothing of one subscriber is seen by another.

mod error;
mod guest;
mod module;
mod ticker;

pub use error::{DeployError, OutputFault};
pub use module::{DeployLimits, Deployed, Runtime, Session};
