//! The record of a run: a hash of everything that happened, and the readable lines if somebody wants them.

use crate::simulator::prng::mix;
use fp_proto::time::Moment;

/// Lines kept when a run is recorded for a failure's report.
const LIMIT_LINES: usize = 200_000;

/// Numbers of a list that a line shows: of more, as bytes of a table, it says how many there are.
const LIMIT_LISTED: usize = 8;

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
        let what = shortened(&what());
        let line = format!("{:>5}.{:06} {who:<10} {what}", micros / 1_000_000, micros % 1_000_000);
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

/// The same text with long lists of numbers cut short.
fn shortened(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut parts = text.split('[');
    short.extend(parts.next());
    for part in parts {
        short.push('[');
        let (list, rest) = part.split_once(']').unwrap_or((part, ""));
        let numbers: Vec<&str> = list.split(", ").collect();
        let is_number =
            |number: &&str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if numbers.len() <= LIMIT_LISTED || !numbers.iter().all(is_number) {
            short.push_str(part);
            continue;
        }
        short.push_str(&numbers[..LIMIT_LISTED].join(", "));
        short.push_str(&format!(", .. {} in all]{rest}", numbers.len()));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_numbers_are_cut_short() {
        let bytes: Vec<u8> = (0..200).collect();
        let text = format!("TableReply {{ encoded: Some({bytes:?}) }} of [StepId(1), StepId(2)]");
        let short =
            "TableReply { encoded: Some([0, 1, 2, 3, 4, 5, 6, 7, .. 200 in all]) } of [StepId(1), StepId(2)]";
        assert_eq!(shortened(&text), short);
        let few = format!("[{}] and [[1, 2], [3]], [", "1, 2, 3");
        assert_eq!(shortened(&few), few);
    }
}
