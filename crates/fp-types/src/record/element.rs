//! Conversions of elements: from one number type to another, and from one byte order to the other.

use half::{bf16, f16};

use crate::dtype::Dtype;

/// In which order the bytes of a number lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ByteOrder {
    /// The lowest first.
    Little,
    /// The highest first.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// The order's lasting number.
    pub fn as_u8(self) -> u8 {
        match self {
            Self::Little => 0,
            Self::Big => 1,
        }
    }

    /// The order with that number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Little),
            1 => Some(Self::Big),
            _ => None,
        }
    }
}

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
    /// Between any two number types: real numbers are rounded to the nearest, or to the end of the range and NaN to 0
    /// where integers are wanted; integers lose their upper bits. What a subscriber asks for by name.
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

/// A loop over elements that lie densely on both sides.
type Kernel = fn(&[u8], &mut [u8]);

/// How many numbers pass at a time where a conversion has several steps.
const TILE: usize = 512;

/// A conversion of elements, made once and run on any number of them.
#[derive(Clone, Debug)]
pub struct ElementConversion {
    from: Dtype,
    to: Dtype,
    from_bytes: usize,
    to_bytes: usize,
    /// How many numbers an element is: 2 for complex ones.
    numbers: usize,
    /// None at all: a copy. Each with the size in bytes of a number after it.
    steps: Vec<(Kernel, usize)>,
}

impl ElementConversion {
    /// The conversion from one form to the other.
    pub fn new(from: ElementForm, to: ElementForm, loss: Loss) -> Result<Self, ElementConversionError> {
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
        let mut steps = Vec::new();
        // Bytes that are only to be swapped, or not at all, need no detour over the machine's order.
        if source != destination {
            steps.extend(swap(source, from.byte_order, ByteOrder::NATIVE));
            steps.extend(casts);
            steps.extend(swap(destination, ByteOrder::NATIVE, to.byte_order));
        } else {
            steps.extend(swap(source, from.byte_order, to.byte_order));
        }
        Ok(Self { from: from.dtype, to: to.dtype, from_bytes, to_bytes, numbers, steps })
    }

    /// Whether the bytes stay what they are.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// The size of an element before and after, in bytes.
    pub fn sizes_bytes(&self) -> (usize, usize) {
        (self.from_bytes, self.to_bytes)
    }

    /// Converts all elements of `source`. On an error nothing was written.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ElementConversionError> {
        let (count, rest) = (source.len() / self.from_bytes, source.len() % self.from_bytes);
        if rest != 0 || count.checked_mul(self.to_bytes) != Some(destination.len()) {
            return Err(self.len_error(source.len(), destination.len()));
        }
        match self.steps.as_slice() {
            [] => destination.copy_from_slice(source),
            [(kernel, _)] => kernel(source, destination),
            _ => self.run_tiles(source, destination),
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

    /// Runs several steps, tile by tile, so that what is between them stays in the cache.
    fn run_tiles(&self, source: &[u8], destination: &mut [u8]) {
        let (from_bytes, to_bytes) = (self.from_bytes / self.numbers, self.to_bytes / self.numbers);
        let tiles = source.chunks(TILE * from_bytes).zip(destination.chunks_mut(TILE * to_bytes));
        let (mut before, mut after) = ([0; TILE * 8], [0; TILE * 8]);
        for (from, to) in tiles {
            let count = from.len() / from_bytes;
            before[..from.len()].copy_from_slice(from);
            let mut size = from_bytes;
            for (kernel, next_size) in &self.steps {
                kernel(&before[..count * size], &mut after[..count * next_size]);
                std::mem::swap(&mut before, &mut after);
                size = *next_size;
            }
            to.copy_from_slice(&before[..to.len()]);
        }
    }
}

/// Of a complex type the type of its parts.
fn part(dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::C32 => Some(Dtype::F32),
        Dtype::C64 => Some(Dtype::F64),
        _ => None,
    }
}

/// Converts numbers one by one; the compiler makes vector instructions of it.
fn each<const A: usize, const B: usize>(
    source: &[u8],
    destination: &mut [u8],
    convert: impl Fn([u8; A]) -> [u8; B],
) {
    let (from, _) = source.as_chunks::<A>();
    let (to, _) = destination.as_chunks_mut::<B>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = convert(*from);
    }
}

