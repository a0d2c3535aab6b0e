//! Elements as numbers, in strips that fit into the cache, whatever their type and alignment.

use fp_types::Dtype;
use half::{bf16, f16};

/// How many elements pass at a time: a few strips of 8 bytes each lie in the first cache.
pub(crate) const STRIP: usize = 512;

/// Whether elements are real numbers (truth values count as 0 and 1).
pub(crate) fn is_real(dtype: Dtype) -> bool {
    !matches!(dtype, Dtype::C32 | Dtype::C64 | Dtype::String | Dtype::Bytes)
}

/// The type in which results of computing with such elements come: short real numbers stay at 32 bits.
pub(crate) fn computed(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::C32 => Dtype::F32,
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F64
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => Dtype::F64,
    }
}

/// Some elements, each with its exact value.
pub(crate) enum Strip<'a> {
    Signed(&'a [i64]),
    Unsigned(&'a [u64]),
    Real(&'a [f64]),
}

impl Strip<'_> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Signed(all) => all.len(),
            Self::Unsigned(all) => all.len(),
            Self::Real(all) => all.len(),
        }
    }

    /// One of them, exactly.
    pub(crate) fn scalar(&self, at: usize) -> Scalar {
        match self {
            Self::Signed(all) => Scalar::Signed(all[at]),
            Self::Unsigned(all) => Scalar::Unsigned(all[at]),
            Self::Real(all) => Scalar::Real(all[at]),
        }
    }

    /// Hands over all of them, integers rounded to 53 bits.
    pub(crate) fn for_each_real(&self, take: impl FnMut(f64)) {
        match self {
            Self::Signed(all) => all.iter().map(|&number| number as f64).for_each(take),
            Self::Unsigned(all) => all.iter().map(|&number| number as f64).for_each(take),
            Self::Real(all) => all.iter().copied().for_each(take),
        }
    }
}

/// Reads numbers of one type one by one; the compiler makes vector instructions of it.
macro_rules! read {
    ($bytes:expr, $to:expr, $from:ty, $convert:expr) => {{
        let (elements, _) = $bytes.as_chunks::<{ size_of::<$from>() }>();
        for (to, element) in $to.iter_mut().zip(elements) {
            *to = $convert(<$from>::from_ne_bytes(*element));
        }
    }};
}

/// Reads as many elements as `to` has room for, rounded to 53 bits where they have more. `dtype` is real.
pub(crate) fn read_reals(dtype: Dtype, bytes: &[u8], to: &mut [f64]) {
    match dtype {
        Dtype::F64 => read!(bytes, to, f64, |x| x),
        Dtype::F32 => read!(bytes, to, f32, f64::from),
        Dtype::F16 => read!(bytes, to, f16, f64::from),
        Dtype::BF16 => read!(bytes, to, bf16, f64::from),
        Dtype::I8 => read!(bytes, to, i8, f64::from),
        Dtype::I16 => read!(bytes, to, i16, f64::from),
        Dtype::I32 => read!(bytes, to, i32, f64::from),
        Dtype::I64 => read!(bytes, to, i64, |x| x as f64),
        Dtype::U8 => read!(bytes, to, u8, f64::from),
        Dtype::Bool => read!(bytes, to, u8, |x| f64::from(u8::from(x != 0))),
        Dtype::U16 => read!(bytes, to, u16, f64::from),
        Dtype::U32 => read!(bytes, to, u32, f64::from),
        Dtype::U64 => read!(bytes, to, u64, |x| x as f64),
        Dtype::C32 | Dtype::C64 | Dtype::String | Dtype::Bytes => to.fill(f64::NAN),
    }
}

/// Writes numbers as the type that [`computed`] gives.
pub(crate) fn write_reals(dtype: Dtype, from: &[f64], bytes: &mut [u8]) {
    if dtype == Dtype::F32 {
        let (elements, _) = bytes.as_chunks_mut::<4>();
        elements.iter_mut().zip(from).for_each(|(to, from)| *to = (*from as f32).to_ne_bytes());
    } else {
        let (elements, _) = bytes.as_chunks_mut::<8>();
        elements.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_ne_bytes());
    }
}

