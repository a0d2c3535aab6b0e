//! CNA's part: it attaches to the live stream of bonds, works a number of steps, and detaches. In the demonstration
//! `flexpath watch` starts it, on the verdict. In a measured run it is there from the start, follows the verdict, and takes
//! nothing of a step of bonds before it. So it works the same steps in every run.

use flexpath::{EndReason, Variable, VariableError};

use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::outlet::Outlet;
use super::part::Part;
use super::part_step::{InStep, OutStep};
use super::settings::Settings;
use super::streams::{BONDS, STRUCTURE, SYMMETRY, TIME_STEP, rows, time_step};
use crate::lammps::science::adjacency::Adjacency;
use crate::lammps::science::cna::classify;
use crate::shared::error::StreamError;

/// The one that must not miss the first step: Check, or Tally.
const FIRST_SUBSCRIBERS: u32 = 1;

/// Attach, work, detach.
///
/// # Errors
/// A stream that fails or ends early; pairs that make no graph.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    if settings.measured { follow(settings) } else { work(settings) }
}

fn open_bonds(settings: &Settings) -> Result<Inlet, PartError> {
    Inlet::open(Part::Cna, settings, BONDS, Every::Step, &[TIME_STEP, "id", "bond"])
}

fn open_structure(settings: &Settings) -> Result<Outlet, PartError> {
    Outlet::open(Part::Cna, settings, STRUCTURE, FIRST_SUBSCRIBERS)
}

/// Called by the verdict: every step counts.
fn work(settings: &Settings) -> Result<(), PartError> {
    let mut outlet = open_structure(settings)?;
    let mut bonds = open_bonds(settings)?;
    for _ in 0..settings.cna_steps() {
        let Some((time_step, step)) = bonds.step()? else {
            return Err(StreamError::Ended { stream: BONDS, reason: EndReason::Closed }.into());
        };
        let taken = Taken::of(&step)?;
        bonds.release(time_step, step);
        classify_and_publish(&taken, time_step, &mut outlet)?;
    }
    bonds.close()?;
    outlet.close()
}

/// There before the verdict: steps count from then on.
fn follow(settings: &Settings) -> Result<(), PartError> {
    let mut bonds = open_bonds(settings)?;
    let mut verdicts = Inlet::open(Part::Cna, settings, SYMMETRY, Every::Step, &[TIME_STEP, "torn"])?;
    let mut outlet = open_structure(settings)?;
    let mut worked = 0;
    while let Some((time_step, step)) = bonds.step()?
        && worked < settings.cna_steps()
    {
        let verdict = verdicts.step_of(time_step)?;
        let torn = verdict.scalar::<u8>("torn")? != 0;
        verdicts.release(time_step, verdict);
        let taken = if torn { Some(Taken::of(&step)?) } else { None };
        bonds.release(time_step, step);
        if let Some(taken) = taken {
            classify_and_publish(&taken, time_step, &mut outlet)?;
            worked += 1;
        }
    }
    bonds.close()?;
    verdicts.close()?;
    outlet.close()
}

/// What CNA takes of a step: the bonds and the atoms. Some atoms may have no bonds.
struct Taken {
    ids: Vec<i64>,
    pairs: Vec<[i64; 2]>,
}

impl Taken {
    fn of(step: &InStep) -> Result<Self, PartError> {
        Ok(Taken { ids: step.list("id")?, pairs: rows("bond", &step.list("bond")?)? })
    }
}

fn classify_and_publish(taken: &Taken, time_step: i64, outlet: &mut Outlet) -> Result<(), PartError> {
    let found = Found::new(&Adjacency::from_pairs(&taken.ids, &taken.pairs)?)?;
    outlet.publish(time_step, |step| found.put(step, time_step))
}

/// The class of every atom, by rising id.
struct Found {
    id: (Variable, Vec<i64>),
    class: (Variable, Vec<u8>),
}

impl Found {
    fn new(graph: &Adjacency) -> Result<Self, VariableError> {
        let shape = [graph.len() as u64];
        let class = Variable::global::<u8>("class", &shape)?
            .with_description("1 fcc, 2 hcp, 3 bcc, 4 icosahedral, 5 other");
        let classes = classify(graph).into_iter().map(|class| class as u8).collect();
        Ok(Found {
            id: (Variable::global::<i64>("id", &shape)?, graph.ids().to_vec()),
            class: (class, classes),
        })
    }

    fn put(self, step: &mut OutStep<'_>, at: i64) -> Result<(), PartError> {
        step.put_scalar(&time_step()?, at)?;
        step.put_whole(&self.id.0, self.id.1)?;
        step.put_whole(&self.class.0, self.class.1)
    }
}
