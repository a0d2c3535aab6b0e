//! How the runs of a copy repeat, wherever they begin: parts that are cut alike share it.

use super::copy::{copy_beside, copy_nest, mismatch};
use super::offsets::Axes;
use super::transpose::{Transpose, copy_transposed};
use super::{CopyError, Runs};

/// Runs in bytes, without where the first one is. Many boxes of one size in one array have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunPattern {
    run_bytes: u64,
    axes: Axes,
    len_bytes: u64,
    /// One past the last byte touched at source and destination, from the first one on.
    ends: (u64, u64),
}

impl RunPattern {
    /// The pattern of these runs, and where the first of them begins at source and destination, in bytes. `None` if
    /// that is more than can be counted.
    pub fn of(runs: &Runs, element_size: usize) -> Option<(Self, (u64, u64))> {
        let size = element_size as u64;
        let (source_end, destination_end) = runs.ends();
        let ends = (source_end.checked_mul(size)?, destination_end.checked_mul(size)?);
        // Every stride lies within the ends, as an axis repeats at least once.
        let first = runs.first;
        let start = (first.source_offset * size, first.destination_offset * size);
        let ends = (ends.0 - start.0, ends.1 - start.1);
        // No two elements have the same place, so all of them together are no longer than the ends.
        let (run_bytes, len_bytes) = (first.len * size, runs.element_count() * size);
        Some((Self { run_bytes, axes: runs.axes.scaled(size), len_bytes, ends }, start))
    }

    /// How many bytes are copied.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// How many bytes each run has.
    pub fn run_bytes(&self) -> u64 {
        self.run_bytes
    }

    /// Copies the runs, of which the first begins there at source and destination, in bytes. On an error nothing was
    /// written.
    pub fn copy(&self, source: &[u8], destination: &mut [u8], start: (u64, u64)) -> Result<(), CopyError> {
        self.check((source.len(), destination.len()), start)?;
        if self.run_bytes == 0 {
            return Ok(());
        }
        if self.axes.as_slice().is_empty() {
            let (from, to, len) = (start.0 as usize, start.1 as usize, self.run_bytes as usize);
            destination[to..to + len].copy_from_slice(&source[from..from + len]);
            return Ok(());
        }
        match Transpose::of(self.axes, self.run_bytes) {
            Some(transpose) => copy_transposed(source, destination, start, &transpose),
            None => copy_nest(source, destination, self.run_bytes as usize, start, self.axes),
        }
        Ok(())
    }

    fn check(&self, (source, destination): (usize, usize), start: (u64, u64)) -> Result<(), CopyError> {
        let (from, to) = (start.0.checked_add(self.ends.0), start.1.checked_add(self.ends.1));
        let lies_within = |end: Option<u64>, len: usize| end.is_some_and(|end| end <= len as u64);
        if lies_within(from, source) && lies_within(to, destination) {
            return Ok(());
        }
        Err(mismatch((source, destination), start, self.ends))
    }

    /// Whether it has several runs that are copied one by one: then parts that lie beside one another are copied together.
    pub fn has_rows(&self) -> bool {
        !self.axes.as_slice().is_empty()
            && self.run_bytes > 0
            && Transpose::of(self.axes, self.run_bytes).is_none()
    }

