//! CSym's part: central symmetry from atoms and pairs, and the verdict. The bonds of the first step are kept for the whole
//! run.

use flexpath::{Variable, VariableError};

use super::by_type::Graphs;
use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::outlet::Outlet;
use super::part::Part;
use super::part_step::{Coupling, OutStep};
use super::report::{Report, say};
use super::settings::Settings;
use super::streams::{BONDS, DOMAIN, SHARES, SYMMETRY, TIME_STEP, domain_of, rows, time_step};
use crate::lammps::problem::Analysis;
use crate::lammps::science::adjacency::Adjacency;
use crate::lammps::science::atoms::AtomTable;
use crate::lammps::science::csym::centro_symmetry;
use crate::lammps::science::geometry::Domain;
use crate::lammps::science::tear::{TearWatch, Verdict};

/// Those that must not miss the first step: Check, the supervisor, who shows verdicts, and Watch, which waits for one.
/// Where the run is measured they are Tally and CNA.
fn first_subscribers(settings: &Settings) -> u32 {
    2 + u32::from(!settings.measured)
}

/// Judge every step until Helper and Bonds end.
///
/// # Errors
/// A stream that fails, or two that do not go together; pairs that make no graph.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    let part = Part::Csym;
    let wanted = [TIME_STEP, DOMAIN, "id", "position"];
    let mut shares = Inlet::open(part, settings, SHARES, Every::Step, &wanted)?;
    let mut graphs = Graphs::new(settings.bonds_by())?;
    let mut bonds = open_bonds(&graphs, settings)?;
    let mut outlet = Outlet::open(part, settings, SYMMETRY, first_subscribers(settings))?;
    let analysis = settings.problem.analysis();
    let mut watch = None;
    while let Some((time_step, step)) = shares.step()? {
        let positions = rows::<f64, 3>("position", &step.list("position")?)?;
        let (table, domain) = (AtomTable::new(&step.list("id")?, &positions)?, domain_of(&step)?);
        shares.release(time_step, step);
        graphs.look(&mut bonds)?;
        let step = bonds.step_of(time_step)?;
        let ids = step.list::<i64>("id")?;
        let graph = graphs.take(&bonds, &step, &ids)?;
        let reach = rows::<i64, 2>("reach", &step.list("reach")?)?;
        bonds.release(time_step, step);
        let taken = Taken { time_step, table, domain, ids, graph, reach };
        let found = taken.judge(&analysis, &mut watch)?;
        outlet.publish(time_step, |step| found.put(step))?;
    }
    // The streams end together; one that has more steps was out of step.
    if let Some((time_step, _)) = bonds.step()? {
        return Err(PartError::OutOfStep { stream: SHARES, expected: time_step, found: None });
    }
    shares.close()?;
    bonds.close()?;
    if settings.coupling == Coupling::Streams {
        say(part, 0, Report::ByType(graphs.finish()));
    }
    outlet.close()
}

/// The bonds, as they are taken, and what makes lists of them.
fn open_bonds(graphs: &Graphs, settings: &Settings) -> Result<Inlet, PartError> {
    let mut wanted = vec![TIME_STEP, "id", "reach"];
    wanted.extend(graphs.variables());
    Inlet::open_with(graphs.options()?, Part::Csym, settings, BONDS, Every::Step, &wanted)
}

/// What CSym takes of a step of both streams.
struct Taken {
    time_step: i64,
    table: AtomTable,
    domain: Domain,
    ids: Vec<i64>,
    graph: Adjacency,
    reach: Vec<[i64; 2]>,
}

impl Taken {
    fn judge(self, analysis: &Analysis, watch: &mut Option<TearWatch>) -> Result<Found, PartError> {
        let reach = Adjacency::from_pairs(&self.ids, &self.reach)?;
        let symmetry = centro_symmetry(&self.table, &reach, &self.domain, analysis.neighbours)?;
        let watch = match watch {
            Some(watch) => watch,
            none => none.insert(TearWatch::of(self.graph.clone(), analysis.tear)),
        };
        let verdict = watch.judge(&self.graph, &symmetry);
        let ids = self.table.ids().to_vec();
        Ok(Found::new(self.time_step, self.graph.bonds(), verdict, ids, symmetry)?)
    }
}

/// What CSym makes of a step.
struct Found {
    time_step: i64,
    bonds: usize,
    verdict: Verdict,
    id: (Variable, Vec<i64>),
    symmetry: (Variable, Vec<f64>),
}

impl Found {
    fn new(
        time_step: i64,
        bonds: usize,
        verdict: Verdict,
        ids: Vec<i64>,
        symmetry: Vec<f64>,
    ) -> Result<Self, VariableError> {
        let shape = [ids.len() as u64];
        let id = (Variable::global::<i64>("id", &shape)?, ids);
        let symmetry = (Variable::global::<f64>("symmetry", &shape)?.with_unit("sigma^2"), symmetry);
        Ok(Found { time_step, bonds, verdict, id, symmetry })
    }

    fn put(self, step: &mut OutStep<'_>) -> Result<(), PartError> {
        step.put_scalar(&time_step()?, self.time_step)?;
        step.put_scalar(&Variable::scalar::<u8>("torn")?, u8::from(self.verdict.torn))?;
        let counts =
            [("torn_atoms", self.verdict.torn_atoms), ("atoms", self.verdict.atoms), ("bonds", self.bonds)];
        for (name, count) in counts {
            step.put_scalar(&Variable::scalar::<i64>(name)?, count as i64)?;
        }
        step.put_whole(&self.id.0, self.id.1)?;
        step.put_whole(&self.symmetry.0, self.symmetry.1)
    }
}
