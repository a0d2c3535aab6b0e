//! One rank of a part, from its start to its end.

use super::error::PartError;
use super::part::Part;
use super::report::{Report, say};
use super::settings::{Settings, SourceKind};
use super::{bonds, check, cna, csym, guest, helper, simulation, tally};
use crate::shared::processes::end_with_supervisor;

/// Be this part until its work is done.
///
/// # Errors
/// What it could not do; the supervisor was told already.
pub fn run(part: Part, settings: &Settings) -> Result<(), PartError> {
    let rank = flexpath::Cohort::from_environment()?.rank().0;
    // The supervisor holds the other end of standard input: when that closes, it is gone, and so is the work's purpose.
    // Under `mpirun` rank 0 alone has that input, and when it ends `mpirun` ends the others.
    let under_mpirun = part == Part::Simulation && settings.source == SourceKind::Lammps;
    // Who is called by a watch has no such input. It ends with the stream that it takes.
    let is_called = part == Part::Cna && !settings.measured;
    if !is_called && (!under_mpirun || rank == 0) {
        end_with_supervisor();
    }
    let done = match part {
        Part::Simulation => simulation::run(settings),
        Part::Helper => helper::run(settings),
        Part::Bonds => bonds::run(settings),
        Part::Csym => csym::run(settings),
        Part::Cna => cna::run(settings),
        Part::Energy => Err(PartError::InPython),
        Part::Watch => Err(PartError::Command),
        Part::Check => check::run(settings),
        Part::Tally => tally::run(settings),
        Part::Guest => guest::run(settings),
    };
    if let Err(error) = &done {
        say(part, rank, Report::Failed { what: error.to_string() });
    }
    done
}
