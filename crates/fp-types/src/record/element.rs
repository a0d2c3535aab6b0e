//! Conversions of elements: from one number type to another, and from one byte order to the other.

use super::byte_order::ByteOrder;
use super::kernels::{Kernel, Step, casts, swap};
use crate::dtype::Dtype;
use crate::instructions::Instructions;

/// How elements lie: their type and byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementForm {
    /// The element type.
    pub dtype: Dtype,
    /// The order of the bytes of each number.
    pub byte_order: ByteOrder,
}

impl ElementForm {
    /// That type in the byte order of this machine.
    pub fn native(dtype: Dtype) -> Self {
        Self { dtype, byte_order: ByteOrder::NATIVE }
    }
}

/// Whether a conversion may change values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loss {
    /// Only to types that hold every value: what happens unasked.
    #[default]
    Refused,
    /// Between any two number types. Real numbers are rounded to the nearest. Where integers are wanted they are cut
    /// off at the end of the range, and NaN becomes 0. Integers lose their upper bits. What a subscriber asks for by
    /// name.
    Allowed,
}

/// Why elements are not converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElementConversionError {
    /// Not both are numbers (or the same).
    #[error("no conversion leads from {from} to {to}")]
    Unlike {
        /// What there is.
        from: Dtype,
        /// What is wanted.
        to: Dtype,
    },
    /// Values could change, and that was not allowed.
    #[error("{to} does not hold every {from}: that has to be asked for")]
    Lossy {
        /// What there is.
        from: Dtype,
        /// What is wanted.
        to: Dtype,
    },
    /// A length that is no number of elements, or not the same on both sides.
    #[error(
        "{source_len_bytes} bytes of {from} are not the elements of {destination_len_bytes} bytes of {to}"
    )]
    Len {
        /// The type at the source.
        from: Dtype,
        /// The type at the destination.
        to: Dtype,
        /// How long the source is.
        source_len_bytes: usize,
        /// How long the destination is.
        destination_len_bytes: usize,
    },
}

/// How many numbers pass at a time where a conversion has several steps.
const TILE: usize = 512;

/// As many, where an array is short.
const SHORT_TILE: usize = 16;

/// A conversion of elements, made once and run on any number of them.
#[derive(Clone, Debug)]
pub struct ElementConversion {
    from: Dtype,
    to: Dtype,
    from_bytes: usize,
    to_bytes: usize,
    /// How many numbers an element is: 2 for complex ones.
    numbers: usize,
    /// What happens to each number.
    work: Work,
    /// None at all: a copy. Each with the size in bytes of a number after it.
    steps: Vec<Step>,
    instructions: Instructions,
}

/// What happens to each number, whatever it is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Nothing,
    /// So many bytes are turned around.
    Swap(usize),
    /// Types, and whether bytes are turned around before and after.
    Cast(Dtype, Dtype, [bool; 2]),
}

impl ElementConversion {
    /// The conversion from one form to the other.
    pub fn new(from: ElementForm, to: ElementForm, loss: Loss) -> Result<Self, ElementConversionError> {
        Self::with_instructions(from, to, loss, Instructions::widest())
    }

    /// The same, compiled to other instructions: to compare them.
    pub(super) fn with_instructions(
        from: ElementForm,
        to: ElementForm,
        loss: Loss,
        instructions: Instructions,
    ) -> Result<Self, ElementConversionError> {
        let unlike = ElementConversionError::Unlike { from: from.dtype, to: to.dtype };
        let sizes = from.dtype.size_bytes().zip(to.dtype.size_bytes());
        let (from_bytes, to_bytes) = sizes.ok_or(unlike)?;
        let (source, destination, numbers) = match (part(from.dtype), part(to.dtype)) {
            (Some(source), Some(destination)) => (source, destination, 2),
            (None, None) => (from.dtype, to.dtype, 1),
            _ => return Err(unlike),
        };
        let casts = casts(source, destination).ok_or(unlike)?;
        if loss == Loss::Refused && !is_lossless(source, destination) {
            return Err(ElementConversionError::Lossy { from: from.dtype, to: to.dtype });
        }
        // Bytes that are only to be swapped, or not at all, need no detour over the machine's order.
        let (steps, work) = if source == destination {
            let swapped = swap(source, from.byte_order, to.byte_order);
            (swapped.into_iter().collect(), swapped.map_or(Work::Nothing, |(_, size)| Work::Swap(size)))
        } else {
            let before = swap(source, from.byte_order, ByteOrder::NATIVE);
            let after = swap(destination, ByteOrder::NATIVE, to.byte_order);
            let work = Work::Cast(source, destination, [before.is_some(), after.is_some()]);
            (before.into_iter().chain(casts).chain(after).collect(), work)
        };
        let (from, to) = (from.dtype, to.dtype);
        Ok(Self { from, to, from_bytes, to_bytes, numbers, work, steps, instructions })
    }

