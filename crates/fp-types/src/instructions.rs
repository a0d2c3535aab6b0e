//! Which instructions loops over elements are compiled to: those that every machine of the kind has, or also wider
//! ones.
//!
//! A build is for the oldest machine of its kind. So the loops that convert or compute elements are compiled twice.
//! Which of the two runs is decided where it runs.

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Avx2, Level, Simd};

/// Which instructions loops over elements may use.
#[derive(Clone, Copy, Debug)]
pub struct Instructions {
    #[cfg(target_arch = "x86_64")]
    wide: Option<Avx2>,
}

impl Instructions {
    /// The widest that this machine has and that loops are compiled to: AVX2 on x86-64. The same wherever it is asked.
    pub fn widest() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            wide: Level::new().as_avx2(),
        }
    }

    /// Those that every machine of the kind has.
    pub fn plain() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            wide: None,
        }
    }

    /// Whether they are more than the plain ones.
    pub fn are_wide(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.wide.is_some();
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Runs a loop, compiled to these instructions: as much of it as is inlined here. What it gives is the same with
    /// all.
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = self.wide {
            return wide.vectorize(work);
        }
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_run_what_they_are_given() {
        assert!(!Instructions::plain().are_wide());
        for instructions in [Instructions::plain(), Instructions::widest()] {
            assert_eq!(instructions.run(|| (1..=10u64).map(|x| x * x).sum::<u64>()), 385);
        }
    }
}
