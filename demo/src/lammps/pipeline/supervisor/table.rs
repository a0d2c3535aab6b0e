//! The table that grows as the simulation runs.

use std::time::Instant;

use super::super::streams::{ATOMS, BONDS, SHARES, SYMMETRY};
use super::board::Board;
use super::notice::Judged;

/// Streams whose queues are shown, in the order of the pipeline.
const QUEUES: [&str; 4] = [ATOMS, SHARES, BONDS, SYMMETRY];

/// The table, and what its next row needs of the one before.
pub(super) struct Table {
    before: Option<(Instant, u64)>,
}

impl Table {
    pub(super) fn new() -> Self {
        Table { before: None }
    }

    /// What the columns are.
    pub(super) fn header() -> [String; 2] {
        let queues = format!("steps queued: {}", QUEUES.join("/"));
        [
            "  MB/s: taken by all parts together, from step to step".to_owned(),
            format!(
                "{:>7} {:>7} {:>7}  {:<12} {:>7}  {:<28} attached",
                "step", "atoms", "bonds", "torn?", "MB/s", queues
            ),
        ]
    }

    /// One step's row.
    pub(super) fn row(&mut self, judged: &Judged, board: &Board) -> String {
        let (now, bytes) = (Instant::now(), board.taken_bytes());
        let rate = self.before.map_or(0.0, |(then, before)| {
            bytes.saturating_sub(before) as f64 / 1e6 / now.duration_since(then).as_secs_f64().max(1e-6)
        });
        self.before = Some((now, bytes));
        let share = 100.0 * judged.torn_atoms as f64 / judged.atoms.max(1) as f64;
        let torn = format!("{} ({share:.1} %)", if judged.torn { "TORN" } else { "no" });
        let queues = QUEUES.map(|stream| board.depth(stream).to_string()).join("/");
        let Judged { time_step, atoms, bonds, .. } = judged;
        let attached = board.everybody().join(" ");
        format!("{time_step:>7} {atoms:>7} {bonds:>7}  {torn:<12} {rate:>7.1}  {queues:<28} {attached}")
    }
}
