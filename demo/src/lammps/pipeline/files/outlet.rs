//! The side that writes: one file for each step and rank.

use std::fs;
use std::path::{Path, PathBuf};

use flexpath::Variable;
use hdf5_metno::{File, FileBuilder, H5Type};

use super::{FilesError, end_file, step_file, unfinished};

/// One rank's side of a stream of files.
pub(in super::super) struct FilesOutlet {
    folder: PathBuf,
    rank: u32,
    ranks: u32,
    steps: u64,
}

/// A file that is being written.
pub(in super::super) struct Storing {
    file: File,
    path: PathBuf,
}

impl FilesOutlet {
    pub(in super::super) fn open(folder: &Path, rank: u32, ranks: u32) -> Result<Self, FilesError> {
        fs::create_dir_all(folder).map_err(FilesError::io(folder))?;
        Ok(FilesOutlet { folder: folder.to_owned(), rank, ranks, steps: 0 })
    }

    pub(in super::super) fn steps(&self) -> u64 {
        self.steps
    }

    pub(in super::super) fn begin(&self) -> Result<Storing, FilesError> {
        let path = step_file(&self.folder, self.steps, self.rank, self.ranks);
        let file = FileBuilder::new()
            .with_fapl(|properties| properties.libver_latest())
            .create(unfinished(&path))
            .map_err(FilesError::hdf5(&path))?;
        Ok(Storing { file, path })
    }

    /// Close the file, and give it the name that says that it is complete.
    pub(in super::super) fn end(&mut self, step: Storing) -> Result<(), FilesError> {
        let Storing { file, path } = step;
        file.close().map_err(FilesError::hdf5(&path))?;
        fs::rename(unfinished(&path), &path).map_err(FilesError::io(&path))?;
        self.steps += 1;
        Ok(())
    }

    pub(in super::super) fn close(self) -> Result<(), FilesError> {
        let path = end_file(&self.folder, self.rank, self.ranks);
        fs::write(unfinished(&path), self.steps.to_string()).map_err(FilesError::io(&path))?;
        fs::rename(unfinished(&path), &path).map_err(FilesError::io(&path))
    }
}

impl Storing {
    /// Write a variable: a scalar, a whole array, or this rank's rows of a joined one.
    pub(in super::super) fn put<T: H5Type>(
        &mut self,
        variable: &Variable,
        elements: &[T],
    ) -> Result<(), FilesError> {
        let name = variable.name();
        let extents = extents(variable, elements.len());
        let built = match extents.is_empty() {
            true => self.file.new_dataset::<T>().create(name),
            false => self.file.new_dataset::<T>().shape(extents).create(name),
        };
        let stored = built.map_err(FilesError::hdf5(&self.path))?;
        if elements.is_empty() {
            return Ok(());
        }
        stored.write_raw(elements).map_err(FilesError::hdf5(&self.path))
    }
}

/// The extents of what is put; rows are counted.
fn extents(variable: &Variable, count: usize) -> Vec<usize> {
    let mut extents: Vec<usize> = variable
        .shape()
        .dims()
        .as_slice()
        .iter()
        .map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX))
        .collect();
    if let [rows @ 0, row @ ..] = extents.as_mut_slice() {
        *rows = count / row.iter().product::<usize>().max(1);
    }
    extents
}
