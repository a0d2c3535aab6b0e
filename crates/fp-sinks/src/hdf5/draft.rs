//! A file whose groups, datasets and attributes are made before it has data.
//!
//! Each array gets its place in the file at once. HDF5 then closes the file, and plain writes bring data
//! to its place. So several threads write together. Through the library they would do so one after the other.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use fp_core::BlockId;
use hdf5_metno::plist::dataset_create::{AllocTime, FillTime};
use hdf5_metno::types::TypeDescriptor;
use hdf5_metno::{Dataset, Datatype, Error, File, Group};

use crate::error::SinkError;
use crate::hdf5::attributes::text;
use crate::hdf5::compressed::{Compressed, CompressedArrays, LEVEL};
use crate::hdf5::placed_file::{Place, PlacedFile, Places};

/// A file whose groups, datasets and attributes are made before it has data.
pub(crate) struct Draft {
    path: PathBuf,
    file: File,
    places: Places,
    /// What is known already, and where it goes.
    values: Vec<(u64, Vec<u8>)>,
    /// Whether arrays of numbers are to be compressed.
    pub(crate) compresses: bool,
    /// Those that are: they are written through the library.
    compressed: CompressedArrays,
}

impl Draft {
    /// Begins a file in place of what is there.
    pub(crate) fn create(path: &Path) -> Result<Self, SinkError> {
        let file = File::create(path).map_err(SinkError::format(path))?;
        let (path, places, values) = (path.to_owned(), Places::new(), Vec::new());
        Ok(Self { path, file, places, values, compresses: false, compressed: CompressedArrays::default() })
    }

    /// The file's name while it is written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The group of that path, made if it is not there. The empty path is that of the root.
    pub(crate) fn group(&self, path: &str) -> Result<Group, Error> {
        match path {
            "" => self.file.group("/"),
            path if self.file.link_exists(path) => self.file.group(path),
            path => self.file.create_group(path),
        }
    }

    /// Makes a dataset, and says where its data begins in the file; nowhere if it has none.
    pub(crate) fn dataset(
        &self,
        path: &str,
        descriptor: &TypeDescriptor,
        shape: &[u64],
    ) -> Result<(Dataset, u64), Error> {
        // Types are taken as they are: those of records lie as in memory.
        let datatype = Datatype::from_descriptor(descriptor)?;
        let shape: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
        let dataset = self
            .file
            .new_dataset_builder()
            .empty_as(datatype)
            .shape(shape)
            .no_chunk()
            .alloc_time(Some(AllocTime::Early))
            .fill_time(FillTime::Never)
            .create(path)?;
        let offset = dataset.offset();
        match offset {
            Some(offset) => Ok((dataset, offset)),
            None if dataset.size() == 0 => Ok((dataset, 0)),
            None => Err(Error::from(format!("{path} got no place in the file"))),
        }
    }

    /// Makes a dataset that is compressed in chunks of these extents. It is that of a variable, or of a block of it.
    pub(crate) fn compressed(
        &mut self,
        path: &str,
        (variable, block): (usize, Option<BlockId>),
        array: Compressed,
    ) -> Result<Dataset, Error> {
        let extents = |extents: &[u64]| extents.iter().map(|extent| *extent as usize).collect::<Vec<usize>>();
        let dataset = self
            .file
            .new_dataset_builder()
            .empty_as(&array.descriptor)
            .shape(extents(array.region.count()))
            .chunk(extents(&array.chunk))
            .shuffle()
            .deflate(LEVEL)
            .fill_time(FillTime::Never)
            .create(path)?;
        self.compressed.insert((variable, block), dataset.clone(), array);
        Ok(dataset)
    }

    /// Makes a dataset of what is known already.
    pub(crate) fn known(
        &mut self,
        path: &str,
        descriptor: &TypeDescriptor,
        shape: &[u64],
        bytes: Vec<u8>,
    ) -> Result<Dataset, Error> {
        let (dataset, offset) = self.dataset(path, descriptor, shape)?;
        self.values.push((offset, bytes));
        Ok(dataset)
    }

    /// Makes a dataset of one text.
    pub(crate) fn text(&self, path: &str, value: &str) -> Result<Dataset, Error> {
        let value = text(value)?;
        let dataset = self.file.new_dataset::<hdf5_metno::types::VarLenUnicode>().create(path)?;
        dataset.write_scalar(&value)?;
        Ok(dataset)
    }

    /// Says where a variable goes, or a block of it.
    pub(crate) fn place(&mut self, variable: usize, block: Option<BlockId>, place: Place) {
        self.places.entry((variable, block)).or_default().push(place);
    }

    /// Gives it up.
    pub(crate) fn discard(self) {
        let Self { path, file, .. } = self;
        drop(file);
        // If it stays, the next run removes it.
        let _ = fs::remove_file(path);
    }

    /// The file, to be filled.
    pub(crate) fn placed(self) -> Result<PlacedFile, SinkError> {
        let Self { path, file, places, values, compressed, .. } = self;
        // Places stay as they are, whether the library still has the file or not.
        let (closed, compressed) = match compressed.is_empty() {
            true => (file.close(), None),
            false => (file.flush(), Some(compressed.of_file(file))),
        };
        let closed = closed.map_err(SinkError::format(&path));
        let opened =
            closed.and_then(|()| OpenOptions::new().write(true).open(&path).map_err(SinkError::file(&path)));
        let placed = opened.and_then(|file| {
            let placed = PlacedFile::new(path.clone(), file, places, compressed);
            values.iter().try_for_each(|(offset, bytes)| placed.write_at(*offset, bytes))?;
            Ok(placed)
        });
        if placed.is_err() {
            // Half a file is of no use. If it stays, the next run removes it.
            let _ = fs::remove_file(&path);
        }
        placed
    }
}
