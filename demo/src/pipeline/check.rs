//! Check's part: holds the pipeline's results against LAMMPS's own, atom by atom, and draws the picture. What LAMMPS
//! found travels like everything else, as a variable of the atoms' stream.
//!
//! It is an onlooker, as on another machine: it takes tcp alone, and of the steps only those that are compared.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flexpath::{OpenError, OpenFailure, SubscriberOptions, TransportKind, TransportPolicy};

use super::error::PartError;
use super::inlet::{Every, Inlet};
use super::part::Part;
use super::report::{Compared, Finding, Report, say};
use super::settings::{Settings, SourceKind};
use super::streams::{ATOMS, DOMAIN, STRUCTURE, SYMMETRY, TIME_STEP, domain_of, list, rows};
use crate::check::{SymmetryStep, compare_classes, compare_symmetry};
use crate::cna::Structure;
use crate::geometry::Domain;
use crate::picture::{colour, draw};
use crate::problem::Problem;

/// How often it is looked whether CNA publishes.
const LOOK: Duration = Duration::from_millis(500);
/// Radius of an atom in the picture, in sigma.
const RADIUS: f64 = 0.5;
/// Width of the picture.
const WIDTH_PIXELS: u32 = 900;

/// A compared step as the simulation has it.
struct Reference {
    ids: Vec<i64>,
    positions: Vec<[f64; 3]>,
    domain: Domain,
    /// What LAMMPS found; empty where the source has no analysis of its own.
    values: Vec<f64>,
}

/// A compared step as CNA has it.
struct Classes {
    time_step: i64,
    ids: Vec<i64>,
    classes: Vec<Structure>,
}

/// A compared step as CSym has it.
struct Symmetry {
    time_step: i64,
    ids: Vec<i64>,
    values: Vec<f64>,
}

fn inlet(settings: &Settings, stream: &'static str, every: Every, wanted: &[&str]) -> Result<Inlet, PartError> {
    let options =
        SubscriberOptions::default().with_transports(TransportPolicy::only(TransportKind::Tcp));
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
    let cna = WaitsForCna::start(settings);
    let mut desk = Desk::new(settings);
    while let Some((time_step, step)) = atoms.step()? {
        let reference = Reference {
            ids: list(&step, "id")?,
            positions: rows("position", &list(&step, "position")?)?,
            domain: domain_of(&step)?,
            values: list(&step, "reference")?,
        };
        atoms.release(time_step, step);
        desk.references.insert(time_step, reference);
        let step = symmetry.step_of(time_step)?;
        let found = Symmetry { time_step, ids: list(&step, "id")?, values: list(&step, "symmetry")? };
        symmetry.release(time_step, step);
        desk.compare_symmetry(found)?;
        desk.compare_all_classes(&cna.found)?;
    }
    atoms.close()?;
    symmetry.close()?;
    let found = cna.finish()?;
    desk.compare_all_classes(&found)?;
    desk.finish()
}

/// What is compared, and what is kept for the end.
struct Desk<'a> {
    settings: &'a Settings,
    references: BTreeMap<i64, Reference>,
    /// What CNA found of steps that the simulation's own result has not come of yet.
    waiting: Vec<Classes>,
    symmetry: Option<Symmetry>,
    classes: Option<Classes>,
}

impl<'a> Desk<'a> {
    fn new(settings: &'a Settings) -> Self {
        Desk { settings, references: BTreeMap::new(), waiting: Vec::new(), symmetry: None, classes: None }
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

    fn compare_symmetry(&mut self, found: Symmetry) -> Result<(), PartError> {
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
    fn compare_all_classes(&mut self, found: &Receiver<Classes>) -> Result<(), PartError> {
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

    /// Show on the last compared step that answers which are the same for every atom do not pass, and draw it.
    fn finish(&self) -> Result<(), PartError> {
        if let Some(found) = &self.symmetry {
            let mean = found.values.iter().sum::<f64>() / found.values.len().max(1) as f64;
            let try_one = |value| self.symmetry_against(found.time_step, (&found.ids, &vec![value; found.ids.len()]));
            refuse(&[0.0, mean, found.values.first().copied().unwrap_or(0.0)], try_one)?;
        }
        let Some(found) = &self.classes else { return Ok(()) };
        if self.is_compared(Problem::Notch) {
            let try_one = |class| self.classes_against(found.time_step, (&found.ids, &vec![class; found.ids.len()]));
            refuse(&Structure::ALL, try_one)?;
        }
        self.draw(found)
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

/// The thread that waits for CNA's stream, which may appear at any time or never, and takes it.
struct WaitsForCna {
    found: Receiver<Classes>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), PartError>>,
}

impl WaitsForCna {
    fn start(settings: &Settings) -> Self {
        let (sender, found) = channel();
        let (settings, is_over) = (settings.clone(), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&is_over);
        WaitsForCna { found, is_over, thread: thread::spawn(move || take_classes(&settings, &seen, &sender)) }
    }

    /// The simulation is over: what is still to come of CNA is awaited, but not that it comes.
    fn finish(self) -> Result<Receiver<Classes>, PartError> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| PartError::Panicked { stream: STRUCTURE })??;
        Ok(self.found)
    }
}

fn take_classes(settings: &Settings, is_over: &AtomicBool, found: &Sender<Classes>) -> Result<(), PartError> {
    let Some(mut structure) = wait_for_cna(settings, is_over)? else { return Ok(()) };
    while let Some((time_step, step)) = structure.step()? {
        let (ids, classes) = (list::<i64>(&step, "id")?, list::<u8>(&step, "class")?);
        structure.release(time_step, step);
        if settings.run_config().is_compared(time_step) {
            let classes = classes.into_iter().map(class).collect::<Result<_, _>>()?;
            // Nobody listens only where the comparison has failed already.
            let _ = found.send(Classes { time_step, ids, classes });
        }
    }
    structure.close()
}

fn wait_for_cna(settings: &Settings, is_over: &AtomicBool) -> Result<Option<Inlet>, PartError> {
    let wanted = [TIME_STEP, "id", "class"];
    loop {
        match inlet(settings, STRUCTURE, Every::Step, &wanted) {
            Err(PartError::Open(OpenError::Failed { failure, .. }))
                if matches!(*failure, OpenFailure::TimedOut(_)) => {}
            opened => return opened.map(Some),
        }
        if is_over.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

fn class(number: u8) -> Result<Structure, PartError> {
    Structure::from_number(i32::from(number)).ok_or(PartError::NoClass { number })
}
