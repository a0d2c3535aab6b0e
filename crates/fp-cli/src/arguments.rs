//! What the command line says.

mod action;
mod check;
mod crossing;
mod features;
mod per_host;
mod render;
mod request;
mod stage;
mod target;
mod tee;
mod watch;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use fp_core::{Condition, Contact, StartAt, StepId, TransportPolicy};

use crate::bench::{BenchOptions, RoleOptions};
use crate::credentials::CredentialOptions;
pub(crate) use action::Action;
pub(crate) use check::{Asked, CheckOptions};
pub(crate) use crossing::{ForwardOptions, GateOptions};
pub(crate) use features::FeaturesOptions;
pub(crate) use per_host::StagingRanks;
pub(crate) use render::{PicturePlace, Rendering};
pub(crate) use request::{Assignment, RequestOptions};
pub(crate) use stage::StageOptions;
pub(crate) use target::Target;
pub(crate) use tee::TeeOptions;
pub(crate) use watch::WatchOptions;

/// What `--help` says at the end.
const AFTER: &str = "\
Exit status: 0 all went well, 1 something failed (the message says what), 2 wrong usage, 3 `check` found a step that
breaks a convention.
Interrupted by ctrl-c it leaves the stream first and then ends as interrupted (130 in a shell).

Environment: FLEXPATH_RENDEZVOUS names the rendezvous, FLEXPATH_TRANSPORTS the transports that may be used,
 FLEXPATH_TOKEN_FILE and FLEXPATH_TLS_... what the options of those names do, FLEXPATH_LOG what to log on the
standard error (debug, fp_core=trace).";

/// Lists, describes and follows the streams of running simulations.
#[derive(Debug, Parser)]
#[command(name = "flexpath", version, after_help = AFTER, subcommand_required = true)]
pub(crate) struct Arguments {
    /// Where streams are found: a directory, or the tcp://HOST:PORT of `flexpath meet` [default: FLEXPATH_RENDEZVOUS,
    /// else flexpath in the runtime directory, else one in the temporary directory for this user alone]
    #[arg(long, global = true, value_name = "PLACE")]
    pub(crate) rendezvous: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists the streams that are being published, or the steps of files
    Ls(LsOptions),
    /// Shows the variables of a stream, from its next step, and takes no data; or those of a step of a file
    ///
    /// The publisher never waits for this command; but one that waits for its first subscriber takes it for that.
    Describe(DescribeOptions),
    /// Says whether the names, attributes and shapes of a step are what other tools read, and what to do where not
    ///
    /// The publisher never waits for this command; but one that waits for its first subscriber takes it for that.
    Check(CheckOptions),
    /// Follows a stream while it runs: its steps, or the values of one variable
    Tail(TailOptions),
    /// Acts on those steps of a stream that are as a condition says: prints, writes, or starts a command
    ///
    /// The publisher measures and judges, and nothing comes here of other steps. It never waits for this command, unless
    /// --every-step is said; but one that waits for its first subscriber takes it for that.
    Watch(WatchOptions),
    /// Finds connected regions of a field, follows them in time, and publishes what it knows of them
    ///
    /// A region is of elements that compare so with a number. The publisher waits for this command where it must; see
    /// --lossy.
    Features(FeaturesOptions),
    /// Asks a running simulation for values of the parameters that it declared, or lists these
    ///
    /// All its ranks see it at the same step. The publisher never waits for this command; but one that waits for its first
    /// subscriber takes it for that.
    Request(RequestOptions),
    /// Writes the steps of a stream into a file, as they come
    ///
    /// The publisher waits for this command where it must, so that no step is missing; see --lossy.
    Record(RecordOptions),
    /// Publishes the steps of a file that `record` wrote: every subscriber can be tried on them
    Replay(ReplayOptions),
    /// Takes streams and publishes them again, from memory and disk of its own
    ///
    /// So a simulation waits for no subscriber, and subscribers can come when it is gone.
    Stage(StageOptions),
    /// Brings a stream to a `flexpath gate`, over one connection that it dials: through a firewall, and far away
    Forward(ForwardOptions),
    /// Publishes the streams that `flexpath forward` brings, as they were published
    Gate(GateOptions),
    /// Writes the steps of a stream as Zarr, HDF5, VTKHDF or Parquet, or into an array database
    ///
    /// The formats are in a program of its own, flexpath-tee, which `make install SINKS=yes` builds.
    #[command(disable_help_flag = true)]
    Tee(TeeOptions),
    /// Shows how the ranks of a stream and its subscribers are: what each waits for, and who does not answer
    ///
    /// No step waits for this command, and nobody takes it for a subscriber.
    Status(StatusOptions),
    /// Tests every transport with real bytes, and this machine: what works, how fast, and why the rest does not
    Doctor(DoctorOptions),
    /// Makes a token for a run: who does not have it, is not let in
    Token(TokenOptions),
    /// Is the place where cohorts find each other that share no directory, until ctrl-c
    Meet(MeetOptions),
    /// Measures what a stream costs on this machine, with real processes
    Bench(BenchOptions),
    /// One rank of `bench`, in a process of its own
    #[command(hide = true)]
    BenchRole(RoleOptions),
}

