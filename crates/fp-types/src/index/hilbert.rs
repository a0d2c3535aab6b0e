//! Sorts regions so that neighbours in space become neighbours in the list.
//!
//! The key of a region is its place on a Hilbert curve through the centres, after the transform of J. Skilling,
//! "Programming the Hilbert curve" (AIP Conference Proceedings 707, 2004), here for 1 to 8 dimensions.

use crate::dims::MAX_DIMS;
use crate::regions::RegionList;

/// The bits of a key that place a centre on the curve; those above them hold the size class.
const CURVE_BITS: u32 = 58;

/// At most so many bits for each dimension: finer than this, neighbours no longer matter.
const MAX_BITS_EACH: u32 = 16;

/// Sorts positions by the place of their regions on the curve, those of like size together.
pub(super) fn sort(regions: &RegionList, positions: &mut [u32]) {
    let grid = Grid::around(regions, positions);
    let mut keyed: Vec<(u64, u32)> =
        positions.iter().map(|&position| (grid.key(regions, position as usize), position)).collect();
    keyed.sort_unstable();
    positions.iter_mut().zip(keyed).for_each(|(position, (_, sorted))| *position = sorted);
}

/// The grid of curve cells over all centres.
struct Grid {
    /// The lowest centre in each dimension.
    low: [u64; MAX_DIMS],
    /// How far the centres reach beyond it, at least 1.
    extent: [u64; MAX_DIMS],
    /// How many low bits of a centre fall within one cell.
    shift: [u32; MAX_DIMS],
    ndims: usize,
    bits: u32,
}

impl Grid {
    /// The grid that the centres of those regions span.
    fn around(regions: &RegionList, positions: &[u32]) -> Self {
        let ndims = regions.ndims();
        let (mut low, mut high) = ([u64::MAX; MAX_DIMS], [0; MAX_DIMS]);
        for &position in positions {
            for (dim, centre) in centre(regions, position as usize).enumerate() {
                low[dim] = low[dim].min(centre);
                high[dim] = high[dim].max(centre);
            }
        }
        let bits = (CURVE_BITS / (ndims.max(1) as u32)).min(MAX_BITS_EACH);
        let (mut extent, mut shift) = ([1; MAX_DIMS], [0; MAX_DIMS]);
        for dim in 0..ndims {
            extent[dim] = high[dim].saturating_sub(low[dim]).max(1);
            shift[dim] = (extent[dim].ilog2() + 1).saturating_sub(bits);
        }
        Self { low, extent, shift, ndims, bits }
    }

    /// Size class first, then the place on the curve.
    fn key(&self, regions: &RegionList, position: usize) -> u64 {
        let mut cell = [0u32; MAX_DIMS];
        for (dim, centre) in centre(regions, position).enumerate() {
            cell[dim] = ((centre - self.low[dim]) >> self.shift[dim]) as u32;
        }
        let cells = &mut cell[..self.ndims];
        to_curve(cells, self.bits);
        (self.size_class(regions, position) << CURVE_BITS) | interleave(cells, self.bits)
    }

    /// How many quarterings of the whole lead to the region's longest side, at most 31.
    ///
    /// A large region among small ones would blow up the bounding region that it shares with them; so regions of
    /// unlike size share none.
    fn size_class(&self, regions: &RegionList, position: usize) -> u64 {
        let sides = regions.start(position).iter().zip(regions.end(position)).map(|(start, end)| end - start);
        let halvings = |(side, &extent): (u64, &u64)| (extent / side.max(1)).max(1).ilog2();
        let longest = sides.zip(&self.extent).map(halvings).min();
        u64::from(longest.unwrap_or(0) / 2)
    }
}

/// The centre of a region, to half an element.
fn centre(regions: &RegionList, position: usize) -> impl Iterator<Item = u64> + '_ {
    let corners = regions.start(position).iter().zip(regions.end(position));
    corners.map(|(start, end)| start / 2 + end / 2)
}

/// Turns a cell's coordinates, of `bits` bits each, into its place on the curve, spread over the coordinates.
fn to_curve(cell: &mut [u32], bits: u32) {
    let ndims = cell.len();
    for bit in (1..bits).rev() {
        let (mask, below) = (1 << bit, (1 << bit) - 1);
        for dim in 0..ndims {
            let swapped = if cell[dim] & mask == 0 { (cell[0] ^ cell[dim]) & below } else { 0 };
            cell[0] ^= if cell[dim] & mask == 0 { swapped } else { below };
            cell[dim] ^= swapped;
        }
    }
    for dim in 1..ndims {
        cell[dim] ^= cell[dim - 1];
    }
    let last = cell.last().copied().unwrap_or(0);
    let flips = (1..bits).filter(|bit| last & (1 << bit) != 0).fold(0, |flips, bit| flips ^ ((1 << bit) - 1));
    cell.iter_mut().for_each(|coordinate| *coordinate ^= flips);
}

/// One number of all coordinates' bits, the highest bit of each first.
fn interleave(cell: &[u32], bits: u32) -> u64 {
    let of_bit = |key: u64, bit: u32| cell.iter().fold(key, |key, x| (key << 1) | u64::from((x >> bit) & 1));
    (0..bits).rev().fold(0, of_bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Along the curve, each cell of a full grid is a neighbour of the one before it, and none is left out.
    fn check_curve(ndims: usize, bits: u32) {
        let side = 1u64 << bits;
        let mut cells: Vec<(u64, Vec<u32>)> = (0..side.pow(ndims as u32))
            .map(|number| {
                let cell: Vec<u32> =
                    (0..ndims as u32).map(|dim| ((number >> (dim * bits)) % side) as u32).collect();
                let mut on_curve = cell.clone();
                to_curve(&mut on_curve, bits);
                (interleave(&on_curve, bits), cell)
            })
            .collect();
        cells.sort();
        for (expected, (key, _)) in cells.iter().enumerate() {
            assert_eq!(*key, expected as u64);
        }
        for pair in cells.windows(2) {
            let distance: u32 = pair[0].1.iter().zip(&pair[1].1).map(|(a, b)| a.abs_diff(*b)).sum();
            assert_eq!(distance, 1, "{ndims} dimensions: {pair:?}");
        }
    }

    #[test]
    fn the_curve_visits_neighbours_in_every_number_of_dimensions() {
        for (ndims, bits) in [(1, 6), (2, 5), (3, 4), (4, 3), (5, 2), (6, 2), (7, 1), (8, 1)] {
            check_curve(ndims, bits);
        }
    }

    #[test]
    fn large_regions_stand_apart() {
        let mut regions = RegionList::new(2);
        let region = |start: [u64; 2], count: [u64; 2]| crate::Region::new(start, count).unwrap();
        for x in 0..32 {
            regions.push(&region([x * 4, x], [4, 1]));
        }
        regions.push(&region([0, 0], [128, 128]));
        let mut positions: Vec<u32> = (0..33).collect();
        sort(&regions, &mut positions);
        assert_eq!(positions[0], 32);
    }
}
