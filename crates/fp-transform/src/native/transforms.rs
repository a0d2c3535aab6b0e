//! The transforms of a process: registering, finding and running them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::path::{Leg, cheapest, connection};
use super::{CohortSide, Cost, DataType, MeasuredCalls, Native, PathError, SideDecision, TransformPath};
use crate::block::Array;
use crate::error::CallError;
use crate::pool::{CallPool, Overruns, PoolError};

/// The most transforms of a process.
pub const MAX_TRANSFORMS: usize = 256;

/// How transforms run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransformOptions {
    /// Threads that run them: 2. No more calls of one transform run at once than may still run too long
    /// ([`MAX_OVERRUNS`](crate::MAX_OVERRUNS)). So more than 2 threads are for several transforms.
    pub threads: usize,
    /// Calls that may wait for a thread: 64.
    pub queued: usize,
    /// How long a call may wait for a thread, and how long it may take: 10 s each.
    pub limit: Duration,
}

impl Default for TransformOptions {
    fn default() -> Self {
        Self { threads: 2, queued: 64, limit: Duration::from_secs(10) }
    }
}

impl TransformOptions {
    /// With that many threads, at least 1.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// With room for that many calls that wait.
    pub fn with_queued(mut self, queued: usize) -> Self {
        self.queued = queued;
        self
    }

    /// With that limit for each call.
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }
}

/// Why a transform is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is no name.
    #[error(transparent)]
    Name(#[from] fp_types::NameError),
    /// Another transform has the name.
    #[error("a transform {name:?} is registered already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Another transform leads from the one type to the other.
    #[error("{by:?} leads from {from} to {to} already")]
    PairTaken {
        /// The type it leads from.
        from: String,
        /// The type it leads to.
        to: String,
        /// Which one does.
        by: String,
    },
    /// It would lead back to where others came from.
    #[error("{name:?} would close a cycle: {} lead from {to} to {from} already", .through.join(", "))]
    Cycle {
        /// The transform.
        name: String,
        /// The type it leads from.
        from: String,
        /// The type it leads to.
        to: String,
        /// The transforms that lead back; none if the two types are the same.
        through: Vec<String>,
    },
    /// A cost that is no number of at least 0.
    #[error("{name:?} cannot cost {nanos_per_byte} ns for a byte, of which it makes {output_ratio}")]
    Cost {
        /// The transform.
        name: String,
        /// Nanoseconds, in words.
        nanos_per_byte: String,
        /// Bytes, in words.
        output_ratio: String,
    },
    /// More than [`MAX_TRANSFORMS`].
    #[error("{MAX_TRANSFORMS} transforms are registered already")]
    TooMany,
}

/// The transforms of a process and the threads that run them. Clones are the same.
#[derive(Clone)]
pub struct Transforms {
    inner: Arc<Inner>,
}

struct Inner {
    pool: CallPool,
    limit: Duration,
    registered: Mutex<BTreeMap<String, Entry>>,
}

struct Entry {
    native: Native,
    measured: MeasuredCalls,
    overruns: Arc<Overruns>,
}

impl Entry {
    fn cost(&self) -> Cost {
        self.measured.cost(self.native.cost)
    }
}

impl fmt::Debug for Transforms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lock().values().map(|entry| &entry.native)).finish()
    }
}

impl Default for Transforms {
    fn default() -> Self {
        Self::new(&TransformOptions::default())
    }
}

