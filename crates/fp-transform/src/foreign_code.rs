//! Code that is not part of this library, as a plan runs it: deployed modules and registered functions alike.

use crate::block::Block;
use crate::error::DeriveError;

/// Deployed code, or a registered function, that can be run.
pub trait RunModule: Send + Sync {
    /// Runs it on one block of each variable, all of one region.
    ///
    /// # Errors
    /// Whatever stopped it.
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError>;
}
