//! The side that reads: a step is there when the files of all ranks are; only what is asked for is read.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hdf5_metno::{File, H5Type};

use super::wait::Folder;
use super::{FilesError, end_file, step_file};

/// One rank's side of a stream of files.
pub(in super::super) struct FilesInlet {
    folder: Folder,
    /// How many ranks write, once that is known.
    ranks: Option<u32>,
    steps: u64,
}

/// A step in files. Each is opened when something of it is asked for.
pub(in super::super) struct Stored {
    folder: PathBuf,
    step: u64,
    ranks: u32,
    files: RefCell<BTreeMap<u32, File>>,
    bytes: Cell<u64>,
}

impl FilesInlet {
    pub(in super::super) fn open(folder: &Path) -> Result<Self, FilesError> {
        Ok(FilesInlet { folder: Folder::watch(folder)?, ranks: None, steps: 0 })
    }

    /// The next step; `None` when the stream has ended in order.
    pub(in super::super) fn step(&mut self, patience: Duration) -> Result<Option<Stored>, FilesError> {
        let (folder, step) = (self.folder.path(), self.steps);
        let ranks = match self.ranks {
            Some(ranks) => ranks,
            None => {
                let missing = folder.join("step-000000.0-of-*.h5");
                self.folder.wait(patience, &missing, || ranks_of(folder))?
            }
        };
        self.ranks = Some(ranks);
        for rank in 0..ranks {
            let (path, end) = (step_file(folder, step, rank, ranks), end_file(folder, rank, ranks));
            let is_there = || if path.exists() { Ok(Some(true)) } else { has_ended(&end, step) };
            if !self.folder.wait(patience, &path, is_there)? {
                return Ok(None);
            }
        }
        self.steps += 1;
        let (folder, files, bytes) = (folder.to_owned(), RefCell::default(), Cell::default());
        Ok(Some(Stored { folder, step, ranks, files, bytes }))
    }
}

/// Any first file, or last one, of rank 0 tells how many ranks there are.
fn ranks_of(folder: &Path) -> Result<Option<u32>, FilesError> {
    for entry in fs::read_dir(folder).map_err(FilesError::io(folder))? {
        let name = entry.map_err(FilesError::io(folder))?.file_name();
        let name = name.to_str().unwrap_or_default();
        let rest = name.strip_prefix("step-000000.0-of-").and_then(|rest| rest.strip_suffix(".h5"));
        let rest = rest.or_else(|| name.strip_prefix("end.0-of-"));
        if let Some(ranks) = rest.and_then(|rest| rest.parse().ok()) {
            return Ok(Some(ranks));
        }
    }
    Ok(None)
}

/// `Some(false)` when the rank wrote no more than so many steps, and will write no other.
fn has_ended(end: &Path, steps: u64) -> Result<Option<bool>, FilesError> {
    let text = match fs::read_to_string(end) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FilesError::io(end)(error)),
    };
    match text.parse::<u64>() {
        Ok(written) => Ok((written <= steps).then_some(false)),
        Err(_) => Err(FilesError::NoNumber { path: end.to_owned(), text }),
    }
}

impl Stored {
    /// Bytes that were read so far.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    pub(in super::super) fn scalar<T: H5Type + Copy>(&self, variable: &str) -> Result<T, FilesError> {
        self.list::<T>(variable)?.first().copied().ok_or_else(|| self.missing(variable))
    }

    /// All ranks' parts, in their order; a rank that put nothing has none.
    pub(in super::super) fn list<T: H5Type>(&self, variable: &str) -> Result<Vec<T>, FilesError> {
        let mut all = None;
        for rank in 0..self.ranks {
            match (self.part(variable, rank)?, &mut all) {
                (None, _) => {}
                (Some(part), None) => all = Some(part),
                (Some(part), Some(all)) => all.extend(part),
            }
        }
        all.ok_or_else(|| self.missing(variable))
    }

    pub(in super::super) fn list_of_rank<T: H5Type>(
        &self,
        variable: &str,
        rank: u32,
    ) -> Result<Vec<T>, FilesError> {
        self.part(variable, rank)?.ok_or_else(|| self.missing(variable))
    }

    fn missing(&self, variable: &str) -> FilesError {
        FilesError::NoVariable { folder: self.folder.clone(), step: self.step, variable: variable.to_owned() }
    }

    /// What one rank put of a variable.
    fn part<T: H5Type>(&self, variable: &str, rank: u32) -> Result<Option<Vec<T>>, FilesError> {
        let path = step_file(&self.folder, self.step, rank, self.ranks);
        let mut files = self.files.borrow_mut();
        if let std::collections::btree_map::Entry::Vacant(place) = files.entry(rank) {
            place.insert(File::open(&path).map_err(FilesError::hdf5(&path))?);
        }
        let Some(file) = files.get(&rank).filter(|file| file.link_exists(variable)) else { return Ok(None) };
        let stored = file.dataset(variable).map_err(FilesError::hdf5(&path))?;
        if stored.size() == 0 {
            return Ok(Some(Vec::new()));
        }
        let part = stored.read_raw::<T>().map_err(FilesError::hdf5(&path))?;
        self.bytes.set(self.bytes.get() + size_of_val(part.as_slice()) as u64);
        Ok(Some(part))
    }
}
