//! The axes along which a run repeats, and a walk over all its repetitions.

use crate::dims::MAX_DIMS;

/// One axis of repetition: how often, and how far apart at each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Axis {
    pub(super) count: u64,
    pub(super) source_stride: u64,
    pub(super) destination_stride: u64,
}

impl Axis {
    /// Whether `self`, the outer of two axes, continues where `inner` ends, at both sides.
    fn continues(&self, inner: &Axis) -> bool {
        self.source_stride == inner.source_stride * inner.count
            && self.destination_stride == inner.destination_stride * inner.count
    }
}

/// At most one axis for each dimension, outermost first: by falling destination stride.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Axes {
    axes: [Axis; MAX_DIMS],
    len: usize,
}

impl Axes {
    pub(super) fn as_slice(&self) -> &[Axis] {
        &self.axes[..self.len]
    }

    /// Adds an axis at its place in the order; one without repetition changes nothing and is left out.
    pub(super) fn insert(&mut self, axis: Axis) {
        if axis.count < 2 || self.len == MAX_DIMS {
            return;
        }
        let place =
            self.as_slice().partition_point(|other| other.destination_stride > axis.destination_stride);
        self.axes.copy_within(place..self.len, place + 1);
        self.axes[place] = axis;
        self.len += 1;
    }

    /// Joins neighbouring axes that continue one another.
    pub(super) fn merge(&mut self) {
        let unmerged = std::mem::take(self);
        for axis in unmerged.as_slice() {
            let outer =
                self.len.checked_sub(1).map(|last| self.axes[last]).filter(|outer| outer.continues(axis));
            let repeats = outer.map_or(1, |outer| outer.count);
            self.len -= usize::from(outer.is_some());
            self.axes[self.len] = Axis { count: axis.count * repeats, ..*axis };
            self.len += 1;
        }
    }

    /// Removes the innermost axis if its elements are neighbours at both sides, and returns how many those are.
    pub(super) fn take_contiguous(&mut self) -> u64 {
        let innermost = self.as_slice().last();
        let contiguous = innermost.filter(|axis| axis.source_stride == 1 && axis.destination_stride == 1);
        let count = contiguous.map(|axis| axis.count);
        self.len -= usize::from(count.is_some());
        count.unwrap_or(1)
    }

    /// Removes the innermost axis.
    pub(super) fn pop(&mut self) -> Option<Axis> {
        let innermost = self.as_slice().last().copied();
        self.len -= usize::from(innermost.is_some());
        innermost
    }

    /// Removes the innermost axis with that source stride.
    pub(super) fn take_source_stride(&mut self, stride: u64) -> Option<Axis> {
        let place = self.as_slice().iter().rposition(|axis| axis.source_stride == stride)?;
        let axis = self.axes[place];
        self.axes.copy_within(place + 1..self.len, place);
        self.len -= 1;
        Some(axis)
    }

    /// The same axes with strides in bytes.
    pub(super) fn scaled(mut self, element_size: u64) -> Self {
        for axis in &mut self.axes[..self.len] {
            axis.source_stride *= element_size;
            axis.destination_stride *= element_size;
        }
        self
    }
}

/// All pairs of offsets that a nest of axes reaches, the innermost axis fastest.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    source: u64,
    destination: u64,
    axes: Axes,
    index: [u64; MAX_DIMS],
    finished: bool,
}

impl Offsets {
    pub(super) fn new(source: u64, destination: u64, axes: Axes) -> Self {
        Self { source, destination, axes, index: [0; MAX_DIMS], finished: false }
    }

    /// Goes to the next pair: the innermost axis that can go on does, those inside it start again.
    fn advance(&mut self) {
        for (axis, index) in self.axes.as_slice().iter().zip(&mut self.index).rev() {
            *index += 1;
            if *index < axis.count {
                self.source += axis.source_stride;
                self.destination += axis.destination_stride;
                return;
            }
            *index = 0;
            self.source -= axis.source_stride * (axis.count - 1);
            self.destination -= axis.destination_stride * (axis.count - 1);
        }
        self.finished = true;
    }
}

impl Iterator for Offsets {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let reached = (!self.finished).then_some((self.source, self.destination));
        if reached.is_some() {
            self.advance();
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(count: u64, source_stride: u64, destination_stride: u64) -> Axis {
        Axis { count, source_stride, destination_stride }
    }

    #[test]
    fn axes_sort_merge_and_yield_their_run() {
        let mut axes = Axes::default();
        for axis in [axis(3, 1, 1), axis(4, 3, 3), axis(1, 99, 99), axis(2, 50, 40)] {
            axes.insert(axis);
        }
        axes.merge();
        assert_eq!(axes.as_slice(), [axis(2, 50, 40), axis(12, 1, 1)]);
        assert_eq!(axes.take_contiguous(), 12);
        assert_eq!(axes.take_contiguous(), 1);
        assert_eq!(axes.scaled(8).pop(), Some(axis(2, 400, 320)));
    }

    #[test]
    fn offsets_come_innermost_first() {
        let mut axes = Axes::default();
        axes.insert(axis(2, 1, 10));
        axes.insert(axis(3, 5, 2));
        let all: Vec<_> = Offsets::new(100, 0, axes).collect();
        assert_eq!(all, [(100, 0), (105, 2), (110, 4), (101, 10), (106, 12), (111, 14)]);
        assert_eq!(Offsets::new(1, 2, Axes::default()).collect::<Vec<_>>(), [(1, 2)]);
    }
}
