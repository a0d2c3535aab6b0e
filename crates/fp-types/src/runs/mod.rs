//! Contiguous copies between any two memory layouts.
//!
//! A copy of a part of an array from one [`DenseArray`] to another is an offset on each side and up to eight axes. Each
//! axis has a count and a stride on each side. [`Runs`] is that: a small `Copy` value. Axes that continue one another
//! on both sides are merged. So whole blocks become a single run and full trailing dimensions never split one.
//! Iterating yields [`Run`]s, or [`RunSeries`] of equal runs at fixed distances, and [`copy_runs`] moves the bytes. It
//! moves long runs by `memcpy`, short ones by a loop for their size, transposes in tiles.

mod copy;
mod dense_array;
mod offsets;
mod pattern;
mod transpose;

pub(crate) use copy::check_lengths;
pub use copy::{CopyError, copy, copy_runs};
pub use dense_array::{DenseArray, RunsError, Side};
use offsets::{Axes, Axis, Offsets};
pub use pattern::RunPattern;

use crate::stride::StridedRegion;

/// One contiguous copy between two memory layouts. All numbers count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run {
    /// Where the run starts at the source.
    pub source_offset: u64,
    /// Where the run starts at the destination.
    pub destination_offset: u64,
    /// How many elements the run has.
    pub len: u64,
}

/// Equally long runs at fixed distances. All numbers count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunSeries {
    /// The first of the runs.
    pub first: Run,
    /// How many runs there are, at least 1.
    pub count: u64,
    /// The distance between the starts of neighbouring runs at the source.
    pub source_stride: u64,
    /// The distance between the starts of neighbouring runs at the destination.
    pub destination_stride: u64,
}

impl RunSeries {
    /// The runs one by one.
    pub fn iter(&self) -> impl Iterator<Item = Run> + use<> {
        let series = *self;
        (0..series.count).map(move |index| Run {
            source_offset: series.first.source_offset + index * series.source_stride,
            destination_offset: series.first.destination_offset + index * series.destination_stride,
            len: series.first.len,
        })
    }
}

/// All runs of one copy, as few and as long as the two arrays allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The first run; every run is as long. Its length is 0 if nothing is to be copied.
    first: Run,
    /// How the first run repeats, outermost axis first.
    axes: Axes,
}

impl Runs {
    /// The runs that move the elements `part` of an array, which both sides hold, from one to the other.
    pub fn between(
        source: &DenseArray,
        destination: &DenseArray,
        part: &StridedRegion,
    ) -> Result<Self, RunsError> {
        source.check_holds(part, Side::Source)?;
        destination.check_holds(part, Side::Destination)?;
        if part.is_empty() {
            return Ok(Self {
                first: Run { source_offset: 0, destination_offset: 0, len: 0 },
                axes: Axes::default(),
            });
        }
        let (from, to, counts) = (source.strides_of(part), destination.strides_of(part), part.counts());
        let mut axes = Axes::default();
        for dim in 0..part.ndims() {
            axes.insert(Axis { count: counts[dim], source_stride: from[dim], destination_stride: to[dim] });
        }
        axes.merge();
        let len = axes.take_contiguous();
        let (source_offset, destination_offset) = (source.offset_of(part), destination.offset_of(part));
        Ok(Self { first: Run { source_offset, destination_offset, len }, axes })
    }

    /// How many elements are copied.
    pub fn element_count(&self) -> u64 {
        self.first.len * self.run_count()
    }

    /// How many elements each run has; 0 if there is nothing to copy.
    pub fn run_len(&self) -> u64 {
        self.first.len
    }

    /// How many runs there are.
    pub fn run_count(&self) -> u64 {
        if self.first.len == 0 { 0 } else { self.axes.as_slice().iter().map(|axis| axis.count).product() }
    }

    /// The one run that does it all, if one does.
    pub fn single(&self) -> Option<Run> {
        (self.run_count() == 1).then_some(self.first)
    }

    /// The runs one by one, with rising destination offsets.
    pub fn iter(&self) -> impl Iterator<Item = Run> + use<> {
        self.series().flat_map(|series| series.iter())
    }