    /// Whether the bytes stay what they are.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// The size of an element before and after, in bytes.
    pub fn sizes_bytes(&self) -> (usize, usize) {
        (self.from_bytes, self.to_bytes)
    }

    /// Whether the other one does the same to each number, though they may be parts of other elements.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.work == other.work
    }

    /// The same conversion of the numbers that elements are made of.
    pub(super) fn of_numbers(mut self) -> Self {
        self.from_bytes /= self.numbers;
        self.to_bytes /= self.numbers;
        self.numbers = 1;
        self
    }

    /// Converts all elements of `source`. On an error nothing was written.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ElementConversionError> {
        let (count, rest) = (source.len() / self.from_bytes, source.len() % self.from_bytes);
        if rest != 0 || count.checked_mul(self.to_bytes) != Some(destination.len()) {
            return Err(self.len_error(source.len(), destination.len()));
        }
        match self.steps.as_slice() {
            [] => destination.copy_from_slice(source),
            [(kernel, _)] => kernel(self.instructions, source, destination),
            [first, middle @ .., (last, _)] => {
                let steps = (*first, middle, *last);
                match count * self.numbers <= SHORT_TILE {
                    true => self.run_tiles::<{ SHORT_TILE * 8 }>(steps, source, destination),
                    false => self.run_tiles::<{ TILE * 8 }>(steps, source, destination),
                }
            }
        }
        Ok(())
    }

    pub(super) fn len_error(
        &self,
        source_len_bytes: usize,
        destination_len_bytes: usize,
    ) -> ElementConversionError {
        let (from, to) = (self.from, self.to);
        ElementConversionError::Len { from, to, source_len_bytes, destination_len_bytes }
    }

    /// Runs several steps, tile by tile of so many bytes, so that what is between them stays in the cache.
    fn run_tiles<const BYTES: usize>(
        &self,
        ((first, first_bytes), middle, last): (Step, &[Step], Kernel),
        source: &[u8],
        destination: &mut [u8],
    ) {
        let (from_bytes, to_bytes) = (self.from_bytes / self.numbers, self.to_bytes / self.numbers);
        let tiles = source.chunks(BYTES / 8 * from_bytes).zip(destination.chunks_mut(BYTES / 8 * to_bytes));
        let (mut before, mut after) = ([0; BYTES], [0; BYTES]);
        let (mut before, mut after) = (&mut before[..], &mut after[..]);
        for (from, to) in tiles {
            let (count, mut size) = (from.len() / from_bytes, first_bytes);
            first(self.instructions, from, &mut before[..count * size]);
            for (kernel, next_bytes) in middle {
                kernel(self.instructions, &before[..count * size], &mut after[..count * next_bytes]);
                std::mem::swap(&mut before, &mut after);
                size = *next_bytes;
            }
            last(self.instructions, &before[..count * size], to);
        }
    }
}

/// Of a complex type the type of its parts.
fn part(dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::C32 => Some(Dtype::F32),
        Dtype::C64 => Some(Dtype::F64),
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F16
        | Dtype::BF16
        | Dtype::F32
        | Dtype::F64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => None,
    }
}

/// The bits of an integer type's values, and whether one of them is a sign.
fn integer(dtype: Dtype) -> Option<(u32, bool)> {
    match dtype {
        Dtype::I8 => Some((8, true)),
        Dtype::I16 => Some((16, true)),
        Dtype::I32 => Some((32, true)),
        Dtype::I64 => Some((64, true)),
        Dtype::U8 => Some((8, false)),
        Dtype::U16 => Some((16, false)),
        Dtype::U32 => Some((32, false)),
        Dtype::U64 => Some((64, false)),
        Dtype::F16
        | Dtype::BF16
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => None,
    }
}

