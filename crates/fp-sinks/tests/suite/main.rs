//! `flexpath tee` as its users have it: streams of this process, the program as a child, and others that read its files.

mod support;
mod zarr;