/// Options of `ls`.
#[derive(Debug, Args)]
pub(crate) struct LsOptions {
    /// Lists the steps of these files of `flexpath record` or `flexpath stage`, instead of streams
    #[arg(value_name = "FILE", conflicts_with_all = ["all", "types"])]
    pub(crate) files: Vec<PathBuf>,
    /// Prints one JSON array
    #[arg(long)]
    pub(crate) json: bool,
    /// Lists entries too behind which nobody answers: remains of processes that were killed
    #[arg(long)]
    pub(crate) all: bool,
    /// Shows the variables of each stream as well, with their types and the fields of records
    ///
    /// That takes a step of each stream, which is waited for. No publisher waits for this command; but one that waits
    /// for its first subscriber takes it for that.
    #[arg(long)]
    pub(crate) types: bool,
    /// With --types: how long each stream has for its next step
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds, requires = "types")]
    pub(crate) timeout: Duration,
    /// Who this is: with --types, as the list alone asks nobody to be let in.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Options of `describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeOptions {
    /// The stream's name, as `flexpath ls` shows it. With a `/` or an ending `.fpsr` it is a file of recorded steps
    #[arg(value_name = "STREAM or FILE")]
    pub(crate) stream: String,
    /// Of a file: the step of this number, instead of the first
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<u64>,
    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How long to wait for the stream, and again for its next step
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Options of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// Asks for this rank of the publisher alone
    #[arg(long, value_name = "N")]
    pub(crate) rank: Option<u32>,
    /// Asks the rank at this contact, and not the lead: when the lead does not answer
    #[arg(long, value_name = "CONTACT", value_parser = contact)]
    pub(crate) at: Option<Contact>,
    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How long to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Options of `tail`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flexpath tail heat                              one line for each step
  flexpath tail heat 'temperature[0:10, ::2]'     rows 0 to 9, every second column
  flexpath tail heat 'temperature[-1, :]'         the last row
  flexpath tail heat 'temperature[rank 3]'        what rank 3 put
  flexpath tail heat 'T[points (1, 2) (3, 4)]'    two elements
  flexpath tail heat --start-at after:41          from step 42 on, as far as it is still there
  flexpath tail md x --when 'has(x)'              steps with atoms' positions, and no others
  flexpath tail heat title                        a text, in quotes; records are shown field by field
Slices are Python's, one for each dimension; a selection outside the array is an error.")]
pub(crate) struct TailOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// A variable, and which of its elements: VARIABLE or VARIABLE[slice]. Without it only the steps are shown
    #[arg(value_name = "VARIABLE[slice]")]
    pub(crate) target: Option<Target>,
    /// Ends after that many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Prints one JSON object a line for each step, with all values (those that are no numbers as null)
    #[arg(long)]
    pub(crate) json: bool,
    /// Takes every step: the publisher waits for this command where it must. Otherwise old steps are dropped
    #[arg(long)]
    pub(crate) every_step: bool,
    /// Where it starts: with the `next` step, at the `oldest-reserved`, or `after:N`, with the first step of a higher
    /// number. Steps that are gone already are counted as skipped
    #[arg(long, value_name = "WHERE", default_value = "next", value_parser = start_at)]
    pub(crate) start_at: StartAt,
    /// Takes only steps that are so, as `has(VARIABLE)` or `max(VARIABLE) > 9`: `flexpath watch --help` has all
    /// conditions. Others are not counted as skipped
    #[arg(long, value_name = "CONDITION")]
    pub(crate) when: Option<Condition>,
    /// Most values that are shown of a step
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "json")]
    pub(crate) values: usize,
    /// How long to wait for the stream
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Options of `record`.
#[derive(Debug, Args)]
#[command(after_help = "\
  flexpath record heat --out heat.fpsr --steps 100
  flexpath ls heat.fpsr
  flexpath replay heat.fpsr --as heat-again --speed full

