//! Helper's part. Each rank takes the atoms of its share of the simulation's ranks, straight from them, and keeps the
//! kinds wanted. It shares them out by place, with the ghosts around each share.

use flexpath::{Cohort, Variable, VariableError};

use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::outlet::Outlet;
use super::part::Part;
use super::part_step::{InStep, OutStep};
use super::settings::Settings;
use super::streams::{ATOMS, DOMAIN, SHARES, TIME_STEP, domain, domain_of, rows, time_step};
use crate::lammps::science::geometry::Domain;
use crate::lammps::science::share::{Share, SharePlan, divide, keep_kinds};

/// Those that must not miss the first step: Bonds and CSym.
const FIRST_SUBSCRIBERS: u32 = 2;
/// The axis along which atoms are shared out: that of the crack, so that it runs from share to share.
const AXIS: usize = 0;
/// The kinds that are kept: free and held atoms, thus all. LAMMPS looks at all of them too.
const KINDS: [i32; 2] = [1, 2];

/// What the stream carries: the own atoms and the ghosts of each share.
struct Variables {
    time_step: Variable,
    domain: Variable,
    id: Variable,
    position: Variable,
    shares: Vec<ShareVariables>,
}

struct ShareVariables {
    own_id: Variable,
    own_position: Variable,
    ghost_id: Variable,
    ghost_position: Variable,
}

impl Variables {
    fn new(shares: u32) -> Result<Self, VariableError> {
        let position = |name: String| Variable::joined::<f64>(name, &[3]);
        let share = |share: u32| {
            Ok(ShareVariables {
                own_id: Variable::joined::<i64>(format!("own.{share}.id"), &[])?,
                own_position: position(format!("own.{share}.position"))?,
                ghost_id: Variable::joined::<i64>(format!("ghost.{share}.id"), &[])?,
                ghost_position: position(format!("ghost.{share}.position"))?,
            })
        };
        Ok(Variables {
            time_step: time_step()?,
            domain: domain()?,
            id: Variable::joined::<i64>("id", &[])?,
            position: position("position".to_owned())?,
            shares: (0..shares).map(share).collect::<Result<_, VariableError>>()?,
        })
    }

    fn put(&self, step: &mut OutStep<'_>, taken: Taken, shares: Vec<Share>) -> Result<(), PartError> {
        if taken.is_lead {
            step.put_scalar(&self.time_step, taken.time_step)?;
            step.put_whole(&self.domain, taken.domain.to_numbers().to_vec())?;
        }
        step.put_joined(&self.id, taken.ids)?;
        step.put_joined(&self.position, taken.positions.into_flattened())?;
        for (variables, share) in self.shares.iter().zip(shares) {
            step.put_joined(&variables.own_id, share.own_ids)?;
            step.put_joined(&variables.own_position, share.own_positions.into_flattened())?;
            step.put_joined(&variables.ghost_id, share.ghost_ids)?;
            step.put_joined(&variables.ghost_position, share.ghost_positions.into_flattened())?;
        }
        Ok(())
    }
}

/// What one rank takes of a step.
struct Taken {
    is_lead: bool,
    time_step: i64,
    domain: Domain,
    ids: Vec<i64>,
    positions: Vec<[f64; 3]>,
}

/// Share atoms out until the simulation ends.
///
/// # Errors
/// A stream that fails, atoms that cannot be shared out.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let cohort = Cohort::from_environment()?;
    let wanted = [TIME_STEP, DOMAIN, "id", "type", "position"];
    let mut atoms = Inlet::open(Part::Helper, settings, ATOMS, Every::Step, &wanted)?;
    let mut outlet = Outlet::open(Part::Helper, settings, SHARES, FIRST_SUBSCRIBERS)?;
    let shares = Part::Bonds.ranks(settings);
    let variables = Variables::new(shares)?;
    let reach = settings.problem.analysis().reach;
    while let Some((time_step, step)) = atoms.step()? {
        let taken = take(&step, time_step, cohort, settings.ranks)?;
        atoms.release(time_step, step);
        let plan = SharePlan::even(&taken.domain, AXIS, shares as usize)?;
        let shares = divide(&taken.ids, &taken.positions, &taken.domain, &plan, reach)?;
        outlet.publish(time_step, |step| variables.put(step, taken, shares))?;
    }
    atoms.close()?;
    outlet.close()
}

fn take(step: &InStep, time_step: i64, cohort: Cohort, owners: u32) -> Result<Taken, PartError> {
    let (rank, size) = (cohort.rank().0, cohort.size());
    let mine = owners * rank / size..owners * (rank + 1) / size;
    let kinds = step.list_of::<i32>("type", mine.clone())?;
    let ids = step.list_of::<i64>("id", mine.clone())?;
    let positions = rows::<f64, 3>("position", &step.list_of("position", mine)?)?;
    Ok(Taken {
        is_lead: rank == 0,
        time_step,
        domain: domain_of(step)?,
        ids: keep_kinds(&kinds, &ids, Some(&KINDS))?,
        positions: keep_kinds(&kinds, &positions, Some(&KINDS))?,
    })
}
