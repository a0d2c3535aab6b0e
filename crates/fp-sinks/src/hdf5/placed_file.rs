//! A file in which every array has its place, and gets its data by plain writes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fp_core::{BlockId, Dims, MemoryOrder, Region};

use crate::error::SinkError;
use crate::hdf5::compressed::CompressedFile;
use crate::hdf5::gathered;
use crate::part::Part;
use crate::pieces::Piece;

/// Where parts of variables and of blocks go.
pub(crate) type Places = BTreeMap<(usize, Option<BlockId>), Vec<Place>>;

/// A file in which every array has its place. It is removed unless it is kept.
pub(crate) struct PlacedFile {
    path: PathBuf,
    file: File,
    places: Places,
    /// Arrays that have no place, but are compressed.
    compressed: Option<CompressedFile>,
    /// Vectors of which not all components have come yet.
    woven: Mutex<BTreeMap<(u64, Region), Woven>>,
    is_kept: bool,
}

/// Where a region of a variable, or of a block, lies in a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its first byte.
    pub(crate) offset: u64,
    /// The region, which lies densely in row-major order.
    pub(crate) region: Region,
    /// The bytes of an element.
    pub(crate) size: usize,
    /// Which component of vectors its elements are; none if they are no part of vectors.
    pub(crate) component: Option<Component>,
}

/// A component of vectors, which lie one after another in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// The first byte of the vectors, which no others have.
    pub(crate) vectors: u64,
    /// Which component it is.
    pub(crate) number: usize,
    /// How many each vector has.
    pub(crate) count: usize,
    /// How many of them come: the rest is zero.
    pub(crate) coming: usize,
}

/// Vectors that get their components.
#[derive(Debug, Default)]
struct Woven {
    bytes: Vec<u8>,
    came: usize,
}

impl PlacedFile {
    pub(crate) fn new(path: PathBuf, file: File, places: Places, compressed: Option<CompressedFile>) -> Self {
        Self { path, file, places, compressed, woven: Mutex::default(), is_kept: false }
    }

    /// Writes a part of a variable to its place. A part without a place is written nowhere.
    pub(crate) fn write(&self, part: &Part, bytes: &[u8]) -> Result<(), SinkError> {
        if let Some(written) = self.compressed.as_ref().and_then(|arrays| arrays.write(part, bytes)) {
            return written.map_err(SinkError::format(&self.path));
        }
        let places = self.places.get(&(part.variable, part.block));
        let is_its = |place: &&Place| place.region.contains(&part.region);
        let Some(place) = places.and_then(|places| places.iter().find(is_its)) else { return Ok(()) };
        let Some(component) = place.component else {
            return self.write_runs(place, &part.region, place.size, bytes);
        };
        match self.weave(component, place, &part.region, bytes) {
            Some(woven) => self.write_runs(place, &part.region, place.size * component.count, &woven),
            None => Ok(()),
        }
    }

    /// The place of a part whose elements are written as they are.
    fn plain_place(&self, part: &Part) -> Option<&Place> {
        let is_its = |place: &&Place| place.region.contains(&part.region) && place.component.is_none();
        self.places.get(&(part.variable, part.block))?.iter().find(is_its)
    }

    /// Whether a part can be written in pieces.
    pub(crate) fn takes_pieces(&self, part: &Part) -> bool {
        self.plain_place(part).is_some()
    }

    /// Writes the pieces of a part: what lies together in the file is written together.
    pub(crate) fn write_pieces(&self, part: &Part, pieces: &[Piece]) -> Result<(), SinkError> {
        let Some(place) = self.plain_place(part) else { return Ok(()) };
        let mut all: Vec<(u64, &[u8])> = Vec::new();
        for Piece { region, view } in pieces {
            let mut rest: &[u8] = view;
            for (element, count) in runs(&place.region, region) {
                let (run, behind) = rest.split_at(rest.len().min(count as usize * place.size));
                all.push((place.offset + element * place.size as u64, run));
                rest = behind;
            }
        }
        all.sort_unstable_by_key(|(offset, _)| *offset);
        gathered::write_all(&self.file, &all).map_err(SinkError::file(&self.path))
    }

