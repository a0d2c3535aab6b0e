//! The settings that the user may choose, which all parts are told.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::grid::PLANES;

/// Particles at most: their labels are counted in `f64`, and a machine has to hold them.
const MOST_PARTICLES: u64 = 10_000_000;

/// What the user may ask for.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// Particles at the start
    #[arg(long, default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(1..=MOST_PARTICLES))]
    pub particles: u64,
    /// Steps that are published, the beginning included
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub steps: u64,
    /// Where particles begin: any number
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Ranks of the generator
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=PLANES as i64))]
    pub ranks: u32,
    /// Ranks that take histograms
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub histogram_ranks: u32,
    /// Ranks that take the data of parallel coordinates
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub coordinate_ranks: u32,
    /// Particles of a higher weight are drawn one by one
    #[arg(long, default_value_t = 0.3, value_parser = threshold)]
    pub threshold: f64,
    /// Where pictures, data and logs go
    #[arg(long, default_value = ".demo/gts")]
    pub output: PathBuf,
    /// Seconds that all of it may take
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub deadline_s: u64,
}

fn threshold(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if number.is_finite() { Ok(number) } else { Err("it must be finite".to_owned()) }
}

impl Settings {
    /// These settings as arguments, to be read again by the parts.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let texts = [
            ("--particles", self.particles.to_string()),
            ("--steps", self.steps.to_string()),
            ("--seed", self.seed.to_string()),
            ("--ranks", self.ranks.to_string()),
            ("--histogram-ranks", self.histogram_ranks.to_string()),
            ("--coordinate-ranks", self.coordinate_ranks.to_string()),
            ("--deadline-s", self.deadline_s.to_string()),
        ];
        let mut arguments: Vec<OsString> =
            texts.into_iter().flat_map(|(name, value)| [name.into(), value.into()]).collect();
        // In one word: it may begin with a minus.
        arguments.push(format!("--threshold={:?}", self.threshold).into());
        arguments.extend(["--output".into(), self.output.clone().into_os_string()]);
        arguments
    }

    /// How long all of it may take.
    pub fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_s)
    }

    /// The folder of the parts' logs.
    pub fn logs(&self) -> PathBuf {
        self.output.join("logs")
    }

    /// The file of what was found, a step on each line.
    pub fn data(&self) -> PathBuf {
        self.output.join("steps.jsonl")
    }

    /// The picture of the last step's histograms.
    pub fn histogram_picture(&self) -> PathBuf {
        self.output.join("histograms.png")
    }

    /// The picture of the last step in parallel coordinates.
    pub fn coordinate_picture(&self) -> PathBuf {
        self.output.join("coordinates.png")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Arguments {
        #[command(flatten)]
        settings: Settings,
    }

    #[test]
    fn settings_survive_the_trip_as_arguments() {
        let settings = Settings {
            particles: 17,
            steps: 3,
            seed: 9,
            ranks: 2,
            histogram_ranks: 1,
            coordinate_ranks: 4,
            threshold: -0.125,
            output: PathBuf::from("a folder"),
            deadline_s: 5,
        };
        let words = std::iter::once("part".into()).chain(settings.to_arguments());
        assert_eq!(Arguments::parse_from(words).settings, settings);
        for nonsense in ["--ranks=33", "--ranks=0", "--particles=0", "--steps=0", "--threshold=nan"] {
            assert!(Arguments::try_parse_from(["part", nonsense]).is_err(), "{nonsense}");
        }
    }
}