/// The bits of a real type's fraction, the hidden one included, and of its exponent.
fn real(dtype: Dtype) -> Option<(u32, u32)> {
    match dtype {
        Dtype::F16 => Some((11, 5)),
        Dtype::BF16 => Some((8, 8)),
        Dtype::F32 => Some((24, 8)),
        Dtype::F64 => Some((53, 11)),
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => None,
    }
}

/// Whether `to` holds every value of `from`.
pub(super) fn is_lossless(from: Dtype, to: Dtype) -> bool {
    if let (Some(from), Some(to)) = (part(from), part(to)) {
        return is_lossless(from, to);
    }
    match (integer(from), real(from), integer(to), real(to)) {
        (Some((bits, false)), _, Some((wider, true)), _) => bits < wider,
        (Some((_, true)), _, Some((_, false)), _) => false,
        (Some((bits, _)), _, Some((wider, _)), _) => bits <= wider,
        // The smallest signed number is a power of two: it needs no bit of the fraction.
        (Some((bits, signed)), _, _, Some((fraction, exponent))) => {
            bits - u32::from(signed) <= fraction && bits < 1 << (exponent - 1)
        }
        (_, Some(from), _, Some(to)) => from.0 <= to.0 && from.1 <= to.1,
        _ => from == to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form() -> impl Strategy<Value = ElementForm> {
        let numbers = |dtype: &Dtype| dtype.size_bytes().is_some();
        let dtypes: Vec<Dtype> = Dtype::ALL.iter().copied().filter(numbers).collect();
        let byte_order = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
        (prop::sample::select(dtypes), byte_order)
            .prop_map(|(dtype, byte_order)| ElementForm { dtype, byte_order })
    }

    #[test]
    fn a_type_holds_another_if_it_holds_its_extremes() {
        use Dtype::*;
        let held = |from: Dtype| -> Vec<Dtype> {
            Dtype::ALL.iter().copied().filter(|to| *to != from && is_lossless(from, *to)).collect()
        };
        assert_eq!(held(I8), [I16, I32, I64, F16, BF16, F32, F64]);
        assert_eq!(held(U8), [I16, I32, I64, U16, U32, U64, F16, BF16, F32, F64]);
        assert_eq!(held(I16), [I32, I64, F32, F64]);
        assert_eq!(held(U16), [I32, I64, U32, U64, F32, F64]);
        assert_eq!(held(I32), [I64, F64]);
        assert_eq!(held(U32), [I64, U64, F64]);
        assert_eq!((held(I64), held(U64), held(F64)), (vec![], vec![], vec![]));
        assert_eq!((held(F16), held(BF16), held(F32)), (vec![F32, F64], vec![F32, F64], vec![F64]));
        assert_eq!((held(C32), held(C64)), (vec![C64], vec![]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Bytes of all kinds: those of NaN, of numbers that do not fit, of zeros with a sign.
        #[test]
        fn all_instructions_convert_as_one_element_by_itself(
            from in form(), to in form(), bytes in prop::collection::vec(any::<u8>(), 0..9000),
        ) {
            let conversion = |instructions| {
                ElementConversion::with_instructions(from, to, Loss::Allowed, instructions)
            };
            let Ok(plain) = conversion(Instructions::plain()) else { return Ok(()) };
            let wide = conversion(Instructions::widest()).unwrap();
            let (size, to_size) = plain.sizes_bytes();
            let bytes = &bytes[..bytes.len() / size * size];
            let mut found = [vec![1; bytes.len() / size * to_size], vec![2; bytes.len() / size * to_size]];
            plain.run(bytes, &mut found[0]).unwrap();
            wide.run(bytes, &mut found[1]).unwrap();
            prop_assert_eq!(&found[0], &found[1]);
            for (from, wanted) in bytes.chunks_exact(size).zip(found[0].chunks_exact(to_size)) {
                let mut one = vec![3; to_size];
                plain.run(from, &mut one).unwrap();
                prop_assert_eq!(&one, wanted);
            }
        }
    }
}
