//! Where the least or the greatest element is: its value and the lowest global index that has it.

use fp_types::{Dtype, MemoryOrder, Region, Shape};

use super::{Extreme, extreme};
use crate::block::Array;
use crate::error::DeriveError;
use crate::memory::Memory;
use crate::numbers::{Scalar, Strip, for_each_strip};
use crate::placing::Placing;
use crate::walk::for_each_row;

/// The extreme of what was seen so far, and its place in row-major order of the whole array.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    extreme: Extreme,
    found: Option<(Scalar, u64)>,
}

/// The extreme of an array's blocks.
pub(crate) fn locate(extreme: Extreme, input: &Array, memory: &Memory) -> Result<Located, DeriveError> {
    let (mut located, whole) = (Located { extreme, found: None }, Region::whole(input.shape()));
    for (at, block) in input.blocks().iter().enumerate() {
        memory.check_stop_after(at)?;
        let block = block.native(memory)?.reordered(MemoryOrder::RowMajor, memory)?;
        for_each_row(&block, block.region(), |start, row| {
            let Some(mut place) = whole.linear_offset(start, MemoryOrder::RowMajor) else { return };
            for_each_strip(block.dtype(), row, |strip| {
                located.add_strip(&strip, place);
                place += strip.len() as u64;
            });
        });
    }
    Ok(located)
}

impl Located {
    /// The extreme of a strip is found first, and its place only where it counts.
    fn add_strip(&mut self, strip: &Strip<'_>, first: u64) {
        let Some(best) = extreme(None, strip, self.extreme == Extreme::Greatest) else { return };
        if !self.is_better(best, first) {
            return;
        }
        let is_best = |at: &usize| {
            let number = strip.scalar(*at);
            number.is_nan() == best.is_nan() && (best.is_nan() || number.compare(best).is_eq())
        };
        let at = (0..strip.len()).find(is_best).unwrap_or_default();
        self.add(best, first + at as u64);
    }

    /// The extreme and its place, if there was any element.
    pub(crate) fn found(&self) -> Option<(Scalar, u64)> {
        self.found
    }

    /// Whether a number at that place is more extreme than what was found, or as extreme and before it.
    fn is_better(&self, number: Scalar, place: u64) -> bool {
        match self.found {
            None => true,
            Some((found, _)) if found.is_nan() && !number.is_nan() => false,
            Some((found, at)) if found.is_nan() => place < at,
            Some(_) if number.is_nan() => true,
            Some((found, at)) => {
                let order = number.compare(found);
                let order = if self.extreme == Extreme::Greatest { order } else { order.reverse() };
                order.is_gt() || (order.is_eq() && place < at)
            }
        }
    }

    /// NaN counts as more extreme than every number, as `min` and `max` of it are NaN.
    #[inline]
    fn add(&mut self, number: Scalar, place: u64) {
        if self.is_better(number, place) {
            // One of the many that stand for NaN, whatever was put.
            let number = if number.is_nan() { Scalar::Real(f64::NAN) } else { number };
            self.found = Some((number, place));
        }
    }

    /// Adds what another rank found; says whether the two are of a kind.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        other.found.iter().for_each(|&(number, place)| self.add(number, place));
        self.extreme == other.extreme
    }

    /// The same of a rank's rows, where they lie in the whole array.
    pub(crate) fn placed(&mut self, placing: &Placing) -> Option<()> {
        if let Some((_, place)) = &mut self.found {
            *place = placing.element(*place)?;
        }
        Some(())
    }

    /// The bytes of index and value.
    pub(crate) fn finish(&self, of: Dtype) -> Result<(Vec<u8>, Vec<u8>), DeriveError> {
        let empty = || DeriveError::Empty { operation: super::Operation::Locate(self.extreme).to_string() };
        let (number, place) = self.found.ok_or_else(empty)?;
        Ok((place.to_ne_bytes().to_vec(), number.to_bytes(of)))
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        if let Some((number, place)) = self.found {
            bytes.extend(place.to_le_bytes());
            bytes.extend(number.to_le_bytes());
        }
        bytes.push(u8::from(self.found.is_some()));
    }

    /// Reads what [`write`](Self::write) wrote, of an array of that type and shape.
    pub(crate) fn read(extreme: Extreme, of: Dtype, shape: &Shape, bytes: &[u8]) -> Option<Self> {
        let found = match bytes {
            [0] => None,
            [found @ .., 1] => {
                let (place, number) = found.split_first_chunk::<8>()?;
                let place = u64::from_le_bytes(*place);
                let number = Scalar::from_le_bytes(of, number.try_into().ok()?);
                (place < shape.element_count()).then_some(Some((number, place)))?
            }
            _ => return None,
        };
        Some(Self { extreme, found })
    }
}
