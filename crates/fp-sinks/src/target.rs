//! What is written, and where.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What is written, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A Zarr store in a folder.
    Zarr(PathBuf),
    /// An HDF5 file for each step.
    Hdf5(PathBuf),
    /// A VTKHDF file for each step.
    Vtkhdf(PathBuf),
    /// A Parquet file for each step.
    Parquet(PathBuf),
    /// An array database that speaks SAVIME's protocol: its host and port.
    Savime(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, place) = text
            .split_once(':')
            .filter(|(_, place)| !place.is_empty())
            .ok_or_else(|| format!("{text:?} is no KIND:PLACE, such as zarr:run.zarr"))?;
        match kind {
            "zarr" => Ok(Self::Zarr(place.into())),
            "hdf5" => Ok(Self::Hdf5(place.into())),
            "vtkhdf" => Ok(Self::Vtkhdf(place.into())),
            "parquet" => Ok(Self::Parquet(place.into())),
            "savime" => Ok(Self::Savime(place.to_owned())),
            other => Err(format!("{other:?} is none of zarr, hdf5, vtkhdf, parquet, savime")),
        }
    }
}

/// As it is written on the command line.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zarr(path) => write!(f, "zarr:{}", path.display()),
            Self::Hdf5(path) => write!(f, "hdf5:{}", path.display()),
            Self::Vtkhdf(path) => write!(f, "vtkhdf:{}", path.display()),
            Self::Parquet(path) => write!(f, "parquet:{}", path.display()),
            Self::Savime(place) => write!(f, "savime:{place}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_kind_and_a_place() {
        assert_eq!("zarr:a:b".parse(), Ok(Target::Zarr("a:b".into())));
        assert_eq!("savime:localhost:65000".parse(), Ok(Target::Savime("localhost:65000".to_owned())));
        for wrong in ["zarr", "zarr:", "netcdf:x", ":x", ""] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
