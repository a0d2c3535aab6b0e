//! The record of a run: a hash of everything that happened, and the readable lines if somebody wants them.

use crate::simulator::prng::mix;
use fp_proto::time::Moment;

/// Lines kept when a run is recorded for a failure's report.
const LIMIT_LINES: usize = 200_000;

/// What becomes of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceMode {
    /// Only the hash is kept: lines are not even formatted.
    Hash,
    /// Lines are kept in memory.
    Lines,
    /// Lines are printed at once, so that they are there even if the run panics.
    Print,
}

/// A trace under way.
pub(crate) struct Trace {
    mode: TraceMode,
    hash: u64,
    lines: Vec<String>,
}

impl Trace {
    pub(crate) fn new(mode: TraceMode) -> Self {
        Self { mode, hash: 0, lines: Vec::new() }
    }

    /// Mixes a word into the hash.
    pub(crate) fn word(&mut self, word: u64) {
        self.hash = mix(self.hash ^ word).wrapping_add(word);
    }

    /// Mixes bytes into the hash.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// A line for people, formatted only if it is wanted.
    pub(crate) fn line(&mut self, now: Moment, who: &str, what: impl FnOnce() -> String) {
        if self.mode == TraceMode::Hash {
            return;
        }
        let micros = now.as_micros();
        let line = format!("{:>5}.{:06} {who:<10} {}", micros / 1_000_000, micros % 1_000_000, what());
        match self.mode {
            TraceMode::Print => println!("{line}"),
            TraceMode::Lines if self.lines.len() < LIMIT_LINES => self.lines.push(line),
            TraceMode::Hash | TraceMode::Lines => {}
        }
    }

    /// Whether lines are wanted at all.
    pub(crate) fn is_recording(&self) -> bool {
        self.mode != TraceMode::Hash
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines
    }
}
