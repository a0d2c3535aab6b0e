//! Why ranks did not come together through their launcher's collectives.

use fp_types::Rank;

/// What a launcher says of a collective that failed.
pub type CollectiveFailure = Box<dyn std::error::Error + Send + Sync>;

/// Why the ranks of a cohort did not come together through their launcher's collectives.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// A collective failed on this rank.
    #[error("the launcher's {collective} failed: {source}")]
    Collective {
        /// Which.
        collective: &'static str,
        /// What the launcher said.
        r#source: CollectiveFailure,
    },
    /// The collective gave more or fewer bytes than the ranks have.
    #[error(
        "the launcher's allgather gave {found} bytes, where {size} ranks of {record_bytes} have {expected}"
    )]
    WrongLen {
        /// Bytes that came.
        found: usize,
        /// Bytes that should have come.
        expected: usize,
        /// Ranks of the cohort.
        size: u32,
        /// Bytes of each.
        record_bytes: usize,
    },
    /// What stands in the place of a rank is not what a rank of this version gives.
    #[error("in the place of rank {at} the launcher's allgather gave no record of a rank: {what}")]
    NoRecord {
        /// The place.
        at: Rank,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The ranks came in another order.
    #[error("in the place of rank {at} the launcher's allgather gave the record of rank {found}")]
    Misplaced {
        /// The place.
        at: Rank,
        /// Whose record stands there.
        found: Rank,
    },
    /// Ranks open different things together.
    #[error("rank {rank} opens {theirs}, this rank {ours}")]
    Disagree {
        /// The lowest rank that differs from this one.
        rank: Rank,
        /// What it opens.
        theirs: String,
        /// What this rank opens.
        ours: String,
    },
    /// A rank could not open its part: nobody opens.
    #[error("rank {failed} could not open its part: {why}")]
    RankFailed {
        /// The lowest rank that could not.
        failed: Rank,
        /// What it said.
        why: String,
    },
    /// An asynchronous call: the collectives block, and belong to the thread that opens.
    #[error("collectives block, and a task must not: open with `open`, on the thread that may call them")]
    InTask,
}
