//! What a command prints at its end: one JSON value for programs, or text for people.

use std::io::{self, StdoutLock, Write as _};

use serde::Serialize;

use crate::failure::Failure;

/// Prints a value, as JSON or as `text` writes it.
pub(crate) fn print(
    value: &impl Serialize,
    json: bool,
    text: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)?;
    } else {
        text(&mut out)?;
    }
    Ok(out.flush()?)
}
