//! Modules are compiled on threads of their own. Who needs one waits for it, for a while: a compiler cannot be
//! interrupted, and those who wait have others waiting for them.

use crate::block::Block;
use crate::deployed::{DeployError, Deployed, Runtime};
use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::policy::{DeployLimits, ModuleHash};
use crate::pool::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Instant;

/// Modules that are compiled at the same time.
const LIMIT_COMPILING: usize = 2;

type Compiled = Result<Arc<Deployed>, DeriveError>;

/// Compiles modules, each once.
pub(super) struct Compiler {
    limits: DeployLimits,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// None of those that are being compiled.
    known: Mutex<BTreeMap<ModuleHash, Option<Compiled>>>,
    changed: Condvar,
    runtime: OnceLock<Result<Runtime, DeployError>>,
}

impl Compiler {
    pub(super) fn new(limits: DeployLimits) -> Self {
        Self { limits, shared: Arc::default() }
    }

    /// The module, once it is compiled.
    pub(super) fn load(&self, hash: ModuleHash, bytes: &[u8]) -> Compiled {
        let deadline = Instant::now() + self.limits.compile_time;
        let mut known = lock(&self.shared.known);
        loop {
            match known.get(&hash) {
                Some(Some(compiled)) => return compiled.clone(),
                None if compiling(&known) < LIMIT_COMPILING => {
                    self.make_room(&mut known);
                    known.insert(hash, None);
                    if let Err(error) = self.start(hash, bytes) {
                        known.remove(&hash);
                        return Err(failed(hash, format!("no thread can be started for it: {error}")));
                    }
                }
                None | Some(None) => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let limit = self.limits.compile_time;
                return Err(failed(
                    hash,
                    format!("the module was not compiled within {limit:?}: a later step may find it"),
                ));
            }
            known =
                self.shared.changed.wait_timeout(known, left).unwrap_or_else(|error| error.into_inner()).0;
        }
    }

    /// Lets go of all where there are too many: calls that run go on, and who comes again is compiled again.
    fn make_room(&self, known: &mut BTreeMap<ModuleHash, Option<Compiled>>) {
        if known.len() < self.limits.modules {
            return;
        }
        known.retain(|hash, compiled| {
            if let (Some(_), Some(Ok(runtime))) = (&compiled, self.shared.runtime.get()) {
                runtime.unload(*hash);
            }
            compiled.is_none()
        });
    }

    fn start(&self, hash: ModuleHash, bytes: &[u8]) -> std::io::Result<()> {
        let (shared, limits, bytes) = (self.shared.clone(), self.limits.clone(), bytes.to_vec());
        let thread = std::thread::Builder::new().name("flexpath-compile".to_owned());
        thread.spawn(move || shared.compile(hash, &bytes, limits)).map(|_| ())
    }
}

fn compiling(known: &BTreeMap<ModuleHash, Option<Compiled>>) -> usize {
    known.values().filter(|compiled| compiled.is_none()).count()
}

fn failed(module: ModuleHash, what: String) -> DeriveError {
    DeriveError::Module { module, what, overran: false }
}

impl Shared {
    fn compile(&self, hash: ModuleHash, bytes: &[u8], limits: DeployLimits) {
        let compile = || -> Result<Arc<Deployed>, DeployError> {
            let runtime = self.runtime.get_or_init(|| Runtime::new(limits));
            runtime.as_ref().map_err(Clone::clone)?.load(bytes)
        };
        let compiled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(compile));
        let compiled = compiled.unwrap_or_else(|_| {
            Err(DeployError::Invalid { reason: "compiling it ended in a panic".to_owned() })
        });
        lock(&self.known).insert(hash, Some(compiled.map_err(|error| module_error(hash, &error))));
        self.changed.notify_all();
    }
}

impl RunModule for Deployed {
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError> {
        self.run(inputs).map_err(|error| module_error(self.hash(), &error))
    }
}

fn module_error(module: ModuleHash, error: &DeployError) -> DeriveError {
    let overran = matches!(error, DeployError::Fuel { .. } | DeployError::TimedOut { .. });
    DeriveError::Module { module, what: error.to_string(), overran }
}
