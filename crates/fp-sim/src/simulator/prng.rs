//! The simulator's only source of chance: a small generator that one seed decides (splitmix64).

use std::time::Duration;

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Prng(u64);

impl Prng {
    /// The stream of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut prng = Self(seed ^ 0x5851_f42d_4c95_7f2d);
        prng.next();
        prng
    }

    /// Another stream, which draws nothing from this one: what it is used for does not shift the rest.
    pub(crate) fn fork(&self, label: u64) -> Self {
        Self::new(mix(self.0 ^ mix(label)))
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The bias of the remainder is at most 2^-40 for the small bounds used here.
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A duration between two numbers of microseconds, both included.
    pub(crate) fn micros(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_micros(self.between(low, high))
    }

    /// One of these.
    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64) as usize;
        choices[index].clone()
    }
}

/// A bijection that scatters: the finaliser of splitmix64.
pub(crate) fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
