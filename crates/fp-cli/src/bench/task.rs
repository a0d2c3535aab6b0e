//! What a role is told, and what it says: JSON, one value a line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cuts::Part;
use super::options::{ElementType, Put, Transport};

/// What all roles of a run have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Publisher ranks.
    pub(crate) publishers: u32,
    /// Subscriber ranks.
    pub(crate) subscribers: u32,
    /// The global array.
    pub(crate) shape: Vec<u64>,
    /// Its elements.
    pub(crate) dtype: ElementType,
    /// Blocks of each publisher rank in a step.
    pub(crate) blocks: u32,
    /// Steps before any is counted.
    pub(crate) warm_steps: u64,
    /// Steps for throughput.
    pub(crate) steps: u64,
    /// Steps for latency.
    pub(crate) latency_steps: u64,
    /// How data may travel.
    pub(crate) transport: Transport,
    /// Live steps of the subscription.
    pub(crate) queue_limit: u32,
    /// How publishers put.
    pub(crate) put: Put,
    /// Whether waiting calls spin.
    pub(crate) busy_poll: bool,
    /// Whether each side keeps to its own cores.
    pub(crate) pin: bool,
    /// The longest of any wait.
    pub(crate) timeout: Duration,
    /// The rendezvous directory, and where ranks tell one another that they have a step.
    #[serde(skip_serializing_if = "is_unset", default)]
    pub(crate) directory: PathBuf,
    /// Where publishers listen, if that is not loopback: then all show the run's token.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) listen: Option<SocketAddr>,
}

fn is_unset(path: &std::path::Path) -> bool {
    path.as_os_str().is_empty()
}

impl Setup {
    /// Steps in all: one more is looked at in full when the others are over.
    pub(crate) fn all_steps(&self) -> u64 {
        self.first_paced() + self.latency_steps + 1
    }

    /// The first step that is begun only when all ranks have the one before.
    pub(crate) fn first_paced(&self) -> u64 {
        self.warm_steps + self.steps
    }

    /// Whether all ranks tell the publishers when they have this step.
    pub(crate) fn is_told(&self, step: u64) -> bool {
        step + 1 >= self.first_paced() && step + 1 < self.all_steps()
    }

    /// Whether all elements of this step are looked at, and not some.
    pub(crate) fn is_looked_through(&self, step: u64) -> bool {
        step < self.warm_steps || step + 1 == self.all_steps()
    }

    /// Bytes of a step over all ranks.
    pub(crate) fn step_bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.dtype.len_bytes()
    }
}

/// A role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Side {
    /// A publisher rank.
    Publisher,
    /// A subscriber rank.
    Subscriber,
    /// All ranks, as threads.
    All,
}

/// A role and its part in the work.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Which role.
    pub(crate) side: Side,
    /// Its rank.
    pub(crate) rank: u32,
    /// What all have in common.
    pub(crate) setup: Setup,
    /// The blocks of each publisher rank: only its own, or all.
    pub(crate) blocks: Vec<Vec<Part>>,
    /// What each subscriber rank takes: only its own, or all.
    pub(crate) parts: Vec<Part>,
}

/// What a role says to its parent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// The stream is open.
    Ready,
    /// Its work is done.
    Found(Box<Found>),
}

/// What the parent says to a subscriber: the stream is there.
pub(crate) const GO: &str = "go\n";

/// What one rank found. All times in nanoseconds, of the machine's monotonic clock or of the processor.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Publisher: before `begin_step`, for each step. Subscriber: when it had its part.
    pub(crate) stamps_ns: Vec<u64>,
    /// Publisher: in `begin_step`, for each step.
    pub(crate) begin_ns: Vec<u64>,
    /// Publisher: in puts and `end`, for each step, without the filling of what is put.
    pub(crate) put_ns: Vec<u64>,
    /// Subscriber: when it began to attach, when `open` returned.
    pub(crate) opening_ns: (u64, u64),
    /// Processor time of the steps for throughput, whole process; of it filling.
    pub(crate) cpu_ns: (u64, u64),
    /// The most memory that the process had.
    pub(crate) peak_bytes: u64,
    /// Bytes put or delivered.
    pub(crate) payload_bytes: u64,
    /// Bytes that this side copied, by whatever counter.
    pub(crate) copied_bytes: u64,
    /// Elements that were looked at and are what was published.
    pub(crate) checked: u64,
    /// Nanoseconds spent looking at elements in the steps for throughput.
    pub(crate) checking_ns: u64,
    /// Subscriber: what the data links run over.
    pub(crate) transports: Vec<String>,
}
