//! Blocks made shorter for the way: losslessly, or within an error that the subscriber names.
//!
//! Compressed bytes begin with a header of their own: codec, element size, length. So the receiver needs nothing else
//! to read them. It checks what it reads against what it expects. What got longer is sent as it was.

mod numeric;

use std::fmt;

use fp_types::Dtype;

/// How blocks are compressed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Compression {
    /// LZ4, after the bytes of all elements were shuffled: first bytes first. Fast, for any elements. Lossless.
    Lz4,
    /// Pco, for numbers: slower and shorter. Lossless. Other elements go by LZ4.
    Pco,
    /// Real numbers of 32 or 64 bits, each changed by at most the bound; NaN and the infinite stay. Rounded to a grid
    /// of twice the bound and compressed by Pco. Elements of other types are compressed losslessly.
    Bounded {
        /// The most that an element may change.
        max_error: f64,
    },
}

/// Why bytes are not compressed or decompressed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompressionError {
    /// A bound that is not a positive number.
    #[error("an error of at most {max_error} cannot be kept to")]
    Bound {
        /// The bound.
        max_error: f64,
    },
    /// Bytes that are no whole elements.
    #[error("{len_bytes} bytes are no whole elements of {dtype}")]
    Len {
        /// The element type.
        dtype: Dtype,
        /// How many bytes.
        len_bytes: usize,
    },
    /// The compressor gave up.
    #[error("not compressed: {reason}")]
    Compress {
        /// Why.
        reason: String,
    },
    /// Bytes that no compressor of ours made.
    #[error("not decompressed: {reason}")]
    Decompress {
        /// What is wrong with them.
        reason: String,
    },
    /// Bytes of another length than was expected.
    #[error("compressed are {found_bytes} bytes, where {wanted_bytes} were wanted")]
    Unexpected {
        /// How many they say they are.
        found_bytes: u64,
        /// How many were wanted.
        wanted_bytes: usize,
    },
}

pub(crate) fn broken(reason: impl fmt::Display) -> CompressionError {
    CompressionError::Decompress { reason: reason.to_string() }
}

/// What the first byte says.
const STORED: u8 = 0;
const LZ4: u8 = 1;
const PCO: u8 = 2;
const BOUNDED: u8 = 3;
/// One byte of LZ4 makes no more than so many.
const LZ4_MOST: usize = 255;
/// Codec, element type, length in bytes.
const HEADER_BYTES: usize = 10;

impl Compression {
    pub(crate) fn check(self) -> Result<Self, CompressionError> {
        match self {
            Self::Bounded { max_error } if !(max_error.is_normal() && max_error > 0.0) => {
                Err(CompressionError::Bound { max_error })
            }
            Self::Lz4 | Self::Pco | Self::Bounded { .. } => Ok(self),
        }
    }

    /// Compresses elements of a type (in this machine's byte order).
    ///
    /// # Errors
    /// The bytes are no whole elements, or the bound makes no sense.
    pub fn compress(self, dtype: Dtype, bytes: &[u8]) -> Result<Vec<u8>, CompressionError> {
        self.check()?;
        let size = dtype.size_bytes().unwrap_or(1);
        if bytes.len() % size != 0 {
            return Err(CompressionError::Len { dtype, len_bytes: bytes.len() });
        }
        let (codec, body) = match self {
            Self::Bounded { max_error } if matches!(dtype, Dtype::F32 | Dtype::F64) => {
                (BOUNDED, numeric::compress_bounded(dtype, bytes, max_error)?)
            }
            Self::Pco | Self::Bounded { .. } if numeric::is_number(dtype) => {
                (PCO, numeric::compress(dtype, bytes)?)
            }
            Self::Lz4 | Self::Pco | Self::Bounded { .. } => {
                (LZ4, lz4_flex::block::compress(&shuffle(bytes, size)))
            }
        };
        // What is bounded is kept even if it is longer: else the same elements would differ from block to block.
        let (codec, body) = if body.len() < bytes.len() || codec == BOUNDED {
            (codec, body)
        } else {
            (STORED, bytes.to_vec())
        };
        let mut all = Vec::with_capacity(HEADER_BYTES + body.len());
        all.extend([codec, dtype.as_u8()]);
        all.extend((bytes.len() as u64).to_le_bytes());
        all.extend(body);
        Ok(all)
    }
}

/// How many bytes there were before they were compressed, as these say: it is not known whether that is so.
///
/// # Errors
/// They are too few to say it.
pub fn claimed_bytes(compressed: &[u8]) -> Result<u64, CompressionError> {
    let length = compressed.get(2..HEADER_BYTES).and_then(|length| length.try_into().ok());
    length.map(u64::from_le_bytes).ok_or_else(|| broken("no header"))
}

