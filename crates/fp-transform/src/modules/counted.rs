//! How often each module ran too long: counted once, whatever derivations and however many subscribers it ran for.

use crate::block::Block;
use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::policy::ModuleHash;
use crate::pool::{MAX_OVERRUNS, lock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Modules that are remembered as ones that ran too long. When there are so many, no others are run.
const LIMIT_REMEMBERED: usize = 4096;

/// Those that ran too long, and how often.
#[derive(Default)]
pub(super) struct ModuleOverruns(Mutex<BTreeMap<ModuleHash, u32>>);

impl ModuleOverruns {
    /// Fails for a module that ran too long too often.
    pub(super) fn check(&self, module: ModuleHash) -> Result<(), DeriveError> {
        let counts = lock(&self.0);
        let what = match counts.get(&module) {
            Some(count) if *count >= MAX_OVERRUNS => format!(
                "the module ran too long {count} times, for all derivations of it, and is refused until this process starts again"
            ),
            None if counts.len() >= LIMIT_REMEMBERED => {
                format!("{LIMIT_REMEMBERED} modules ran too long: no others are run any more")
            }
            Some(_) | None => return Ok(()),
        };
        Err(DeriveError::Module { module, what, overran: false })
    }

    fn add(&self, module: ModuleHash) {
        *lock(&self.0).entry(module).or_default() += 1;
    }
}

/// A module as one derivation runs it.
pub(super) struct Counted {
    hash: ModuleHash,
    code: Arc<dyn RunModule>,
    overruns: Arc<ModuleOverruns>,
    /// All blocks together.
    limit: Option<Duration>,
    ran: Mutex<Duration>,
}

impl Counted {
    pub(super) fn new(
        (hash, code): (ModuleHash, Arc<dyn RunModule>),
        overruns: Arc<ModuleOverruns>,
        limit: Option<Duration>,
    ) -> Self {
        Self { hash, code, overruns, limit, ran: Mutex::default() }
    }

    fn run_so_far(&self, begun: Instant) -> Duration {
        let mut ran = lock(&self.ran);
        *ran += begun.elapsed();
        *ran
    }
}

impl RunModule for Counted {
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError> {
        self.overruns.check(self.hash)?;
        let begun = Instant::now();
        let mut done = self.code.run(inputs);
        let ran = self.run_so_far(begun);
        if let (Some(limit), true) = (self.limit.filter(|limit| ran > *limit), done.is_ok()) {
            let what = format!("the module ran for longer than {limit:?} on all blocks of a step");
            done = Err(DeriveError::Module { module: self.hash, what, overran: true });
        }
        if matches!(done, Err(DeriveError::Module { overran: true, .. })) {
            self.overruns.add(self.hash);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a while, or says that it was stopped.
    struct Slow(Duration, bool);

    impl RunModule for Slow {
        fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError> {
            let end = Instant::now() + self.0;
            while Instant::now() < end {
                std::thread::yield_now();
            }
            let what = "the module ran for longer".to_owned();
            let stopped = DeriveError::Module { module: ModuleHash::of(b"m"), what, overran: true };
            if self.1 { Err(stopped) } else { Ok(inputs[0].clone()) }
        }
    }

    fn block() -> Block {
        let region = fp_types::Region::new([0], [1]).unwrap();
        Block::new(region, fp_types::Dtype::U8, fp_types::MemoryOrder::RowMajor, [1]).unwrap()
    }

    #[test]
    fn derivations_of_one_module_share_its_count_and_others_have_theirs() {
        let overruns = Arc::new(ModuleOverruns::default());
        let module = |name: &[u8], stopped| {
            let code: Arc<dyn RunModule> = Arc::new(Slow(Duration::ZERO, stopped));
            Counted::new((ModuleHash::of(name), code), overruns.clone(), None)
        };
        let (first, second, other) = (module(b"m", true), module(b"m", true), module(b"n", false));
        first.run(&[block()]).unwrap_err();
        assert!(overruns.check(first.hash).is_ok());
        second.run(&[block()]).unwrap_err();
        let refused = overruns.check(first.hash).unwrap_err().to_string();
        assert!(refused.starts_with("the module ran too long 2 times"), "{refused}");
        assert!(
            first.run(&[block()]).unwrap_err().to_string().starts_with("the module ran too long 2 times")
        );
        assert!(other.run(&[block()]).is_ok());
    }

    #[test]
    fn blocks_of_one_derivation_have_one_time_together() {
        let overruns = Arc::new(ModuleOverruns::default());
        let code: Arc<dyn RunModule> = Arc::new(Slow(Duration::from_millis(30), false));
        let hash = ModuleHash::of(b"m");
        let of = || Counted::new((hash, code.clone()), overruns.clone(), Some(Duration::from_millis(50)));
        let (one, two) = (of(), of());
        assert!(one.run(&[block()]).is_ok() && two.run(&[block()]).is_ok(), "each has its own time");
        let stopped = one.run(&[block()]).unwrap_err().to_string();
        assert_eq!(stopped, "the module ran for longer than 50ms on all blocks of a step");
        assert_eq!(lock(&overruns.0).get(&hash), Some(&1));
    }
}
