//! The supervisor: starts the parts, follows what they say and what CSym publishes, and draws up the result.

mod board;
mod checks;
mod children;
mod measure;
mod notice;
mod options;
mod run;
mod science;
mod steering;
mod table;
mod watch;

pub use measure::{MeasureOptions, Measured, PartCost, StreamBytes, measure};
pub use options::{Options, WantedSource};

use super::settings::{Settings, SourceKind};
use crate::lammps::check_installed;
use crate::shared::check_result::{CheckResult, CheckStatus};
use crate::shared::interrupt::Interrupt;
use crate::shared::outcome::Outcome;
use crate::shared::screen::Screen;
use run::{Run, RunError};

/// Run the demonstration.
pub fn demonstrate(options: &Options, interrupt: &Interrupt, screen: &mut Screen) -> Outcome {
    let source = choose_source(options, screen);
    let mut results = Vec::new();
    for &problem in &options.problems() {
        let settings = options.settings(problem, source);
        let run = Run::start(&settings, options.deadline(), interrupt, screen);
        match run.and_then(Run::finish) {
            Ok(found) => results.push((problem, found)),
            Err(RunError::Interrupted) => {
                screen.line("interrupted: everything that was started is ended");
                return Outcome::Interrupted;
            }
            Err(error) => results.push((problem, vec![failure(&error, &settings)])),
        }
    }
    checks::summary(&results, screen);
    outcome(source, results.iter().flat_map(|(_, found)| found))
}

fn failure(error: &RunError, settings: &Settings) -> CheckResult {
    CheckResult::new(CheckStatus::Fails, "the run", format!("{error} (logs: {})", settings.logs().display()))
}

fn outcome<'a>(source: SourceKind, results: impl Iterator<Item = &'a CheckResult>) -> Outcome {
    if results.into_iter().any(|result| result.status == CheckStatus::Fails) {
        return Outcome::Failed;
    }
    match source {
        SourceKind::Lammps => Outcome::Held,
        SourceKind::BuiltIn => Outcome::WithoutLammps,
    }
}

fn choose_source(options: &Options, screen: &mut Screen) -> SourceKind {
    if options.source == WantedSource::BuiltIn {
        return SourceKind::BuiltIn;
    }
    let Err(missing) = find_lammps() else { return SourceKind::Lammps };
    screen.line(&format!("LAMMPS cannot be used here: {missing}"));
    screen.line("  To install it on Debian or Ubuntu: scripts/install-demo.sh, or");
    screen.line("  sudo apt-get update && sudo apt-get install --no-install-recommends lammps openmpi-bin");
    if options.source == WantedSource::Auto {
        screen.line(
            "  Going on with the built-in molecular dynamics, which is NOT LAMMPS: its results are checked",
        );
        screen.line("  against nothing, bodies are smaller, and the exit status will be 77.");
    }
    SourceKind::BuiltIn
}

fn find_lammps() -> Result<(), String> {
    check_installed().map_err(|error| error.to_string())?;
    let version = std::process::Command::new("mpirun").arg("--version").output();
    version.map(drop).map_err(|error| format!("mpirun: {error}"))
}
