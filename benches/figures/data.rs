//! The data set: numbers in memory, of which each block is a window of its own.

use crate::Outcome;
use flexpath::bytemuck;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes of the longest block, and of each file that others copy.
pub(crate) const PART_BYTES: u64 = 256 << 20;
/// How many windows there are, and how many numbers apart.
const WINDOWS: u64 = 4096;
const APART: u64 = 8;

/// Numbers, no two alike.
pub(crate) struct Data(Vec<u64>);

impl Data {
    pub(crate) fn new() -> Self {
        let len = PART_BYTES / 8 + WINDOWS * APART;
        Self((0..len).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect())
    }

    /// The numbers of a block: others than those of its neighbours.
    pub(crate) fn block(&self, number: u64, len: u64) -> &[u64] {
        let first = (number % WINDOWS * APART) as usize;
        &self.0[first..first + len as usize]
    }

    /// What a file has that others copy.
    pub(crate) fn part(&self) -> &[u8] {
        bytemuck::cast_slice(self.block(0, PART_BYTES / 8))
    }

    /// Checks that a file has so many parts, and nothing else.
    pub(crate) fn check_file(&self, path: &Path, parts: u64) -> Outcome<()> {
        let mut file = File::open(path)?;
        let mut found = vec![0; 1 << 20];
        for expected in (0..parts).flat_map(|_| self.part().chunks_exact(1 << 20)) {
            file.read_exact(&mut found)?;
            if found != expected {
                return Err(format!("{} has other bytes", path.display()).into());
            }
        }
        match file.read(&mut found)? {
            0 => Ok(()),
            _ => Err(format!("{} is too long", path.display()).into()),
        }
    }
}
