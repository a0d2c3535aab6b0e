//! The comparison itself: results and references are brought together by time step.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use super::super::error::PartError;
use super::super::part::Part;
use super::super::report::{Compared, Finding, Report, say};
use super::super::settings::{Settings, SourceKind};
use super::super::streams::ATOMS;
use crate::lammps::atom_picture::{colour, draw};
use crate::lammps::problem::Problem;
use crate::lammps::science::check::{SymmetryStep, compare_classes, compare_symmetry};
use crate::lammps::science::cna::Structure;
use crate::lammps::science::geometry::Domain;

/// Radius of an atom in the picture, in sigma.
const RADIUS: f64 = 0.5;
/// Width of the picture.
const WIDTH_PIXELS: u32 = 900;

/// A compared step as the simulation has it.
pub(super) struct Reference {
    pub(super) ids: Vec<i64>,
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) domain: Domain,
    /// What LAMMPS found; empty where the source has no analysis of its own.
    pub(super) values: Vec<f64>,
}

impl Reference {
    /// From the lowest atom to the highest.
    fn height(&self) -> f64 {
        let along = || self.positions.iter().map(|position| position[1]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    }
}

/// A compared step as CNA has it.
pub(super) struct Classes {
    pub(super) time_step: i64,
    pub(super) ids: Vec<i64>,
    pub(super) classes: Vec<Structure>,
}

/// A compared step as CSym has it.
pub(super) struct Symmetry {
    pub(super) time_step: i64,
    pub(super) ids: Vec<i64>,
    pub(super) values: Vec<f64>,
}

/// What is compared, and what is kept for the end.
pub(super) struct Desk<'a> {
    settings: &'a Settings,
    references: BTreeMap<i64, Reference>,
    /// What CNA found in steps for which the simulation's own result has not come yet.
    waiting: Vec<Classes>,
    symmetry: Option<Symmetry>,
    classes: Option<Classes>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(settings: &'a Settings) -> Self {
        Desk { settings, references: BTreeMap::new(), waiting: Vec::new(), symmetry: None, classes: None }
    }

    /// A compared step has come.
    pub(super) fn keep(&mut self, time_step: i64, reference: Reference) {
        say(Part::Check, 0, Report::Height { time_step, height: reference.height() });
        self.references.insert(time_step, reference);
    }

    /// Whether LAMMPS has an analysis of this problem to compare this result with.
    fn is_compared(&self, problem: Problem) -> bool {
        self.settings.source == SourceKind::Lammps && self.settings.problem == problem
    }

    fn reference(&self, time_step: i64) -> Result<&Reference, PartError> {
        let found = self.references.keys().next_back().copied();
        let missing = PartError::OutOfStep { stream: ATOMS, expected: time_step, found };
        self.references.get(&time_step).ok_or(missing)
    }

    pub(super) fn compare_symmetry(&mut self, found: Symmetry) -> Result<(), PartError> {
        if self.is_compared(Problem::Crack) {
            let compared = self.symmetry_against(found.time_step, (&found.ids, &found.values))?;
            say(Part::Check, 0, Report::Compared(compared));
            self.symmetry = Some(found);
        }
        Ok(())
    }

    fn symmetry_against(&self, time_step: i64, ours: (&[i64], &[f64])) -> Result<Compared, PartError> {
        let reference = self.reference(time_step)?;
        let analysis = self.settings.problem.analysis();
        let step = SymmetryStep {
            ids: &reference.ids,
            positions: &reference.positions,
            domain: &reference.domain,
            reach: analysis.reach,
            neighbours: analysis.neighbours,
        };
        let report = compare_symmetry(&step, ours, (&reference.ids, &reference.values))?;
        Ok(Compared {
            time_step,
            atoms: report.atoms,
            tied: report.tied,
            wrong: report.wrong,
            holds: report.holds(),
            finding: Finding::Symmetry { worst_difference: report.worst_difference },
        })
    }

    /// Compare what CNA has found so far.
    pub(super) fn compare_all_classes(&mut self, found: &Receiver<Classes>) -> Result<(), PartError> {
        self.waiting.extend(found.try_iter());
        let is_here = |found: &Classes| self.references.contains_key(&found.time_step);
        let (here, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(is_here);
        self.waiting = waiting;
        let here: Vec<Classes> = here;
        here.into_iter().try_for_each(|found| self.compare_classes(found))
    }

    fn compare_classes(&mut self, found: Classes) -> Result<(), PartError> {
        if self.is_compared(Problem::Notch) {
            let compared = self.classes_against(found.time_step, (&found.ids, &found.classes))?;
            say(Part::Check, 0, Report::Compared(compared));
        }
        self.classes = Some(found);
        Ok(())
    }

    fn classes_against(&self, time_step: i64, ours: (&[i64], &[Structure])) -> Result<Compared, PartError> {
        let now = self.reference(time_step)?;
        let start = self.references.get(&0).ok_or(PartError::NoStart)?;
        let report = compare_classes(
            ours,
            (&now.ids, &now.values),
            &now.positions,
            (&start.ids, &start.values),
            &now.domain,
            self.settings.problem.analysis().bond_cutoff,
        )?;
        Ok(Compared {
            time_step,
            atoms: report.atoms,
            tied: report.tied,
            wrong: report.wrong,
            holds: report.holds(),
            finding: Finding::Classes {
                census: report.census,
                changed: report.changed,
                telling: report.is_telling(),
            },
        })
    }

    /// Show on the last compared step that an answer that is the same for every atom does not pass. Then draw the step.
    pub(super) fn finish(&self) -> Result<(), PartError> {
        if let Some(found) = &self.symmetry {
            let mean = found.values.iter().sum::<f64>() / found.values.len().max(1) as f64;
            let try_one =
                |value| self.symmetry_against(found.time_step, (&found.ids, &vec![value; found.ids.len()]));
            refuse(&[0.0, mean, found.values.first().copied().unwrap_or(0.0)], try_one)?;
        }
        let Some(found) = &self.classes else { return Ok(()) };
        if self.is_compared(Problem::Notch) {
            let try_one =
                |class| self.classes_against(found.time_step, (&found.ids, &vec![class; found.ids.len()]));
            refuse(&Structure::ALL, try_one)?;
        }
        if self.settings.problem == Problem::Notch { self.draw(found) } else { Ok(()) }
    }

    fn draw(&self, found: &Classes) -> Result<(), PartError> {
        let reference = self.reference(found.time_step)?;
        let by_id: BTreeMap<i64, Structure> =
            found.ids.iter().copied().zip(found.classes.iter().copied()).collect();
        let colour = |id| colour(by_id.get(id).copied().unwrap_or(Structure::Other));
        let colours: Vec<[u8; 3]> = reference.ids.iter().map(colour).collect();
        let picture = draw(&reference.positions, &colours, &reference.domain, RADIUS, WIDTH_PIXELS)?;
        let path = self.settings.picture();
        picture.write_png(&path)?;
        say(Part::Check, 0, Report::Picture { path, time_step: found.time_step });
        Ok(())
    }
}

fn refuse<T: Copy>(
    answers: &[T],
    compare: impl Fn(T) -> Result<Compared, PartError>,
) -> Result<(), PartError> {
    let mut refused = 0;
    for answer in answers {
        refused += usize::from(!compare(*answer)?.holds);
    }
    say(Part::Check, 0, Report::Constants { tried: answers.len(), refused });
    Ok(())
}
