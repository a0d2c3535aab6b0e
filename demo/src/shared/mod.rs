//! What both applications have: processes of a supervisor, what it finds and how it ends, streams.

pub mod check_result;
pub mod error;
pub mod interrupt;
pub mod outcome;
pub(crate) mod processes;
pub mod program;
pub mod screen;
pub(crate) mod steps;