/// Elements of 8 bytes, if they lie where such numbers may.
fn in_place(dtype: Dtype, bytes: &[u8]) -> Option<Strip<'_>> {
    match kind(dtype) {
        _ if dtype.size_bytes() != Some(8) || !is_real(dtype) => None,
        Kind::Signed => bytemuck::try_cast_slice(bytes).ok().map(Strip::Signed),
        Kind::Unsigned => bytemuck::try_cast_slice(bytes).ok().map(Strip::Unsigned),
        Kind::Real => bytemuck::try_cast_slice(bytes).ok().map(Strip::Real),
    }
}

/// Memory for one strip of any kind.
struct Room {
    reals: [f64; STRIP],
    signed: [i64; STRIP],
    unsigned: [u64; STRIP],
}

impl Room {
    fn new() -> Self {
        Self { reals: [0.0; STRIP], signed: [0; STRIP], unsigned: [0; STRIP] }
    }

    /// Reads at most [`STRIP`] elements, where they do not lie as they are handed over.
    fn read<'a>(&'a mut self, dtype: Dtype, bytes: &'a [u8]) -> Strip<'a> {
        if let Some(strip) = in_place(dtype, bytes) {
            return strip;
        }
        let count = bytes.len() / dtype.size_bytes().unwrap_or(1);
        let Self { reals, signed, unsigned } = self;
        match dtype {
            Dtype::I8 => read!(bytes, signed, i8, i64::from),
            Dtype::I16 => read!(bytes, signed, i16, i64::from),
            Dtype::I32 => read!(bytes, signed, i32, i64::from),
            Dtype::I64 => read!(bytes, signed, i64, |x| x),
            Dtype::U8 => read!(bytes, unsigned, u8, u64::from),
            Dtype::Bool => read!(bytes, unsigned, u8, |x| u64::from(x != 0)),
            Dtype::U16 => read!(bytes, unsigned, u16, u64::from),
            Dtype::U32 => read!(bytes, unsigned, u32, u64::from),
            Dtype::U64 => read!(bytes, unsigned, u64, |x| x),
            Dtype::F16
            | Dtype::BF16
            | Dtype::F32
            | Dtype::F64
            | Dtype::C32
            | Dtype::C64
            | Dtype::String
            | Dtype::Bytes => read_reals(dtype, bytes, &mut reals[..count]),
        }
        match kind(dtype) {
            Kind::Signed => Strip::Signed(&signed[..count]),
            Kind::Unsigned => Strip::Unsigned(&unsigned[..count]),
            Kind::Real => Strip::Real(&reals[..count]),
        }
    }
}

/// Hands over all elements, strip by strip. `dtype` is real.
pub(crate) fn for_each_strip(dtype: Dtype, bytes: &[u8], mut take: impl FnMut(Strip<'_>)) {
    let size = dtype.size_bytes().unwrap_or(1);
    let mut room = Room::new();
    bytes.chunks(STRIP * size).for_each(|strip| take(room.read(dtype, strip)));
}

/// Hands over the elements of two blocks that are cut alike, strip by strip. Both types are real.
pub(crate) fn for_each_pair(
    first: (Dtype, &[u8]),
    second: (Dtype, &[u8]),
    mut take: impl FnMut(Strip<'_>, Strip<'_>),
) {
    let size = |dtype: Dtype| STRIP * dtype.size_bytes().unwrap_or(1);
    let (mut room, mut other) = (Room::new(), Room::new());
    let strips = first.1.chunks(size(first.0)).zip(second.1.chunks(size(second.0)));
    strips.for_each(|(a, b)| take(room.read(first.0, a), other.read(second.0, b)));
}

/// Which of the three kinds of exact numbers the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed,
    Unsigned,
    Real,
}

pub(crate) fn kind(dtype: Dtype) -> Kind {
    match dtype {
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => Kind::Signed,
        Dtype::U8 | Dtype::Bool | Dtype::U16 | Dtype::U32 | Dtype::U64 => Kind::Unsigned,
        Dtype::F16
        | Dtype::BF16
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::String
        | Dtype::Bytes => Kind::Real,
    }
}

/// One exact number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar {
    Signed(i64),
    Unsigned(u64),
    Real(f64),
}

