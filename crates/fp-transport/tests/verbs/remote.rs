//! READs of a peer's memory, and how access to it ends.

use super::harness::Test;
use std::process::ExitCode;

/// The tests.
pub(crate) fn tests() -> Vec<Test> {
    Vec::new()
}

/// A process of a test.
pub(crate) fn child() -> ExitCode {
    ExitCode::SUCCESS
}
