//! LAMMPS as a [`Source`].

use super::error::LammpsError;
use super::library::{Lammps, Snapshot};
use crate::lammps::launch::Place;
use crate::lammps::science::atoms::AtomBlock;
use crate::lammps::source::{Control, Ending, RunConfig, Source, SourceError, StepView};

/// The compute that every input file of ours defines.
const REFERENCE: &str = "reference";
/// The type of atoms that are held, in every input file of ours.
const HELD: i32 = 2;

/// LAMMPS, one rank of it. Every run has an instance of its own.
pub struct LammpsSource {
    place: Place,
    /// Says the version, and keeps MPI alive from one run to the next.
    idle: Lammps,
}

impl LammpsSource {
    /// See whether LAMMPS is there, and which. MPI is started by this: all ranks must come here.
    ///
    /// # Errors
    /// It is not installed, or is a build that this program does not know.
    pub fn new() -> Result<Self, LammpsError> {
        let place = Place::from_environment()?;
        let idle = Lammps::open(&words(["-screen", "none", "-log", "none"]))?;
        Ok(LammpsSource { place, idle })
    }

    /// End MPI. All ranks must; they wait for one another. A rank that failed should end its process instead; then
    /// `mpirun` ends the others.
    pub fn finish(self) {
        self.idle.finish();
    }
}

impl Source for LammpsSource {
    fn name(&self) -> String {
        format!("LAMMPS {}", date(self.idle.version()))
    }

    fn place(&self) -> Place {
        self.place
    }

    fn run(
        &mut self,
        config: &RunConfig,
        on_step: &mut dyn FnMut(StepView) -> Control,
    ) -> Result<Ending, SourceError> {
        config.check()?;
        let mut lammps = Lammps::open(&arguments(config)?)?;
        lammps.file(&config.inputs.join(config.problem.input_name()))?;
        let mut hand_over =
            HandOver { config, on_step, quiet: false, failed: None, published: 0, last_step: None };
        lammps.run(config.steps, config.publish_every, &mut |snapshot| hand_over.step(snapshot))?;
        let HandOver { failed, published, last_step, .. } = hand_over;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(Ending { published, last_step }),
        }
    }
}

/// One rank's side of a run.
struct HandOver<'a> {
    config: &'a RunConfig,
    on_step: &'a mut dyn FnMut(StepView) -> Control,
    quiet: bool,
    failed: Option<LammpsError>,
    published: u64,
    last_step: Option<i64>,
}

impl HandOver<'_> {
    fn step(&mut self, snapshot: &mut Snapshot<'_>) {
        // The ranks evaluate a compute together, so a rank that hands nothing over takes part all the same.
        let compared = self.config.is_compared(snapshot.step());
        let reference = compared.then(|| snapshot.per_atom(REFERENCE)).transpose();
        if self.quiet {
            return;
        }
        match reference.and_then(|reference| view(snapshot, reference)) {
            Ok(view) => self.publish(snapshot, view),
            Err(error) => (self.quiet, self.failed) = (true, Some(error)),
        }
    }

    fn publish(&mut self, snapshot: &mut Snapshot<'_>, view: StepView) {
        self.published += 1;
        self.last_step = Some(view.step);
        match (self.on_step)(view) {
            Control::Continue => {}
            Control::Pull(speed) => {
                if let Err(error) = snapshot.change_velocities(|kind, now| pulled(kind, now, speed)) {
                    (self.quiet, self.failed) = (true, Some(error));
                }
            }
            Control::Quiet => self.quiet = true,
            Control::Stop => snapshot.stop(),
        }
    }
}

fn view(snapshot: &Snapshot<'_>, reference: Option<Vec<f64>>) -> Result<StepView, LammpsError> {
    let atoms = AtomBlock {
        ids: snapshot.ids()?,
        types: snapshot.types()?,
        positions: snapshot.positions()?,
        velocities: snapshot.velocities()?,
    };
    Ok(StepView { step: snapshot.step(), domain: snapshot.domain(), atoms, reference })
}

fn arguments(config: &RunConfig) -> Result<Vec<String>, LammpsError> {
    let log = match &config.log {
        None => "none",
        Some(path) => path.to_str().ok_or_else(|| LammpsError::BadPath { path: path.clone() })?,
    };
    let mut arguments = words(["-screen", "none", "-nocite", "-log", log]);
    let scale = &config.scale;
    let sizes = [("columns", scale.columns), ("rows", scale.rows), ("layers", scale.layers)];
    let sizes = sizes.into_iter().filter_map(|(name, size)| Some((name, size?.to_string())));
    let speed = scale.speed.map(|speed| ("speed", speed.to_string()));
    for (name, value) in sizes.chain(speed) {
        arguments.extend(words(["-var", name, &value]));
    }
    Ok(arguments)
}

/// The velocity of an atom whose edge is pulled so fast. There are no forces on held ones, so it stays.
fn pulled(kind: i32, velocity: [f64; 3], speed: f64) -> [f64; 3] {
    if kind == HELD { [velocity[0], velocity[1].signum() * speed, velocity[2]] } else { velocity }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// 20210929 as `29 Sep 2021`.
fn date(version: i32) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, month, day) = (version / 10_000, version / 100 % 100, version % 100);
    let name = usize::try_from(month - 1).ok().and_then(|month| MONTHS.get(month));
    name.map_or_else(|| version.to_string(), |name| format!("{day} {name} {year}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::problem::Problem;

    #[test]
    fn versions_read_as_dates() {
        assert_eq!(date(20_210_929), "29 Sep 2021");
        assert_eq!(date(17), "17");
    }

    #[test]
    fn sizes_become_variables() {
        let mut config = RunConfig::new(Problem::Notch);
        config.scale.columns = Some(12);
        config.scale.speed = Some(0.25);
        let words = arguments(&config).expect("plain text").join(" ");
        assert_eq!(words, "-screen none -nocite -log none -var columns 12 -var speed 0.25");
    }
}
