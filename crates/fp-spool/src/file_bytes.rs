//! Bytes at a place of a file.

use crate::error::{Damage, SpoolError};
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::FileExt;

/// Fills `place` from there on.
pub(crate) fn read(file: &File, offset: u64, place: &mut [u8], what: &'static str) -> Result<(), SpoolError> {
    file.read_exact_at(place, offset).map_err(|error| {
        if error.kind() == ErrorKind::UnexpectedEof {
            return SpoolError::Damaged { offset, damage: Damage::Cut(what) };
        }
        unreadable(error)
    })
}

pub(crate) fn unreadable(error: Error) -> SpoolError {
    SpoolError::io("it cannot be read")(error)
}
