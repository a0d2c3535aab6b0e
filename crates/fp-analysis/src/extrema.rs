//! The least and the greatest of a region's elements, and where they are first.

/// Both, each with the number of the first such element in row-major order of the whole array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extrema {
    pub(crate) min: f64,
    pub(crate) min_at: u64,
    pub(crate) max: f64,
    pub(crate) max_at: u64,
}

impl Extrema {
    /// Of one element.
    pub(crate) fn of(element: f64, at: u64) -> Self {
        Self { min: element, min_at: at, max: element, max_at: at }
    }

    /// Those of more elements, which may lie before: of equal ones the first counts.
    pub(crate) fn merge(&mut self, more: &Self) {
        if more.min < self.min || (more.min == self.min && more.min_at < self.min_at) {
            (self.min, self.min_at) = (more.min, more.min_at);
        }
        if more.max > self.max || (more.max == self.max && more.max_at < self.max_at) {
            (self.max, self.max_at) = (more.max, more.max_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_ones_the_first_counts_in_any_order() {
        let all = [Extrema::of(2.0, 7), Extrema::of(-1.0, 3), Extrema::of(2.0, 1), Extrema::of(-1.0, 5)];
        let of = |order: [usize; 4]| {
            let mut merged = all[order[0]];
            order[1..].iter().for_each(|&at| merged.merge(&all[at]));
            merged
        };
        let wanted = Extrema { min: -1.0, min_at: 3, max: 2.0, max_at: 1 };
        assert!([[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]].into_iter().all(|order| of(order) == wanted));
    }
}
