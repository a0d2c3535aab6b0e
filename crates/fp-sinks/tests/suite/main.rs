//! `flexpath tee` as its users have it: streams of this process, the program as a child, others that read its files.

mod conditions;
mod hdf5;
mod openpmd;
mod parquet;
mod places;
mod savime;
mod savime_double;
mod support;
mod vtkhdf;
mod zarr;