fn swap(dtype: Dtype, from: ByteOrder, to: ByteOrder) -> Option<(Kernel, usize)> {
    let kernel: Kernel = match dtype.size_bytes() {
        Some(2) => |source, destination| {
            each(source, destination, |bytes| u16::from_ne_bytes(bytes).swap_bytes().to_ne_bytes())
        },
        Some(4) => |source, destination| {
            each(source, destination, |bytes| u32::from_ne_bytes(bytes).swap_bytes().to_ne_bytes())
        },
        Some(8) => |source, destination| {
            each(source, destination, |bytes| u64::from_ne_bytes(bytes).swap_bytes().to_ne_bytes())
        },
        _ => return None,
    };
    (from != to).then_some((kernel, dtype.size_bytes()?))
}

/// The casts from one number type to another; none at all if they are the same.
fn casts(from: Dtype, to: Dtype) -> Option<Vec<(Kernel, usize)>> {
    if from == to {
        return Some(Vec::new());
    }
    let (widened, narrowed) = (widen(from), narrow(to));
    let source = if widened.is_some() { Dtype::F32 } else { from };
    let destination = if narrowed.is_some() { Dtype::F32 } else { to };
    let between = match source == destination {
        true => None,
        false => Some((kernel(source, destination)?, destination.size_bytes()?)),
    };
    Some(widened.into_iter().chain(between).chain(narrowed).collect())
}

/// From a short real type to `f32`.
fn widen(from: Dtype) -> Option<(Kernel, usize)> {
    let kernel: Kernel = match from {
        Dtype::F16 => |source, destination| {
            each(source, destination, |bytes| f16::from_ne_bytes(bytes).to_f32().to_ne_bytes())
        },
        Dtype::BF16 => |source, destination| {
            each(source, destination, |bytes| bf16::from_ne_bytes(bytes).to_f32().to_ne_bytes())
        },
        _ => return None,
    };
    Some((kernel, 4))
}

/// From `f32` to a short real type.
fn narrow(to: Dtype) -> Option<(Kernel, usize)> {
    let kernel: Kernel = match to {
        Dtype::F16 => |source, destination| {
            each(source, destination, |bytes| f16::from_f32(f32::from_ne_bytes(bytes)).to_ne_bytes())
        },
        Dtype::BF16 => |source, destination| {
            each(source, destination, |bytes| bf16::from_f32(f32::from_ne_bytes(bytes)).to_ne_bytes())
        },
        _ => return None,
    };
    Some((kernel, 2))
}

/// One loop for each pair of number types that the machine computes with.
macro_rules! kernels {
    ($from:expr, $to:expr; $($source:ident = $rust:ty),*) => {
        match $from {
            $(Dtype::$source => kernels!(@to $to; $rust; I8 = i8, I16 = i16, I32 = i32, I64 = i64, U8 = u8,
                U16 = u16, U32 = u32, U64 = u64, F32 = f32, F64 = f64),)*
            _ => None,
        }
    };
    (@to $to:expr; $source:ty; $($destination:ident = $rust:ty),*) => {
        match $to {
            $(Dtype::$destination => Some(|source: &[u8], destination: &mut [u8]| {
                each(source, destination, |bytes| (<$source>::from_ne_bytes(bytes) as $rust).to_ne_bytes())
            }),)*
            _ => None,
        }
    };
}

fn kernel(from: Dtype, to: Dtype) -> Option<Kernel> {
    kernels!(from, to; I8 = i8, I16 = i16, I32 = i32, I64 = i64, U8 = u8, U16 = u16, U32 = u32, U64 = u64,
        F32 = f32, F64 = f64)
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
        _ => None,
    }
}

/// The bits of a real type's fraction, the hidden one included, and of its exponent.
fn real(dtype: Dtype) -> Option<(u32, u32)> {
    match dtype {
        Dtype::F16 => Some((11, 5)),
        Dtype::BF16 => Some((8, 8)),
        Dtype::F32 => Some((24, 8)),
        Dtype::F64 => Some((53, 11)),
        _ => None,
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
