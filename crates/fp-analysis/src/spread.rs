//! Where elements lie: how many, sums of their coordinates and of products of these, the box around them. All of it is
//! integers, so that every order of adding gives the same.

use crate::grid::LIMIT_DIMENSIONS;

/// Pairs of dimensions, each once.
const PAIRS: usize = LIMIT_DIMENSIONS * (LIMIT_DIMENSIONS + 1) / 2;

/// The place of a pair of dimensions.
fn pair(one: usize, other: usize) -> usize {
    let (low, high) = (one.min(other), one.max(other));
    high * (high + 1) / 2 + low
}

/// Where some elements lie. Coordinates may be moved by whole extents, and so be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) count: u64,
    pub(crate) sums: [i128; LIMIT_DIMENSIONS],
    pub(crate) products: [i128; PAIRS],
    /// The lowest coordinates.
    pub(crate) low: [i64; LIMIT_DIMENSIONS],
    /// Behind the highest.
    pub(crate) high: [i64; LIMIT_DIMENSIONS],
}

impl Spread {
    /// Of nothing.
    pub(crate) const NONE: Self = Self {
        count: 0,
        sums: [0; LIMIT_DIMENSIONS],
        products: [0; PAIRS],
        low: [i64::MAX; LIMIT_DIMENSIONS],
        high: [i64::MIN; LIMIT_DIMENSIONS],
    };

    /// Of elements that lie side by side in dimension `along`, from that place on.
    pub(crate) fn of_run(place: [i64; LIMIT_DIMENSIONS], along: usize, len: u32) -> Self {
        let (count, start) = (i128::from(len), i128::from(place[along]));
        let end = start + count;
        let sum = count * (start + end - 1) / 2;
        let squares = |below: i128| (below - 1) * below * (2 * below - 1) / 6;
        let (mut sums, mut products) = (place.map(|at| i128::from(at) * count), [0; PAIRS]);
        sums[along] = sum;
        for high in 0..LIMIT_DIMENSIONS {
            for low in 0..=high {
                // Of two dimensions one at most is not the same for all of them.
                let fixed = if low == along { high } else { low };
                products[pair(low, high)] = i128::from(place[fixed]) * sums[low + high - fixed];
            }
        }
        products[pair(along, along)] = squares(end) - squares(start);
        let mut high = place.map(|at| at + 1);
        high[along] = place[along] + i64::from(len);
        Self { count: u64::from(len), sums, products, low: place, high }
    }

    /// Adds others. What another rank says may be anything: then so is the sum.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        self.products.iter_mut().zip(other.products).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        self.low.iter_mut().zip(other.low).for_each(|(low, other)| *low = (*low).min(other));
        self.high.iter_mut().zip(other.high).for_each(|(high, other)| *high = (*high).max(other));
    }

    /// The same, moved.
    pub(crate) fn moved(&self, by: [i64; LIMIT_DIMENSIONS]) -> Self {
        if by == [0; LIMIT_DIMENSIONS] {
            return *self;
        }
        let (mut moved, count, wide) = (*self, i128::from(self.count), by.map(i128::from));
        for dim in 0..LIMIT_DIMENSIONS {
            moved.sums[dim] = self.sums[dim].wrapping_add(wide[dim].wrapping_mul(count));
            moved.low[dim] = self.low[dim].wrapping_add(by[dim]);
            moved.high[dim] = self.high[dim].wrapping_add(by[dim]);
        }
        for high in 0..LIMIT_DIMENSIONS {
            for low in 0..=high {
                let more = wide[high]
                    .wrapping_mul(self.sums[low])
                    .wrapping_add(wide[low].wrapping_mul(moved.sums[high]));
                moved.products[pair(low, high)] = self.products[pair(low, high)].wrapping_add(more);
            }
        }
        moved
    }

    /// The mean of a coordinate; where that has a period, within it.
    pub(crate) fn mean(&self, dim: usize, period: Option<u64>) -> f64 {
        let (sum, count) = (self.sums[dim], i128::from(self.count));
        let sum = match period {
            Some(period) => sum.checked_rem_euclid(i128::from(period).wrapping_mul(count)).unwrap_or(sum),
            None => sum,
        };
        sum as f64 / count as f64
    }

    /// The covariance of two coordinates, of all elements (not of a sample). NaN where it is beyond all integers.
    pub(crate) fn covariance(&self, one: usize, other: usize) -> f64 {
        let count = i128::from(self.count);
        let of_products = count.checked_mul(self.products[pair(one, other)]);
        let of_sums = self.sums[one].checked_mul(self.sums[other]);
        let numerator = of_products.zip(of_sums).and_then(|(more, less)| more.checked_sub(less));
        numerator.zip(count.checked_mul(count)).map_or(f64::NAN, |(sum, squared)| sum as f64 / squared as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same one by one.
    fn one_by_one(places: &[[i64; LIMIT_DIMENSIONS]]) -> Spread {
        let mut sum = Spread::NONE;
        for place in places {
            sum.count += 1;
            for high in 0..LIMIT_DIMENSIONS {
                sum.sums[high] += i128::from(place[high]);
                (sum.low[high], sum.high[high]) =
                    (sum.low[high].min(place[high]), sum.high[high].max(place[high] + 1));
                (0..=high).for_each(|low| {
                    sum.products[pair(low, high)] += i128::from(place[low] * place[high]);
                });
            }
        }
        sum
    }

    proptest! {
        #[test]
        fn runs_are_what_their_elements_are(
            place in prop::array::uniform4(-50i64..50), along in 0usize..LIMIT_DIMENSIONS, len in 1u32..20,
            by in prop::array::uniform4(-9i64..9),
        ) {
            let places: Vec<_> = (0..i64::from(len))
                .map(|at| { let mut place = place; place[along] += at; place })
                .collect();
            prop_assert_eq!(Spread::of_run(place, along, len), one_by_one(&places));
            let moved: Vec<_> = places.iter().map(|at| std::array::from_fn(|dim| at[dim] + by[dim])).collect();
            prop_assert_eq!(Spread::of_run(place, along, len).moved(by), one_by_one(&moved));
        }
    }
}
