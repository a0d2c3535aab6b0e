//! A slot of a message, filled from slices of bytes.

use std::io::IoSlice;

/// Copies from the slices, beginning with byte `from` of them, at most `limit` bytes; says how many.
pub(super) fn fill(slot: &mut [u8], slices: &[IoSlice<'_>], mut from: usize, limit: usize) -> usize {
    let mut filled = 0;
    let room = slot.len().min(limit);
    for slice in slices {
        let rest = slice.get(from..).unwrap_or_default();
        from = from.saturating_sub(slice.len());
        let taken = rest.len().min(room - filled);
        if let (Some(to), Some(bytes)) = (slot.get_mut(filled..filled + taken), rest.get(..taken)) {
            to.copy_from_slice(bytes);
        }
        filled += taken;
        if filled == room {
            break;
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_filled_from_anywhere_in_the_slices() {
        let slices = [IoSlice::new(b"abc"), IoSlice::new(b""), IoSlice::new(b"defgh")];
        let filled = |room: usize, from: usize, limit: usize| {
            let mut slot = vec![0; room];
            let len = fill(&mut slot, &slices, from, limit);
            slot.truncate(len);
            String::from_utf8(slot).expect("letters")
        };
        assert_eq!(filled(100, 0, 100), "abcdefgh");
        assert_eq!(filled(4, 2, 100), "cdef");
        assert_eq!(filled(100, 3, 2), "de");
        assert_eq!(filled(100, 7, 100), "h");
    }
}
