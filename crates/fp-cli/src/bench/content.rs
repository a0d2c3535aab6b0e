//! What every element of a step is: a function of the step and of its place in the global array. So a part is noticed
//! that came from the wrong place, or of the wrong step.

use super::cuts::Part;
use fp_core::Element;

/// Elements in a row whose values follow one another; between such rows they jump.
const STRETCH: u64 = 1024;
/// Elements that are looked at where not all are.
const SAMPLES: usize = 64;

/// An element that can be made of bits and looked at bit by bit.
pub(crate) trait Bits: Element + Copy + Default {
    /// The element of the lowest of these bits.
    fn of(bits: u64) -> Self;

    /// Its bits.
    fn bits(self) -> u64;
}

macro_rules! integer_bits {
    ($($number:ty),*) => {
        $(impl Bits for $number {
            fn of(bits: u64) -> Self {
                bits as Self
            }

            fn bits(self) -> u64 {
                self as u64
            }
        })*
    };
}

integer_bits!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Bits for f32 {
    /// Without the highest bits of sign and exponent: every value is finite.
    fn of(bits: u64) -> Self {
        Self::from_bits(bits as u32 & 0x3fff_ffff)
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Bits for f64 {
    /// Without the highest bits of sign and exponent: every value is finite.
    fn of(bits: u64) -> Self {
        Self::from_bits(bits & 0x3fff_ffff_ffff_ffff)
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// An element that is not what was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// Its index in the subscriber's array.
    pub(crate) at: usize,
    /// Its bits.
    pub(crate) found: u64,
    /// What they should be.
    pub(crate) wanted: u64,
}

/// The value at the beginning of a stretch.
fn beginning(step: u64, stretch: u64) -> u64 {
    let mixed = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ stretch.wrapping_mul(0xd1b5_4a32_d192_ed03);
    mixed ^ (mixed >> 29)
}

/// The element at that index of the global array.
fn element<T: Bits>(step: u64, index: u64) -> T {
    T::of(beginning(step, index / STRETCH).wrapping_add(index % STRETCH))
}

/// The global index at which a row of a part begins: what lies together in both arrays.
fn row_index(part: &Part, shape: &[u64], row: u64) -> u64 {
    let last = shape.len().saturating_sub(1);
    let (mut rest, mut index, mut weight) = (row, 0, 1);
    for axis in (0..shape.len()).rev() {
        let mut at = part.start[axis];
        if axis != last {
            at += rest % part.count[axis];
            rest /= part.count[axis];
        }
        index += at * weight;
        weight *= shape[axis];
    }
    index
}

/// The global index at which each row of a part begins.
fn rows(part: &Part, shape: &[u64]) -> impl Iterator<Item = u64> {
    (0..).map(|row| row_index(part, shape, row))
}

fn row_len(part: &Part) -> usize {
    part.count.last().map_or(1, |len| *len as usize)
}

/// Writes all elements of a part.
pub(crate) fn fill<T: Bits>(memory: &mut [T], part: &Part, shape: &[u64], step: u64) {
    for (row, index) in memory.chunks_exact_mut(row_len(part)).zip(rows(part, shape)) {
        fill_row(row, index, step);
    }
}

fn fill_row<T: Bits>(mut row: &mut [T], mut index: u64, step: u64) {
    while !row.is_empty() {
        let first = index % STRETCH;
        let len = row.len().min((STRETCH - first) as usize);
        let begun = beginning(step, index / STRETCH).wrapping_add(first);
        let (stretch, rest) = row.split_at_mut(len);
        stretch.iter_mut().zip(0..).for_each(|(element, at)| *element = T::of(begun.wrapping_add(at)));
        row = rest;
        index += len as u64;
    }
}

/// Looks at all elements of a part.
pub(crate) fn check<T: Bits>(memory: &[T], part: &Part, shape: &[u64], step: u64) -> Result<(), Wrong> {
    let len = row_len(part);
    for (number, (row, index)) in memory.chunks_exact(len).zip(rows(part, shape)).enumerate() {
        for (at, found) in row.iter().enumerate() {
            look(*found, element::<T>(step, index + at as u64), number * len + at)?;
        }
    }
    Ok(())
}

/// Looks at some elements of a part, from its first to its last, others in each step.
pub(crate) fn check_some<T: Bits>(memory: &[T], part: &Part, shape: &[u64], step: u64) -> Result<(), Wrong> {
    let len = row_len(part);
    let last = memory.len().saturating_sub(1);
    for sample in 0..=SAMPLES {
        let at = (last * sample / SAMPLES + step as usize * (sample % 2)).min(last);
        let index = row_index(part, shape, (at / len) as u64) + (at % len) as u64;
        look(memory[at], element::<T>(step, index), at)?;
        if last == 0 {
            break;
        }
    }
    Ok(())
}

fn look<T: Bits>(found: T, wanted: T, at: usize) -> Result<(), Wrong> {
    let (found, wanted) = (found.bits(), wanted.bits());
    if found == wanted { Ok(()) } else { Err(Wrong { at, found, wanted }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cuts::Cuts;

    /// The whole array, element by element.
    fn whole<T: Bits>(shape: &[u64], step: u64) -> Vec<T> {
        (0..shape.iter().product()).map(|index| element(step, index)).collect()
    }

    fn parts_agree<T: Bits>(shape: &[u64]) {
        let cuts = Cuts::of(shape, 2, 2, 3).unwrap();
        for part in cuts.publishers.iter().flatten().chain(&cuts.subscribers) {
            let mut memory = vec![T::default(); part.elements() as usize];
            fill(&mut memory, part, shape, 5);
            assert_eq!(
                (check(&memory, part, shape, 5), check_some(&memory, part, shape, 5)),
                (Ok(()), Ok(()))
            );
            let all: Vec<T> = whole(shape, 5);
            for (row, index) in memory.chunks(row_len(part)).zip(rows(part, shape)) {
                for (found, wanted) in row.iter().zip(&all[index as usize..]) {
                    assert_eq!(found.bits(), wanted.bits());
                }
            }
            // A byte alone may be the same by chance; most are not.
            assert!(check(&memory, part, shape, 6).is_err() && check_some(&memory, part, shape, 6).is_err());
        }
    }

    #[test]
    fn what_is_filled_is_what_is_wanted_and_of_that_step_alone() {
        parts_agree::<f64>(&[6, 5, 4]);
        parts_agree::<u8>(&[3, 5000]);
        parts_agree::<f32>(&[4099]);
    }

    #[test]
    fn one_wrong_element_is_found() {
        let part = Part { start: vec![1, 2], count: vec![3, 4] };
        let mut memory = vec![0i32; 12];
        fill(&mut memory, &part, &[8, 8], 1);
        memory[7] ^= 1;
        assert_eq!(check(&memory, &part, &[8, 8], 1).map_err(|wrong| wrong.at), Err(7));
    }
}
