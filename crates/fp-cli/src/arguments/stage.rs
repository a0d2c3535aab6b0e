//! What `flexpath stage` is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fp_core::{ListenAddress, stream_name_fits};

use super::per_host::PerHostOptions;
use super::seconds;
use crate::credentials::CredentialOptions;
use crate::failure::Failure;

/// What records with lists and texts may take.
const LEAST_BYTES: u64 = 64 << 20;

/// Options of `stage`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
  flexpath stage sim --memory 4G --disk /scratch/me         as stream sim-staged, until ctrl-c
  flexpath stage 'sim*' --as '{}-kept' --disk /scratch/me --reserve all
  flexpath tail sim-kept temperature --start-at after:41
  srun --ntasks-per-node 1 flexpath stage sim --per-host 1  one on each host, few links out of it

Whoever comes late finds the steps of --reserve: subscribe with start_at OldestReserved, or after a number.")]
pub(crate) struct StageOptions {
    /// The streams, by their names: `*` is any text and `?` any one letter. It awaits those that are not there yet
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: String,
    /// Under which name; {} is that of the stream
    #[arg(long = "as", value_name = "NAME", default_value = "{}-staged")]
    pub(crate) staged: String,
    /// The memory that steps take, of all streams together: a number of bytes, with K, M, G or T behind it. Without
    /// --disk it is 64M at least
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    pub(crate) memory: ByteCount,
    /// A folder for steps that the memory has no room for. Without it the publisher waits as for any subscriber
    #[arg(long, value_name = "FOLDER")]
    pub(crate) disk: Option<PathBuf>,
    /// Each step is on the device before the publisher may let go of it, and `kill` and power failures lose none
    #[arg(long, requires = "disk")]
    pub(crate) durable: bool,
    /// Keeps so many of the last steps for those who come late, so many bytes of them (as 10G), or `all`. They stay
    /// when the publisher is gone
    #[arg(long, value_name = "N|BYTES|all", default_value = "0", value_parser = reserve)]
    pub(crate) reserve: Reserve,
    /// Takes only the variables that subscribers of the staged stream ask for, and all while there is none. Who comes
    /// later with another one gets a few steps without it first: a condition does not fire on them, whatever happens
    #[arg(long)]
    pub(crate) narrow: bool,
    /// Publishes the first step of a stream when it has so many subscribers, each time that it opens. Until then steps
    /// are on --disk, or with --per-host at the publisher
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) subscribers: u32,
    /// Whether it is one of several, each on its host.
    #[command(flatten)]
    pub(crate) per_host: PerHostOptions,
    /// Passes no requests of its subscribers on to the simulation
    #[arg(long)]
    pub(crate) no_requests: bool,
    /// Never lets the publisher wait: where neither memory nor disk has room, old steps are dropped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// How long a publisher that is lost is awaited; and subscribers, after an earlier stager was killed
    #[arg(long = "await", value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) awaits: Duration,
    /// Ends when all streams that were staged have ended, and were taken
    #[arg(long)]
    pub(crate) once: bool,
    /// Where ranks listen for subscribers [default: FLEXPATH_LISTEN, else loopback]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<ListenAddress>,
    /// Who this is, and who is let in.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

impl StageOptions {
    /// Whether a stream of that name is one of those. What is staged is not staged again.
    pub(crate) fn takes(&self, stream: &str) -> bool {
        let is_own = stream_name_fits(&self.staged.replace("{}", "*"), stream);
        stream_name_fits(&self.pattern, stream) && !is_own
    }

    /// Under which name a stream is published again.
    pub(crate) fn staged_name(&self, stream: &str) -> String {
        self.staged.replace("{}", stream)
    }

    /// The name by which stagers of several hosts find one another. It looks like one of a staged stream, so that no
    /// pattern takes it for a stream.
    pub(crate) fn hosts_name(&self, stream: &str) -> String {
        let hosts = format!("hosts-of-{stream}");
        if self.staged.contains("{}") { self.staged_name(&hosts) } else { hosts }
    }

    /// The bound of bytes of its publishers: lists and texts of records are in memory, however little that may be.
    pub(crate) fn limit_bytes(&self) -> u64 {
        self.memory.0.max(LEAST_BYTES)
    }

    /// Of the bytes that are spare within that bound those that are for other steps.
    pub(crate) fn spare_bytes(&self, spare_bytes: u64) -> u64 {
        spare_bytes.saturating_sub(self.limit_bytes() - self.memory.0)
    }

    /// Whether what they say goes together.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let is_many = self.pattern.contains(['*', '?']);
        if is_many && !self.staged.contains("{}") {
            let (pattern, staged) = (&self.pattern, &self.staged);
            let why =
                format!("{pattern:?} may be many streams: {{}} in --as {staged:?} would tell them apart");
            return Err(Failure::Usage(why));
        }
        if self.subscribers > 0 && self.disk.is_none() && self.per_host.per_host.is_none() {
            let why = "--subscribers needs --disk, where steps wait, or --per-host";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.narrow && (self.durable || self.reserve.keeps_any() || self.per_host.per_host.is_some()) {
            let why =
                "--narrow goes with none of --reserve, --durable and --per-host, which take all variables";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.staged_name(&self.pattern) == self.pattern {
            return Err(Failure::Usage("a stream is staged under another name: see --as".to_owned()));
        }
        Ok(())
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteCount(pub(crate) u64);

/// Which steps are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reserve {
    /// The last of them, as many as this.
    pub(crate) steps: u32,
    /// As far as they take no more bytes, but the last one in any case.
    pub(crate) bytes: u64,
}

impl Reserve {
    pub(crate) fn keeps_any(self) -> bool {
        self.steps > 0
    }
}

/// A number of bytes, such as 512M.
pub(super) fn bytes(text: &str) -> Result<ByteCount, String> {
    let wrong = || format!("{text:?} is no number of bytes, such as 512M or 4G");
    let (digits, unit) = match text.char_indices().find(|(_, letter)| !letter.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, ""),
    };
    let shift = match unit.to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| *bytes > 0);
    bytes.map(ByteCount).ok_or_else(wrong)
}

/// A number of steps; of bytes, which has a unit; or all.
fn reserve(text: &str) -> Result<Reserve, String> {
    let all = Reserve { steps: u32::MAX, bytes: u64::MAX };
    let has_unit = text.ends_with(|letter: char| letter.is_ascii_alphabetic());
    let (steps, number) = (text.parse(), bytes(text));
    match (text, steps, number) {
        ("all", ..) => Ok(all),
        (_, Ok(steps), _) => Ok(Reserve { steps, ..all }),
        (.., Ok(ByteCount(bytes))) if has_unit => Ok(Reserve { bytes, ..all }),
        _ => Err(format!("{text:?} is no number of steps, nor of bytes such as 10G, nor `all`")),
    }
}
