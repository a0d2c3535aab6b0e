//! Copies between arrays that lie densely in row-major order.

use fp_core::{Dims, MemoryOrder, Region};

/// Memory of a region of an array: its elements densely, in row-major order.
pub(crate) struct Dense<'a> {
    pub(crate) region: Region,
    pub(crate) bytes: &'a mut [u8],
}

impl Dense<'_> {
    /// Writes one element everywhere.
    pub(crate) fn fill(&mut self, element: &[u8]) {
        for place in self.bytes.chunks_exact_mut(element.len()) {
            place.copy_from_slice(element);
        }
    }

    /// Copies the elements that both regions have, each of `size` bytes.
    pub(crate) fn copy_from(&mut self, region: &Region, bytes: &[u8], size: usize) {
        let Some(common) = self.region.intersection(region) else { return };
        let (first_dim, len) = run(&common, [&self.region, region]);
        let mut point = *common.start();
        loop {
            let offset = |of: &Region| of.linear_offset(&point, MemoryOrder::RowMajor);
            let (Some(to), Some(from)) = (offset(&self.region), offset(region)) else { return };
            let (to, from, len) = (to as usize * size, from as usize * size, len as usize * size);
            self.bytes[to..to + len].copy_from_slice(&bytes[from..from + len]);
            if !advance(&mut point, &common, first_dim) {
                return;
            }
        }
    }
}

/// How many elements of `common` follow one another in both regions, and from which dimension on they do.
fn run(common: &Region, regions: [&Region; 2]) -> (usize, u64) {
    let is_whole = |dim: usize| regions.iter().all(|region| region.count()[dim] == common.count()[dim]);
    let mut first_dim = common.ndims();
    let mut len = 1;
    while first_dim > 0 {
        first_dim -= 1;
        len *= common.count()[first_dim];
        if !is_whole(first_dim) {
            break;
        }
    }
    (first_dim, len)
}

/// Goes on to the next point among the dimensions before `end`; false behind the last one.
fn advance(point: &mut Dims, within: &Region, end: usize) -> bool {
    for dim in (0..end).rev() {
        point[dim] += 1;
        if point[dim] < within.start()[dim] + within.count()[dim] {
            return true;
        }
        point[dim] = within.start()[dim];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_have_is_copied_and_nothing_else() {
        let from = Region::new([1, 0, 2], [2, 3, 2]).unwrap();
        let source: Vec<u8> = (1..=12).collect();
        let region = Region::new([0, 1, 0], [2, 3, 4]).unwrap();
        let mut bytes = vec![0; 24];
        let mut dense = Dense { region, bytes: &mut bytes };
        dense.fill(&[99]);
        dense.copy_from(&from, &source, 1);
        let mut expected = vec![99; 24];
        // Elements (1, 1, 2..4) and (1, 2, 2..4) are in both.
        expected[14..16].copy_from_slice(&[3, 4]);
        expected[18..20].copy_from_slice(&[5, 6]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn whole_arrays_and_single_elements_are_copied() {
        let whole = Region::new([0, 0], [2, 2]).unwrap();
        let mut bytes = vec![0; 8];
        Dense { region: whole, bytes: &mut bytes }.copy_from(&whole, &[1, 2, 3, 4, 5, 6, 7, 8], 2);
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        let point = Region::new([], []).unwrap();
        Dense { region: point, bytes: &mut bytes[..1] }.copy_from(&point, &[9], 1);
        assert_eq!(bytes[0], 9);
    }
}
