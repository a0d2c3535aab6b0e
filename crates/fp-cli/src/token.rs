//! `flexpath token`: makes the token of a run, or tells the hash of one.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fp_core::{Token, TokenHash};

use crate::arguments::TokenOptions;
use crate::failure::Failure;

/// Makes a token, and prints it or a file of it; or prints the hash of one that is there.
pub(crate) fn run(options: &TokenOptions) -> Result<(), Failure> {
    if let Some(file) = &options.hash {
        return Ok(writeln!(io::stdout(), "{}", TokenHash::of(&Token::from_file(file)?))?);
    }
    let token = Token::random().map_err(|error| Failure::NoToken(error.to_string()))?;
    let Some(path) = &options.out else { return Ok(writeln!(io::stdout(), "{}", token.to_hex())?) };
    let written = if options.force { replace(&token, path) } else { token.write_file(path) };
    written.map_err(|error| {
        let why = if error.kind() == io::ErrorKind::AlreadyExists {
            "it is there already, and --force is not said".to_owned()
        } else {
            error.to_string()
        };
        Failure::NoToken(format!("{}: {why}", path.display()))
    })
}

/// Puts a file in the place of one that may be there: whoever reads it meanwhile has the old one or the new one.
fn replace(token: &Token, path: &Path) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}", std::process::id()));
    let aside = PathBuf::from(aside);
    token.write_file(&aside)?;
    std::fs::rename(&aside, path).inspect_err(|_| {
        // What cannot be put in place is of no use; the error that counts is that of the place.
        let _ = std::fs::remove_file(&aside);
    })
}
