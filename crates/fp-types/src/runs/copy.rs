//! Moves the bytes of runs: `memcpy` for long ones, loops of fixed size for short ones.

use super::offsets::{Axes, Axis};
use super::transpose::{Transpose, copy_transposed};
use super::{DenseArray, Offsets, Runs, RunsError};
use crate::stride::StridedRegion;

/// Why nothing was copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The part asked for does not lie in both memory layouts.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The source ends before the last byte to read.
    #[error("the copy reads {needed_bytes} bytes, but the source has {len_bytes}")]
    SourceTooShort {
        /// How many bytes the source must have.
        needed_bytes: u128,
        /// How many it has.
        len_bytes: usize,
    },
    /// The destination ends before the last byte to write.
    #[error("the copy writes {needed_bytes} bytes, but the destination has {len_bytes}")]
    DestinationTooShort {
        /// How many bytes the destination must have.
        needed_bytes: u128,
        /// How many it has.
        len_bytes: usize,
    },
}

/// Copies the elements `part` from one dense array to another, both given as bytes.
///
/// Nothing is allocated. `element_size` is in bytes. On an error nothing was written.
pub fn copy(
    source: &[u8],
    source_array: &DenseArray,
    destination: &mut [u8],
    destination_array: &DenseArray,
    part: &StridedRegion,
    element_size: usize,
) -> Result<(), CopyError> {
    copy_runs(source, destination, element_size, &Runs::between(source_array, destination_array, part)?)
}

/// Copies all runs; `element_size` is in bytes. On an error nothing was written.
pub fn copy_runs(
    source: &[u8],
    destination: &mut [u8],
    element_size: usize,
    runs: &Runs,
) -> Result<(), CopyError> {
    check_lengths(source.len(), destination.len(), element_size, runs.ends())?;
    if runs.first.len == 0 || element_size == 0 {
        return Ok(());
    }
    // From here on every offset in bytes is known to lie inside both slices, and so to fit into a usize.
    let size = element_size as u64;
    let run_bytes = runs.first.len * size;
    let start = (runs.first.source_offset * size, runs.first.destination_offset * size);
    let axes = runs.axes.scaled(size);
    match Transpose::of(axes, run_bytes) {
        Some(transpose) => copy_transposed(source, destination, start, &transpose),
        None => copy_nest(source, destination, run_bytes as usize, start, axes),
    }
    Ok(())
}

/// Checks that both sides reach to those ends, which count elements.
pub(crate) fn check_lengths(
    source_len: usize,
    destination_len: usize,
    element_size: usize,
    (source_end, destination_end): (u64, u64),
) -> Result<(), CopyError> {
    let needed = |elements: u64| u128::from(elements) * element_size as u128;
    if needed(source_end) > source_len as u128 {
        return Err(CopyError::SourceTooShort { needed_bytes: needed(source_end), len_bytes: source_len });
    }
    if needed(destination_end) > destination_len as u128 {
        let needed_bytes = needed(destination_end);
        return Err(CopyError::DestinationTooShort { needed_bytes, len_bytes: destination_len });
    }
    Ok(())
}

/// What is wrong with sides of so many bytes, where the copy begins there and ends so much later.
pub(super) fn mismatch(
    (source_len, destination_len): (usize, usize),
    (from, to): (u64, u64),
    (source_end, destination_end): (u64, u64),
) -> CopyError {
    let needed_bytes = u128::from(from) + u128::from(source_end);
    if needed_bytes > source_len as u128 {
        return CopyError::SourceTooShort { needed_bytes, len_bytes: source_len };
    }
    let needed_bytes = u128::from(to) + u128::from(destination_end);
    CopyError::DestinationTooShort { needed_bytes, len_bytes: destination_len }
}

/// No repetition.
const ONCE: Axis = Axis { count: 1, source_stride: 0, destination_stride: 0 };

