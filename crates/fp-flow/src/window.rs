//! What is given out: rows of steps that belong together, and windows of rows.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use fp_core::StepReader;

use crate::key::Key;
use crate::stay::Pinned;

/// Steps of all streams that belong together: those of one key, or what stands in for it
/// ([`MissingPartner::Last`](crate::MissingPartner::Last)).
#[derive(Clone)]
pub struct Row {
    key: Key,
    steps: Arc<[Arc<Pinned>]>,
}

impl Row {
    pub(crate) fn new(key: Key, steps: Vec<Arc<Pinned>>) -> Self {
        Self { key, steps: steps.into() }
    }

    /// What its steps are joined by.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The steps, one of each stream, in the order of the streams.
    pub fn steps(&self) -> impl Iterator<Item = &StepReader> {
        self.steps.iter().map(|pinned| pinned.step())
    }
}

/// The step of a stream. Streams count from 0, in the order in which they were given; there is none beyond the last.
impl Index<usize> for Row {
    type Output = StepReader;

    fn index(&self, stream: usize) -> &StepReader {
        self.steps[stream].step()
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<u64> = self.steps().map(|step| step.step().0).collect();
        f.debug_struct("Row").field("key", &self.key).field("steps", &steps).finish()
    }
}

/// Why a window has fewer rows than were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// A stream has ended.
    Ended,
    /// A stream began anew: no window has steps of two openings of it.
    Restarted,
}

/// Rows one after the other, by rising key. It holds its steps until it, and what was cloned of its rows, is dropped.
#[derive(Clone, Debug)]
pub struct Window {
    rows: Vec<Row>,
    cut: Option<Cut>,
}

impl Window {
    pub(crate) fn new(rows: Vec<Row>, cut: Option<Cut>) -> Self {
        Self { rows, cut }
    }

    /// The rows, by rising key; there is at least one.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The first row, of the lowest key.
    pub fn first(&self) -> &Row {
        &self.rows[0]
    }

    /// The last row, of the highest key.
    pub fn last(&self) -> &Row {
        &self.rows[self.rows.len() - 1]
    }

    /// The steps of one stream, in the order of the rows; none beyond the last stream. Where a step stands in for later
    /// ones it comes several times.
    pub fn steps(&self, stream: usize) -> impl Iterator<Item = &StepReader> {
        self.rows.iter().filter_map(move |row| row.steps().nth(stream))
    }

    /// Why it has fewer rows than were asked for, if it has.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }
}
