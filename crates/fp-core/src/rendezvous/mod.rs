//! The rendezvous: where cohorts find one another without a broker. One small file for each opening of a name,
//! `name.<epoch>`, written aside and renamed. What a file says is believed only after a hello from its contact has
//! returned that epoch; a stale or forged one is passed over.

pub(crate) mod probe;

pub use crate::error::rendezvous::{DIRECTORY_VARIABLE, RendezvousError};
use fp_proto::config::ContactText;
use fp_proto::effect::Listing;
use fp_transport::Contact;
use fp_types::Epoch;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Bytes of an entry that are looked at.
const LIMIT_ENTRY_BYTES: u64 = 4096;

/// An entry of the rendezvous, as written; nobody was asked whether it is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the stream, or of a subscriber cohort.
    pub name: String,
    /// The epoch of that opening.
    pub epoch: Epoch,
    /// Where its lead is.
    pub contact: Contact,
}

/// A rendezvous directory.
#[derive(Clone, Debug)]
pub struct Rendezvous {
    directory: PathBuf,
}

impl Rendezvous {
    /// The directory of `FLEXPATH_RENDEZVOUS`, else `flexpath` in the runtime directory, else one in the temporary
    /// directory that only this user can enter. The last two are made where they are not there.
    ///
    /// # Errors
    /// If it is not there, cannot be made or is not ours.
    pub fn from_environment() -> Result<Self, RendezvousError> {
        if let Some(path) = std::env::var_os(DIRECTORY_VARIABLE).filter(|path| !path.is_empty()) {
            return Self::at(path);
        }
        if let Some(runtime) = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
            return Self::made_at(Path::new(&runtime).join("flexpath"));
        }
        let uid = rustix::process::geteuid().as_raw();
        let private = std::env::temp_dir().join(format!("flexpath-{uid}"));
        let rendezvous = Self::made_at(private.clone())?;
        check_private(&private, uid)?;
        Ok(rendezvous)
    }

    /// This directory, which must be there: one that was made for a mistyped path would have nobody in it.
    ///
    /// # Errors
    /// If it is not there, is no directory, or cannot be read.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, RendezvousError> {
        let directory = path.into();
        match fs::read_dir(&directory) {
            Ok(_) => Ok(Self { directory }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(RendezvousError::Missing { path: directory })
            }
            Err(source) => Err(RendezvousError::Directory { path: directory, source }),
        }
    }

    /// A directory that nobody named; made, for this user alone, if it is not there.
    fn made_at(directory: PathBuf) -> Result<Self, RendezvousError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        made.map_err(|source| RendezvousError::Directory { path: directory.clone(), source })?;
        Self::at(directory)
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, name: &str, epoch: Epoch) -> PathBuf {
        self.directory.join(format!("{name}.{epoch}"))
    }

    pub(crate) fn publish(&self, name: &str, epoch: Epoch, contact: &Contact) -> Result<(), RendezvousError> {
        let path = self.path(name, epoch);
        let aside = self.directory.join(format!(".{name}.{epoch}.{}", std::process::id()));
        write_entry(&aside, &path, contact).map_err(|source| {
            // What was written of it is of no use to anybody.
            let _ = fs::remove_file(&aside);
            RendezvousError::Write { path, source }
        })
    }

    pub(crate) fn withdraw(&self, name: &str, epoch: Epoch) {
        // It is as well if somebody removed it already.
        let _ = fs::remove_file(self.path(name, epoch));
    }

    pub(crate) fn lookup(&self, name: &str) -> Vec<Listing> {
        let of_name = self.entries().into_iter().filter(|entry| entry.name == name);
        of_name
            .map(|Entry { epoch, contact, .. }| Listing { epoch, contact: ContactText(contact.to_string()) })
            .collect()
    }

    /// Every readable entry, by name and epoch. A file that is no entry is passed over.
    pub fn entries(&self) -> Vec<Entry> {
        let Ok(files) = fs::read_dir(&self.directory) else { return Vec::new() };
        let mut entries: Vec<Entry> = files.flatten().filter_map(|file| read_entry(&file.path())).collect();
        entries.sort_by(|a, b| (&a.name, a.epoch).cmp(&(&b.name, b.epoch)));
        entries
    }
}

fn check_private(path: &Path, uid: u32) -> Result<(), RendezvousError> {
    let metadata = fs::symlink_metadata(path);
    let metadata = metadata.map_err(|source| RendezvousError::Directory { path: path.to_owned(), source })?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if owner != uid || mode & 0o077 != 0 || !metadata.is_dir() {
        return Err(RendezvousError::Foreign { path: path.to_owned(), owner, mode });
    }
    Ok(())
}

fn write_entry(aside: &Path, path: &Path, contact: &Contact) -> io::Result<()> {
    let mut file = fs::File::create(aside)?;
    writeln!(file, "{contact}")?;
    drop(file);
    fs::rename(aside, path)
}

fn read_entry(path: &Path) -> Option<Entry> {
    let file = path.file_name()?.to_str()?;
    let (name, epoch) = file.rsplit_once('.')?;
    if name.is_empty() || name.starts_with('.') || fs::metadata(path).ok()?.len() > LIMIT_ENTRY_BYTES {
        return None;
    }
    let contact = fs::read_to_string(path).ok()?.trim_end().parse().ok()?;
    Some(Entry { name: name.to_owned(), epoch: epoch.parse().ok()?, contact })
}