/// Copies runs of equal length at all offsets, by the loop for that length. All of them lie inside both slices.
pub(super) fn copy_nest(
    source: &[u8],
    destination: &mut [u8],
    run_bytes: usize,
    start: (u64, u64),
    mut axes: Axes,
) {
    let inner = axes.pop().unwrap_or(ONCE);
    let middle = axes.pop().unwrap_or(ONCE);
    let rows = Rows { inner, middle, outer: Offsets::new(start.0, start.1, axes) };
    match run_bytes {
        1 => copy_fixed::<1>(source, destination, rows),
        2 => copy_fixed::<2>(source, destination, rows),
        4 => copy_fixed::<4>(source, destination, rows),
        8 => copy_fixed::<8>(source, destination, rows),
        16 => copy_fixed::<16>(source, destination, rows),
        24 => copy_fixed::<24>(source, destination, rows),
        32 => copy_fixed::<32>(source, destination, rows),
        64 => copy_fixed::<64>(source, destination, rows),
        128 => copy_fixed::<128>(source, destination, rows),
        256 => copy_fixed::<256>(source, destination, rows),
        _ => rows.each(|from, to| {
            destination[to..to + run_bytes].copy_from_slice(&source[from..from + run_bytes]);
        }),
    }
}

/// The same of several sources, each with where its first run begins. Their runs follow one another at the destination, so
/// that is written row by row. All of them lie inside.
pub(super) fn copy_beside(
    sources: &[(&[u8], u64)],
    destination: &mut [u8],
    run_bytes: usize,
    start: u64,
    mut axes: Axes,
) {
    let inner = axes.pop().unwrap_or(ONCE);
    let middle = axes.pop().unwrap_or(ONCE);
    let rows = Rows { inner, middle, outer: Offsets::new(0, start, axes) };
    match run_bytes {
        8 => copy_row::<8>(sources, destination, rows),
        16 => copy_row::<16>(sources, destination, rows),
        24 => copy_row::<24>(sources, destination, rows),
        32 => copy_row::<32>(sources, destination, rows),
        64 => copy_row::<64>(sources, destination, rows),
        128 => copy_row::<128>(sources, destination, rows),
        256 => copy_row::<256>(sources, destination, rows),
        _ => rows.each(|from, to| {
            let row = destination[to..to + run_bytes * sources.len()].chunks_exact_mut(run_bytes);
            for ((source, first), part) in sources.iter().zip(row) {
                part.copy_from_slice(&source[*first as usize + from..][..run_bytes]);
            }
        }),
    }
}

/// Copies rows of one run of `N` bytes from each source.
fn copy_row<const N: usize>(sources: &[(&[u8], u64)], destination: &mut [u8], rows: Rows) {
    rows.each(|from, to| {
        let row = destination[to..to + N * sources.len()].chunks_exact_mut(N);
        for ((source, first), part) in sources.iter().zip(row) {
            part.copy_from_slice(&source[*first as usize + from..][..N]);
        }
    });
}

/// Copies runs of `N` bytes: some loads and stores each, and no call.
fn copy_fixed<const N: usize>(source: &[u8], destination: &mut [u8], rows: Rows) {
    rows.each(|from, to| destination[to..to + N].copy_from_slice(&source[from..from + N]));
}

/// All pairs of offsets, the two innermost axes apart: they are loops without memory.
struct Rows {
    inner: Axis,
    middle: Axis,
    outer: Offsets,
}

impl Rows {
    #[inline(always)]
    fn each(self, mut copy_run: impl FnMut(usize, usize)) {
        for (from, to) in self.outer {
            along(&self.middle, (from as usize, to as usize), |from, to| {
                along(&self.inner, (from, to), &mut copy_run);
            });
        }
    }
}

/// All pairs of offsets along an axis.
#[inline(always)]
fn along(axis: &Axis, (mut from, mut to): (usize, usize), mut at: impl FnMut(usize, usize)) {
    for _ in 0..axis.count {
        at(from, to);
        // Behind the last one the offsets may be anything.
        from = from.wrapping_add(axis.source_stride as usize);
        to = to.wrapping_add(axis.destination_stride as usize);
    }
}
