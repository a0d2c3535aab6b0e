//! `flexpath tee` as its users have it: streams of this process, the program as a child, and others that read its files.

mod parquet;
mod savime;
mod savime_double;
mod support;
mod zarr;
