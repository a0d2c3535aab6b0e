//! Which publisher ranks are on which host, and which rank of the staged stream stages them. All stagers find the same.
//!
//! Publisher ranks keep their order in the staged stream: so do rows of joined arrays, and blocks that overlap.

use std::fmt;
use std::ops::Range;

use fp_core::{HostId, Rank};

use crate::arguments::StagingRanks;

/// For so many bytes of a step of its host there is one staging rank, unless it is said how many there are.
const AUTO_BYTES: u64 = 64 << 20;

/// Why ranks cannot be divided so: what is wrong, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoDivision {
    /// Ranks of one host are not one behind the other.
    Interleaved { host: usize, rank: Rank },
    /// There are more or fewer hosts than stagers.
    Count { ranks: u32, hosts: usize, stagers: u32 },
    /// No rank is on the host of this stager.
    Elsewhere { index: u32 },
    /// It is another host than was said.
    Misplaced { index: u32, found: usize, ranks: Range<u32> },
}

impl fmt::Display for NoDivision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interleaved { host, rank } => write!(
                f,
                "its rank {rank} is on host {host}, and ranks before it are on later hosts. Ranks of a host must \
                 follow one another: start the simulation with --distribution=block (srun) or --map-by slot (mpirun)"
            ),
            Self::Count { ranks, hosts, stagers } => write!(
                f,
                "its {ranks} ranks run on {}, and there are stagers for {stagers}. Start one on each host of the \
                 simulation; their number is the launcher's, or --hosts",
                counted(*hosts)
            ),
            Self::Elsewhere { index } => write!(
                f,
                "none of its ranks runs on the host of the stager with --host-index {index}. Start stagers on the \
                 hosts of the simulation. If its hosts cannot be told apart, say --ranks-per-host"
            ),
            Self::Misplaced { index, found, ranks } => write!(
                f,
                "ranks {} run on the host of the stager with --host-index {index}. So that is host {found}: hosts \
                 count in the order of their ranks",
                words(ranks)
            ),
        }
    }
}

/// The ranks of a publisher, by hosts: each has those of one range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Division(Vec<Range<u32>>);

impl Division {
    /// By where they run.
    pub(super) fn by_host(
        hosts: &[HostId],
        own: HostId,
        (index, stagers): (u32, u32),
    ) -> Result<Self, NoDivision> {
        let mut found: Vec<(HostId, Range<u32>)> = Vec::new();
        for (rank, host) in (0..).zip(hosts) {
            match found.iter().position(|(known, _)| known == host) {
                None => found.push((*host, rank..rank + 1)),
                Some(at) if at + 1 == found.len() => {
                    found.last_mut().into_iter().for_each(|(_, ranks)| ranks.end = rank + 1);
                }
                Some(host) => return Err(NoDivision::Interleaved { host, rank: Rank(rank) }),
            }
        }
        let here = found.iter().position(|(host, _)| host.matches(own));
        let Some(found_at) = here else { return Err(NoDivision::Elsewhere { index }) };
        let division = Self(found.into_iter().map(|(_, ranks)| ranks).collect()).of_stagers(stagers)?;
        match u32::try_from(found_at).is_ok_and(|found| found == index) {
            true => Ok(division),
            false => {
                let ranks = division.0.get(found_at).cloned().unwrap_or_default();
                Err(NoDivision::Misplaced { index, found: found_at, ranks })
            }
        }
    }

    /// So many on each host, and what is left on the last.
    pub(super) fn evenly(ranks: u32, per_host: u32) -> Self {
        let starts = (0..ranks).step_by(per_host.max(1) as usize);
        Self(starts.map(|start| start..start.saturating_add(per_host).min(ranks)).collect())
    }

    /// The same, if there is a stager for each host.
    pub(super) fn of_stagers(self, stagers: u32) -> Result<Self, NoDivision> {
        let hosts = self.0.len();
        if hosts == stagers as usize {
            return Ok(self);
        }
        Err(NoDivision::Count { ranks: self.0.last().map_or(0, |ranks| ranks.end), hosts, stagers })
    }

    /// The ranks of a host.
    pub(super) fn of_host(&self, host: u32) -> Range<u32> {
        self.0.get(host as usize).cloned().unwrap_or_default()
    }

    /// How many ranks there are.
    pub(super) fn ranks(&self) -> u32 {
        self.0.last().map_or(0, |ranks| ranks.end)
    }