    /// The runs as series of equal distance: one for each run of the innermost repetition.
    pub fn series(&self) -> impl Iterator<Item = RunSeries> + use<> {
        let mut outer = self.axes;
        let inner = outer.pop().unwrap_or(Axis { count: 1, source_stride: 0, destination_stride: 0 });
        let len = self.first.len;
        let starts = Offsets::new(self.first.source_offset, self.first.destination_offset, outer);
        starts.take_while(move |_| len > 0).map(move |(source_offset, destination_offset)| RunSeries {
            first: Run { source_offset, destination_offset, len },
            count: inner.count,
            source_stride: inner.source_stride,
            destination_stride: inner.destination_stride,
        })
    }

    /// One past the last element touched, at source and destination; 0 if nothing is.
    pub fn ends(&self) -> (u64, u64) {
        let last = |axis: &Axis, stride: u64| (axis.count - 1) * stride;
        let axes = self.axes.as_slice();
        let source: u64 = axes.iter().map(|axis| last(axis, axis.source_stride)).sum();
        let destination: u64 = axes.iter().map(|axis| last(axis, axis.destination_stride)).sum();
        let Run { source_offset, destination_offset, len } = self.first;
        (source_offset + source + len, destination_offset + destination + len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::MemoryOrder::{ColumnMajor, RowMajor};
    use crate::region::Region;

    fn region<const N: usize>(start: [u64; N], count: [u64; N]) -> Region {
        Region::new(start, count).unwrap()
    }

    fn between(
        source: (Region, crate::MemoryOrder),
        destination: (Region, crate::MemoryOrder),
        part: Region,
    ) -> Runs {
        let array = |(region, order)| DenseArray::new(StridedRegion::dense(region), order);
        Runs::between(&array(source), &array(destination), &part.into()).unwrap()
    }

    #[test]
    fn whole_blocks_are_one_run() {
        let block = region([4, 0, 2], [3, 5, 7]);
        let runs = between((block, RowMajor), (block, RowMajor), block);
        assert_eq!(runs.single(), Some(Run { source_offset: 0, destination_offset: 0, len: 105 }));
        let runs = between((block, ColumnMajor), (block, ColumnMajor), block);
        assert_eq!((runs.run_count(), runs.run_len()), (1, 105));
    }

    #[test]
    fn full_trailing_dimensions_do_not_split_runs() {
        let (block, array) = (region([10, 0, 0], [4, 5, 6]), region([0, 0, 0], [20, 5, 6]));
        let runs = between((block, RowMajor), (array, RowMajor), region([11, 0, 0], [2, 5, 6]));
        assert_eq!(runs.single(), Some(Run { source_offset: 30, destination_offset: 330, len: 60 }));
        let runs = between((block, ColumnMajor), (array, ColumnMajor), region([11, 0, 0], [2, 5, 6]));
        assert_eq!((runs.run_count(), runs.run_len()), (30, 2));
        assert_eq!(runs.series().count(), 1, "equal distances are one series");
    }

    #[test]
    fn scalars_and_nothing() {
        let scalar = region([], []);
        assert_eq!(between((scalar, RowMajor), (scalar, ColumnMajor), scalar).run_count(), 1);
        let block = region([3], [4]);
        let nothing = between((block, RowMajor), (block, RowMajor), region([5], [0]));
        assert_eq!((nothing.run_count(), nothing.iter().count(), nothing.ends()), (0, 0, (0, 0)));
    }

    #[test]
    fn offsets_past_32_bits() {
        let block = region([1 << 33, 0], [1 << 33, 4]);
        let runs = between((block, RowMajor), (region([0, 0], [1 << 34, 4]), RowMajor), block);
        assert_eq!(runs.single(), Some(Run { source_offset: 0, destination_offset: 1 << 35, len: 1 << 35 }));
        let runs = between((block, ColumnMajor), (block, RowMajor), region([(1 << 34) - 1, 3], [1, 1]));
        assert_eq!(runs.single().map(|run| run.source_offset), Some((1 << 35) - 1));
    }
}