    /// Copies a part of each source, with where its first run begins there, in bytes. At the destination the first run of the
    /// first part begins at `start`, and that of each other where that of the one before ends. So the destination is written
    /// row by row. Where a source is too short nothing was written.
    pub fn copy_beside(
        &self,
        sources: &[(&[u8], u64)],
        destination: &mut [u8],
        start: u64,
    ) -> Result<(), CopyError> {
        let begin = |number: usize| start.saturating_add(self.run_bytes.saturating_mul(number as u64));
        for (number, (source, first)) in sources.iter().enumerate() {
            self.check((source.len(), destination.len()), (*first, begin(number)))?;
        }
        if self.has_rows() && sources.len() > 1 {
            copy_beside(sources, destination, self.run_bytes as usize, start, self.axes);
            return Ok(());
        }
        for (number, (source, first)) in sources.iter().enumerate() {
            self.copy(source, destination, (*first, begin(number)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::MemoryOrder::{ColumnMajor, RowMajor};
    use crate::runs::{DenseArray, copy_runs};
    use crate::{MemoryOrder, Region};

    /// The runs of a box of an array of 6 x 5 x 7 elements, from a block that is the box.
    fn runs(
        corner: [u64; 3],
        count: [u64; 3],
        order: MemoryOrder,
    ) -> Result<Runs, Box<dyn std::error::Error>> {
        let (part, array) = (Region::new(corner, count)?, Region::new([0; 3], [6, 5, 7])?);
        let (block, array) = (DenseArray::new(part, order), DenseArray::new(array, RowMajor));
        Ok(Runs::between(&block, &array, &part.into())?)
    }

    #[test]
    fn boxes_of_one_size_share_a_pattern_and_it_copies_as_their_runs_do()
    -> Result<(), Box<dyn std::error::Error>> {
        let source: Vec<u8> = (0..=255).cycle().take(2 * 3 * 4 * 8).collect();
        for (count, order) in
            [([2, 3, 4], RowMajor), ([2, 3, 4], ColumnMajor), ([1, 1, 1], RowMajor), ([3, 1, 7], RowMajor)]
        {
            for size in [1, 3, 8] {
                let mut patterns = Vec::new();
                for corner in [[0, 0, 0], [1, 2, 0], [3, 1, 0]] {
                    let runs = runs(corner, count, order)?;
                    let (pattern, start) = RunPattern::of(&runs, size).ok_or("it can be counted")?;
                    let (mut expected, mut found) = (vec![0; 210 * size], vec![0; 210 * size]);
                    copy_runs(&source, &mut expected, size, &runs)?;
                    pattern.copy(&source, &mut found, start)?;
                    assert_eq!(found, expected, "{count:?} of {size} bytes at {corner:?}");
                    assert_eq!(pattern.len_bytes(), runs.element_count() * size as u64);
                    patterns.push(pattern);
                }
                assert!(patterns.iter().all(|pattern| *pattern == patterns[0]), "{count:?}");
            }
        }
        Ok(())
    }

    /// Boxes that lie beside one another along the last dimension: together as one by one, of each size that has a loop.
    #[test]
    fn boxes_beside_one_another_are_copied_together() -> Result<(), Box<dyn std::error::Error>> {
        let array = DenseArray::new(Region::new([0; 3], [5, 4, 97])?, RowMajor);
        for (size, along, order) in [
            (1, 8, RowMajor),
            (2, 8, RowMajor),
            (8, 1, RowMajor),
            (8, 3, RowMajor),
            (8, 8, RowMajor),
            (8, 16, RowMajor),
            (8, 32, RowMajor),
            (4, 8, RowMajor),
            (4, 4, RowMajor),
            (8, 3, ColumnMajor),
        ] {
            let count = [3, 2, along];
            let part_bytes = (3 * 2 * along) as usize * size;
            let blocks: Vec<Vec<u8>> =
                (0..3).map(|block| (0..part_bytes).map(|at| (at * 7 + block * 91) as u8).collect()).collect();
            let mut expected = vec![0; 5 * 4 * 97 * size];
            let mut found = expected.clone();
            let mut patterns = Vec::new();
            for (block, bytes) in (0..).zip(&blocks) {
                let part = Region::new([1, 2, 1 + block * along], count)?;
                let runs = Runs::between(&DenseArray::new(part, order), &array, &part.into())?;
                copy_runs(bytes, &mut expected, size, &runs)?;
                patterns.push(RunPattern::of(&runs, size).ok_or("it can be counted")?);
            }
            let (pattern, start) = patterns[0];
            assert!(patterns.iter().all(|(other, _)| *other == pattern));
            let is_beside =
                |pair: &[(RunPattern, (u64, u64))]| pair[0].1.1 + pattern.run_bytes() == pair[1].1.1;
            if order == ColumnMajor {
                assert!(!pattern.has_rows(), "it is a transpose");
                continue;
            }
            assert!(pattern.has_rows() && patterns.windows(2).all(is_beside), "{size} x {along}");
            let sources: Vec<(&[u8], u64)> = blocks.iter().map(|block| (&block[..], start.0)).collect();
            pattern.copy_beside(&sources, &mut found, start.1)?;
            assert_eq!(found, expected, "{size} x {along}");
            // The second is too short, and the array for the third.
            let mut untouched = vec![0; found.len()];
            let short = [sources[0], (&sources[1].0[1..], start.0), sources[2]];
            assert!(pattern.copy_beside(&short, &mut untouched, start.1).is_err());
            let end = (start.1 + 2 * pattern.run_bytes() + pattern.ends.1) as usize;
            assert!(pattern.copy_beside(&sources, &mut untouched[..end - 1], start.1).is_err());
            assert!(pattern.copy_beside(&sources, &mut untouched, u64::MAX - 1).is_err());
            assert_eq!(pattern.copy_beside(&[], &mut [], start.1), Ok(()), "there is nothing to copy");
            assert!(untouched.iter().all(|byte| *byte == 0));
        }
        Ok(())
    }

    #[test]
    fn what_does_not_lie_within_is_refused_and_nothing_is_written() -> Result<(), Box<dyn std::error::Error>>
    {
        let (pattern, start) = RunPattern::of(&runs([3, 2, 3], [2, 2, 4], RowMajor)?, 8).ok_or("counted")?;
        let (source, mut whole) = (vec![1; 16 * 8], vec![0; 6 * 5 * 7 * 8]);
        let end = (start.1 + pattern.ends.1) as usize;
        let refused = pattern.copy(&source[1..], &mut whole, start);
        let (needed_bytes, len_bytes) = (128, 127);
        assert_eq!(refused, Err(CopyError::SourceTooShort { needed_bytes, len_bytes }));
        let refused = pattern.copy(&source, &mut whole[..end - 1], start);
        let (needed_bytes, len_bytes) = (end as u128, end - 1);
        assert_eq!(refused, Err(CopyError::DestinationTooShort { needed_bytes, len_bytes }));
        assert!(pattern.copy(&source, &mut whole, (u64::MAX, start.1)).is_err());
        assert!(pattern.copy(&source, &mut whole, (0, u64::MAX)).is_err());
        assert!(whole.iter().all(|byte| *byte == 0));
        pattern.copy(&source, &mut whole[..end], start)?;
        Ok(())
    }

    #[test]
    fn nothing_and_what_cannot_be_counted() -> Result<(), Box<dyn std::error::Error>> {
        let between = |whole: Region, part: Region| {
            let array = DenseArray::new(whole, RowMajor);
            Runs::between(&array, &array, &part.into())
        };
        let far = Region::new([0], [1 << 61])?;
        assert_eq!(RunPattern::of(&between(far, far)?, 8), None);
        let runs = between(Region::new([0], [4])?, Region::new([2], [0])?)?;
        let (pattern, start) = RunPattern::of(&runs, 8).ok_or("counted")?;
        assert_eq!((pattern.len_bytes(), pattern.copy(&[], &mut [], start)), (0, Ok(())));
        Ok(())
    }
}
