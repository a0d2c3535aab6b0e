//! The header of a frame, and how long frames are.

use crate::error::Damage;
use std::io::{self, Read, Write};

/// What follows a header, and data, begin at multiples of this where the record does.
const ALIGNMENT: u64 = 64;
pub(crate) const HEADER_BYTES: usize = 32;
const MAGIC: [u8; 4] = *b"FPSR";
const VERSION: u8 = 1;
/// No description is longer: that of a step holds a schema, whose encoding has this bound.
pub(crate) const LIMIT_META_BYTES: usize = 2 * fp_proto::table::MAX_ENCODED_BYTES;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Step = 1,
    Block = 2,
    End = 3,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Step, Self::Block, Self::End].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A frame, as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) meta_bytes: u32,
    pub(crate) data_bytes: u64,
    meta_sum: u32,
    data_sum: u32,
}

/// Whether that is the sum of the bytes. The fuzzer would never find one, and what lies behind is what it is for.
fn is_sum(of: &[u8], sum: u32) -> bool {
    cfg!(fuzzing) || crc32c::crc32c(of) == sum
}

/// Up to the next multiple of the alignment.
fn gap(len: u64) -> u64 {
    len.next_multiple_of(ALIGNMENT) - len
}

impl Frame {
    /// None if what it is of is too long.
    pub(crate) fn new(kind: Kind, meta: &[u8], data: &[u8]) -> Option<Self> {
        let meta_bytes = u32::try_from(meta.len()).ok().filter(|_| meta.len() <= LIMIT_META_BYTES)?;
        Some(Self {
            kind,
            meta_bytes,
            data_bytes: data.len() as u64,
            meta_sum: crc32c::crc32c(meta),
            data_sum: crc32c::crc32c(data),
        })
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(4, &[VERSION, self.kind as u8]);
        put(8, &self.meta_bytes.to_le_bytes());
        put(12, &self.data_bytes.to_le_bytes());
        put(20, &self.meta_sum.to_le_bytes());
        put(24, &self.data_sum.to_le_bytes());
        let sum = crc32c::crc32c(&header[..28]);
        header[28..].copy_from_slice(&sum.to_le_bytes());
        header
    }

    /// What the bytes are that end before a header does.
    pub(crate) fn cut(begun: &[u8]) -> Damage {
        match begun.iter().zip(&MAGIC).all(|(byte, magic)| byte == magic) {
            true => Damage::Cut("a header"),
            false => Damage::NoRecord,
        }
    }

    pub(crate) fn parse(header: &[u8; HEADER_BYTES]) -> Result<Self, Damage> {
        let number =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if header[..4] != MAGIC {
            return Err(Damage::NoRecord);
        }
        if !is_sum(&header[..28], number(28)) {
            return Err(Damage::Checksum("a header"));
        }
        // Only now: a version that is another one because a bit turned is damage.
        if header[4] != VERSION {
            return Err(Damage::Version { found: header[4], known: VERSION });
        }
        let kind =
            Kind::of(header[5]).ok_or_else(|| Damage::Invalid(format!("there is no kind {}", header[5])))?;
        let frame = Self {
            kind,
            meta_bytes: number(8),
            data_bytes: u64::from(number(12)) | u64::from(number(16)) << 32,
            meta_sum: number(20),
            data_sum: number(24),
        };
        let has_data = frame.kind == Kind::Block || frame.data_bytes == 0;
        if frame.meta_bytes as usize > LIMIT_META_BYTES || frame.data_bytes > i64::MAX as u64 || !has_data {
            return Err(Damage::Invalid("a length is out of its bound".to_owned()));
        }
        Ok(frame)
    }

    /// From the header's first byte to the data's.
    pub(crate) fn data_offset(&self) -> u64 {
        (HEADER_BYTES as u64 + u64::from(self.meta_bytes)).next_multiple_of(ALIGNMENT)
    }

    /// The bytes of all.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.data_offset() + self.data_bytes.next_multiple_of(ALIGNMENT)
    }

    pub(crate) fn check_meta(&self, meta: &[u8]) -> Result<(), Damage> {
        match is_sum(meta, self.meta_sum) {
            true => Ok(()),
            false => Err(Damage::Checksum("a description")),
        }
    }

    pub(crate) fn check_data(&self, data: &[u8]) -> Result<(), Damage> {
        match is_sum(data, self.data_sum) {
            true => Ok(()),
            false => Err(Damage::Checksum("the data of a block")),
        }
    }

    /// Writes the header, what it is of, and the data.
    pub(crate) fn write(&self, out: &mut impl Write, meta: &[u8], data: &[u8]) -> io::Result<()> {
        const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];
        let zeros = |len: u64| &ZEROS[..gap(len) as usize];
        out.write_all(&self.header())?;
        out.write_all(meta)?;
        out.write_all(zeros(HEADER_BYTES as u64 + u64::from(self.meta_bytes)))?;
        out.write_all(data)?;
        out.write_all(zeros(self.data_bytes))
    }

    /// Reads what the header is of, and the gap behind it.
    pub(crate) fn read_meta(&self, from: &mut impl Read) -> io::Result<Vec<u8>> {
        let (mut meta, padded) = (Vec::new(), self.data_offset() - HEADER_BYTES as u64);
        read_padded(from, (u64::from(self.meta_bytes), padded), &mut meta)?;
        Ok(meta)
    }

    /// Reads the data into this memory, and the gap behind it.
    pub(crate) fn read_data(&self, from: &mut impl Read, data: &mut Vec<u8>) -> io::Result<()> {
        read_padded(from, (self.data_bytes, self.data_bytes.next_multiple_of(ALIGNMENT)), data)
    }
}

/// So many bytes of as many as are there with their gap. As much memory is asked for as bytes come, whatever a header says.
fn read_padded(from: &mut impl Read, (len, padded): (u64, u64), bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    if from.take(padded).read_to_end(bytes)? as u64 != padded {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.truncate(len as usize);
    Ok(())
}
