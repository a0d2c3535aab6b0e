//! The rendezvous: where cohorts find one another. It is a directory with one small file for each opening of a name, or
//! a meeting place. That is one small process at `tcp://HOST:PORT`, as `flexpath meet` is. What an entry says is believed only
//! after a hello from its contact has returned its epoch; a stale or forged one is passed over.

pub(crate) mod address;
mod conversation;
pub(crate) mod desk;
mod directory;
mod entry;
pub mod place;
pub(crate) mod probe;
pub(crate) mod registrar;

pub use crate::error::rendezvous::{DIRECTORY_VARIABLE, RendezvousError};
pub use entry::Entry;
pub use probe::ask_each;

use crate::rendezvous::address::MeetingAddress;
use crate::rendezvous::conversation::Meeting;
use crate::rendezvous::desk::Desk;
use crate::rendezvous::directory::Directory;
use crate::rendezvous::registrar::{News, Registrar};
use fp_proto::meeting::{Entry as Told, Reply, Request};
use fp_transport::{TlsIdentity, TlsOptions, Token};
use std::fmt;
use std::path::{Path, PathBuf};

/// Where cohorts find one another: a directory, or a meeting place.
///
/// ```
/// # use fp_core as flexpath;
/// use flexpath::{Publisher, PublisherOptions, Rendezvous};
///
/// # let place = tempfile::tempdir()?;
/// # let directory = place.path();
/// let rendezvous = Rendezvous::at(directory)?; // or tcp://HOST:PORT of `flexpath meet`
/// let publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// assert_eq!(rendezvous.list()?[0].name, "heat");
/// # drop(publisher);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rendezvous {
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Directory(Directory),
    Meeting { address: MeetingAddress, credentials: Option<(Option<Token>, Option<TlsOptions>)> },
}

impl Rendezvous {
    /// What `FLEXPATH_RENDEZVOUS` names, else `flexpath` in the runtime directory, else one in the temporary directory
    /// that only this user can enter. The last two are made where they are not there.
    ///
    /// # Errors
    /// If it is not there, cannot be made or is not ours.
    pub fn from_environment() -> Result<Self, RendezvousError> {
        match std::env::var_os(DIRECTORY_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::at(path),
            None => Ok(Self { place: Place::Directory(Directory::unnamed()?) }),
        }
    }

    /// This directory, which must be there: one that was made for a mistyped path would have nobody in it. Or the
    /// meeting place at `tcp://HOST:PORT`, which is dialled when it is needed, and may begin later.
    ///
    /// # Errors
    /// If it is not there, is no directory, or cannot be read; if it is no address of a meeting place.
    pub fn at(place: impl Into<PathBuf>) -> Result<Self, RendezvousError> {
        let path = place.into();
        let place = match path.to_str().filter(|text| MeetingAddress::is_one(text)) {
            Some(text) => Place::Meeting { address: text.parse()?, credentials: None },
            None => Place::Directory(Directory::at(path)?),
        };
        Ok(Self { place })
    }

    /// Sets what [`Rendezvous::list`] shows to a meeting place, and what TLS it speaks; `None` each: none. Otherwise
    /// that is the environment's. A stream shows what its own options say. A directory asks for nothing.
    #[must_use]
    pub fn with_credentials(mut self, token: Option<Token>, tls: Option<TlsOptions>) -> Self {
        if let Place::Meeting { credentials, .. } = &mut self.place {
            *credentials = Some((token, tls));
        }
        self
    }

    /// The directory, if it is one.
    pub fn directory(&self) -> Option<&Path> {
        match &self.place {
            Place::Directory(directory) => Some(directory.path()),
            Place::Meeting { .. } => None,
        }
    }

    /// Every readable entry, by name and epoch; none where they cannot be listed. A file that is no entry is passed over.
    pub fn entries(&self) -> Vec<Entry> {
        self.list().unwrap_or_default()
    }

    /// The same, or why they cannot be listed. A meeting place has ten seconds: five to be reached, five to answer.
    ///
    /// # Errors
    /// The directory has gone; the meeting place cannot be asked, does not let this process in, or is none.
    pub fn list(&self) -> Result<Vec<Entry>, RendezvousError> {
        let Place::Meeting { address, credentials } = &self.place else { return self.files() };
        let (token, tls) = match credentials {
            Some(given) => given.clone(),
            None => (Token::from_environment()?, TlsOptions::from_environment()?),
        };
        let tls = tls.map(|tls| tls.load()).transpose()?;
        let reply = Meeting { address: address.clone(), token, tls }.ask_once(&Request::List)?;
        let Reply::Listed { entries, .. } = reply else { return Ok(Vec::new()) };
        // A contact of another version is passed over, as a file would be.
        Ok(entries.into_iter().filter_map(believable).collect())
    }

    /// The entries that are wanted and behind which somebody answers. Only those that are wanted are asked.
    ///
    /// # Errors
    /// As [`Rendezvous::list`].
    pub fn living(&self, wanted: impl Fn(&Entry) -> bool) -> Result<Vec<Entry>, RendezvousError> {
        let asked = ask_each(self.list()?.into_iter().filter(wanted).collect(), |_, alive| alive);
        Ok(asked.into_iter().filter(|(_, alive)| *alive == Some(true)).map(|(entry, _)| entry).collect())
    }

    fn files(&self) -> Result<Vec<Entry>, RendezvousError> {
        match &self.place {
            Place::Directory(directory) => directory.entries(),
            Place::Meeting { .. } => Ok(Vec::new()),
        }
    }

    /// What one handle does with it. A meeting place is shown the handle's credentials, and reports what it finds.
    pub(crate) fn desk(
        &self,
        token: Option<Token>,
        tls: Option<TlsIdentity>,
        report: impl Fn(News) + Send + Sync + 'static,
    ) -> std::io::Result<Desk> {
        match &self.place {
            Place::Directory(directory) => Ok(Desk::Directory(directory.clone())),
            Place::Meeting { address, .. } => {
                let meeting = Meeting { address: address.clone(), token, tls };
                Registrar::new(meeting, report).map(Desk::Meeting)
            }
        }
    }
}

fn believable(told: Told) -> Option<Entry> {
    Some(Entry { name: told.name, epoch: told.epoch, contact: told.contact.0.parse().ok()? })
}

/// The path, or the address.
impl fmt::Display for Rendezvous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Directory(directory) => write!(f, "{}", directory.path().display()),
            Place::Meeting { address, .. } => write!(f, "{address}"),
        }
    }
}
