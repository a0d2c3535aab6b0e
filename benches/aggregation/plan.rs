//! What is measured.

use crate::quick::or_quick;
use crate::roles::Load;
use std::fmt;

/// How many aggregators there are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aggregators {
    /// None: nodes have a link to each rank.
    None,
    Some(u32),
    /// As many as the bytes of the first step say.
    Auto,
}

impl fmt::Display for Aggregators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Some(count) => write!(f, "{count}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// What stands beside ours.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beside {
    /// POSIX and MPI-IO to /dev/null.
    Null,
    /// One connection of tcp.
    Tcp,
    /// A file for each rank.
    Files,
}

/// One measurement.
pub(crate) struct Row {
    pub(crate) figure: &'static str,
    pub(crate) load: Load,
    pub(crate) aggregators: Aggregators,
    pub(crate) nodes: u32,
    pub(crate) beside: Beside,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Load { ranks, message_bytes, steps }, nodes) = (self.load, self.nodes);
        let (figure, aggregators, kib) = (self.figure, self.aggregators, message_bytes >> 10);
        write!(
            f,
            "figure {figure}: {ranks} ranks, {kib} KiB, {steps} steps, {aggregators} aggregators, {nodes} nodes"
        )
    }
}

/// Steps enough for a rate, and no more bytes than there is time for.
fn load(ranks: u64, message_bytes: u64) -> Load {
    let bytes: u64 = or_quick(256 << 20, 8 << 20);
    Load { ranks, message_bytes, steps: (bytes / (ranks * message_bytes)).clamp(8, 64) }
}

/// Some of these: two of them where it is quick.
fn some<T: Copy>(all: &[T]) -> Vec<T> {
    let last = [all[0], all[all.len() - 1]];
    or_quick(all, &last).to_vec()
}

/// All rows.
pub(crate) fn rows() -> Vec<Row> {
    let (sizes, ranks) = (some(&[4 << 10, 64 << 10, 1 << 20]), some(&[4, 16, or_quick(64, 8)]));
    let row = |figure, load, aggregators, nodes, beside| Row { figure, load, aggregators, nodes, beside };
    let mut rows = Vec::new();
    let counts = [1, 2, 4, 8].map(Aggregators::Some);
    for size in &sizes {
        for aggregators in some(&[&[Aggregators::None][..], &counts].concat()) {
            rows.push(row("6", load(16, *size), aggregators, 1, Beside::Null));
        }
    }
    for ranks in &ranks {
        rows.extend(
            sizes.iter().map(|size| row("7", load(*ranks, *size), Aggregators::Some(1), 1, Beside::Null)),
        );
    }
    let all: u64 = or_quick(16 << 20, 1 << 20);
    for ranks in some(&[1, 4, 16, 64]) {
        let load = Load { ranks, message_bytes: all / ranks, steps: 16 };
        rows.push(row("8", load, Aggregators::Auto, 1, Beside::Null));
    }
    let nodes = some(&[1, 2, 4]);
    rows.extend(
        nodes.into_iter().map(|nodes| row("9", load(16, 1 << 20), Aggregators::Some(4), nodes, Beside::Tcp)),
    );
    for (ranks, nodes) in some(&[(4, 1), (16, 2), (or_quick(64, 8), 4)]) {
        rows.push(row("10", load(ranks, 1 << 20), Aggregators::Auto, nodes, Beside::Tcp));
    }
    for ranks in &ranks {
        rows.push(row("11, 13 weak", load(*ranks, 256 << 10), Aggregators::Auto, 2, Beside::Files));
    }
    let all: u64 = or_quick(64 << 20, 8 << 20);
    for ranks in &ranks {
        let load = Load { ranks: *ranks, message_bytes: all / 8 / ranks, steps: 8 };
        rows.push(row("12, 13 strong", load, Aggregators::Auto, 2, Beside::Files));
    }
    rows
}
