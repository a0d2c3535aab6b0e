//! The parts as processes: how one is entered, and how the supervisor starts them and looks after them.

use std::io;
use std::path::Path;
use std::process::Stdio;

use super::error::GtsError;
use super::settings::Settings;
use super::{coordinates, generator, histograms};
use crate::shared::processes::{Process, Processes, end_with_supervisor, rank_command};

/// A part: one program, of one or several ranks, each a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Follows particles.
    Generator,
    /// Takes histograms.
    Histograms,
    /// Takes the data of parallel coordinates.
    Coordinates,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Generator, Part::Histograms, Part::Coordinates];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Generator => "generator",
            Part::Histograms => "histograms",
            Part::Coordinates => "coordinates",
        }
    }

    /// How many ranks it has.
    pub fn ranks(self, settings: &Settings) -> u32 {
        match self {
            Part::Generator => settings.ranks,
            Part::Histograms => settings.histogram_ranks,
            Part::Coordinates => settings.coordinate_ranks,
        }
    }

    /// Be this part until its work is done, or its supervisor is gone.
    ///
    /// # Errors
    /// What it could not do.
    pub fn run(self, settings: &Settings) -> Result<(), GtsError> {
        end_with_supervisor();
        match self {
            Part::Generator => generator::run(settings),
            Part::Histograms => histograms::run(settings),
            Part::Coordinates => coordinates::run(settings),
        }
    }
}

/// Start all ranks of a part.
///
/// # Errors
/// One that cannot be started.
pub(super) fn start(
    processes: &mut Processes<Part>,
    part: Part,
    settings: &Settings,
    rendezvous: &Path,
) -> io::Result<()> {
    let size = part.ranks(settings);
    for rank in 0..size {
        let mut command = rank_command(part.name(), settings.to_arguments(), (rank, size))?;
        command.env("FLEXPATH_RENDEZVOUS", rendezvous).stdout(Stdio::null());
        processes.spawn((part, format!("{}.{rank}", part.name())), command, &settings.logs())?;
    }
    Ok(())
}

/// Look which parts have ended. Gives one that failed, with its last words.
pub(super) fn failed(processes: &mut Processes<Part>) -> io::Result<Option<String>> {
    processes.reap()?;
    let bad = |process: &Process<Part>| {
        let status = process.status.filter(|status| !status.success())?;
        Some(format!("{} ended with {status}: {}", process.label, process.last_words().join("; ")))
    };
    Ok(processes.all().iter().find_map(bad))
}
