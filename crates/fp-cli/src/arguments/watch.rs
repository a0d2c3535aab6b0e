//! What the command line of `watch` says.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fp_core::{Condition, StartAt};

use super::action::Action;
use super::{seconds, start_at};
use crate::credentials::CredentialOptions;

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Conditions: max(T) > 9, min, sum, mean, variance, count(T > 5) >= 10, any(T[0:64, :] > 9), all(T > 0), has(T),
quantile(T, 0.99, 0..1000 / 64) > 900, argmax(T)[0] < 64, argmin, change(sum(T)) > 1, window(mean(T), 10, max) > 9,
every(10), rises(CONDITION), hysteresis(ON, OFF), held(CONDITION, 3, 5), with and, or, not and brackets. A number may be
of what a function of the publisher makes, max(call(speed, T)), or a module, max(module(speed, T)), and T may be a field of
records, particles.energy. docs/watches.md says what each means.
A comparison with NaN does not hold. A step that could not be judged is acted on too, and says why.

  flexpath watch heat 'rises(max(temperature) > 900)'
  flexpath watch heat 'any(temperature[0:64, :] > 900)' --then 'deliver temperature[0:4, 0:4]' --json
  flexpath watch heat 'max(temperature) > 900' --then 'write hits' --steps 10
  flexpath watch heat 'max(temperature) > 900' --then 'render temperature[:, :, 32] to pictures'
  flexpath watch heat 'max(temperature) > 900' --then 'run alarm' --commands commands.toml
  flexpath watch heat 'rises(max(temperature) > 900)' --then notify --then 'request conductivity=2'

commands.toml names what may be run. Nothing goes through a shell:

  [command.alarm]
  run = [\"/usr/local/bin/alarm\", \"{stream}\", \"{step}\"]
  least_seconds = 60    # between two starts; 1 where it is left out

{stream}, {step} and {judgement} stand for the stream's name, the step's number, and what was measured as JSON.")]
pub(crate) struct WatchOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// What a step must be like
    pub(crate) condition: Condition,
    /// A WebAssembly module that the condition calls, as `max(module(NAME, T)) > 9`; repeatable. It runs in the publisher,
    /// if that lets it
    #[arg(long = "module", value_name = "NAME=FILE", value_parser = module)]
    pub(crate) modules: Vec<(String, PathBuf)>,
    /// What is done with each such step, in this order: `notify` prints a line, `deliver VARIABLE[slice]` values, `write DIR`
    /// puts its variables into a file of its own there, `render VARIABLE[slice] to DIR` (or `to FILE.png`) draws two
    /// dimensions, `run NAME` starts a command of --commands, `request PARAMETER[=VALUE]` asks the simulation [default:
    /// notify]
    #[arg(long = "then", value_name = "ACTION")]
    pub(crate) actions: Vec<Action>,
    /// Prints JSON objects, one a line
    #[arg(long)]
    pub(crate) json: bool,
    /// The commands that `run` may start: a TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// Ends after that many such steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Of steps closer together than that only the first is acted on; the others are counted. 0 acts on each. Without it
    /// `write`, `render` and `request` take one step a second at most, unless --every-step stands here
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) least: Option<Duration>,
    /// Takes every such step: the publisher waits for this command where it must. Otherwise old ones are dropped
    #[arg(long)]
    pub(crate) every_step: bool,
    /// How long a publisher that is lost is awaited. What the condition remembers ends with it
    #[arg(long = "await", value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) awaits: Duration,
    /// Where it starts: with the `next` step, or at the `oldest-reserved`. A publisher may keep the last hits of a condition
    /// for who comes late
    #[arg(long, value_name = "WHERE", default_value = "next", value_parser = start_at)]
    pub(crate) start_at: StartAt,
    /// With `write`: these variables; without it all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) variables: Vec<String>,
    /// Most values that `deliver` shows of a step
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "json")]
    pub(crate) values: usize,
    /// How long to wait for the stream
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

fn module(text: &str) -> Result<(String, PathBuf), String> {
    let named = text.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty());
    let (name, file) = named.ok_or("NAME=FILE is expected, such as speed=speed.wasm")?;
    Ok((name.to_owned(), PathBuf::from(file)))
}