    fn write_runs(&self, place: &Place, region: &Region, size: usize, bytes: &[u8]) -> Result<(), SinkError> {
        let mut rest = bytes;
        for (element, count) in runs(&place.region, region) {
            let (run, behind) = rest.split_at(rest.len().min(count as usize * size));
            self.write_at(place.offset + element * size as u64, run)?;
            rest = behind;
        }
        Ok(())
    }

    /// Adds a component to its vectors: they are whole with the last one. A rank takes all components of a region one
    /// after another, so not many wait.
    fn weave(&self, component: Component, place: &Place, region: &Region, bytes: &[u8]) -> Option<Vec<u8>> {
        let Component { vectors, number, count, coming } = component;
        let mut all = self.woven.lock().unwrap_or_else(PoisonError::into_inner);
        let zeros = place.region.start().zeros_like();
        let key = (vectors, region.translate(place.region.start(), &zeros).ok()?);
        let mut woven = all.remove(&key).unwrap_or_default();
        woven.bytes.resize(bytes.len() * count, 0);
        let into = woven.bytes.chunks_exact_mut(place.size * count);
        for (vector, element) in into.zip(bytes.chunks_exact(place.size)) {
            vector[number * place.size..(number + 1) * place.size].copy_from_slice(element);
        }
        woven.came += 1;
        if woven.came == coming {
            return Some(woven.bytes);
        }
        all.insert(key, woven);
        None
    }

    /// Writes bytes to a place.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), SinkError> {
        self.file.write_all_at(bytes, offset).map_err(SinkError::file(&self.path))
    }

    /// Nothing more is written.
    pub(crate) fn close(&mut self) -> Result<(), SinkError> {
        let closed = self.compressed.take().map_or(Ok(()), CompressedFile::close);
        closed.map_err(SinkError::format(&self.path))
    }

    /// It is whole.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for PlacedFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // If it stays, the next run removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Where the elements of a region follow one another in a larger one: the first of each run, and how many they are.
fn runs(whole: &Region, region: &Region) -> Vec<(u64, u64)> {
    if region.is_empty() {
        return Vec::new();
    }
    let count = region.count();
    let (mut dims, mut len) = (region.ndims(), 1);
    while dims > 0 {
        dims -= 1;
        len *= count[dims];
        if count[dims] != whole.count()[dims] {
            break;
        }
    }
    let mut point: Dims = *region.start();
    let mut all = Vec::new();
    loop {
        all.extend(whole.linear_offset(&point, MemoryOrder::RowMajor).map(|element| (element, len)));
        let next = (0..dims).rev().find(|dim| point[*dim] + 1 < region.end()[*dim]);
        let Some(next) = next else { return all };
        point[next] += 1;
        (next + 1..dims).for_each(|dim| point[dim] = region.start()[dim]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::Shape;

    fn runs_of<const N: usize>(shape: [u64; N], start: [u64; N], count: [u64; N]) -> Vec<(u64, u64)> {
        runs(&Region::whole(&Shape::new(shape).unwrap()), &Region::new(start, count).unwrap())
    }

    #[test]
    fn elements_that_follow_one_another_are_one_run() {
        assert_eq!(runs_of([4, 3, 2], [1, 0, 0], [2, 3, 2]), [(6, 12)]);
        assert_eq!(runs_of([4, 3, 2], [1, 1, 0], [2, 2, 2]), [(8, 4), (14, 4)]);
        assert_eq!(runs_of([2, 2, 2], [0, 0, 1], [2, 2, 1]), [(1, 1), (3, 1), (5, 1), (7, 1)]);
        assert_eq!(runs_of([2, 3], [0, 1], [2, 2]), [(1, 2), (4, 2)]);
        assert_eq!(runs_of([], [], []), [(0, 1)]);
        assert_eq!(runs_of([3], [0], [0]), []);
    }
}
