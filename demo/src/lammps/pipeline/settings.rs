//! What all parts of one run are told: the problem, its size, the source. The supervisor hands it on as arguments.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::part_step::Coupling;
use crate::lammps::problem::Problem;
use crate::lammps::source::{RunConfig, Scale};

/// How large a problem is and how long it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Size {
    /// The problem's own: two to three minutes for both, on two cores.
    Full,
    /// Smaller bodies, pulled faster: half a minute.
    Short,
    /// As small as it can be and still tear: for tests, with the built-in source.
    Tiny,
    /// So many atoms for each rank of the simulation: the more ranks, the larger the body (weak scaling).
    Scaled,
}

/// What simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SourceKind {
    /// LAMMPS, as installed on the machine.
    Lammps,
    /// The small molecular dynamics program in this package.
    BuiltIn,
}

/// How CSym comes by the lists of bonds that it wants, where Bonds publishes pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BondsBy {
    /// It takes an array of pairs, and makes lists by hand.
    Hand,
    /// It asks for lists by type, and a transform runs where it is.
    Subscriber,
    /// It has the same transform run on the ranks of Bonds, and takes lists.
    Publisher,
    /// All of these, in turns.
    Turns,
}

/// What all parts of one run are told.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// Which problem.
    #[arg(long, value_parser = problem)]
    pub problem: Problem,
    /// How large it is and how long it runs.
    #[arg(long)]
    pub size: Size,
    /// What simulates.
    #[arg(long)]
    pub source: SourceKind,
    /// Ranks of the simulation.
    #[arg(long)]
    pub ranks: u32,
    /// The longest that the simulation waits for a part before that is detached.
    #[arg(long)]
    pub max_wait_ms: u64,
    /// Where pictures and logs go.
    #[arg(long)]
    pub output: PathBuf,
    /// How the parts are coupled.
    #[arg(long, default_value = "streams")]
    pub coupling: Coupling,
    /// Whether the run is measured. In a measured run nothing is held against LAMMPS, and what was found is added up at
    /// the end. CNA is there from the start and follows the verdict.
    #[arg(long)]
    pub measured: bool,
    /// How CSym comes by the bonds. (Through files always by hand.)
    #[arg(long, default_value = "turns")]
    pub bonds: BondsBy,
    /// The longest that a part waits for the next step of a stream.
    #[arg(long, default_value_t = 80_000)]
    pub patience_ms: u64,
    /// The address of this machine by which the ranks reach one another.
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// The interpreter that runs Energy. Without it nobody does.
    #[arg(long)]
    pub python: Option<PathBuf>,
}

fn problem(name: &str) -> Result<Problem, String> {
    Problem::from_name(name).ok_or_else(|| {
        let names = Problem::ALL.map(Problem::name);
        format!("no such problem: {} are known", names.join(" and "))
    })
}

