//! The token of a run, as its file has it.

use std::path::Path;
use std::str::FromStr;

use fp_core::Token;

/// Reads a token from its file.
pub(crate) fn token(path: &Path) -> Result<Token, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    text.trim().parse().map_err(|error: <Token as FromStr>::Err| error.to_string())
}
