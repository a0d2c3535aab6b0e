//! What `flexpath bench` is told.

use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// Options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flexpath bench                                              64 MiB steps, one to one, by the best transport
  flexpath bench --publishers 4 --subscribers 2 --shape 256x256x128 --transport shm
  flexpath bench --shape 1 --steps 2000 --busy-poll --pin     the latency of 8 bytes where nobody ever sleeps
  flexpath bench --transport tcp --json > tcp.json
  flexpath bench --transport verbs                            RDMA, by a device of this machine to itself

Every rank is a process of its own (threads of one with --transport inproc). Publishers cut the array along its first
dimensions, subscribers along its last, so that blocks cross. Every element of every step is written afresh, and is a
function of step and place. First come steps that are not counted (all elements are checked), then --steps as fast as
they go: throughput and processor time. Then --latency-steps one by one: latency, from before the last publisher rank's
begin_step until a subscriber rank has its part in an array of its own. Of counted steps 64 elements are looked at, of
the very last again all.")]
pub(crate) struct BenchOptions {
    /// Publisher ranks
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) publishers: u32,
    /// Subscriber ranks, of one cohort
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) subscribers: u32,
    /// The global array, as in 256x256x128
    #[arg(long, value_name = "EXTENTS", default_value = "256x256x128")]
    pub(crate) shape: Extents,
    /// Its elements
    #[arg(long, value_enum, default_value_t = ElementType::F64)]
    pub(crate) dtype: ElementType,
    /// Blocks that each publisher rank puts in a step
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) blocks: u32,
    /// Steps for throughput, after some that are not counted
    #[arg(long, value_name = "S", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) steps: u64,
    /// Steps for latency, each begun when all ranks have the one before [default: as many as --steps]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) latency_steps: Option<u64>,
    /// How data travels; `any` is what a program gets that says nothing
    #[arg(long, value_enum, default_value_t = Transport::Any)]
    pub(crate) transport: Transport,
    /// Live steps of the subscription
    #[arg(long, value_name = "STEPS", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) queue_limit: u32,
    /// How publishers put: memory lent by the library and filled, an array copied, a vector given away
    #[arg(long, value_enum, default_value_t = Put::Loan)]
    pub(crate) put: Put,
    /// Waiting calls look again and again instead of sleeping: faster, and a core busy for each rank
    #[arg(long)]
    pub(crate) busy_poll: bool,
    /// Publishers on the first half of the cores, subscribers on the others
    #[arg(long)]
    pub(crate) pin: bool,
    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Says on the standard error what is going on
    #[arg(long)]
    pub(crate) verbose: bool,
    /// The longest that all of it may take
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = timeout)]
    pub(crate) timeout: Duration,
}

/// The work of one process of `bench`, as its parent tells it.
#[derive(Debug, Args)]
pub(crate) struct RoleOptions {
    /// As JSON
    pub(crate) task: String,
}

/// Extents of a global array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Extents(pub(crate) Vec<u64>);

impl FromStr for Extents {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents = text.split('x').map(|word| word.parse::<u64>().ok().filter(|extent| *extent > 0));
        let extents: Option<Vec<u64>> = extents.collect();
        let extents =
            extents.ok_or("extents are numbers above 0 with an x between them, as in 256x256x128")?;
        if extents.len() > 8 {
            return Err("arrays have at most 8 dimensions".to_owned());
        }
        let elements = extents.iter().try_fold(1u64, |product, extent| product.checked_mul(*extent));
        // Of the longest elements that is 32 TiB: more than any memory, and no product overflows on the way.
        match elements {
            Some(elements) if elements <= 1 << 42 => Ok(Self(extents)),
            _ => Err("that are more than 4 trillion elements".to_owned()),
        }
    }
}

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // their names say it
pub(crate) enum ElementType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl ElementType {
    /// Bytes of an element.
    pub(crate) fn len_bytes(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// How data may travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// Shared memory.
    Shm,
    /// Sockets, over loopback.
    Tcp,
    /// RDMA, from a device of this machine to itself; nothing else carries data.
    Verbs,
    /// All ranks in one process.
    Inproc,
    /// The best there is, of those between processes.
    Any,
}

impl Transport {
    /// The names that a transport policy understands; none where no policy is set.
    pub(crate) fn policy(self) -> Option<&'static str> {
        match self {
            Self::Shm => Some("shm"),
            Self::Tcp => Some("tcp"),
            // Control links have few bytes. They go as they do in a stream that nobody asks anything of.
            Self::Verbs => Some("verbs,tcp"),
            Self::Inproc => Some("inproc"),
            Self::Any => None,
        }
    }
}

/// How a publisher puts its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Put {
    /// Memory of the library, filled in place.
    Loan,
    /// The publisher's own array, filled and then copied.
    Copy,
    /// A new vector for each block, filled and then given away.
    Vec,
}

/// Reads a number of seconds that is not zero.
fn timeout(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(timeout) if (1e-3..=86_400.0).contains(&seconds) => Ok(timeout),
        _ => Err("between 0.001 seconds and a day".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_positive_numbers_that_can_be_multiplied() {
        assert_eq!("256x1x3".parse(), Ok(Extents(vec![256, 1, 3])));
        for wrong in [
            "",
            "x",
            "3x",
            "0",
            "3x0",
            "-1",
            "a",
            "4294967296x4294967296x2",
            "2048x2048x2048x2048",
            "1x1x1x1x1x1x1x1x1",
        ] {
            assert!(wrong.parse::<Extents>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_timeout_is_finite_and_not_nothing() {
        assert_eq!(timeout("1.5"), Ok(Duration::from_millis(1500)));
        assert!(["0", "-1", "nan", "inf", "soon"].iter().all(|text| timeout(text).is_err()));
    }
}
