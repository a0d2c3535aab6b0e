//! Which end of a number comes first in memory.

/// In which order the bytes of a number lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ByteOrder {
    /// The lowest first.
    Little,
    /// The highest first.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// The order's lasting number.
    pub fn as_u8(self) -> u8 {
        match self {
            Self::Little => 0,
            Self::Big => 1,
        }
    }

    /// The order with that number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Little),
            1 => Some(Self::Big),
            _ => None,
        }
    }
}