impl Transforms {
    /// None yet.
    pub fn new(options: &TransformOptions) -> Self {
        let pool = CallPool::new(options.threads, options.queued);
        let registered = Mutex::new(BTreeMap::new());
        Self { inner: Arc::new(Inner { pool, limit: options.limit, registered }) }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a transform.
    ///
    /// # Errors
    /// Its name or its pair of types is taken, or it would close a cycle. Every way from one type to another must have
    /// an end.
    pub fn register(&self, native: Native) -> Result<(), RegisterError> {
        fp_types::validate_name(&native.name)?;
        check_cost(&native.name, native.cost)?;
        let mut registered = self.lock();
        if registered.contains_key(&native.name) {
            return Err(RegisterError::NameTaken { name: native.name });
        }
        if registered.len() == MAX_TRANSFORMS {
            return Err(RegisterError::TooMany);
        }
        if let Some((from, to)) = &native.types {
            check_pair(&legs(&registered), &native.name, from, to)?;
        }
        let entry = Entry { native, measured: MeasuredCalls::default(), overruns: Arc::default() };
        registered.insert(entry.native.name.clone(), entry);
        Ok(())
    }

    /// The cheapest way from one type to another for so many bytes: by measured cost where there is one, else by what
    /// was declared.
    ///
    /// # Errors
    /// A type that nothing is known of, or no way.
    pub fn path(&self, from: &DataType, to: &DataType, input_bytes: u64) -> Result<TransformPath, PathError> {
        cheapest(&legs(&self.lock()), from, to, input_bytes)
    }

    /// Runs a transform on arrays, on a thread of the pool.
    ///
    /// # Errors
    /// It is unknown or refused, failed, panicked, or ran too long.
    pub fn run(&self, name: &str, inputs: Vec<Array>) -> Result<Vec<Array>, CallError> {
        self.run_within(name, inputs, (Duration::MAX, Duration::MAX))
    }

    /// The same with a limit to waiting for a thread and one to the call, where its own are not shorter.
    pub(super) fn run_within(
        &self,
        name: &str,
        inputs: Vec<Array>,
        (waiting, running): (Duration, Duration),
    ) -> Result<Vec<Array>, CallError> {
        let name = name.to_owned();
        let (function, limit, overruns) = {
            let registered = self.lock();
            let entry = registered.get(&name).ok_or_else(|| CallError::Unknown { name: name.clone() })?;
            let limit = entry.native.limit.unwrap_or(self.inner.limit);
            (Arc::clone(&entry.native.function), limit, Arc::clone(&entry.overruns))
        };
        let input_bytes = len_bytes(&inputs);
        let called =
            self.inner.pool.run_within(&overruns, (limit.min(waiting), limit.min(running)), move || {
                let begun = Instant::now();
                (function(&inputs).map_err(|error| error.to_string()), begun.elapsed())
            });
        self.count(&name, input_bytes, &called);
        let (result, _) = called.map_err(|source| match source {
            PoolError::Refused { overruns } => CallError::Refused { name: name.clone(), overruns },
            PoolError::Full { .. }
            | PoolError::Busy { .. }
            | PoolError::Panicked { .. }
            | PoolError::Overrun { .. }
            | PoolError::NoThread { .. } => CallError::Pool { name: name.clone(), source },
        })?;
        result.map_err(|reason| CallError::Failed { name, reason })
    }

    /// Counts what a call came to.
    fn count(
        &self,
        name: &str,
        input_bytes: u64,
        called: &Result<(Result<Vec<Array>, String>, Duration), PoolError>,
    ) {
        let mut registered = self.lock();
        let Some(entry) = registered.get_mut(name) else {
            return;
        };
        match called {
            Ok((Ok(outputs), time)) => entry.measured.add(input_bytes, len_bytes(outputs), *time),
            Ok((Err(_), _)) => entry.measured.failed += 1,
            Err(PoolError::Refused { .. }) => {}
            Err(_) => entry.measured.failed += 1,
        }
    }

    /// Runs the transforms of a path one after the other.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), of the first that fails.
    pub fn run_path(&self, path: &TransformPath, inputs: Vec<Array>) -> Result<Vec<Array>, CallError> {
        path.steps.iter().try_fold(inputs, |arrays, (name, _, _)| self.run(name, arrays))
    }

    /// What was measured of a transform; nothing if there is none.
    pub fn measured(&self, name: &str) -> Option<MeasuredCalls> {
        self.lock().get(name).map(|entry| entry.measured)
    }

    /// On which side a transform runs now, and why; nothing if there is none.
    pub fn decision(&self, name: &str) -> Option<SideDecision> {
        let decide = |entry: &Entry| entry.measured.decide(entry.native.placement, entry.native.cost);
        self.lock().get(name).map(decide)
    }

    /// Changes on which side a transform runs from now on; says whether there is one.
    pub fn set_placement(&self, name: &str, placement: CohortSide) -> bool {
        self.change(name, |native| native.placement = placement)
    }

    /// Changes what a transform is expected to cost, until it was measured; says whether there is one.
    ///
    /// # Errors
    /// A cost that is none.
    pub fn set_cost(&self, name: &str, cost: Cost) -> Result<bool, RegisterError> {
        check_cost(name, cost)?;
        Ok(self.change(name, |native| native.cost = cost))
    }

    /// Changes how long calls of a transform may take from now on; says whether there is one.
    pub fn set_limit(&self, name: &str, limit: Duration) -> bool {
        self.change(name, |native| native.limit = Some(limit))
    }

    /// Says of a transform what [`Native::per_block`] does; says whether there is one.
    pub fn set_per_block(&self, name: &str) -> bool {
        self.change(name, |native| native.is_per_block = true)
    }

    /// Says of a transform what [`Native::by_name_only`] does; says whether there is one.
    pub fn set_by_name_only(&self, name: &str) -> bool {
        self.change(name, |native| native.types = None)
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Native)) -> bool {
        self.lock().get_mut(name).map(|entry| change(&mut entry.native)).is_some()
    }

