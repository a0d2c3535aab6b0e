//! A short list of numbers, one for each dimension, held inline.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most dimensions an array can have.
pub const MAX_DIMS: usize = 8;

/// One number for each of 0 to [`MAX_DIMS`] dimensions: a corner, an extent, a stride or a point.
///
/// It is `Copy`, needs no heap, and reads as a slice. Entries past the length are always 0, so
/// equality, order and hash are those of the slice with its length.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dims {
    values: [u64; MAX_DIMS],
    len: u8,
}

/// More than [`MAX_DIMS`] dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{ndims} dimensions, but arrays have at most {MAX_DIMS}")]
pub struct TooManyDims {
    /// How many were given.
    pub ndims: usize,
}

impl Dims {
    /// The numbers of `values`. There must be at most [`MAX_DIMS`] of them.
    pub fn from_slice(values: &[u64]) -> Result<Self, TooManyDims> {
        let mut dims = Self::filled(values.len(), 0)?;
        dims.copy_from_slice(values);
        Ok(dims)
    }

    /// `ndims` times the same number.
    pub fn filled(ndims: usize, value: u64) -> Result<Self, TooManyDims> {
        let mut values = [0; MAX_DIMS];
        values.get_mut(..ndims).ok_or(TooManyDims { ndims })?.fill(value);
        Ok(Self { values, len: ndims as u8 })
    }

    /// As many zeros as `self` has numbers.
    pub fn zeros_like(&self) -> Self {
        Self { values: [0; MAX_DIMS], len: self.len }
    }

    /// As many ones as `self` has numbers.
    pub fn ones_like(&self) -> Self {
        self.map(|_| 1)
    }

    /// How many dimensions there are.
    pub fn ndims(&self) -> usize {
        usize::from(self.len)
    }

    /// The numbers as a slice.
    pub fn as_slice(&self) -> &[u64] {
        &self.values[..self.ndims()]
    }

    /// Each number changed by `change`.
    pub fn map(mut self, change: impl Fn(u64) -> u64) -> Self {
        self.iter_mut().for_each(|value| *value = change(*value));
        self
    }

    /// The numbers of both, pair by pair, brought together; of the length of the shorter.
    pub(crate) fn zip_with(mut self, other: &Self, bring: impl Fn(u64, u64) -> u64) -> Self {
        for (value, &theirs) in self.iter_mut().zip(other.iter()) {
            *value = bring(*value, theirs);
        }
        self
    }

    /// The product of the numbers that are not 0, if it fits into an `i64` (so that offsets fit whatever their sign).
    pub(crate) fn bounded_product(&self) -> Option<u64> {
        let product = self.iter().filter(|&&n| n > 0).try_fold(1u64, |product, &n| product.checked_mul(n));
        product.filter(|&product| i64::try_from(product).is_ok())
    }

    /// The product of all numbers. For extents that passed [`Self::bounded_product`]: those cannot overflow.
    pub(crate) fn product(&self) -> u64 {
        if self.contains(&0) { 0 } else { self.iter().product() }
    }
}

impl Deref for Dims {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        self.as_slice()
    }
}

impl DerefMut for Dims {
    fn deref_mut(&mut self) -> &mut [u64] {
        let ndims = self.ndims();
        &mut self.values[..ndims]
    }
}

impl<const N: usize> From<[u64; N]> for Dims {
    fn from(values: [u64; N]) -> Self {
        const { assert!(N <= MAX_DIMS, "arrays have at most 8 dimensions") };
        let mut dims = Self { values: [0; MAX_DIMS], len: N as u8 };
        dims.copy_from_slice(&values);
        dims
    }
}

impl TryFrom<&[u64]> for Dims {
    type Error = TooManyDims;

    fn try_from(values: &[u64]) -> Result<Self, TooManyDims> {
        Self::from_slice(values)
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_slice(), f)
    }
}

/// Printed as `[256, 256]`.
impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_slice(), f)
    }
}

impl Serialize for Dims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.as_slice())
    }
}

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(DimsVisitor)
    }
}

/// Reads at most [`MAX_DIMS`] numbers, whatever length the input claims.
struct DimsVisitor;

impl<'de> Visitor<'de> for DimsVisitor {
    type Value = Dims;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX_DIMS} numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Dims, A::Error> {
        let mut dims = Dims::default();
        while let Some(number) = numbers.next_element()? {
            let place = dims.values.get_mut(usize::from(dims.len));
            *place.ok_or_else(|| A::Error::custom(TooManyDims { ndims: MAX_DIMS + 1 }))? = number;
            dims.len += 1;
        }
        Ok(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_eight_dimensions_fit() {
        assert_eq!(Dims::from_slice(&[7; 8]).map(|dims| dims.ndims()), Ok(8));
        assert_eq!(Dims::from_slice(&[7; 9]), Err(TooManyDims { ndims: 9 }));
        assert_eq!(Dims::filled(2, 5), Ok(Dims::from([5, 5])));
    }

    #[test]
    fn length_tells_lists_of_zeros_apart() {
        assert_ne!(Dims::from([0]), Dims::from([0, 0]));
        assert_eq!(Dims::from([3, 4]).to_string(), "[3, 4]");
        assert_eq!(Dims::from([]).to_string(), "[]");
    }

    #[test]
    fn products_past_63_bits_are_refused() {
        assert_eq!(Dims::from([1 << 31, 1 << 31]).bounded_product(), Some(1 << 62));
        assert_eq!(Dims::from([1 << 32, 1 << 31]).bounded_product(), None);
        assert_eq!(Dims::from([u64::MAX, 2]).bounded_product(), None);
        assert_eq!(Dims::from([0, 1 << 40]).bounded_product(), Some(1 << 40));
        assert_eq!((Dims::from([0, 1 << 40]).product(), Dims::from([]).product()), (0, 1));
    }
}
