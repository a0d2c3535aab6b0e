//! How a stager is told that it is one of several: one on each host of the simulation.

use std::num::NonZeroU32;

use clap::Args;
use fp_core::Cohort;

use crate::failure::Failure;

/// Options of `stage --per-host`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PerHostOptions {
    /// One such stager runs on each host of the simulation, and takes what the ranks of its host put. Together they
    /// publish with K ranks a host; `auto` is one for every 64 MiB of a step of the host
    #[arg(long, value_name = "K|auto", value_parser = staging_ranks, conflicts_with = "disk")]
    pub(crate) per_host: Option<StagingRanks>,
    /// How many hosts there are [default: as many as the launcher started stagers, else 1]
    #[arg(long, value_name = "N", requires = "host_index", requires = "per_host")]
    pub(crate) hosts: Option<u32>,
    /// Which of the hosts this is, from 0 on, in the order of their publisher ranks [default: the launcher's rank]
    #[arg(long, value_name = "I", requires = "hosts")]
    pub(crate) host_index: Option<u32>,
    /// Counts so many publisher ranks as one host, and does not look where they run
    #[arg(long, value_name = "R", requires = "per_host")]
    pub(crate) ranks_per_host: Option<NonZeroU32>,
}

/// How many ranks stage what is on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagingRanks {
    /// As many as this, or as the host has.
    AtMost(u32),
    /// By the bytes of a step.
    Auto,
}

impl PerHostOptions {
    /// Which host this is, and of how many: as was said, else as the launcher says.
    pub(crate) fn position(&self) -> Result<Cohort, Failure> {
        let (index, hosts) = match (self.host_index, self.hosts) {
            (Some(index), Some(hosts)) => (index, hosts),
            _ => {
                let launched = Cohort::from_environment();
                return launched.map_err(|error| Failure::Usage(error.to_string()));
            }
        };
        let why = || format!("--host-index {index} is no host of --hosts {hosts}: they count from 0");
        Cohort::of(index, hosts).map_err(|_| Failure::Usage(why()))
    }
}

fn staging_ranks(text: &str) -> Result<StagingRanks, String> {
    let number = text.parse().ok().filter(|number| *number > 0).map(StagingRanks::AtMost);
    let wrong = || format!("{text:?} is no number of ranks from 1 on, nor `auto`");
    if text == "auto" { Ok(StagingRanks::Auto) } else { number.ok_or_else(wrong) }
}
