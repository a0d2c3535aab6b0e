//! What the user may ask of the demonstration.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::super::part_step::Coupling;
use super::super::settings::{BondsBy, Settings, Size, SourceKind};
use crate::lammps::problem::Problem;

/// Which source the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WantedSource {
    /// LAMMPS, or the built-in molecular dynamics where that cannot be used.
    Auto,
    /// The built-in molecular dynamics.
    BuiltIn,
}

/// What the user may ask for.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Smaller bodies, pulled faster: half a minute in all
    #[arg(long)]
    pub short: bool,
    /// One problem alone: crack or notch
    #[arg(long, value_parser = ["crack", "notch"])]
    pub problem: Option<String>,
    /// What simulates
    #[arg(long, value_enum, default_value = "auto")]
    pub source: WantedSource,
    /// Where pictures and logs go
    #[arg(long, default_value = ".demo")]
    pub output: PathBuf,
    /// Seconds that one problem may take
    #[arg(long, default_value_t = 300)]
    pub deadline_s: u64,
    /// Milliseconds that the simulation waits for one of its subscribers at most; then that one is detached
    #[arg(long, default_value_t = 20_000)]
    pub max_wait_ms: u64,
    /// An address of this machine by which the ranks reach one another, instead of staying within it. That of an RDMA
    /// device has them use it (with FLEXPATH_TRANSPORTS=verbs,tcp, as shared memory is preferred)
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// The Python interpreter that runs the analysis in Python, with the package `flexpath` and scipy. Without it that one
    /// does not run. (`make demo` makes one.)
    #[arg(long)]
    pub python: Option<PathBuf>,
    /// As small as it can be (for tests)
    #[arg(long, hide = true)]
    pub tiny: bool,
}

/// Ranks of the simulation.
const RANKS: u32 = 4;
/// How much longer a part waits for a step than the simulation waits for a part.
const PATIENCE_MS: u64 = 60_000;

impl Options {
    /// The problems that are run.
    pub fn problems(&self) -> Vec<Problem> {
        match self.problem.as_deref().and_then(Problem::from_name) {
            Some(problem) => vec![problem],
            None => Problem::ALL.to_vec(),
        }
    }

    /// The settings of one run.
    pub fn settings(&self, problem: Problem, source: SourceKind) -> Settings {
        let size = match source {
            SourceKind::Lammps | SourceKind::BuiltIn if self.tiny => Size::Tiny,
            SourceKind::Lammps if !self.short => Size::Full,
            // Each rank of the built-in source simulates everything: the full bodies would take many minutes.
            SourceKind::Lammps | SourceKind::BuiltIn => Size::Short,
        };
        let (max_wait_ms, output) = (self.max_wait_ms, self.output.clone());
        Settings {
            problem,
            size,
            source,
            ranks: RANKS,
            max_wait_ms,
            output,
            coupling: Coupling::Streams,
            measured: false,
            bonds: BondsBy::Turns,
            patience_ms: max_wait_ms + PATIENCE_MS,
            address: self.address,
            python: self.python.clone(),
        }
    }

    /// How long one problem may take.
    pub fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_s)
    }
}
