//! Which files an identity was read from, for messages.

use std::path::PathBuf;

/// Where it all came from, for messages.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) authority: PathBuf,
    pub(super) name: String,
}
