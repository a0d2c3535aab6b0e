//! What is written, and where.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What is written, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A Zarr store in a folder.
    Zarr(PathBuf),
    /// A Zarr store in a bucket of S3.
    ZarrBucket(BucketPlace),
    /// An HDF5 file for each step.
    Hdf5(PathBuf),
    /// A VTKHDF file for each step.
    Vtkhdf(PathBuf),
    /// A Parquet file for each step.
    Parquet(PathBuf),
    /// An array database that speaks SAVIME's protocol: its host and port.
    Savime(String),
}

/// A place in a bucket of S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BucketPlace {
    pub(crate) bucket: String,
    /// What the names of all objects begin with, without a slash at its end; empty for the whole bucket.
    pub(crate) prefix: String,
}

impl FromStr for BucketPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_name = |name: &str| !["", ".", ".."].contains(&name);
        if !is_name(bucket) || !prefix.is_empty() && !prefix.split('/').all(is_name) {
            return Err(format!(
                "\"s3://{text}\" is no s3://BUCKET/PREFIX, such as s3://runs/plasma/run.zarr"
            ));
        }
        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl fmt::Display for BucketPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bucket, prefix } = self;
        let slash = if prefix.is_empty() { "" } else { "/" };
        write!(f, "s3://{bucket}{slash}{prefix}")
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, place) = text
            .split_once(':')
            .filter(|(_, place)| !place.is_empty())
            .ok_or_else(|| format!("{text:?} is no KIND:PLACE, such as zarr:run.zarr"))?;
        match (kind, place.strip_prefix("s3://")) {
            ("zarr", Some(place)) => place.parse().map(Self::ZarrBucket),
            (_, Some(_)) => Err(format!("{text:?}: of all targets only zarr can be in a bucket")),
            (kind, None) => Self::of(kind, place),
        }
    }
}

impl Target {
    /// A target that is in no bucket.
    fn of(kind: &str, place: &str) -> Result<Self, String> {
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
            Self::ZarrBucket(place) => write!(f, "zarr:{place}"),
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
    fn a_bucket_has_a_prefix_or_none() {
        for (text, bucket, prefix, shown) in [
            ("zarr:s3://runs/a/b.zarr/", "runs", "a/b.zarr", "zarr:s3://runs/a/b.zarr"),
            ("zarr:s3://runs", "runs", "", "zarr:s3://runs"),
        ] {
            let target: Target = text.parse().unwrap();
            let place = BucketPlace { bucket: bucket.to_owned(), prefix: prefix.to_owned() };
            assert_eq!((target.to_string().as_str(), target), (shown, Target::ZarrBucket(place)));
        }
    }

    #[test]
    fn a_target_has_a_kind_and_a_place() {
        assert_eq!("zarr:a:b".parse(), Ok(Target::Zarr("a:b".into())));
        assert_eq!("savime:localhost:65000".parse(), Ok(Target::Savime("localhost:65000".to_owned())));
        let wrong =
            ["zarr", "zarr:", "netcdf:x", ":x", "", "hdf5:s3://b/x_%T.h5", "zarr:s3://", "zarr:s3:///x"];
        for wrong in [&wrong[..], &["zarr:s3://b//x", "zarr:s3://b/../x"]].concat() {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
