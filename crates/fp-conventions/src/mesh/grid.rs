//! Cells of one size along each axis.

/// Cells or points of one size along each axis. All lists are in the order of the variables' dimensions, which is
/// slowest first in row-major order and fastest first in column-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What the axes are called.
    pub axes: Vec<String>,
    /// Where the first cell begins, in units of the simulation.
    pub origin: Vec<f64>,
    /// From a cell to the next, in the same units.
    pub spacing: Vec<f64>,
    /// How many values there are along each axis.
    pub shape: Vec<u64>,
}
