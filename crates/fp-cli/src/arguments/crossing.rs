//! What `flexpath forward` and `flexpath gate` are told.

use std::net::IpAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fp_core::{Compression, ListenAddress};

use super::seconds;
use super::stage::{ByteCount, bytes};
use crate::credentials::CredentialOptions;

/// Options of `forward`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Outside, on a host that this one reaches, and then here, where the simulation runs:
  flexpath token --out run.token
  flexpath gate --listen 192.0.2.7:7001 --token-file run.token
  flexpath forward sim --to 192.0.2.7:7001 --token-file run.token
It dials, and nobody dials it. Subscribers outside find the stream under the same name. The publisher keeps a step until
all of them have taken it: `flexpath stage` before this command keeps it in the publisher's place.")]
pub(crate) struct ForwardOptions {
    /// The stream's name, as `flexpath ls` shows it. It is awaited if it is not there yet
    #[arg(value_name = "STREAM")]
    pub(crate) stream: String,
    /// Where the gate is, as `flexpath gate` prints it
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: String,
    /// Under which name it is published there; {} is that of the stream
    #[arg(long = "as", value_name = "NAME", default_value = "{}")]
    pub(crate) forwarded: String,
    /// Steps that are under way at one time: sent, and not taken by all subscribers of the gate
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub(crate) window: u32,
    /// Sends no more than so many bytes a second: a number, with K, M or G behind it
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) rate: Option<ByteCount>,
    /// Compresses each block for the way, without loss: by lz4, or by pco, slower and shorter where there are numbers. Gates
    /// before version 2 refuse that
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "lz4")]
    pub(crate) compress: Option<CompressOption>,
    /// Brings all variables, whatever subscribers of the gate select
    #[arg(long)]
    pub(crate) all: bool,
    /// Passes no requests of the gate's subscribers on to the simulation
    #[arg(long)]
    pub(crate) no_requests: bool,
    /// Never lets the publisher wait: old steps are dropped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// How long the gate is awaited where it is away, and a publisher that is lost
    #[arg(long = "await", value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    pub(crate) awaits: Duration,
    /// Ends when the stream has ended, and was taken
    #[arg(long)]
    pub(crate) once: bool,
    /// Who this is: to the stream, and to the gate.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// How blocks are compressed for the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressOption {
    /// Fast, for all elements
    Lz4,
    /// Slower and shorter, for numbers of more than eight bits
    Pco,
}

impl From<CompressOption> for Compression {
    fn from(option: CompressOption) -> Self {
        match option {
            CompressOption::Lz4 => Self::Lz4,
            CompressOption::Pco => Self::Pco,
        }
    }
}

/// Options of `gate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
  flexpath token --out run.token
  flexpath gate --listen 192.0.2.7:7001 --token-file run.token     prints its address
  flexpath forward sim --to 192.0.2.7:7001 --token-file run.token  where the simulation runs
  flexpath tail sim temperature                                    beside the gate

What is published again is kept in memory until all subscribers have taken it. `flexpath stage` beside the gate keeps
more, on disk as well.")]
pub(crate) struct GateOptions {
    /// Where to listen for `flexpath forward`; port 0: one of the system's choice. It prints the address. Off loopback it
    /// needs a token or TLS
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// The address that others dial, where --listen has the unspecified one (0.0.0.0)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) advertise: Option<IpAddr>,
    /// The memory that steps take, of all streams together, beside three steps of each that are on their way: a number of
    /// bytes, with K, M, G or T behind it
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    pub(crate) memory: ByteCount,
    /// Keeps so many of the last steps for those who come late. `forward` holds them too, so that they outlive the gate
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=50_000))]
    pub(crate) reserve: u32,
    /// Publishes the first step of a stream when it has so many subscribers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) subscribers: u32,
    /// How long a `forward` that is away is awaited
    #[arg(long = "await", value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    pub(crate) awaits: Duration,
    /// Ends when all streams that came have ended
    #[arg(long)]
    pub(crate) once: bool,
    /// Where ranks listen for subscribers [default: FLEXPATH_LISTEN, else loopback]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) publish_at: Option<ListenAddress>,
    /// Who is let in: of `forward`, and of subscribers.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}
