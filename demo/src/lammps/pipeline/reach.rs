//! How the ranks of a run reach one another. They do so within this machine. With `--address` they use an address of
//! it, as ranks on several machines would. Then there is a token in the run's rendezvous folder, which is its user's
//! own.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use flexpath::{PublisherOptions, Rendezvous, SubscriberOptions, Token};

use super::error::PartError;
use super::settings::Settings;

/// The file of the token: no name of an entry.
const FILE: &str = ".token";

/// Makes the token of a run.
pub(super) fn make_token(folder: &Path) -> io::Result<()> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(FILE))?;
    file.write_all(&bytes)
}

fn token(rendezvous: &Rendezvous) -> Result<Token, PartError> {
    let path = rendezvous.directory().join(FILE);
    let read = std::fs::read(&path).map_err(|source| PartError::Token { path: path.clone(), source })?;
    let token = <[u8; 32]>::try_from(read).ok().and_then(Token::new);
    token.ok_or_else(|| PartError::Token { path, source: io::ErrorKind::InvalidData.into() })
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
