//! Where calls have their memory: from a pool that is set to zero after each of them, or else freshly from the system.
//!
//! The pool holds address space, and those pages of each of its memories that are kept. It knows those pages by their
//! place, the first ones, and never asks the system which were written. The system would leave out a page which it is
//! just moving or has swapped out. The next call would find what is on it.
//!
//! A memory of the pool is set to zero as far as any call ever used it, and without a system call. That is many times
//! quicker than fresh memory of the same size. But for small calls after a large one it is too much work: those have
//! fresh memory.
//!
//! A page that nobody may touch behind each memory would cost two system calls a call (1 of 2.7 ms for 16 MiB). Memory
//! of our own making beneath wasmtime would take `unsafe`. No call waits for a memory: in a process that was forked
//! while all were in use the wait would have no end
//! (`docs/decisions/0037-memories-of-deployed-code-are-used-again.md`).

use std::sync::LazyLock;

use wasmtime::{Config, Engine, ExternType, InstancePre, Linker, Module, PoolingAllocationConfig};

use super::error::DeployError;
use super::guest::{Call, Guest};
use super::interface::check;
use super::memory_use::{Used, table_elements};
use crate::policy::DeployLimits;

/// As many memories a pool has at most.
const MOST_MEMORIES: usize = 4;
/// As much address space a pool takes at most, unless a single memory needs more.
const POOL_BYTES: usize = 1 << 30;
/// As large a memory of 32 bits can be, in whole pages.
const MOST_BYTES: usize = u32::MAX as usize;
/// As many tables a module may have whose memory comes from the pool.
const POOLED_TABLES: u32 = 4;
/// Of each table so much is kept.
const KEPT_TABLE_BYTES: usize = 16 << 10;

/// What compiles and runs modules.
pub(super) struct Engines {
    fresh: Engine,
    /// None if nothing is to be kept, or the system refuses the address space.
    pooled: Option<Engine>,
    used: Used,
}

fn config(limits: &DeployLimits) -> Config {
    let mut config = Config::new();
    config.consume_fuel(true).epoch_interruption(true).max_wasm_stack(256 << 10);
    // No handlers of signals in somebody's simulation: its own, installed later, would take a trap of a guest for a
    // fault of its own. And no gigabytes of address space, which clusters ration. Bounds are checked by instructions.
    config.signals_based_traps(false).memory_guard_size(0).guard_before_linear_memory(false);
    // As much address space as a guest may use, so that its memory never moves and code need not ask where it is.
    config.memory_reservation(memory_bytes(limits) as u64).memory_may_move(false);
    config.wasm_backtrace_max_frames(None).wasm_multi_memory(false).wasm_memory64(false);
    config
}

fn memory_bytes(limits: &DeployLimits) -> usize {
    MOST_BYTES.min(limits.memory_bytes)
}

/// A pool of so many memories.
fn pool(limits: &DeployLimits, memories: u32) -> PoolingAllocationConfig {
    let bytes = memory_bytes(limits);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_memories(memories).total_core_instances(memories).total_tables(memories * POOLED_TABLES);
    pool.max_memory_size(bytes).max_tables_per_module(POOLED_TABLES).table_elements(table_elements(limits));
    pool.linear_memory_keep_resident(limits.kept_bytes.min(bytes)).table_keep_resident(KEPT_TABLE_BYTES);
    // A memory that was used before is taken before one that never was. So no more memories are kept than ran at once.
    pool.max_unused_warm_slots(0);
    pool
}

/// How many calls can have a memory of the pool at once.
fn pooled_memories(limits: &DeployLimits) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let fit = POOL_BYTES / memory_bytes(limits).max(1);
    cores.min(MOST_MEMORIES).min(fit.max(1))
}

impl Engines {
    pub(super) fn new(limits: &DeployLimits) -> Result<Self, DeployError> {
        let no_runtime = |error: wasmtime::Error| DeployError::Runtime { reason: format!("{error:#}") };
        let fresh = Engine::new(&config(limits)).map_err(no_runtime)?;
        let mut pooled = config(limits);
        pooled.allocation_strategy(pool(limits, pooled_memories(limits) as u32));
        let pooled = (limits.kept_bytes > 0).then(|| Engine::new(&pooled).ok()).flatten();
        Ok(Self { fresh, pooled, used: Used::default() })
    }

    pub(super) fn all(&self) -> Vec<Engine> {
        self.pooled.iter().chain([&self.fresh]).cloned().collect()
    }

    /// Checks and compiles a module.
    pub(super) fn compile(&self, bytes: &[u8]) -> Result<Code, DeployError> {
        let (engine, later) = (self.fresh.clone(), bytes.to_vec());
        match self.pooled.as_ref().map(|engine| compile(engine, bytes)) {
            Some(Ok(pooled)) => {
                let fresh = LazyLock::new(Box::new(move || compile(&engine, &later)) as Compiles);
                let (used, minimum_bytes) = (self.used.clone(), minimum_bytes(pooled.module()));
                Ok(Code { pooled: Some(Pooled { ready: pooled, used, minimum_bytes }), fresh })
            }
            // No module, or one that does not fit the pool: it has more tables, for one.
            None | Some(Err(DeployError::Invalid { .. })) => {
                let fresh = compile(&engine, bytes)?;
                Ok(Code { pooled: None, fresh: LazyLock::new(Box::new(move || Ok(fresh))) })
            }
            Some(Err(refused)) => Err(refused),
        }
    }
}

