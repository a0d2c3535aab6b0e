//! Opens an envelope: length, mark, verifier, version, and what it holds.

use fp_wire::flatbuffers::VerifierOptions;
use fp_wire::wire::{self, Content, Envelope};

use super::{MAX_ENCODED_BYTES, TableDecodeError, VERSION};

/// How deeply tables stand within one another: envelope, step table, entry, variable, attribute, and room.
const MAX_DEPTH: usize = 8;

/// The fewest bytes of a table: its reference and its own start.
const MIN_TABLE_BYTES: usize = 8;

/// The shortest envelope: root, mark, and a table.
const MIN_BYTES: usize = 16;

/// The envelope of that content.
pub(super) fn open(bytes: &[u8], wanted: Content) -> Result<Envelope<'_>, TableDecodeError> {
    if bytes.len() > MAX_ENCODED_BYTES {
        return Err(TableDecodeError::TooLong { len_bytes: bytes.len() });
    }
    if bytes.len() < MIN_BYTES || !wire::envelope_buffer_has_identifier(bytes) {
        return Err(TableDecodeError::Unmarked);
    }
    let envelope = wire::root_as_envelope_with_opts(&limits(bytes.len()), bytes)?;
    if envelope.version() != VERSION {
        return Err(TableDecodeError::Version { found: envelope.version() });
    }
    if let Some(note) = envelope.content_as_too_large() {
        return Err(TableDecodeError::TooLarge { len_bytes: note.len_bytes() });
    }
    let found = envelope.content_type();
    if found != wanted {
        return Err(TableDecodeError::OtherContent { found: found.0, wanted: wanted.0 });
    }
    Ok(envelope)
}

/// The verifier's limits for so many bytes.
///
/// A part may be referred to more than once, so a small message can unfold into a huge one. Its own length bounds how
/// much it unfolds to. (Tables of one form share a description, which counts each time: hence the four.)
fn limits(len_bytes: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: MAX_DEPTH,
        max_tables: len_bytes / MIN_TABLE_BYTES + 1,
        max_apparent_size: 4 * len_bytes + 1024,
        ignore_missing_null_terminator: false,
    }
}
