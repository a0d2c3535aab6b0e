//! The array, and which of its elements are neighbours.

use crate::forest::Winding;

/// How many dimensions an array may have.
pub const LIMIT_DIMENSIONS: usize = 4;
/// How many elements it may have: sums of coordinates are exact then.
const LIMIT_ELEMENTS: u64 = 1 << 40;

/// Which elements are neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Neighbours {
    /// Those that share a face: 4 in two dimensions, 6 in three.
    #[default]
    Faces,
    /// Those that share a corner at least: 8 in two dimensions, 26 in three.
    All,
}

/// Why there are no features of such an array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// Too few dimensions, or too many.
    #[error("an array of {found} dimensions has no features here: 2 to {LIMIT_DIMENSIONS} are expected")]
    Dimensions {
        /// How many there are.
        found: usize,
    },
    /// A dimension that there is not.
    #[error("dimension {dim} is said to be periodic, and the array has {ndims}, counted from 0")]
    Periodic {
        /// Which.
        dim: usize,
        /// How many there are.
        ndims: usize,
    },
    /// More elements than can be counted.
    #[error("an array of shape {extents:?} is too large: {LIMIT_ELEMENTS} elements at most are labelled")]
    TooLarge {
        /// Its shape.
        extents: Vec<u64>,
    },
}

/// An array and its neighbourhoods. Dimension 0 is the one along which it is cut among ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    extents: Vec<u64>,
    periodic: Vec<bool>,
    neighbours: Neighbours,
}

impl Grid {
    /// Of an array of this shape, in row-major order. `periodic` names the dimensions in which the last element is a
    /// neighbour of the first, counted from 0.
    ///
    /// # Errors
    /// Fewer than 2 dimensions or more than 4; a dimension that there is not; too many elements.
    pub fn new(extents: &[u64], neighbours: Neighbours, periodic: &[usize]) -> Result<Self, GridError> {
        let ndims = extents.len();
        if !(2..=LIMIT_DIMENSIONS).contains(&ndims) {
            return Err(GridError::Dimensions { found: ndims });
        }
        let too_large = || GridError::TooLarge { extents: extents.to_vec() };
        let len = extents.iter().try_fold(1u64, |len, &extent| len.checked_mul(extent.max(1)));
        len.filter(|&len| len <= LIMIT_ELEMENTS).ok_or_else(too_large)?;
        // What counts runs and places in a row has 32 bits.
        extents[1..]
            .iter()
            .all(|&extent| extent < u64::from(u32::MAX))
            .then_some(())
            .ok_or_else(too_large)?;
        let mut is_periodic = vec![false; ndims];
        for &dim in periodic {
            *is_periodic.get_mut(dim).ok_or(GridError::Periodic { dim, ndims })? = true;
        }
        Ok(Self { extents: extents.to_vec(), periodic: is_periodic, neighbours })
    }

    /// The shape of the array.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The number of dimensions.
    pub fn ndims(&self) -> usize {
        self.extents.len()
    }

    /// Whether that dimension is periodic.
    pub fn is_periodic(&self, dim: usize) -> bool {
        self.periodic.get(dim).copied().unwrap_or(false)
    }

    /// Elements of a row: of the last dimension.
    pub(crate) fn row_len(&self) -> u64 {
        self.extents.last().copied().unwrap_or(0)
    }

    /// Rows of a plane: of what has one coordinate in dimension 0.
    pub(crate) fn plane_rows(&self) -> usize {
        self.extents[1..self.ndims() - 1].iter().product::<u64>() as usize
    }

    /// Elements of a plane.
    pub(crate) fn plane_len(&self) -> u64 {
        self.extents[1..].iter().product()
    }

    /// How far along a row neighbours of a neighbouring row reach.
    pub(crate) fn reach(&self) -> u32 {
        match self.neighbours {
            Neighbours::Faces => 0,
            Neighbours::All => 1,
        }
    }