    /// Who stages what: for each host the ranges of publisher ranks, one for each staging rank. `bytes` says how many
    /// bytes of a step are on a range of ranks.
    pub(super) fn lanes(&self, asked: StagingRanks, bytes: impl Fn(&Range<u32>) -> u64) -> Lanes {
        let of_host = |ranks: &Range<u32>| {
            let wanted = match asked {
                StagingRanks::AtMost(number) => number,
                StagingRanks::Auto => u32::try_from(bytes(ranks).div_ceil(AUTO_BYTES)).unwrap_or(u32::MAX),
            };
            cut(ranks, wanted)
        };
        Lanes(self.0.iter().map(of_host).collect())
    }
}

/// Which publisher ranks each rank of the staged stream has, by hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lanes(Vec<Vec<Range<u32>>>);

impl Lanes {
    /// As many ranks as the staged stream has.
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|of_host| of_host.len() as u32).sum()
    }

    /// The staging ranks of a host, each with the publisher ranks that are its.
    pub(super) fn of_host(&self, host: u32) -> Vec<(Rank, Range<u32>)> {
        let before = self.0.iter().take(host as usize).map(Vec::len).sum::<usize>() as u32;
        let own = self.0.get(host as usize).into_iter().flatten().cloned();
        (before..).map(Rank).zip(own).collect()
    }
}

/// A range in so many parts, none of which is empty and none much longer than another.
fn cut(ranks: &Range<u32>, parts: u32) -> Vec<Range<u32>> {
    let len = u64::from(ranks.end - ranks.start);
    let parts = u64::from(parts).min(len).max(1);
    let at = |part: u64| ranks.start + (len * part / parts) as u32;
    (0..parts).map(|part| at(part)..at(part + 1)).collect()
}

/// A number of hosts, for people.
pub(super) fn counted(hosts: usize) -> String {
    format!("{hosts} {}", if hosts == 1 { "host" } else { "hosts" })
}

/// A range of ranks, for people.
pub(super) fn words(ranks: &Range<u32>) -> String {
    format!("{} to {}", ranks.start, ranks.end.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(ids: &[u128]) -> Vec<HostId> {
        ids.iter().copied().map(HostId).collect()
    }

    #[test]
    fn ranks_are_divided_by_where_they_run() {
        let at = |ids: &[u128], own, index| Division::by_host(&hosts(ids), HostId(own), (index, 2));
        assert_eq!(at(&[7, 7, 7, 5], 5, 1), Ok(Division(vec![0..3, 3..4])));
        let again = NoDivision::Interleaved { host: 0, rank: Rank(2) };
        assert_eq!(at(&[7, 5, 7, 5], 5, 1), Err(again));
        assert_eq!(at(&[7, 7], 5, 0), Err(NoDivision::Elsewhere { index: 0 }));
        let misplaced = NoDivision::Misplaced { index: 0, found: 1, ranks: 2..4 };
        assert_eq!(at(&[7, 7, 5, 5], 5, 0), Err(misplaced));
        let count = NoDivision::Count { ranks: 4, hosts: 1, stagers: 2 };
        assert_eq!(at(&[7, 7, 7, 7], 7, 1), Err(count), "that comes before which of them it is");
        assert_eq!(at(&[0, 0], 0, 0), Err(NoDivision::Elsewhere { index: 0 }), "unknown is no host");
    }

    #[test]
    fn there_is_one_stager_for_each_host() {
        assert_eq!(Division::evenly(7, 3).of_stagers(3), Ok(Division(vec![0..3, 3..6, 6..7])));
        let count = NoDivision::Count { ranks: 7, hosts: 3, stagers: 2 };
        assert_eq!(Division::evenly(7, 3).of_stagers(2), Err(count));
    }

    #[test]
    fn each_rank_is_staged_by_one_rank_and_in_order() {
        let division = Division::evenly(8, 5);
        let lanes = division.lanes(StagingRanks::AtMost(4), |_| 0);
        assert_eq!(lanes.count(), 7, "a host with three ranks has no fourth");
        let all = (0..2).flat_map(|host| lanes.of_host(host)).collect::<Vec<_>>();
        assert!((0..7).map(Rank).eq(all.iter().map(|(rank, _)| *rank)));
        assert!((0..8).eq(all.into_iter().flat_map(|(_, ranks)| ranks)));
    }

    #[test]
    fn more_bytes_have_more_ranks_up_to_those_of_the_host() {
        let of = |len_bytes| Division::evenly(4, 4).lanes(StagingRanks::Auto, |_| len_bytes).count();
        assert_eq!([0, 1, 64 << 20, (64 << 20) + 1, 200 << 20, 1 << 40].map(of), [1, 1, 1, 2, 4, 4]);
    }
}