    /// What is declared of a transform; nothing if there is none.
    pub fn native(&self, name: &str) -> Option<Native> {
        self.lock().get(name).map(|entry| entry.native.clone())
    }

    /// Names, types and declared costs of all transforms, by name.
    pub fn registered(&self) -> Vec<Native> {
        self.lock().values().map(|entry| entry.native.clone()).collect()
    }
}

fn legs(registered: &BTreeMap<String, Entry>) -> Vec<Leg<'_>> {
    let mut legs = Vec::new();
    for entry in registered.values() {
        if let Some((from, to)) = &entry.native.types {
            legs.push(Leg { name: &entry.native.name, from, to, cost: entry.cost() });
        }
    }
    legs
}

pub(super) fn check_cost(name: &str, cost: Cost) -> Result<(), RegisterError> {
    let is_number = |number: f64| number.is_finite() && number >= 0.0;
    if is_number(cost.nanos_per_byte) && is_number(cost.output_ratio) {
        return Ok(());
    }
    let (nanos_per_byte, output_ratio) = (cost.nanos_per_byte.to_string(), cost.output_ratio.to_string());
    Err(RegisterError::Cost { name: name.to_owned(), nanos_per_byte, output_ratio })
}

pub(super) fn check_pair(
    legs: &[Leg<'_>],
    name: &str,
    from: &DataType,
    to: &DataType,
) -> Result<(), RegisterError> {
    let same = |leg: &&Leg<'_>| {
        (leg.from.fingerprint(), leg.to.fingerprint()) == (from.fingerprint(), to.fingerprint())
    };
    if let Some(leg) = legs.iter().find(same) {
        let (from, to, by) = (from.to_string(), to.to_string(), leg.name.to_owned());
        return Err(RegisterError::PairTaken { from, to, by });
    }
    match connection(legs, to, from) {
        None => Ok(()),
        Some(through) => {
            let through = through.into_iter().map(str::to_owned).collect();
            let (name, from, to) = (name.to_owned(), from.to_string(), to.to_string());
            Err(RegisterError::Cycle { name, from, to, through })
        }
    }
}

fn len_bytes(arrays: &[Array]) -> u64 {
    let blocks = arrays.iter().flat_map(|array| array.blocks());
    blocks.map(|block| block.bytes().len() as u64).sum()
}