/// The elements that were compressed, which must be of that type and together `len_bytes` long.
///
/// # Errors
/// Bytes that are anything else, in whatever way: nothing longer than `len_bytes` is made of them.
pub fn decompress(dtype: Dtype, compressed: &[u8], len_bytes: usize) -> Result<Vec<u8>, CompressionError> {
    let found_bytes = claimed_bytes(compressed)?;
    let (header, body) = compressed.split_at(HEADER_BYTES);
    if found_bytes != len_bytes as u64 {
        return Err(CompressionError::Unexpected { found_bytes, wanted_bytes: len_bytes });
    }
    let size = dtype.size_bytes().unwrap_or(1);
    if header[1] != dtype.as_u8() || len_bytes % size != 0 {
        return Err(broken(format!("elements of type {} instead of {dtype}", header[1])));
    }
    let bytes = match header[0] {
        STORED => body.to_vec(),
        LZ4 if len_bytes / LZ4_MOST > body.len() => {
            return Err(broken(format!("{} bytes never make {len_bytes}", body.len())));
        }
        LZ4 => {
            let mut shuffled = vec![0; len_bytes];
            let len = lz4_flex::block::decompress_into(body, &mut shuffled).map_err(broken)?;
            shuffled.truncate(len);
            unshuffle(&shuffled, size)
        }
        PCO => numeric::decompress(dtype, body, len_bytes)?,
        BOUNDED => numeric::decompress_bounded(dtype, body, len_bytes)?,
        other => return Err(broken(format!("codec {other} is unknown"))),
    };
    if bytes.len() != len_bytes {
        return Err(broken(format!("{} bytes came out instead of {len_bytes}", bytes.len())));
    }
    Ok(bytes)
}

/// The first bytes of all elements, then all second ones, and so on: what is alike becomes neighbours.
fn shuffle(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let mut shuffled = vec![0; bytes.len()];
    for (place, plane) in shuffled.chunks_exact_mut(count.max(1)).enumerate() {
        plane.iter_mut().zip(bytes[place..].iter().step_by(size)).for_each(|(to, from)| *to = *from);
    }
    shuffled
}

