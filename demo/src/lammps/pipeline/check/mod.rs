//! Check's part: holds the pipeline's results against LAMMPS's own, atom by atom, and draws the picture. What LAMMPS
//! found travels like everything else, as a variable of the atoms' stream.
//!
//! It is an onlooker, as if on another machine. It takes tcp alone, and only those steps that are compared.

mod desk;
mod energies;
mod structure;

use std::time::Duration;

use flexpath::{SubscriberOptions, TransportKind, TransportPolicy};

use self::desk::{Desk, Reference, Symmetry};
use self::energies::TakesEnergies;
use self::structure::WaitsForCna;
use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::part::Part;
use super::settings::Settings;
use super::streams::{ATOMS, DOMAIN, STRUCTURE, SYMMETRY, TIME_STEP, domain_of, rows};

/// How often it is looked whether CNA publishes.
const LOOK: Duration = Duration::from_millis(500);

fn inlet(
    settings: &Settings,
    stream: &'static str,
    every: Every,
    wanted: &[&str],
) -> Result<Inlet, PartError> {
    let options = match settings.address {
        // As everybody else then.
        Some(_) => SubscriberOptions::default(),
        None => SubscriberOptions::default().with_transports(TransportPolicy::only(TransportKind::Tcp)),
    };
    // Whoever waits for CNA looks again soon; for all others nobody hurries.
    let options = if stream == STRUCTURE { options.with_open_timeout(LOOK) } else { options };
    Inlet::open_with(options, Part::Check, settings, stream, every, wanted)
}

/// Compare until the simulation and CSym end.
///
/// # Errors
/// A stream that fails, results that cannot be compared.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let every = Every::Nth(settings.compared_every());
    let wanted = [TIME_STEP, DOMAIN, "id", "position", "reference"];
    let mut atoms = inlet(settings, ATOMS, every, &wanted)?;
    let mut symmetry = inlet(settings, SYMMETRY, every, &[TIME_STEP, "id", "symmetry"])?;
    let mut energies = TakesEnergies::start(settings)?;
    let cna = WaitsForCna::start(settings);
    let mut desk = Desk::new(settings);
    while let Some((time_step, step)) = atoms.step()? {
        let reference = Reference {
            ids: step.list("id")?,
            positions: rows("position", &step.list("position")?)?,
            domain: domain_of(&step)?,
            values: step.list("reference")?,
        };
        atoms.release(time_step, step);
        desk.keep(time_step, reference);
        energies.take(time_step)?;
        let step = symmetry.step_of(time_step)?;
        let found = Symmetry { time_step, ids: step.list("id")?, values: step.list("symmetry")? };
        symmetry.release(time_step, step);
        desk.compare_symmetry(found)?;
        desk.compare_all_classes(&cna.found)?;
    }
    atoms.close()?;
    symmetry.close()?;
    energies.finish()?;
    let found = cna.finish()?;
    desk.compare_all_classes(&found)?;
    desk.finish()
}
