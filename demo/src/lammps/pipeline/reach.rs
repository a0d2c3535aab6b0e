//! How the ranks of a run reach one another. They do so within this machine. With `--address` they use an address of
//! it, as ranks on several machines would. Then there is a token in the run's rendezvous folder, which is its user's
//! own.

use std::io;
use std::path::{Path, PathBuf};

use flexpath::{PublisherOptions, Rendezvous, SubscriberOptions, Token};

use super::error::PartError;
use super::settings::Settings;

/// The file of the token: no name of an entry.
const FILE: &str = ".token";

/// Makes the token of a run.
pub(super) fn make_token(folder: &Path) -> io::Result<()> {
    Token::random()?.write_file(token_file(folder))
}

/// Where it is, in the run's rendezvous folder.
pub(super) fn token_file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn token(rendezvous: &Rendezvous) -> Result<Token, PartError> {
    let none = || PartError::NoFolder { rendezvous: rendezvous.to_string() };
    Ok(Token::from_file(token_file(rendezvous.directory().ok_or_else(none)?))?)
}

/// The options of a part that publishes.
pub(super) fn publishing(
    settings: &Settings,
    options: PublisherOptions,
) -> Result<PublisherOptions, PartError> {
    let Some(address) = settings.address else { return Ok(options) };
    let token = token(&Rendezvous::from_environment()?)?;
    Ok(options.with_tcp(Some((address, 0).into())).with_token(token))
}

/// The options of a part that subscribes, at this rendezvous.
pub(super) fn subscribing(
    settings: &Settings,
    rendezvous: Option<&Rendezvous>,
    options: SubscriberOptions,
) -> Result<SubscriberOptions, PartError> {
    let Some(address) = settings.address else { return Ok(options) };
    let token = match rendezvous {
        Some(given) => token(given)?,
        None => token(&Rendezvous::from_environment()?)?,
    };
    Ok(options.with_tcp(Some((address, 0).into())).with_token(token))
}