fn unshuffle(shuffled: &[u8], size: usize) -> Vec<u8> {
    let count = shuffled.len() / size;
    let mut bytes = vec![0; shuffled.len()];
    for (place, plane) in shuffled.chunks_exact(count.max(1)).enumerate() {
        let places = bytes.get_mut(place..).unwrap_or_default();
        places.iter_mut().step_by(size).zip(plane).for_each(|(to, from)| *to = *from);
    }
    bytes
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lz4 => f.write_str("lz4"),
            Self::Pco => f.write_str("pco"),
            Self::Bounded { max_error } => write!(f, "bounded({max_error:?})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made by the fuzzer: it claims a dictionary of millions of entries, for 64 elements.
    const CLAIMS_A_DICTIONARY: [u8; 74] = [
        0x02, 0x0c, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x70, 0x63, 0x6f, 0x21, 0x03, 0x00, 0x06,
        0x10, 0x04, 0x01, 0x06, 0x3f, 0x00, 0x00, 0x54, 0x13, 0x61, 0x03, 0x00, 0x18, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x10, 0xd0, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0e, 0x00, 0xfc, 0x0f,
        0x01, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];

    /// Made by the fuzzer: it claims a window of millions of numbers to look back over, for 64 elements.
    const CLAIMS_A_WINDOW: [u8; 60] = [
        0x02, 0x0c, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x70, 0x63, 0x6f, 0x21, 0x03, 0x00, 0x06,
        0x10, 0x04, 0x01, 0x06, 0x00, 0x00, 0x00, 0x20, 0x17, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x41, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x02, 0x0c, 0x60, 0x00, 0x00,
    ];

    #[test]
    fn a_dictionary_is_refused_before_there_is_room_for_it() {
        let error = decompress(Dtype::F64, &CLAIMS_A_DICTIONARY, 512).expect_err("refused").to_string();
        assert!(error.contains("a dictionary, which no chunk here has"), "{error}");
    }

    #[test]
    fn a_window_is_refused_before_there_is_room_for_it() {
        let error = decompress(Dtype::F64, &CLAIMS_A_WINDOW, 512).expect_err("refused").to_string();
        assert!(error.contains("a window of 2^24 numbers, where 2^15 is the most"), "{error}");
    }

    /// 100,000 numbers that repeat themselves are written with the longest window there is.
    #[test]
    fn the_longest_window_comes_back() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state
        };
        let once: Vec<u64> = std::iter::repeat_with(&mut next).take(200).collect();
        let bytes: Vec<u8> =
            once.iter().cycle().take(100_000).flat_map(|number| number.to_ne_bytes()).collect();
        let compressed = Compression::Pco.compress(Dtype::U64, &bytes).unwrap();
        assert!(
            compressed.len() < bytes.len() / 3,
            "{} of {}: no window was used",
            compressed.len(),
            bytes.len()
        );
        assert_eq!(decompress(Dtype::U64, &compressed, bytes.len()).unwrap(), bytes);
    }

    proptest! {
        #[test]
        fn what_is_lossless_comes_back(
            bytes in proptest::collection::vec(0u8..20, 0..4000), dtype in 0..Dtype::ALL.len(),
        ) {
            let dtype = Dtype::ALL[dtype];
            let whole = bytes.len() - bytes.len() % dtype.size_bytes().unwrap_or(1);
            for compression in [Compression::Lz4, Compression::Pco] {
                let compressed = compression.compress(dtype, &bytes[..whole]).unwrap();
                prop_assert!(compressed.len() <= whole + HEADER_BYTES);
                prop_assert_eq!(&decompress(dtype, &compressed, whole).unwrap(), &bytes[..whole]);
            }
        }

        #[test]
        fn bounds_are_kept(
            mut numbers in proptest::collection::vec(-1e6..1e6f64, 0..500), bound in -9i32..4, wild in any::<f64>(),
        ) {
            numbers.push(wild);
            let max_error = 10f64.powi(bound);
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
            let compressed = Compression::Bounded { max_error }.compress(Dtype::F64, &bytes).unwrap();
            let back = decompress(Dtype::F64, &compressed, bytes.len()).unwrap();
            for (number, back) in numbers.iter().zip(back.as_chunks::<8>().0) {
                let back = f64::from_ne_bytes(*back);
                let kept = (number - back).abs() <= max_error || number.to_bits() == back.to_bits();
                prop_assert!(kept, "{} became {}", number, back);
            }
        }

        #[test]
        fn hostile_bytes_are_errors(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..300), codec in 0u8..5, len in 0usize..1000,
        ) {
            if let Some(header) = bytes.get_mut(..HEADER_BYTES) {
                header[..2].copy_from_slice(&[codec, Dtype::F32.as_u8()]);
                header[2..].copy_from_slice(&(len as u64).to_le_bytes());
            }
            if let Ok(decompressed) = decompress(Dtype::F32, &bytes, len) {
                prop_assert_eq!(decompressed.len(), len);
            }
        }

        #[test]
        fn damaged_bytes_are_errors_or_elements(
            numbers in proptest::collection::vec(-1e3..1e3f32, 1..300), at in 0usize..400, bit in 0u8..8,
        ) {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
            for compression in [Compression::Lz4, Compression::Pco, Compression::Bounded { max_error: 0.1 }] {
                let mut compressed = compression.compress(Dtype::F32, &bytes).unwrap();
                let at = at % compressed.len();
                compressed[at] ^= 1 << bit;
                if let Ok(decompressed) = decompress(Dtype::F32, &compressed, bytes.len()) {
                    prop_assert_eq!(decompressed.len(), bytes.len());
                }
                compressed.truncate(at);
                prop_assert!(decompress(Dtype::F32, &compressed, bytes.len()).is_err());
            }
        }
    }

    #[test]
    fn few_bytes_that_claim_many_are_refused_before_there_is_room_for_them() {
        for len in [0, 1, 100, 1 << 20] {
            let zeros = vec![0; len];
            let compressed = Compression::Lz4.compress(Dtype::U8, &zeros).unwrap();
            assert_eq!(decompress(Dtype::U8, &compressed, len).unwrap(), zeros, "the most that LZ4 gives");
        }
        let claims = |len: usize| {
            let mut claims = Compression::Lz4.compress(Dtype::U8, &[0; 1000]).unwrap();
            claims[2..HEADER_BYTES].copy_from_slice(&(len as u64).to_le_bytes());
            assert_eq!(claimed_bytes(&claims), Ok(len as u64));
            decompress(Dtype::U8, &claims, len).expect_err("refused").to_string()
        };
        // There is no such memory: asking for it would end the process.
        assert!(claims(1 << 60).contains("never make"), "{}", claims(1 << 60));
        assert!(claims(1001).contains("1000 bytes came out"), "{}", claims(1001));
        assert!(claimed_bytes(&[1, 2, 3]).is_err());
    }

    #[test]
    fn smooth_numbers_get_short() {
        let bytes: Vec<u8> = (0..4096).flat_map(|i| (f64::from(i) * 1e-3).sin().to_ne_bytes()).collect();
        let len = |compression: Compression| compression.compress(Dtype::F64, &bytes).unwrap().len();
        let bounded = len(Compression::Bounded { max_error: 1e-3 });
        assert!(bounded * 8 < bytes.len(), "{bounded}");
        assert!(len(Compression::Pco) < bytes.len() && len(Compression::Lz4) < bytes.len());
    }

    #[test]
    fn senseless_bounds_and_lengths_are_refused() {
        for max_error in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Compression::Bounded { max_error }.compress(Dtype::F64, &[]);
            assert!(matches!(refused, Err(CompressionError::Bound { .. })));
        }
        assert!(matches!(Compression::Lz4.compress(Dtype::F32, &[0; 3]), Err(CompressionError::Len { .. })));
        let compressed = Compression::Lz4.compress(Dtype::F32, &[0; 8]).unwrap();
        let wanted = decompress(Dtype::F32, &compressed, 4);
        assert_eq!(wanted, Err(CompressionError::Unexpected { found_bytes: 8, wanted_bytes: 4 }));
        assert!(decompress(Dtype::F64, &compressed, 8).is_err());
    }
}
