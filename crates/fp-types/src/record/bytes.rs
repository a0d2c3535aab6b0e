//! Single parts of records in bytes: presence bits, references, integers. Nothing here knows which record it reads.

use super::byte_order::ByteOrder;
use super::layout::{REFERENCE_BYTES, Unit};
use crate::dtype::Dtype;

/// Whether a presence bit is set; without one all are present.
pub(super) fn is_present(bytes: &[u8], at: usize, bit: Option<usize>) -> bool {
    let set = |bit: usize| bytes.get(at + bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
    bit.is_none_or(set)
}

/// The offset and count of the reference there; zeros if it lies beyond the end.
pub(super) fn reference(bytes: &[u8], order: ByteOrder, at: usize) -> (u64, u64) {
    let number = |at| unsigned(bytes, order, at, 8);
    (number(at), number(at + REFERENCE_BYTES / 2))
}

/// An unsigned number of `len` bytes, at most 8; zero if it lies beyond the end.
pub(super) fn unsigned(bytes: &[u8], order: ByteOrder, at: usize, len: usize) -> u64 {
    let found = at.checked_add(len).and_then(|end| bytes.get(at..end)).unwrap_or_default();
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match order {
        ByteOrder::Little => found.iter().rev().fold(0, add),
        ByteOrder::Big => found.iter().fold(0, add),
    }
}

/// An integer of that type; zero if it lies beyond the end, or the type is none of integers.
pub(super) fn integer(bytes: &[u8], order: ByteOrder, at: usize, dtype: Dtype) -> i128 {
    let len = dtype.size_bytes().unwrap_or(0).min(8);
    let number = unsigned(bytes, order, at, len);
    match dtype {
        Dtype::I8 => i128::from(number as i8),
        Dtype::I16 => i128::from(number as i16),
        Dtype::I32 => i128::from(number as i32),
        Dtype::I64 => i128::from(number as i64),
        Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F16
        | Dtype::BF16
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => i128::from(number),
    }
}

/// Sets a presence bit, if there is one.
pub(super) fn set_present(out: &mut [u8], at: usize, bit: Option<usize>) {
    if let Some((bit, byte)) = bit.and_then(|bit| Some((bit, out.get_mut(at + bit / 8)?))) {
        *byte |= 1 << (bit % 8);
    }
}

/// Makes room for elements at the end, and says where.
pub(super) fn append(out: &mut Vec<u8>, unit: &Unit, count: usize) -> usize {
    let at = out.len().next_multiple_of(unit.alignment_bytes());
    out.resize(at + count * unit.size_bytes(), 0);
    at
}

/// Writes a reference to a part and its number of elements.
pub(super) fn put_reference(out: &mut [u8], order: ByteOrder, at: usize, (part, count): (usize, usize)) {
    let numbers = [part as u64, count as u64].map(|number| match order {
        ByteOrder::Little => number.to_le_bytes(),
        ByteOrder::Big => number.to_be_bytes(),
    });
    if let Some(place) = out.get_mut(at..at + REFERENCE_BYTES) {
        place.copy_from_slice(numbers.as_flattened());
    }
}
