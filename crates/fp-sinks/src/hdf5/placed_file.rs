//! A file in which every array has its place, and gets its data by plain writes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use fp_core::{BlockId, Dims, MemoryOrder, Region, Shape};

use crate::error::SinkError;
use crate::part::Part;

/// A file in which every array has its place. It is removed unless it is kept.
pub(crate) struct PlacedFile {
    path: PathBuf,
    file: File,
    places: BTreeMap<(usize, Option<BlockId>), Place>,
    is_kept: bool,
}

/// Where an array lies in a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its first byte.
    pub(crate) offset: u64,
    /// Its extent: it lies densely, in row-major order.
    pub(crate) shape: Shape,
    /// The bytes of an element.
    pub(crate) size: usize,
}

impl PlacedFile {
    pub(crate) fn new(path: PathBuf, file: File, places: BTreeMap<(usize, Option<BlockId>), Place>) -> Self {
        Self { path, file, places, is_kept: false }
    }

    /// Writes a part of a variable to its place. A part without a place is written nowhere.
    pub(crate) fn write(&self, part: &Part, bytes: &[u8]) -> Result<(), SinkError> {
        let Some(place) = self.places.get(&(part.variable, part.block)) else { return Ok(()) };
        let mut rest = bytes;
        for (element, count) in runs(&place.shape, &part.region) {
            let (run, behind) = rest.split_at(rest.len().min(count as usize * place.size));
            self.write_at(place.offset + element * place.size as u64, run)?;
            rest = behind;
        }
        Ok(())
    }

    /// Writes bytes to a place.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), SinkError> {
        self.file.write_all_at(bytes, offset).map_err(SinkError::file(&self.path))
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

/// Where the elements of a region follow one another in an array: the first of each run, and how many they are.
fn runs(shape: &Shape, region: &Region) -> Vec<(u64, u64)> {
    if region.is_empty() {
        return Vec::new();
    }
    let (whole, count) = (Region::whole(shape), region.count());
    let (mut dims, mut len) = (region.ndims(), 1);
    while dims > 0 {
        dims -= 1;
        len *= count[dims];
        if count[dims] != shape.dims()[dims] {
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

    fn runs_of<const N: usize>(shape: [u64; N], start: [u64; N], count: [u64; N]) -> Vec<(u64, u64)> {
        runs(&Shape::new(shape).unwrap(), &Region::new(start, count).unwrap())
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
