//! How much was sent, in words.

use std::fmt;
use std::ops::AddAssign;

/// How much was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// Bytes of blocks, as they were put.
    pub(super) data_bytes: u64,
    /// Bytes that crossed: of blocks as they crossed, and what says which they are.
    pub(super) crossed_bytes: u64,
}

impl AddAssign for Sent {
    fn add_assign(&mut self, more: Self) {
        self.data_bytes += more.data_bytes;
        self.crossed_bytes += more.crossed_bytes;
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let (data, crossed) = (mebibytes(self.data_bytes), mebibytes(self.crossed_bytes));
        write!(f, "{data:.1} MiB of data, {crossed:.1} MiB crossed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_summed_and_told_apart() {
        let mut sent = Sent::default();
        sent += Sent { data_bytes: 3 << 20, crossed_bytes: 1 << 20 };
        sent += Sent { data_bytes: 1 << 19, crossed_bytes: 1 << 20 };
        assert_eq!(sent.to_string(), "3.5 MiB of data, 2.0 MiB crossed");
    }
}