fn compile(engine: &Engine, bytes: &[u8]) -> Result<InstancePre<Guest>, DeployError> {
    let invalid = |error: wasmtime::Error| DeployError::Invalid { reason: format!("{error:#}") };
    let module = Module::from_binary(engine, bytes).map_err(invalid)?;
    check(&module)?;
    Linker::new(engine).instantiate_pre(&module).map_err(invalid)
}

/// The size of a module's memory when it starts.
fn minimum_bytes(module: &Module) -> usize {
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) => {
            usize::try_from(memory.minimum().saturating_mul(memory.page_size())).unwrap_or(usize::MAX)
        }
        _ => 0,
    }
}

type Compiles = Box<dyn FnOnce() -> Result<InstancePre<Guest>, DeployError> + Send>;

/// A module that was checked and compiled.
pub(super) struct Code {
    /// For memories of the pool; none where it does not fit that.
    pooled: Option<Pooled>,
    /// For fresh ones: compiled once more when it is first needed.
    fresh: LazyLock<Result<InstancePre<Guest>, DeployError>, Compiles>,
}

struct Pooled {
    ready: InstancePre<Guest>,
    used: Used,
    minimum_bytes: usize,
}

impl Code {
    /// A call that is given so much, with a memory of the pool. Its memory is fresh if others have all of the pool's,
    /// or if that takes less time.
    pub(super) fn start(&self, limits: &DeployLimits, input_bytes: usize) -> Result<Call, DeployError> {
        if let Some(call) = self.start_pooled(limits, input_bytes)? {
            return Ok(call);
        }
        let ready = self.fresh.as_ref().map_err(Clone::clone)?;
        let no_memory = || DeployError::Runtime { reason: "there is no memory for it".to_owned() };
        Call::start(ready, limits, Used::default())?.ok_or_else(no_memory)
    }

    /// None if others have all memories of the pool, or it is not for this call.
    fn start_pooled(&self, limits: &DeployLimits, input_bytes: usize) -> Result<Option<Call>, DeployError> {
        let fits =
            |pooled: &&Pooled| pooled.used.suits(pooled.minimum_bytes.saturating_add(input_bytes), limits);
        let pooled = self.pooled.as_ref().filter(fits);
        pooled.map_or(Ok(None), |pooled| Call::start(&pooled.ready, limits, pooled.used.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(limits: &DeployLimits) -> Code {
        let source = include_str!("../../guest/sum_of_squares.wat");
        Engines::new(limits).unwrap().compile(&wat::parse_str(source).unwrap()).unwrap()
    }

    #[test]
    fn calls_beyond_the_pool_have_fresh_memories() {
        let limits = DeployLimits::default();
        let (code, memories) = (code(&limits), pooled_memories(&limits));
        assert!((1..=MOST_MEMORIES).contains(&memories));
        for _ in 0..2 {
            let pooled: Vec<Call> =
                (0..memories).map(|_| code.start_pooled(&limits, 8).unwrap().unwrap()).collect();
            assert!(code.start_pooled(&limits, 8).unwrap().is_none(), "all are taken");
            let fresh: Vec<Call> = (0..3).map(|_| code.start(&limits, 8).unwrap()).collect();
            drop((pooled, fresh));
        }
    }

    #[test]
    fn small_calls_after_a_large_one_have_fresh_memories_and_no_others() {
        for (kept_bytes, small, large) in
            [(32 << 20, false, true), (1 << 20, true, true), (1 << 30, false, false)]
        {
            let limits = DeployLimits::default().with_kept_bytes(kept_bytes);
            let code = code(&limits);
            let is_pooled = |bytes: usize| code.start_pooled(&limits, bytes).unwrap().is_some();
            assert!(is_pooled(8));
            code.pooled.as_ref().unwrap().used.add(64 << 20);
            assert_eq!(
                (is_pooled(8), is_pooled(2 << 20), is_pooled(4 << 20)),
                (small, large, true),
                "{kept_bytes}"
            );
        }
    }

    #[test]
    fn the_pool_takes_little_address_space_and_none_where_nothing_is_kept() {
        let of = |bytes: usize| pooled_memories(&DeployLimits::default().with_memory_bytes(bytes)) * bytes;
        assert!([0, 1, 64 << 10, 256 << 20].into_iter().all(|bytes| of(bytes) <= POOL_BYTES));
        assert_eq!([3 << 30, 1 << 40].map(of), [3 << 30, 1 << 40], "one memory");
        for bytes in [0, 1, 64 << 10, 100_001, 256 << 20, 5 << 30, usize::MAX] {
            let limits = DeployLimits::default().with_memory_bytes(bytes);
            assert!(Engines::new(&limits).unwrap().pooled.is_some(), "{bytes}");
            assert!(Engines::new(&limits.with_kept_bytes(usize::MAX)).unwrap().pooled.is_some(), "{bytes}");
        }
        assert!(Engines::new(&DeployLimits::default().with_kept_bytes(0)).unwrap().pooled.is_none());
    }
}
