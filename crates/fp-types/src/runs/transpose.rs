//! Copies whose elements are neighbours along one axis at the source and along another at the destination.
//!
//! A walk axis by axis would touch a cache line for one element of it with every read (or write). So the two axes are
//! cut into small tiles. All lines of a tile stay in the cache until each element of them is used.

use super::Offsets;
use super::offsets::{Axes, Axis};

/// How many elements a tile has along each of its two axes.
const TILE: usize = 32;

/// How many elements a panel of tiles has along each of its two axes. Each column of a large array lies on pages of its
/// own. Within a panel they are few enough that the machine remembers where all of them are.
const PANEL: usize = 512;

/// Planes with fewer rows or columns than this are copied straight: so few streams of memory do no harm.
const NARROW: usize = 8;

/// Elements of one size, two axes to be swapped, and the axes around them. Strides are in bytes.
pub(super) struct Transpose {
    element_bytes: usize,
    /// Neighbours at the source.
    source_axis: Axis,
    /// Neighbours at the destination.
    destination_axis: Axis,
    outer: Axes,
}

impl Transpose {
    /// The transpose that these axes are, if they are one and the element is of a size that has a loop.
    pub(super) fn of(axes: Axes, element_bytes: u64) -> Option<Self> {
        let mut outer = axes;
        let destination_axis = outer.pop().filter(|axis| axis.destination_stride == element_bytes)?;
        let source_axis = outer.take_source_stride(element_bytes)?;
        let has_loop = matches!(element_bytes, 1 | 2 | 4 | 8 | 16);
        let element_bytes = element_bytes as usize;
        has_loop.then_some(Self { element_bytes, source_axis, destination_axis, outer })
    }
}

/// Copies a transpose that lies inside both slices.
pub(super) fn copy_transposed(
    source: &[u8],
    destination: &mut [u8],
    start: (u64, u64),
    transpose: &Transpose,
) {
    for (from, to) in Offsets::new(start.0, start.1, transpose.outer) {
        let (source, destination) = (&source[from as usize..], &mut destination[to as usize..]);
        match transpose.element_bytes {
            1 => copy_plane::<1>(source, destination, transpose),
            2 => copy_plane::<2>(source, destination, transpose),
            4 => copy_plane::<4>(source, destination, transpose),
            8 => copy_plane::<8>(source, destination, transpose),
            _ => copy_plane::<16>(source, destination, transpose),
        }
    }
}

/// Copies one plane, tile by tile.
fn copy_plane<const N: usize>(source: &[u8], destination: &mut [u8], transpose: &Transpose) {
    let (rows, columns) = (transpose.source_axis.count as usize, transpose.destination_axis.count as usize);
    let row_stride = transpose.source_axis.destination_stride as usize;
    let column_stride = transpose.destination_axis.source_stride as usize;
    if rows < NARROW || columns < NARROW {
        for row in 0..rows {
            let cells = &mut destination[row * row_stride..row * row_stride + columns * N];
            gather_row::<N>(&source[row * N..], cells, column_stride);
        }
        return;
    }
    let mut tile = [[0; N]; TILE * TILE];
    for (first_row, first_column) in tiles(rows, columns) {
        let (height, width) = (TILE.min(rows - first_row), TILE.min(columns - first_column));
        let (from, to) =
            (first_column * column_stride + first_row * N, first_row * row_stride + first_column * N);
        read_tile(&source[from..], &mut tile, column_stride, width, height);
        write_tile(&tile, &mut destination[to..], row_stride, width, height);
    }
}

/// The corners of all tiles, panel by panel.
fn tiles(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let corners = move |start: (usize, usize), end: (usize, usize), step: usize| {
        let row = move |row| (start.1..end.1).step_by(step).map(move |column| (row, column));
        (start.0..end.0).step_by(step).flat_map(row)
    };
    corners((0, 0), (rows, columns), PANEL).flat_map(move |(row, column)| {
        corners((row, column), (rows.min(row + PANEL), columns.min(column + PANEL)), TILE)
    })
}

/// Reads `width` columns of `height` neighbours each. Strides are in bytes.
///
/// The elements go through a tile of their own. Columns that are a power of two apart compete for the same few places
/// of the cache. They would be driven out before they are used up.
fn read_tile<const N: usize>(
    source: &[u8],
    tile: &mut [[u8; N]],
    stride: usize,
    width: usize,
    height: usize,
) {
    for (column, place) in tile.chunks_exact_mut(TILE).take(width).enumerate() {
        let (elements, _) = source[column * stride..column * stride + height * N].as_chunks::<N>();
        place[..height].copy_from_slice(elements);
    }
}

/// Writes `height` rows of `width` neighbours each. Strides are in bytes.
fn write_tile<const N: usize>(
    tile: &[[u8; N]],
    destination: &mut [u8],
    stride: usize,
    width: usize,
    height: usize,
) {
    for row in 0..height {
        let (cells, _) = destination[row * stride..row * stride + width * N].as_chunks_mut::<N>();
        for (cell, column) in cells.iter_mut().zip(tile.chunks_exact(TILE)) {
            *cell = column[row];
        }
    }
}

/// Gathers elements that are `stride` bytes apart into one dense row.
fn gather_row<const N: usize>(source: &[u8], row: &mut [u8], stride: usize) {
    let (cells, _) = row.as_chunks_mut::<N>();
    for (index, cell) in cells.iter_mut().enumerate() {
        cell.copy_from_slice(&source[index * stride..index * stride + N]);
    }
}