fn name<T: clap::ValueEnum>(value: &T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl Settings {
    /// These settings as arguments, to be read again by the parts.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let texts = [
            ("--problem", self.problem.name().to_owned()),
            ("--size", name(&self.size)),
            ("--source", name(&self.source)),
            ("--ranks", self.ranks.to_string()),
            ("--max-wait-ms", self.max_wait_ms.to_string()),
            ("--coupling", name(&self.coupling)),
            ("--bonds", name(&self.bonds)),
            ("--patience-ms", self.patience_ms.to_string()),
        ];
        let mut arguments: Vec<OsString> =
            texts.into_iter().flat_map(|(name, value)| [name.into(), value.into()]).collect();
        arguments.extend(["--output".into(), self.output.clone().into_os_string()]);
        arguments.extend(self.measured.then(|| "--measured".into()));
        let address = self.address.map(|address| ["--address".into(), address.to_string().into()]);
        arguments.extend(address.into_iter().flatten());
        let python = self.python.as_ref().map(|python| ["--python".into(), python.clone().into_os_string()]);
        arguments.extend(python.into_iter().flatten());
        arguments
    }

    /// The simulation's run.
    pub fn run_config(&self) -> RunConfig {
        let mut config = RunConfig::new(self.problem);
        let (columns, rows, speed, pace) = match (self.size, self.problem) {
            (Size::Scaled, Problem::Crack) => (50 * self.ranks, 30, 0.5, [3_000, 50, 50]),
            (Size::Scaled, Problem::Notch) => (16, 16, 0.45, [1_200, 25, 25]),
            (Size::Full, _) => return config,
            (Size::Short, Problem::Crack) => (60, 24, 0.23, [6_000, 100, 500]),
            (Size::Short, Problem::Notch) => (16, 16, 0.38, [2_000, 50, 250]),
            (Size::Tiny, Problem::Crack) => (30, 14, 0.4, [3_000, 50, 250]),
            (Size::Tiny, Problem::Notch) => (10, 10, 0.5, [1_500, 50, 250]),
        };
        let layers = (self.size == Size::Scaled && self.problem == Problem::Notch).then_some(3 * self.ranks);
        config.scale = Scale { columns: Some(columns), rows: Some(rows), layers, speed: Some(speed) };
        [config.steps, config.publish_every, config.compare_every] = pace;
        config
    }

    /// How many steps the simulation publishes, step 0 included.
    pub fn published_steps(&self) -> u64 {
        let config = self.run_config();
        config.steps / config.publish_every + 1
    }

    /// Of how many published steps one is compared.
    pub fn compared_every(&self) -> u64 {
        let config = self.run_config();
        config.compare_every / config.publish_every
    }

    /// How many steps CNA works before it detaches.
    pub fn cna_steps(&self) -> u64 {
        match (self.size, self.problem) {
            (Size::Full, Problem::Crack) => 15,
            (Size::Full, Problem::Notch) => 25,
            (Size::Short | Size::Scaled, _) => 12,
            (Size::Tiny, _) => 6,
        }
    }

    /// How fast each held edge moves at first, in sigma/tau.
    pub fn speed(&self) -> f64 {
        self.run_config().scale.speed.unwrap_or(self.problem.speed())
    }

    /// How fast after the verdict.
    pub fn slower(&self) -> f64 {
        self.speed() / 2.0
    }

    /// After how many steps the careless guest comes.
    pub fn guest_after(&self) -> u64 {
        self.published_steps() / 4
    }

    /// How CSym comes by the bonds of this run.
    pub fn bonds_by(&self) -> BondsBy {
        match self.coupling {
            Coupling::Streams => self.bonds,
            Coupling::Files => BondsBy::Hand,
        }
    }

    /// The longest that a part waits for the next step of a stream: a simulation may be slow, but is not given up.
    pub fn step_patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms)
    }

    /// The folder of a stream that is coupled through files.
    pub fn exchange(&self, stream: &str) -> PathBuf {
        self.output.join("exchange").join(self.problem.name()).join(stream)
    }

    /// Where the picture of this run goes.
    pub fn picture(&self) -> PathBuf {
        self.output.join(format!("{}.png", self.problem.name()))
    }

    /// What LAMMPS writes of this run.
    pub fn lammps_log(&self) -> PathBuf {
        self.logs().join("log.lammps")
    }

    /// The folder of this run's logs.
    pub fn logs(&self) -> PathBuf {
        self.output.join("logs").join(self.problem.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Parser, ValueEnum as _};

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        settings: Settings,
    }

    #[test]
    fn settings_survive_the_trip_as_arguments() {
        for &size in Size::value_variants() {
            for problem in Problem::ALL {
                let source = SourceKind::BuiltIn;
                let output = PathBuf::from("a folder");
                let settings = Settings {
                    problem,
                    size,
                    source,
                    ranks: 3,
                    max_wait_ms: 7,
                    output,
                    coupling: Coupling::Files,
                    measured: size == Size::Scaled,
                    bonds: if size == Size::Short { BondsBy::Publisher } else { BondsBy::Turns },
                    patience_ms: 5,
                    address: (size == Size::Tiny).then_some(IpAddr::from([10, 77, 0, 1])),
                    python: (size == Size::Full).then_some("a snake".into()),
                };
                let words = std::iter::once("part".into()).chain(settings.to_arguments());
                assert_eq!(Arguments::parse_from(words).settings, settings);
                let config = settings.run_config();
                assert!(config.check().is_ok(), "{size:?} {problem:?}");
                assert!(settings.cna_steps() * 3 < settings.published_steps());
            }
        }
    }
}
