//! Numbers and lists as bytes, one after the other, and back.

use fp_types::Dims;

/// Bytes that are read from the front.
pub(crate) struct Parts<'a>(pub(crate) &'a [u8]);

impl<'a> Parts<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes behind their length.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.bytes(usize::try_from(len).ok()?)
    }

    pub(crate) fn dims(&mut self, count: u8) -> Option<Dims> {
        let extents: Option<Vec<u64>> = (0..count).map(|_| self.u64()).collect();
        Dims::from_slice(&extents?).ok()
    }
}

/// Appends bytes behind their length; false if that does not fit.
pub(crate) fn put_counted(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let Ok(len) = u32::try_from(bytes.len()) else { return false };
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(bytes);
    true
}

/// Appends the extents, without their count.
pub(crate) fn put_dims(out: &mut Vec<u8>, dims: &Dims) {
    dims.iter().for_each(|extent| out.extend_from_slice(&extent.to_le_bytes()));
}
