//! Files that only their owner should read: the token of a run, the key of a certificate.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The bits of a mode by which others than the owner may read.
const READABLE_BY_OTHERS: u32 = 0o044;
/// The mode of a file that is made here.
const OWNER_ALONE: u32 = 0o600;

/// At most `limit` bytes of a file, with a warning in the log if others than its owner may read it.
pub(crate) fn read(what: &str, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    warn(what, path, &file.metadata()?);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Warns in the log if others than its owner may read a file. Whoever reads it says what else is wrong with it.
pub(crate) fn look_at(what: &str, path: &Path) {
    if let Ok(metadata) = std::fs::metadata(path) {
        warn(what, path, &metadata);
    }
}

/// Makes a file that its owner alone may read; an error if there is one of that name.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ALONE).open(path)?;
    file.write_all(content).inspect_err(|_| {
        // Half a secret is of no use; that it was not written is the error that counts.
        let _ = std::fs::remove_file(path);
    })
}

fn warn(what: &str, path: &Path, metadata: &Metadata) {
    let mode = metadata.permissions().mode() & 0o7777;
    if metadata.is_file() && mode & READABLE_BY_OTHERS != 0 {
        let (path, mode) = (path.display(), format!("{mode:o}"));
        tracing::warn!(%path, mode, "others can read the {what}: chmod 600 keeps it to its owner");
    }
}