    /// From a row to its neighbours in the plane before, as steps in the dimensions between the first and the last.
    pub(crate) fn steps_across(&self) -> Vec<Vec<i64>> {
        match self.neighbours {
            Neighbours::Faces => vec![vec![0; self.ndims() - 2]],
            Neighbours::All => all_steps(self.ndims() - 2),
        }
    }

    /// From a row to half of its neighbours in its own plane: to no two rows twice.
    pub(crate) fn steps_within(&self) -> Vec<Vec<i64>> {
        let is_face = |step: &Vec<i64>| step.iter().filter(|&&by| by != 0).count() == 1;
        let is_before = |step: &Vec<i64>| step.iter().find(|&&by| by != 0) == Some(&-1);
        let steps = all_steps(self.ndims() - 2).into_iter().filter(is_before);
        steps.filter(|step| self.neighbours == Neighbours::All || is_face(step)).collect()
    }

    /// The row that lies so in a plane, and how often the way there went around; `None` where there is none.
    pub(crate) fn row_beside(&self, row: usize, step: &[i64]) -> Option<(usize, Winding)> {
        let (mut beside, mut factor, mut left) = (0, 1, row as u64);
        let mut winding = Winding::default();
        for (at, &by) in step.iter().enumerate().rev() {
            let (dim, extent) = (at + 1, self.extents[at + 1]);
            let coordinate = (left % extent) as i64 + by;
            left /= extent;
            let wrapped = coordinate.rem_euclid(extent as i64);
            if wrapped != coordinate && !self.periodic[dim] {
                return None;
            }
            winding.0[dim] = coordinate.div_euclid(extent as i64) as i32;
            beside += wrapped as u64 * factor;
            factor *= extent;
        }
        Some((beside as usize, winding))
    }

    /// The coordinates of the element with this number in row-major order.
    pub(crate) fn place(&self, mut number: u64) -> Vec<u64> {
        let mut place = vec![0; self.ndims()];
        for (at, extent) in place.iter_mut().zip(&self.extents).rev() {
            *at = number % extent.max(&1);
            number /= extent.max(&1);
        }
        place
    }
}

/// All steps by -1, 0 and 1 in so many dimensions.
fn all_steps(ndims: usize) -> Vec<Vec<i64>> {
    let grown = |steps: Vec<Vec<i64>>, _| {
        let one = |step: &Vec<i64>, by| step.iter().copied().chain([by]).collect();
        steps.iter().flat_map(|step| [-1, 0, 1].map(|by| one(step, by))).collect()
    };
    (0..ndims).fold(vec![Vec::new()], grown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_features_is_refused() {
        let grid = |extents: &[u64], periodic: &[usize]| Grid::new(extents, Neighbours::Faces, periodic);
        assert_eq!(grid(&[3], &[]), Err(GridError::Dimensions { found: 1 }));
        assert_eq!(grid(&[1; 5], &[]), Err(GridError::Dimensions { found: 5 }));
        assert_eq!(grid(&[3, 3], &[2]), Err(GridError::Periodic { dim: 2, ndims: 2 }));
        assert!(matches!(grid(&[1 << 30, 1 << 30], &[]), Err(GridError::TooLarge { .. })));
        assert!(matches!(grid(&[1, 1 << 32], &[]), Err(GridError::TooLarge { .. })));
        assert!(grid(&[0, 4], &[1]).is_ok());
    }

    #[test]
    fn each_pair_of_neighbours_is_met_once() {
        let count = |ndims: usize, neighbours| {
            let grid = Grid::new(&vec![4; ndims], neighbours, &[]).expect("a grid");
            let along = 2 * grid.reach() as usize + 1;
            // Half of all neighbours: before it in its own row, in its own plane, in the plane before.
            1 + (grid.steps_within().len() + grid.steps_across().len()) * along
        };
        assert_eq!([2, 3, 4].map(|ndims| 2 * count(ndims, Neighbours::Faces)), [4, 6, 8]);
        assert_eq!([2, 3, 4].map(|ndims| 2 * count(ndims, Neighbours::All)), [8, 26, 80]);
    }
}
