//! The folder of a store: files that have their name when they are whole.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use zarrs::storage::{
    Bytes, OffsetBytesIterator, StorageError, StoreKey, StorePrefix, WritableStorageTraits,
};

use crate::error::SinkError;

/// The file of a node that says what it is.
pub(crate) const DOCUMENT: &str = "zarr.json";

/// The folder of a store. Files are written under another name in the same folder, and renamed.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    durable: bool,
    /// With `durable`: folders with new names that are not on the device yet.
    changed: Mutex<BTreeSet<PathBuf>>,
    /// Keeps others from writing here.
    lock: OnceLock<File>,
}

impl Folder {
    pub(crate) fn new(path: &Path, durable: bool) -> Self {
        let (changed, lock) = (Mutex::default(), OnceLock::new());
        Self { path: path.to_owned(), durable, changed, lock }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file or folder of that name.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether there is nothing in it, but for what a kill may have left before the first step.
    pub(crate) fn is_vacant(&self) -> Result<bool, SinkError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(SinkError::file(&self.path)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(SinkError::file(&self.path))?;
            if entry.path() != unfinished(&self.place(DOCUMENT)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the folder if it is not there. From now on no other tee writes there.
    pub(crate) fn claim(&self) -> Result<(), SinkError> {
        if self.lock.get().is_some() {
            return Ok(());
        }
        fs::create_dir_all(&self.path).map_err(SinkError::file(&self.path))?;
        let folder = File::open(&self.path).map_err(SinkError::file(&self.path))?;
        // Some file systems have no locks of folders: there nothing keeps a second one away.
        if let Err(TryLockError::WouldBlock) = folder.try_lock() {
            let path = self.path.display();
            return Err(SinkError::Target(format!(
                "{path}: another flexpath tee writes this store: wait for its end, or name another folder"
            )));
        }
        self.lock.get_or_init(|| folder);
        Ok(())
    }

    /// Writes a file. Whoever reads it finds the old one or the new one, whole.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), SinkError> {
        self.replace(name, bytes).map_err(SinkError::file(&self.place(name)))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.place(name);
        let unfinished = unfinished(&path);
        let mut file = match File::create(&unfinished) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(path.parent().unwrap_or(&self.path))?;
                File::create(&unfinished)?
            }
            opened => opened?,
        };
        file.write_all(bytes)?;
        if self.durable {
            file.sync_all()?;
            let own = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.path));
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(own.map(Path::to_owned));
        }
        fs::rename(&unfinished, &path)
    }

    /// With `durable`: all names that were given are on the device when this returns.
    pub(crate) fn settle(&self) -> Result<(), SinkError> {
        let changed = std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner));
        for folder in changed.iter().rev() {
            File::open(folder).and_then(|opened| opened.sync_all()).map_err(SinkError::file(folder))?;
        }
        Ok(())
    }

    /// Removes a file, or a folder with all that is in it, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), SinkError> {
        let path = self.place(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SinkError::file(&path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// What a file is called while it is written.
fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.unfinished"))
}

/// What arrays need to store their chunks. Their chunks are stored whole.
impl WritableStorageTraits for Folder {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        let failed = |error: io::Error| {
            let place = self.place(key.as_str());
            StorageError::from(Arc::new(io::Error::new(
                error.kind(),
                format!("{}: {error}", place.display()),
            )))
        };
        self.replace(key.as_str(), &value).map_err(failed)
    }

    fn set_partial_many(&self, key: &StoreKey, _parts: OffsetBytesIterator<'_>) -> Result<(), StorageError> {
        Err(StorageError::Unsupported(format!("{key} is written whole or not at all")))
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        self.remove(key.as_str()).map_err(|error| StorageError::Other(error.to_string()))
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        self.remove(prefix.as_str()).map_err(|error| StorageError::Other(error.to_string()))
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}
