//! Bonds' part: each rank finds the near pairs of its share. The stream's pairs are one array over both ranks, whose
//! size changes every step.

use flexpath::{Cohort, PublisherOptions, Record as _, Variable};

use super::by_type::{BOND, BondPair, PAIR, records, transformed, transforms};
use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::outlet::Outlet;
use super::part::Part;
use super::part_step::{InStep, OutStep};
use super::report::{Report, say};
use super::settings::{BondsBy, Settings};
use super::streams::{BONDS, DOMAIN, SHARES, TIME_STEP, domain_of, rows, time_step};
use crate::lammps::problem::Analysis;
use crate::lammps::science::bonds::{closer_than, pairs_within};
use crate::lammps::science::geometry::Domain;
use crate::lammps::science::share::Share;
use std::time::Duration;

/// Every step has its lists of neighbours, however many parts share a core.
const TRANSFORM_BUDGET: Duration = Duration::from_secs(30);

/// Those that must not miss the first step: CSym, and CNA unless it comes when it is called.
fn first_subscribers(settings: &Settings) -> u32 {
    1 + u32::from(settings.measured)
}

/// What the stream carries.
struct Variables {
    time_step: Variable,
    id: Variable,
    bond: Variable,
    /// The same pairs as records, for who asks by type.
    pair: Option<Variable>,
    reach: Variable,
}

/// The near pairs of one share.
struct Found {
    ids: Vec<i64>,
    bonds: Vec<[i64; 2]>,
    reach: Vec<[i64; 2]>,
}

impl Variables {
    fn new(settings: &Settings) -> Result<Self, PartError> {
        let pair = || Ok::<_, PartError>(Variable::joined_records(PAIR, &BondPair::schema()?, &[])?);
        Ok(Variables {
            time_step: time_step()?,
            id: Variable::joined::<i64>("id", &[])?,
            bond: Variable::joined::<i64>(BOND, &[2])?.with_description("pairs of ids, the lower first"),
            pair: (settings.bonds_by() != BondsBy::Hand).then(pair).transpose()?,
            reach: Variable::joined::<i64>("reach", &[2])?
                .with_description("the same, within a longer cutoff"),
        })
    }

    fn put(&self, step: &mut OutStep<'_>, time_step: i64, found: Found) -> Result<(), PartError> {
        step.put_scalar(&self.time_step, time_step)?;
        step.put_joined(&self.id, found.ids)?;
        if let Some(pair) = &self.pair {
            step.put_records(pair, records(&found.bonds))?;
        }
        step.put_joined(&self.bond, found.bonds.into_flattened())?;
        step.put_joined(&self.reach, found.reach.into_flattened())
    }
}

/// Find pairs until Helper ends.
///
/// # Errors
/// A stream that fails, atoms among which no pairs can be found.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let rank = Cohort::from_environment()?.rank().0;
    let names = Names::of(rank);
    let wanted: Vec<String> =
        (0..Part::Bonds.ranks(settings)).flat_map(|rank| Names::of(rank).all()).collect();
    let mut wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    wanted.extend([TIME_STEP, DOMAIN]);
    let mut shares = Inlet::open(Part::Bonds, settings, SHARES, Every::Step, &wanted)?;
    let transforms = transforms()?;
    let options =
        PublisherOptions::default().with_transforms(&transforms).with_derive_budget(TRANSFORM_BUDGET);
    let mut outlet = Outlet::open_with(options, Part::Bonds, settings, BONDS, first_subscribers(settings))?;
    let variables = Variables::new(settings)?;
    let analysis = settings.problem.analysis();
    while let Some((time_step, step)) = shares.step()? {
        let (share, domain) = (names.take(&step)?, domain_of(&step)?);
        shares.release(time_step, step);
        let found = find(share, &domain, &analysis)?;
        outlet.publish(time_step, |step| variables.put(step, time_step, found))?;
    }
    shares.close()?;
    if let Some(transformed) = transformed(&transforms) {
        say(Part::Bonds, rank, Report::Transformed(transformed));
    }
    outlet.close()
}

fn find(share: Share, domain: &Domain, analysis: &Analysis) -> Result<Found, PartError> {
    let pairs = pairs_within(share.own(), share.ghosts(), domain, analysis.reach)?;
    Ok(Found {
        bonds: closer_than(&pairs, analysis.bond_cutoff),
        reach: pairs.into_iter().map(|pair| pair.ids).collect(),
        ids: share.own_ids,
    })
}

/// The variables of one share.
struct Names {
    own_id: String,
    own_position: String,
    ghost_id: String,
    ghost_position: String,
}

impl Names {
    fn of(share: u32) -> Self {
        Names {
            own_id: format!("own.{share}.id"),
            own_position: format!("own.{share}.position"),
            ghost_id: format!("ghost.{share}.id"),
            ghost_position: format!("ghost.{share}.position"),
        }
    }

    fn all(self) -> [String; 4] {
        [self.own_id, self.own_position, self.ghost_id, self.ghost_position]
    }

    fn take(&self, step: &InStep) -> Result<Share, PartError> {
        Ok(Share {
            own_ids: step.list(&self.own_id)?,
            own_positions: rows(&self.own_position, &step.list(&self.own_position)?)?,
            ghost_ids: step.list(&self.ghost_id)?,
            ghost_positions: rows(&self.ghost_position, &step.list(&self.ghost_position)?)?,
        })
    }
}
