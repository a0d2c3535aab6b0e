//! What `flexpath tee` is told.

use std::ffi::OsString;

use clap::Args;

/// What `tee` is told: its program reads it.
#[derive(Debug, Args)]
pub(crate) struct TeeOptions {
    /// See `flexpath tee --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
    pub(crate) words: Vec<OsString>,
}
