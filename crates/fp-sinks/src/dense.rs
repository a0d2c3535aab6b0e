//! Copies between arrays that lie densely in row-major order.

use fp_types::{CopyError, DenseArray, MemoryOrder, Region, copy};

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
    pub(crate) fn copy_from(&mut self, region: &Region, bytes: &[u8], size: usize) -> Result<(), CopyError> {
        let Some(common) = self.region.intersection(region) else { return Ok(()) };
        let array = |region: Region| DenseArray::new(region, MemoryOrder::RowMajor);
        copy(bytes, &array(*region), self.bytes, &array(self.region), &common.into(), size)
    }
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
        dense.copy_from(&from, &source, 1).unwrap();
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
        Dense { region: whole, bytes: &mut bytes }.copy_from(&whole, &[1, 2, 3, 4, 5, 6, 7, 8], 2).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        let point = Region::new([], []).unwrap();
        Dense { region: point, bytes: &mut bytes[..1] }.copy_from(&point, &[9], 1).unwrap();
        assert_eq!(bytes[0], 9);
    }
}
