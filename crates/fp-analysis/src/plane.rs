//! Rows of elements that count, as runs, and which runs are neighbours.

use crate::forest::{Forest, Winding};
use crate::grid::Grid;

/// Elements of a row that lie side by side and all count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The first of them.
    pub(crate) start: u32,
    /// Behind the last.
    pub(crate) end: u32,
    /// What they belong to.
    pub(crate) node: u32,
    /// By what they are moved to lie beside the first run of that.
    pub(crate) winding: Winding,
}

/// Runs, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Where the runs of each row begin, and where the last ones end.
    starts: Vec<u32>,
    runs: Vec<Run>,
}

impl Rows {
    /// Without a row.
    pub(crate) fn new() -> Self {
        Self { starts: vec![0], runs: Vec::new() }
    }

    /// Adds a run to the row that ends next.
    pub(crate) fn push(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.starts.push(self.runs.len() as u32);
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// All runs.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// All runs, to be changed.
    pub(crate) fn runs_mut(&mut self) -> &mut [Run] {
        &mut self.runs
    }

    /// Which runs are those of a row.
    pub(crate) fn span(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The runs of a row.
    pub(crate) fn row(&self, row: usize) -> &[Run] {
        &self.runs[self.span(row)]
    }

    /// A part of the rows.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Self {
        let mut part = Self::new();
        for row in rows {
            part.runs.extend_from_slice(self.row(row));
            part.end_row();
        }
        part
    }
}

/// Joins what is beside one another.
pub(crate) struct Joining<'g> {
    grid: &'g Grid,
    across: Vec<Vec<i64>>,
    within: Vec<Vec<i64>>,
}

impl<'g> Joining<'g> {
    pub(crate) fn new(grid: &'g Grid) -> Self {
        Self { grid, across: grid.steps_across(), within: grid.steps_within() }
    }

    /// Joins runs of one plane, whose rows begin with this one.
    pub(crate) fn join_within(&self, forest: &mut Forest, rows: &Rows, first: usize) {
        for row in 0..self.grid.plane_rows() {
            let own = rows.row(first + row);
            self.join_ends(forest, own);
            if own.is_empty() {
                continue;
            }
            for step in &self.within {
                if let Some((beside, winding)) = self.grid.row_beside(row, step) {
                    self.join_rows(forest, own, rows.row(first + beside), winding);
                }
            }
        }
    }

    /// Joins runs of a plane with those of the plane before it. `around` is -1 where that is the last one of a periodic
    /// dimension, and this the first.
    pub(crate) fn join_across(
        &self,
        forest: &mut Forest,
        (before, before_first): (&Rows, usize),
        (rows, first): (&Rows, usize),
        around: i32,
    ) {
        for row in 0..self.grid.plane_rows() {
            let own = rows.row(first + row);
            if own.is_empty() {
                continue;
            }
            for step in &self.across {
                if let Some((beside, mut winding)) = self.grid.row_beside(row, step) {
                    winding.0[0] = around;
                    self.join_rows(forest, own, before.row(before_first + beside), winding);
                }
            }
        }
    }

    /// Joins the ends of a row of a periodic dimension.
    fn join_ends(&self, forest: &mut Forest, row: &[Run]) {
        if let (Some(first), Some(last)) = (row.first(), row.last())
            && self.is_around(first, last, 0)
        {
            join(forest, first, last, self.along(-1));
        }
    }

    /// Whether elements of `last` at the end of a row are neighbours of those of `first`, at its beginning.
    fn is_around(&self, first: &Run, last: &Run, reach: u32) -> bool {
        let last_dim = self.grid.ndims() - 1;
        self.grid.is_periodic(last_dim)
            && first.start == 0
            && u64::from(last.end) == self.grid.row_len()
            && reach <= self.grid.reach()
    }

    fn along(&self, by: i32) -> Winding {
        let mut winding = Winding::default();
        winding.0[self.grid.ndims() - 1] = by;
        winding
    }

    /// Joins runs of two rows, of which the other one lies beside the one when it is moved so.
    fn join_rows(&self, forest: &mut Forest, one: &[Run], other: &[Run], winding: Winding) {
        let (reach, mut at, mut beside) = (self.grid.reach(), 0, 0);
        while let (Some(run), Some(next)) = (one.get(at), other.get(beside)) {
            if run.start < next.end + reach && next.start < run.end + reach {
                join(forest, run, next, winding);
            }
            if run.end < next.end { at += 1 } else { beside += 1 }
        }
        let (Some(run), Some(last)) = (one.first(), other.last()) else { return };
        if self.is_around(run, last, 1) {
            join(forest, run, last, winding + self.along(-1));
        }
        let (Some(run), Some(first)) = (one.last(), other.first()) else { return };
        if self.is_around(first, run, 1) {
            join(forest, run, first, winding + self.along(1));
        }
    }
}

/// Joins what two runs belong to: the other run, moved so, lies beside the one.
fn join(forest: &mut Forest, run: &Run, other: &Run, winding: Winding) {
    forest.join(run.node, other.node, run.winding + winding - other.winding);
}
