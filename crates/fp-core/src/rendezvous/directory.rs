//! A rendezvous that is a directory: one small file for each opening of a name, `name.<epoch>`, written aside and
//! renamed.

use crate::error::rendezvous::RendezvousError;
use crate::rendezvous::entry::Entry;
use fp_transport::Contact;
use fp_types::Epoch;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Bytes of an entry that are looked at.
const LIMIT_ENTRY_BYTES: u64 = 4096;

/// A directory that is there.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// This directory, which must be there: one that was made for a mistyped path would have nobody in it.
    pub(crate) fn at(path: PathBuf) -> Result<Self, RendezvousError> {
        match fs::read_dir(&path) {
            Ok(_) => Ok(Self { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(RendezvousError::Missing { path }),
            Err(source) => Err(RendezvousError::Directory { path, source }),
        }
    }

    /// One that nobody named: in the runtime directory, else in the temporary directory, for this user alone.
    pub(crate) fn unnamed() -> Result<Self, RendezvousError> {
        if let Some(runtime) = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
            return Self::made_at(Path::new(&runtime).join("flexpath"));
        }
        let uid = rustix::process::geteuid().as_raw();
        let made = Self::made_at(std::env::temp_dir().join(format!("flexpath-{uid}")))?;
        check_private(&made.path, uid)?;
        Ok(made)
    }

    /// A directory that nobody named; made, for this user alone, if it is not there.
    fn made_at(path: PathBuf) -> Result<Self, RendezvousError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|source| RendezvousError::Directory { path: path.clone(), source })?;
        Self::at(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str, epoch: Epoch) -> PathBuf {
        self.path.join(format!("{name}.{epoch}"))
    }

    pub(crate) fn publish(&self, name: &str, epoch: Epoch, contact: &Contact) -> Result<(), RendezvousError> {
        let path = self.file(name, epoch);
        let aside = self.path.join(format!(".{name}.{epoch}.{}", std::process::id()));
        write_entry(&aside, &path, contact).map_err(|source| {
            // What was written of it is of no use to anybody.
            let _ = fs::remove_file(&aside);
            RendezvousError::Write { path, source }
        })
    }

    pub(crate) fn withdraw(&self, name: &str, epoch: Epoch) {
        // It is as well if somebody removed it already.
        let _ = fs::remove_file(self.file(name, epoch));
    }

    /// Every readable entry, by name and epoch. A file that is no entry is passed over.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, RendezvousError> {
        let files = fs::read_dir(&self.path);
        let files = files.map_err(|source| RendezvousError::Directory { path: self.path.clone(), source })?;
        let mut entries: Vec<Entry> = files.flatten().filter_map(|file| read_entry(&file.path())).collect();
        entries.sort_by(|a, b| (&a.name, a.epoch).cmp(&(&b.name, b.epoch)));
        Ok(entries)
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
