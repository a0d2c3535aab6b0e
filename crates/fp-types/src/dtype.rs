//! The element types that a variable or a field of a record can have.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the element types, each with its lasting number, name, size and alignment in bytes.
macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $size:expr, $alignment:literal;)*) => {
        /// The type of one element.
        ///
        /// Numbers have the byte order of the machine that put them. All machines that Flexpath runs on so far are
        /// little-endian. An enumeration travels as the integer type that represents it; its names belong into
        /// attributes. The numbers behind the variants are part of wire formats and hashes: they never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "u8", try_from = "u8")]
        #[repr(u8)]
        pub enum Dtype {
            $($(#[$doc])* $variant = $number,)*
        }

        impl Dtype {
            /// Every element type, in the order of their numbers.
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant),*];

            /// The lower-case name, such as `f64`: what [`FromStr`] accepts.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The size of one element in bytes; none where elements differ in length (strings, bytes).
            #[inline]
            pub const fn size_bytes(self) -> Option<usize> {
                match self {
                    $(Self::$variant => $size,)*
                }
            }

            /// The alignment, in bytes, that a slice of such elements needs.
            #[inline]
            pub const fn alignment_bytes(self) -> usize {
                match self {
                    $(Self::$variant => $alignment,)*
                }
            }
        }
    };
}

dtypes! {
    /// 8-bit signed integer.
    I8 = 1, "i8", Some(1), 1;
    /// 16-bit signed integer.
    I16 = 2, "i16", Some(2), 2;
    /// 32-bit signed integer.
    I32 = 3, "i32", Some(4), 4;
    /// 64-bit signed integer.
    I64 = 4, "i64", Some(8), 8;
    /// 8-bit unsigned integer.
    U8 = 5, "u8", Some(1), 1;
    /// 16-bit unsigned integer.
    U16 = 6, "u16", Some(2), 2;
    /// 32-bit unsigned integer.
    U32 = 7, "u32", Some(4), 4;
    /// 64-bit unsigned integer.
    U64 = 8, "u64", Some(8), 8;
    /// IEEE 754 binary16.
    F16 = 9, "f16", Some(2), 2;
    /// The upper half of a binary32: 8 bits of exponent, 7 of fraction.
    BF16 = 10, "bf16", Some(2), 2;
    /// IEEE 754 binary32.
    F32 = 11, "f32", Some(4), 4;
    /// IEEE 754 binary64.
    F64 = 12, "f64", Some(8), 8;
    /// A complex number of two `f32`, real part first.
    C32 = 13, "c32", Some(8), 4;
    /// A complex number of two `f64`, real part first.
    C64 = 14, "c64", Some(16), 8;
    /// A byte that is 0 or 1; other values are refused when elements are taken as truth values.
    Bool = 15, "bool", Some(1), 1;
    /// UTF-8 text; each element has its own length.
    String = 16, "string", None, 1;
    /// Opaque bytes; each element has its own length.
    Bytes = 17, "bytes", None, 1;
}

impl Dtype {
    /// The type's lasting number, for wire formats and hashes.
    pub fn as_u8(self) -> u8 {
        self as u8
    }
}

impl From<Dtype> for u8 {
    fn from(dtype: Dtype) -> u8 {
        dtype.as_u8()
    }
}

/// A number that stands for no element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no element type has the number {number}")]
pub struct UnknownDtype {
    /// What was given.
    pub number: u8,
}

impl TryFrom<u8> for Dtype {
    type Error = UnknownDtype;

    fn try_from(number: u8) -> Result<Self, UnknownDtype> {
        let found = Self::ALL.iter().find(|dtype| dtype.as_u8() == number);
        found.copied().ok_or(UnknownDtype { number })
    }
}

/// A text that names no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is no element type; there are i8 to u64, f16, bf16, f32, f64, c32, c64, bool, string, bytes"
)]
pub struct ParseDtypeError {
    /// What was given.
    pub name: String,
}

impl FromStr for Dtype {
    type Err = ParseDtypeError;

    fn from_str(name: &str) -> Result<Self, ParseDtypeError> {
        let found = Self::ALL.iter().find(|dtype| dtype.name() == name);
        found.copied().ok_or_else(|| ParseDtypeError { name: name.to_owned() })
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back_to_the_type() {
        for &dtype in Dtype::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(Dtype::try_from(dtype.as_u8()), Ok(dtype));
        }
        assert_eq!("float".parse::<Dtype>(), Err(ParseDtypeError { name: "float".into() }));
        assert_eq!(Dtype::try_from(0), Err(UnknownDtype { number: 0 }));
    }

    #[test]
    fn numbers_never_change() {
        let numbers: Vec<u8> = Dtype::ALL.iter().map(|dtype| dtype.as_u8()).collect();
        assert_eq!(numbers, (1..=17).collect::<Vec<u8>>());
        assert_eq!((Dtype::F64.as_u8(), Dtype::U64.as_u8(), Dtype::Bytes.as_u8()), (12, 8, 17));
    }

    #[test]
    fn sizes_are_multiples_of_alignments() {
        for &dtype in Dtype::ALL {
            let size = dtype.size_bytes().unwrap_or(1);
            assert_eq!(size % dtype.alignment_bytes(), 0, "{dtype}");
        }
        assert_eq!(Dtype::C64.size_bytes(), Some(16));
        assert_eq!(Dtype::String.size_bytes(), None);
    }
}
