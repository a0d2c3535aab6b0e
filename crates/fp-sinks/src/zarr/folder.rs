//! The folder of a store: files that have their name when they are whole.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use zarrs::storage::Bytes;

use super::document::STEP;
use super::files::{DOCUMENT, Files, is_unbegun};
use crate::error::SinkError;

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
}

impl Files for Folder {
    fn place(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.path.clone() } else { self.path.join(name) }
    }

    fn is_vacant(&self) -> Result<bool, SinkError> {
        Ok(names(&self.path)?.iter().all(|name| *name == unfinished_name(DOCUMENT) || name == STEP)
            && names(&self.path.join(STEP))?
                .iter()
                .all(|name| *name == unfinished_name(DOCUMENT) || is_unbegun(&format!("{STEP}/{name}"))))
    }

    /// Makes the folder if it is not there. From now on no other tee writes there.
    fn claim(&self) -> Result<(), SinkError> {
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

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SinkError> {
        let path = self.place(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SinkError::file(&path)(error)),
        }
    }

    fn write(&self, name: &str, bytes: Bytes) -> Result<(), SinkError> {
        self.replace(name, &bytes).map_err(SinkError::file(&self.place(name)))
    }

    fn settle(&self) -> Result<(), SinkError> {
        let changed = std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner));
        for folder in changed.iter().rev() {
            File::open(folder).and_then(|opened| opened.sync_all()).map_err(SinkError::file(folder))?;
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), SinkError> {
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
    path.with_file_name(unfinished_name(&path.file_name().unwrap_or_default().to_string_lossy()))
}

fn unfinished_name(name: &str) -> String {
    format!(".{name}.unfinished")
}

/// What is in a folder, if it is there.
fn names(path: &Path) -> Result<Vec<String>, SinkError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SinkError::file(path)(error)),
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<_>>().map_err(SinkError::file(path))
}
