//! What Energy publishes, held against LAMMPS's log when the simulation is over.

use std::collections::BTreeMap;
use std::fs;

use super::super::error::PartError;
use super::super::inlet::{Every, Inlet};
use super::super::part::Part;
use super::super::report::{Energies, Report, say};
use super::super::settings::{Settings, SourceKind};
use super::super::streams::{ENERGY, TIME_STEP};
use super::inlet;
use crate::lammps::science::check::{compare_energies, logged_energies};

/// The stream of Energy, where it runs, and what came of it.
pub(super) struct TakesEnergies<'a> {
    settings: &'a Settings,
    stream: Option<Inlet>,
    found: BTreeMap<i64, f64>,
}

impl<'a> TakesEnergies<'a> {
    pub(super) fn start(settings: &'a Settings) -> Result<Self, PartError> {
        // It takes the steps that are compared, and no others.
        let open = || inlet(settings, ENERGY, Every::Step, &[TIME_STEP, "energy"]);
        let stream = settings.python.is_some().then(open).transpose()?;
        Ok(TakesEnergies { settings, stream, found: BTreeMap::new() })
    }

    /// The energy of this time step, which is the next one.
    pub(super) fn take(&mut self, time_step: i64) -> Result<(), PartError> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let step = stream.step_of(time_step)?;
        self.found.insert(time_step, step.scalar("energy")?);
        stream.release(time_step, step);
        Ok(())
    }

    /// The simulation has closed its stream, and LAMMPS its log before that.
    pub(super) fn finish(self) -> Result<(), PartError> {
        let Some(stream) = self.stream else { return Ok(()) };
        stream.close()?;
        if self.settings.source != SourceKind::Lammps {
            return Ok(());
        }
        let path = self.settings.lammps_log();
        let log = fs::read_to_string(&path).map_err(|source| PartError::NoLog { path, source })?;
        let logged = logged_energies(&log);
        let report = compare_energies(&self.found, &logged);
        // As with the others: an answer that is the same for every step does not pass.
        let mean = self.found.values().sum::<f64>() / self.found.len().max(1) as f64;
        let constants = [0.0, mean, self.found.values().next().copied().unwrap_or(0.0)];
        let passes = |constant: &&f64| {
            let same = self.found.keys().map(|step| (*step, **constant)).collect();
            compare_energies(&same, &logged).holds()
        };
        let energies = Energies {
            steps: report.steps,
            missing: report.missing,
            worst_difference: report.worst_difference,
            holds: report.holds(),
            constants: constants.len(),
            refused: constants.len() - constants.iter().filter(passes).count(),
        };
        say(Part::Check, 0, Report::Energies(energies));
        Ok(())
    }
}
