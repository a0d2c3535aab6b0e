//! Step records: a step as bytes that can be kept or sent, and files of them, which are called spools.
//!
//! A record is a chain of frames: one for the step, one for each block, and an end. Each frame has a header of 32 bytes,
//! what it is of, and data. Data begins at multiples of 64 bytes where the record does: so a mapped file has numbers
//! where they may lie. Gaps are zeros. Integers are little-endian.
//!
//! | bytes | of a header |
//! |---|---|
//! | 0 to 3 | `FPSR` |
//! | 4 | the version of the format, 1 |
//! | 5 | what it is: 1 step, 2 block, 3 end |
//! | 6, 7 | 0 |
//! | 8 to 11 | the length of what it is of |
//! | 12 to 19 | the length of its data |
//! | 20 to 23 | the CRC-32C of what it is of |
//! | 24 to 27 | the CRC-32C of its data |
//! | 28 to 31 | the CRC-32C of the header before this |
//!
//! What a frame is of, with lengths in bytes:
//!
//! * A step: its epoch (16), its number (8), when it was taken since 1970 in seconds (8) and nanoseconds (4). Then the
//!   length (4) and bytes of the schema, as streams send it, and the shape of each variable. At last how many types of
//!   records there are (4), each with its length (4).
//! * A shape: how many dimensions it has (1, or 255 where there is no shape), and each extent (8).
//! * A block: the place of its variable in the schema (4), its rank (4), its number among those of the rank (4). Then how
//!   many dimensions it has (1), its start and its count (8 each).
//! * An end: the number of the step (8), and of its blocks (4).
//!
//! A record without its end is none. So a process that is killed while it writes leaves no half of a step, and a bit that
//! turned is found. Frames are written one after the other and read alike: a record may cross a connection as it is.
//! Who has a file passes over data by its length.
//!
//! This package knows values and files, and no stream.
#![forbid(unsafe_code)]

mod block;
mod error;
mod file_bytes;
mod frame;
mod open_record;
mod parts;
mod record_sequence;
mod spool;
mod step;
mod stored_step;

pub use block::BlockHead;
pub use error::{Damage, SpoolError};
pub use open_record::OpenRecord;
pub use record_sequence::RecordSequence;
pub use spool::{Spool, Torn};
pub use step::{StepHead, StepVariable};
pub use stored_step::{Entry, StoredBlock, StoredStep};