What was written so far is whole at every moment: a step that was cut by a kill is passed over.")]
pub(crate) struct RecordOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// The file. It must not be there, unless --append is said
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Writes behind the steps that the file has
    #[arg(long)]
    pub(crate) append: bool,
    /// Records these variables alone
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) variables: Vec<String>,
    /// Ends after that many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Never lets the publisher wait: old steps are dropped, and counted as skipped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Each step is on the device before the next is taken: a power failure costs the last step at most
    #[arg(long)]
    pub(crate) durable: bool,
    /// Where it starts: with the `next` step, at the `oldest-reserved`, or `after:N`, with the first step of a higher
    /// number. Steps that are gone already are counted as skipped
    #[arg(long, value_name = "WHERE", default_value = "next", value_parser = start_at)]
    pub(crate) start_at: StartAt,
    /// How long to wait for the stream
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Options of `replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayOptions {
    /// The file
    pub(crate) file: PathBuf,
    /// Under this name; otherwise that of the stream that was recorded
    #[arg(long = "as", value_name = "STREAM")]
    pub(crate) stream: Option<String>,
    /// How fast: as it was `recorded`, at `full` speed, or so many steps a second
    #[arg(long, value_name = "SPEED", default_value = "recorded", value_parser = speed)]
    pub(crate) speed: Speed,
    /// These steps alone, by their numbers: FIRST:BEHIND, either may be missing
    #[arg(long, value_name = "FIRST:BEHIND", default_value = ":", value_parser = span)]
    pub(crate) steps: (u64, u64),
    /// These variables alone
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) variables: Vec<String>,
    /// Waits for so many subscribers before the first step
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) subscribers: u32,
    /// How long to wait for them
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

impl ReplayOptions {
    /// Whether a step of that number is one of those.
    pub(crate) fn holds(&self, step: StepId) -> bool {
        (self.steps.0..self.steps.1).contains(&step.0)
    }
}

/// How fast steps are replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Speed {
    /// As far apart as they were taken.
    Recorded,
    /// As fast as subscribers take them.
    Full,
    /// So many a second.
    PerSecond(f64),
}

fn speed(text: &str) -> Result<Speed, String> {
    match (text, text.parse::<f64>()) {
        ("recorded", _) => Ok(Speed::Recorded),
        ("full", _) => Ok(Speed::Full),
        (_, Ok(steps)) if (0.001..=1e9).contains(&steps) => Ok(Speed::PerSecond(steps)),
        _ => Err("recorded, full or steps a second (0.001 at least) are expected, such as 2.5".to_owned()),
    }
}

/// FIRST:BEHIND, of which either may be missing.
fn span(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("{text:?} is no FIRST:BEHIND, such as 10:20");
    let (first, behind) = text.split_once(':').ok_or_else(wrong)?;
    let number =
        |text: &str, missing| if text.is_empty() { Ok(missing) } else { text.parse().map_err(|_| wrong()) };
    Ok((number(first, 0)?, number(behind, u64::MAX)?))
}

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Between two machines, first on the one and then, with the line that it prints and the same token, on the other:
  flexpath token --out run.token
  flexpath doctor --listen 192.0.2.7:0 --token-file run.token
  flexpath doctor --token-file run.token 'flexpath:1,process=...'
The contact of a running stream, as `flexpath ls --json` shows it, can be tested too: by the handshake alone, without
figures. The figures are for comparing transports and finding what is wrong; benchmarks they are not.

Exit status: 0 at least one transport works between the two ends, 1 none does, 2 wrong usage.")]
pub(crate) struct DoctorOptions {
    /// The other end: the line that `flexpath doctor --listen` prints, a rank's contact, or ADDRESS:PORT. Without it
    /// this machine is tested with itself
    #[arg(value_parser = contact)]
    pub(crate) contact: Option<Contact>,
    /// Answers the `flexpath doctor` of others until ctrl-c; prints its contact first. Off loopback it needs a token or
    /// TLS
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0", conflicts_with_all = ["contact", "json"])]
    pub(crate) listen: Option<SocketAddr>,
    /// The address that others dial, where --listen has the unspecified one (0.0.0.0)
    #[arg(long, value_name = "ADDRESS", requires = "listen")]
    pub(crate) advertise: Option<IpAddr>,
    /// The transports that may be used, such as shm,tcp [default: FLEXPATH_TRANSPORTS, else all]
    #[arg(long, value_name = "LIST")]
    pub(crate) transports: Option<TransportPolicy>,
    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How long each transport may take
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Listens only until the standard input ends: for the second process of a test of this machine
    #[arg(long, hide = true, requires = "listen")]
    pub(crate) until_input_ends: bool,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Options of `token`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every rank of a run, and whoever subscribes to it, needs the same one: FLEXPATH_TOKEN_FILE=FILE before a program, or
--token-file FILE before one of these commands. It is 64 hexadecimal digits and a line's end.")]
pub(crate) struct TokenOptions {
    /// Makes this file, which its owner alone can read. Otherwise the token is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Puts it in the place of a file that is there
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Prints the hash of the token in this file, by which an access list names it. No token is made
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "force"])]
    pub(crate) hash: Option<PathBuf>,
}

/// Options of `meet`.
#[derive(Debug, Args)]
#[command(after_help = "\
On a host that all others reach, and then before every program and command, on whatever host:
  flexpath token --out run.token
  flexpath meet --listen 192.0.2.7:7000 --token-file run.token
  export FLEXPATH_RENDEZVOUS=tcp://192.0.2.7:7000 FLEXPATH_TOKEN_FILE=$PWD/run.token
It keeps names and addresses, no data, and nothing on disk. Streams go on without it. Killed and begun again at its
address, it knows all streams within two seconds. FLEXPATH_LOG=info shows who comes and goes.")]
pub(crate) struct MeetOptions {
    /// Where to listen; port 0: one of the system's choice. It prints what others set FLEXPATH_RENDEZVOUS to. Off
    /// loopback it needs a token or TLS
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// The address that others dial, where --listen has the unspecified one (0.0.0.0)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) advertise: Option<IpAddr>,
    /// Who is let in.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// Reads a contact, or an address in place of one.
fn contact(text: &str) -> Result<Contact, String> {
    match text.parse::<SocketAddr>() {
        Ok(address) => Ok(Contact::from_address(address)),
        Err(_) => text.parse::<Contact>().map_err(|error| error.to_string()),
    }
}

/// Reads a number of seconds, such as `2.5`.
///
/// # Errors
/// No number, or one that is no time.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("{text:?}: {error}"))
}

/// A place to start at: `next`, `oldest-reserved`, `after:N`.
///
/// # Errors
/// Another word.
pub fn start_at(text: &str) -> Result<StartAt, String> {
    match (text, text.strip_prefix("after:").map(str::parse)) {
        ("next", _) => Ok(StartAt::Next),
        ("oldest-reserved", _) => Ok(StartAt::OldestReserved),
        (_, Some(Ok(step))) => Ok(StartAt::After(StepId(step))),
        _ => Err("next, oldest-reserved or after:N is expected, such as after:41".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_start_is_said_in_words() {
        assert_eq!(start_at("after:41"), Ok(StartAt::After(StepId(41))));
        assert_eq!(
            (start_at("next"), start_at("oldest-reserved")),
            (Ok(StartAt::Next), Ok(StartAt::OldestReserved))
        );
        assert!(["41", "after:", "after:-1", "After:1"].iter().all(|text| start_at(text).is_err()));
    }

    #[test]
    fn times_are_finite_and_not_negative() {
        assert_eq!(seconds("2.5"), Ok(Duration::from_millis(2500)));
        assert!(["-1", "nan", "1e99", "soon"].iter().all(|text| seconds(text).is_err()));
    }
}
