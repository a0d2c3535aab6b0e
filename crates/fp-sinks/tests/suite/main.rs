//! `flexpath tee` as its users have it: streams of this process, the program as a child, others that read its files.

mod conditions;
mod hdf5;
mod openpmd;
mod parquet;
mod places;
#[cfg(feature = "s3")]
mod s3;
mod savime;
mod savime_double;
mod savime_queries;
mod support;
mod vtkhdf;
mod zarr;
