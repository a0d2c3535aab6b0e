//! The order in which the elements of a block lie in memory.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which dimension runs fastest in memory. Shapes and regions name dimensions in the same order either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MemoryOrder {
    /// The last dimension runs fastest, as in C, Rust and NumPy's default.
    #[default]
    RowMajor,
    /// The first dimension runs fastest, as in Fortran.
    ColumnMajor,
}

impl MemoryOrder {
    /// The order's lasting number, for wire formats and hashes.
    pub fn as_u8(self) -> u8 {
        match self {
            Self::RowMajor => 0,
            Self::ColumnMajor => 1,
        }
    }

    /// The order with that number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::RowMajor),
            1 => Some(Self::ColumnMajor),
            _ => None,
        }
    }
}

impl fmt::Display for MemoryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::RowMajor => "row-major",
            Self::ColumnMajor => "column-major",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryOrder::{self, ColumnMajor, RowMajor};

    #[test]
    fn numbers_are_lasting() {
        assert_eq!([RowMajor.as_u8(), ColumnMajor.as_u8()], [0, 1]);
        assert_eq!([0, 1, 2].map(MemoryOrder::from_u8), [Some(RowMajor), Some(ColumnMajor), None]);
    }
}