impl Scalar {
    /// Which of two numbers of one kind is the greater; -0 comes before 0, and NaN is none.
    pub(crate) fn compare(self, other: Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Signed(a), Self::Signed(b)) => a.cmp(&b),
            (Self::Unsigned(a), Self::Unsigned(b)) => a.cmp(&b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(&b),
            _ => std::cmp::Ordering::Equal,
        }
    }

    /// The number, an integer rounded to 53 bits.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Signed(number) => number as f64,
            Self::Unsigned(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    /// Whether it is no number.
    pub(crate) fn is_nan(self) -> bool {
        matches!(self, Self::Real(number) if number.is_nan())
    }

    /// The number in eight bytes, little-endian.
    pub(crate) fn to_le_bytes(self) -> [u8; 8] {
        match self {
            Self::Signed(number) => number.to_le_bytes(),
            Self::Unsigned(number) => number.to_le_bytes(),
            Self::Real(number) => number.to_le_bytes(),
        }
    }

    /// What [`to_le_bytes`](Self::to_le_bytes) gave for an element of that type.
    pub(crate) fn from_le_bytes(dtype: Dtype, bytes: [u8; 8]) -> Self {
        match kind(dtype) {
            Kind::Signed => Self::Signed(i64::from_le_bytes(bytes)),
            Kind::Unsigned => Self::Unsigned(u64::from_le_bytes(bytes)),
            Kind::Real => Self::Real(f64::from_le_bytes(bytes)),
        }
    }

    /// The bytes of the number as an element of the type that it was read from.
    pub(crate) fn to_bytes(self, dtype: Dtype) -> Vec<u8> {
        match self {
            Self::Signed(number) => low_bytes(number.to_ne_bytes(), dtype),
            Self::Unsigned(number) => low_bytes(number.to_ne_bytes(), dtype),
            Self::Real(number) => match dtype {
                Dtype::F16 => f16::from_f64(number).to_ne_bytes().to_vec(),
                Dtype::BF16 => bf16::from_f64(number).to_ne_bytes().to_vec(),
                Dtype::F32 => (number as f32).to_ne_bytes().to_vec(),
                Dtype::F64
                | Dtype::I8
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
                | Dtype::Bytes => number.to_ne_bytes().to_vec(),
            },
        }
    }
}

/// The bytes of an integer of 64 bits that a shorter one of the same value has.
fn low_bytes(bytes: [u8; 8], dtype: Dtype) -> Vec<u8> {
    let size = dtype.size_bytes().unwrap_or(8).min(8);
    if cfg!(target_endian = "big") { bytes[8 - size..].to_vec() } else { bytes[..size].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_come_back_as_the_element_they_were() {
        for dtype in Dtype::ALL.iter().copied().filter(|&dtype| is_real(dtype)) {
            let bytes = match dtype {
                Dtype::F16 => f16::from_f64(-2.5).to_ne_bytes().to_vec(),
                Dtype::BF16 => bf16::from_f64(-2.5).to_ne_bytes().to_vec(),
                Dtype::F32 => (-2.5f32).to_ne_bytes().to_vec(),
                Dtype::F64 => (-2.5f64).to_ne_bytes().to_vec(),
                Dtype::Bool => vec![1],
                integer @ (Dtype::I8
                | Dtype::I16
                | Dtype::I32
                | Dtype::I64
                | Dtype::U8
                | Dtype::U16
                | Dtype::U32
                | Dtype::U64
                | Dtype::C32
                | Dtype::C64
                | Dtype::String
                | Dtype::Bytes) => vec![0xfe; integer.size_bytes().unwrap()],
            };
            for_each_strip(dtype, &bytes, |strip| {
                let scalar = match strip {
                    Strip::Signed(numbers) => Scalar::Signed(numbers[0]),
                    Strip::Unsigned(numbers) => Scalar::Unsigned(numbers[0]),
                    Strip::Real(numbers) => Scalar::Real(numbers[0]),
                };
                assert_eq!(scalar.to_bytes(dtype), bytes, "{dtype}");
            });
            let mut real = [0.0];
            read_reals(dtype, &bytes, &mut real);
            assert!(real[0] != 0.0 && !real[0].is_nan());
        }
    }
}
