//! Which elements are neighbours, as it is asked for before the array is known.

use std::str::FromStr;

use crate::grid::Neighbours;

/// Which elements are neighbours, by name or by how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connectivity {
    /// By name.
    Of(Neighbours),
    /// So many: 4 or 8 in two dimensions, 6 or 26 in three, 8 or 80 in four.
    Count(u32),
}

impl Default for Connectivity {
    fn default() -> Self {
        Self::Of(Neighbours::Faces)
    }
}

impl Connectivity {
    /// What that is in so many dimensions, or in words what it could be.
    pub(crate) fn in_dims(self, ndims: usize) -> Result<Neighbours, String> {
        let (faces, all) = (2 * ndims as u32, 3u32.pow(ndims as u32) - 1);
        match self {
            Self::Of(neighbours) => Ok(neighbours),
            Self::Count(count) if count == faces => Ok(Neighbours::Faces),
            Self::Count(count) if count == all => Ok(Neighbours::All),
            Self::Count(count) => Err(format!(
                "an element of {ndims} dimensions has {faces} or {all} neighbours, and not {count}"
            )),
        }
    }
}

impl FromStr for Connectivity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("faces", _) => Ok(Self::Of(Neighbours::Faces)),
            ("all", _) => Ok(Self::Of(Neighbours::All)),
            (_, Ok(count)) if [4, 6, 8, 26, 80].contains(&count) => Ok(Self::Count(count)),
            _ => Err("faces, all, or a number of neighbours is expected: 4 or 8 in two dimensions, 6 or 26 in three"
                .to_owned()),
        }
    }
}

/// A dimension that is periodic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeriodicDim {
    /// Counted from 0.
    Index(usize),
    /// As the publisher calls it.
    Name(String),
}

impl From<&str> for PeriodicDim {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Index)
    }
}
