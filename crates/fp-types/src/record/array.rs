//! Conversions of plain arrays: element type, byte order and memory order at once.

use super::element::{ElementConversion, ElementConversionError, ElementForm, Loss};
use crate::order::MemoryOrder;
use crate::region::{Region, RegionError};
use crate::runs::{CopyError, DenseArray, copy};
use crate::shape::Shape;

/// Why an array is not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayConversionError {
    /// Of the elements.
    #[error(transparent)]
    Element(#[from] ElementConversionError),
    /// Of the transposition.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A shape that is no region.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// More elements than this machine can address.
    #[error("an array of {shape} elements is too large for this machine")]
    TooLarge {
        /// The shape.
        shape: Shape,
    },
}

/// The conversion of a dense array, made once for two forms and memory orders.
#[derive(Clone, Debug)]
pub struct ArrayConversion {
    element: ElementConversion,
    from: MemoryOrder,
    to: MemoryOrder,
}

impl ArrayConversion {
    /// The conversion from one form and order to the other.
    pub fn new(
        (from, from_order): (ElementForm, MemoryOrder),
        (to, to_order): (ElementForm, MemoryOrder),
        loss: Loss,
    ) -> Result<Self, ArrayConversionError> {
        Ok(Self { element: ElementConversion::new(from, to, loss)?, from: from_order, to: to_order })
    }

    /// Whether the bytes of an array of that shape stay what they are.
    pub fn is_identity(&self, shape: &Shape) -> bool {
        self.element.is_identity() && !self.transposes(shape)
    }

    pub(super) fn sizes_bytes(&self) -> (usize, usize) {
        self.element.sizes_bytes()
    }

    /// Whether elements of an array of that shape change places.
    fn transposes(&self, shape: &Shape) -> bool {
        let long = shape.dims().as_slice().iter().filter(|&&len| len != 1).count();
        self.from != self.to && long > 1
    }

    /// Converts an array of that shape. On an error nothing was written.
    ///
    /// Elements that change both their places and their size are converted first, into memory of their own if they
    /// shrink. Otherwise they are put in place first.
    pub fn run(
        &self,
        shape: &Shape,
        source: &[u8],
        destination: &mut [u8],
    ) -> Result<(), ArrayConversionError> {
        let (from_bytes, to_bytes) = self.element.sizes_bytes();
        let count = usize::try_from(shape.element_count()).ok();
        let len = |size: usize| count.and_then(|count| count.checked_mul(size));
        let too_large = || ArrayConversionError::TooLarge { shape: *shape };
        let (from_len, to_len) =
            (len(from_bytes).ok_or_else(too_large)?, len(to_bytes).ok_or_else(too_large)?);
        if (source.len(), destination.len()) != (from_len, to_len) {
            return Err(self.element.len_error(source.len(), destination.len()).into());
        }
        if !self.transposes(shape) {
            return Ok(self.element.run(source, destination)?);
        }
        if self.element.is_identity() {
            return self.transpose(shape, source, destination, to_bytes);
        }
        if to_bytes <= from_bytes {
            let mut between = vec![0; to_len];
            self.element.run(source, &mut between)?;
            return self.transpose(shape, &between, destination, to_bytes);
        }
        let mut between = vec![0; from_len];
        self.transpose(shape, source, &mut between, from_bytes)?;
        Ok(self.element.run(&between, destination)?)
    }

    fn transpose(
        &self,
        shape: &Shape,
        source: &[u8],
        destination: &mut [u8],
        size: usize,
    ) -> Result<(), ArrayConversionError> {
        let whole = Region::whole(shape);
        let (from, to) = (DenseArray::new(whole, self.from), DenseArray::new(whole, self.to));
        Ok(copy(source, &from, destination, &to, &whole.into(), size)?)
    }
}
