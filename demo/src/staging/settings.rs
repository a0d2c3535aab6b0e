//! The settings that the user may choose, which all parts are told.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the user may ask for.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// Steps that are published
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u64).range(50..=10_000))]
    pub steps: u64,
    /// Milliseconds from one step of the simulation to the next
    #[arg(long, default_value_t = 5)]
    pub pace_ms: u64,
    /// Milliseconds that the analysis takes for a step
    #[arg(long, default_value_t = 10)]
    pub reading_ms: u64,
    /// The program flexpath-tee: outside, all steps go into a Zarr store as well
    #[arg(long, requires = "python", value_name = "PROGRAM")]
    pub tee: Option<PathBuf>,
    /// An interpreter that has xarray and zarr: it opens that store
    #[arg(long, requires = "tee", value_name = "PROGRAM")]
    pub python: Option<PathBuf>,
    /// Where files and logs go
    #[arg(long, default_value = ".demo/staging")]
    pub output: PathBuf,
    /// Seconds that all of it may take
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub deadline_s: u64,
}

impl Settings {
    /// These settings as arguments, to be read again by the parts.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let texts = [
            ("--steps", self.steps.to_string()),
            ("--pace-ms", self.pace_ms.to_string()),
            ("--reading-ms", self.reading_ms.to_string()),
            ("--deadline-s", self.deadline_s.to_string()),
        ];
        let mut arguments: Vec<OsString> =
            texts.into_iter().flat_map(|(name, value)| [name.into(), value.into()]).collect();
        arguments.extend(["--output".into(), self.output.clone().into_os_string()]);
        arguments
    }

    /// Where the logs of the parts are.
    pub fn logs(&self) -> PathBuf {
        self.output.join("logs")
    }

    /// The Zarr store.
    pub fn store(&self) -> PathBuf {
        self.output.join("heat.zarr")
    }

    /// The numbers of the steps that were read and checked, a line each.
    pub fn taken(&self) -> PathBuf {
        self.output.join("taken.txt")
    }

    /// How long a rank of the simulation was held up, and how long it ran, in seconds.
    pub fn held_up(&self, rank: u32) -> PathBuf {
        self.output.join(format!("held-up-{rank}.json"))
    }
}
