//! Which rank writes what.

use fp_core::{Dims, Region, Shape};

use crate::part::Part;

/// An array of fewer bytes a rank is written by one.
const SMALL: u64 = 64 << 10;
/// A part has no more bytes than that, as long as its array can be divided: a rank has it in memory.
const LARGEST: u64 = 64 << 20;

/// The parts of each rank: all have about as many bytes to write.
pub(crate) struct Shares {
    ranks: Vec<(u64, Vec<Part>)>,
}

impl Shares {
    pub(crate) fn new(ranks: u32) -> Self {
        Self { ranks: vec![(0, Vec::new()); ranks as usize] }
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Gives a part to the rank that has the least to do.
    pub(crate) fn add(&mut self, part: Part, size: usize) {
        self.add_together(vec![part], size);
    }

    /// Gives parts to one rank, which takes them one after another.
    pub(crate) fn add_together(&mut self, together: Vec<Part>, size: usize) {
        let least = self.ranks.iter_mut().min_by_key(|(bytes, _)| *bytes);
        if let Some((bytes, parts)) = least {
            *bytes += together.iter().map(|part| part.region.element_count()).sum::<u64>() * size as u64;
            parts.extend(together);
        }
    }

    /// Divides a global array among all ranks, in slabs that are next to one another.
    pub(crate) fn divide(&mut self, variable: usize, shape: &Shape, size: usize) {
        for slab in self.slabs(shape, size) {
            self.add(Part::region(variable, slab), size);
        }
    }

    /// The slabs into which an array of such elements is divided.
    pub(crate) fn slabs(&self, shape: &Shape, size: usize) -> Vec<Region> {
        slabs(shape, size, self.ranks.len() as u64)
    }

    /// The parts of each rank.
    pub(crate) fn parts(self) -> Vec<Vec<Part>> {
        self.ranks.into_iter().map(|(_, parts)| parts).collect()
    }
}

/// The slabs of an array of such elements, as many for each rank.
fn slabs(shape: &Shape, size: usize, ranks: u64) -> Vec<Region> {
    let (whole, dims) = (Region::whole(shape), shape.dims());
    let bytes = shape.element_count() * size as u64;
    let is_divided = |dim: &usize| dims[*dim] >= ranks && dims[*dim] > 1;
    let widest = (0..dims.ndims()).max_by_key(|dim| (dims[*dim], std::cmp::Reverse(*dim)));
    let dim = (0..dims.ndims()).find(is_divided).or(widest);
    let Some(dim) = dim.filter(|_| bytes > SMALL * ranks || bytes > LARGEST) else {
        return if whole.is_empty() { Vec::new() } else { vec![whole] };
    };
    let rows = dims[dim];
    let count = bytes.div_ceil(LARGEST).next_multiple_of(ranks).min(rows);
    let first = |slab: u64| (u128::from(slab) * u128::from(rows) / u128::from(count)) as u64;
    let slab = |slab: u64| {
        let (mut start, mut extent): (Dims, Dims) = (*whole.start(), *dims);
        (start[dim], extent[dim]) = (first(slab), first(slab + 1) - first(slab));
        Region::new(start, extent).ok()
    };
    (0..count).filter_map(slab).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_are_divided_and_small_ones_are_not() {
        let shape = Shape::new([1000, 1000, 10]).unwrap();
        let all = slabs(&shape, 8, 4);
        assert_eq!(all.len(), 4);
        assert_eq!(all.iter().map(Region::element_count).sum::<u64>(), shape.element_count());
        assert!(
            all.iter().enumerate().all(|(one, slab)| all[..one].iter().all(|other| !other.overlaps(slab)))
        );
        assert_eq!(slabs(&Shape::new([100]).unwrap(), 8, 4), [Region::whole(&Shape::new([100]).unwrap())]);
        assert_eq!(slabs(&Shape::new([100, 0]).unwrap(), 8, 4), []);
        assert_eq!(slabs(&Shape::scalar(), 8, 4).len(), 1);
        // Of two planes every rank has rows.
        assert_eq!(slabs(&Shape::new([2, 1 << 20]).unwrap(), 8, 4)[1].to_string(), "[0:2, 262144:524288]");
        // No part is larger than what a rank may have in memory.
        assert_eq!(slabs(&Shape::new([1 << 27]).unwrap(), 8, 3).len(), 18);
    }

    #[test]
    fn who_has_the_least_gets_more() {
        let mut shares = Shares::new(2);
        let list = |len: u64| Region::new([0], [len]).unwrap();
        for len in [10, 2, 3, 4] {
            shares.add(Part::region(0, list(len)), 8);
        }
        assert_eq!(shares.parts().iter().map(Vec::len).collect::<Vec<_>>(), [1, 3]);
    }
}
