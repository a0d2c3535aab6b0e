//! Why things end or are refused: the reasons that travel and that users read.

use crate::access::Denial;
use fp_types::{ConditionRefusal, Epoch, Rank, StepId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How a loss was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LossReason {
    /// The link was closed or reset.
    Disconnected,
    /// Nothing was heard for this long.
    Silent {
        /// For how long.
        #[serde(with = "crate::millis")]
        silence: Duration,
    },
    /// The peer broke the protocol.
    Misbehaved,
    /// The peer could not be reached.
    Unreachable,
    /// The blocks that this rank and those below it put in one step are more than can be told of.
    TooManyBlocks {
        /// Blocks, over all variables.
        blocks: u64,
        /// Bytes that their regions take.
        len_bytes: u64,
        /// The bound.
        limit_bytes: u64,
    },
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disconnected => f.write_str("its link was closed"),
            Self::Silent { silence } => write!(f, "nothing was heard of it for {} ms", silence.as_millis()),
            Self::Misbehaved => f.write_str("it broke the protocol"),
            Self::Unreachable => f.write_str("it could not be reached"),
            Self::TooManyBlocks { blocks, len_bytes, limit_bytes } => {
                write!(
                    f,
                    "{blocks} blocks of its ranks take {len_bytes} bytes to tell of, more than {limit_bytes}"
                )
            }
        }
    }
}

/// Why a publisher goes on without a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExpulsionCause {
    /// It released no step for as long as the publisher waits under its policy.
    Unreleased {
        /// How long the rank waited.
        #[serde(with = "crate::millis")]
        waited: Duration,
    },
    /// Nothing was heard of it for this long: it was stopped, or could not be reached.
    Silent {
        /// For how long.
        #[serde(with = "crate::millis")]
        silence: Duration,
    },
}

/// Why a stream is over for a subscriber cohort.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EndReason {
    /// The publisher closed it.
    Closed,
    /// A publisher rank is lost.
    Lost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// The publisher goes on without this subscriber.
    Expelled {
        /// The publisher rank that gave it up.
        rank: Rank,
        /// Why.
        cause: ExpulsionCause,
    },
    /// The subscriber itself left.
    Left,
    /// A rank of the subscriber's own cohort is lost: a cohort fails as one.
    CohortLost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// The subscriber asked for more than the publisher's access list lets it.
    Denied(Denial),
}

impl fmt::Display for ExpulsionCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreleased { waited } => {
                write!(f, "waited {} ms for this subscription to release a step", waited.as_millis())
            }
            Self::Silent { silence } => {
                write!(
                    f,
                    "heard nothing of this subscriber for {} ms: it was stopped, or could not be reached",
                    silence.as_millis()
                )
            }
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the publisher closed the stream"),
            Self::Lost { rank, reason } => write!(f, "publisher rank {rank} is lost: {reason}"),
            Self::Expelled { rank, cause } => write!(f, "detached: publisher rank {rank} {cause}"),
            Self::Left => f.write_str("the subscriber left"),
            Self::CohortLost { rank, reason } => write!(f, "rank {rank} of the own cohort is lost: {reason}"),
            Self::Denied(denial) => write!(f, "detached: {denial}"),
        }
    }
}

/// Why a rank or a subscription is refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RefusalReason {
    /// The name belongs to somebody who is alive.
    NameTaken {
        /// The incumbent's epoch.
        epoch: Epoch,
    },
    /// The rank is outside the cohort, or the sizes differ.
    CohortMismatch {
        /// The rank that asked.
        rank: Rank,
        /// The size it believes in.
        size: u32,
        /// The lead's size.
        expected_size: u32,
    },
    /// The rank has joined already.
    RankTaken {
        /// The rank.
        rank: Rank,
    },
    /// The stream is closing or lost.
    Closing,
    /// There are as many subscriptions as the publisher allows.
    TooManySubscriptions {
        /// The limit.
        limit: u32,
    },
    /// A work-sharing set exists whose members ask for something else.
    ShareMismatch {
        /// The set.
        set: String,
        /// What is asked for otherwise, the first of it.
        part: SharePart,
    },
    /// The specification itself is wrong.
    InvalidSpec {
        /// Which part.
        part: SpecPart,
    },
    /// The publisher's access list does not allow it.
    Denied(Denial),
    /// The ranks of a publisher cohort disagree on the number of its first step.
    FirstStepMismatch {
        /// The rank that asked.
        rank: Rank,
        /// What it says.
        first_step: Option<StepId>,
        /// What the lead says.
        expected_first_step: Option<StepId>,
    },
    /// The publisher cannot judge steps by the condition.
    Condition(ConditionRefusal),
    /// The peer has as many subscriptions as the publisher allows one.
    TooManyOfPeer {
        /// The limit.
        limit: u32,
        /// Whose subscriptions are counted together: a user of the publisher's host, or an address.
        peer: String,
    },
    /// The publisher's lead has so little memory that a subscription more could make a put fail. It may have more soon.
    ShortOfMemory(MemoryShortage),
}

/// How little memory a process has, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryShortage {
    /// What it could still take.
    pub left_bytes: u64,
    /// What it keeps for its own steps.
    pub kept_bytes: u64,
}

impl RefusalReason {
    /// Whether the same publisher, or the next of its name, may soon say something else.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Closing | Self::ShortOfMemory(_))
    }

    /// Whether it counts subscriptions. A publisher counts a member until it has noticed that its link is gone. So whoever
    /// was attached before may be what is in its own way.
    pub fn counts_subscriptions(&self) -> bool {
        matches!(self, Self::TooManySubscriptions { .. } | Self::TooManyOfPeer { .. })
    }
}

/// The number of a cohort's first step, in words.
fn first_step_words(first_step: Option<StepId>) -> String {
    first_step.map_or_else(|| "no first step".to_owned(), |step| format!("first step {step}"))
}

/// The part of a specification that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SpecPart {
    /// `limit_steps` must be at least 1.
    LimitSteps,
    /// `every` must be at least 1.
    EveryKth,
    /// Names must be sorted, without repetition and at most 255 bytes each.
    Variables,
    /// A change of selection may change nothing else.
    NotSelection,
    /// The credit must be at least 1.
    Credit,
    /// A label or set name is too long.
    Name,
    /// Requests must be sorted and without repetition.
    Requests,
}

/// What the members of a work-sharing set must ask for alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SharePart {
    /// The variables.
    Variables,
    /// The policy.
    Policy,
    /// The bound of live steps.
    LimitSteps,
    /// Where it starts.
    StartAt,
    /// How steps are handed out.
    Mode,
    /// Whether steps are handed out again.
    Redeliver,
    /// What is derived or transformed, or which types are wanted.
    Requests,
    /// The condition.
    Condition,
}

impl fmt::Display for SharePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variables => "choice of variables",
            Self::Policy => "policy",
            Self::LimitSteps => "limit_steps",
            Self::StartAt => "start_at",
            Self::Mode => "mode",
            Self::Redeliver => "redeliver",
            Self::Requests => "list of what is derived or transformed",
            Self::Condition => "condition",
        })
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { epoch } => write!(f, "the name is taken by a live cohort (epoch {epoch})"),
            Self::CohortMismatch { rank, size, expected_size } => {
                write!(f, "rank {rank} of {size} does not fit a cohort of {expected_size}")
            }
            Self::RankTaken { rank } => write!(f, "rank {rank} has joined already"),
            Self::Closing => f.write_str("the stream is closing"),
            Self::TooManySubscriptions { limit } => write!(f, "the publisher allows {limit} subscriptions"),
            Self::ShareMismatch { set, part } => {
                write!(f, "work-sharing set {set:?} exists with another {part}: all its members say the same")
            }
            Self::InvalidSpec { part } => write!(f, "invalid subscription: {part:?}"),
            Self::Denied(denial) => denial.fmt(f),
            Self::Condition(refusal) => write!(f, "{refusal}"),
            Self::TooManyOfPeer { limit, peer } => {
                write!(
                    f,
                    "{peer} has {limit} subscriptions already, and the publisher allows a peer no more: close one, or \
                     raise the publisher's limit_peer_subscriptions"
                )
            }
            Self::ShortOfMemory(MemoryShortage { left_bytes, kept_bytes }) => {
                write!(
                    f,
                    "the publisher's lead has {left_bytes} bytes of memory left and keeps {kept_bytes} for its own \
                     steps: give it more memory, lower its limit_bytes, or lower its kept_bytes"
                )
            }
            Self::FirstStepMismatch { rank, first_step, expected_first_step } => {
                let (own, expected) = (first_step_words(*first_step), first_step_words(*expected_first_step));
                write!(f, "rank {rank} says {own}, its lead says {expected}: say the same on all ranks")
            }
        }
    }
}

/// How a stream ended on a handle, with the last step it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEnding {
    /// Why.
    pub reason: EndReason,
    /// The last step that was assigned to this cohort.
    pub last: Option<StepId>,
    /// Steps after it that the subscription did not get, as far as the publisher could say.
    pub skipped: u64,
}

impl fmt::Display for StreamEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.last, self.skipped) {
            (Some(last), 0) => write!(f, "{} (the last step was {last})", self.reason),
            (Some(last), skipped) => {
                write!(f, "{} (the last step was {last}, and {skipped} after it were skipped)", self.reason)
            }
            (None, 0) => write!(f, "{} (before any step)", self.reason),
            (None, skipped) => write!(f, "{} (all its {skipped} steps were skipped)", self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_says_why_and_after_which_step() {
        let ending = StreamEnding { reason: EndReason::Closed, last: Some(StepId(9)), skipped: 0 };
        assert_eq!(ending.to_string(), "the publisher closed the stream (the last step was 9)");
        let behind = StreamEnding { skipped: 2, ..ending };
        let text = "the publisher closed the stream (the last step was 9, and 2 after it were skipped)";
        assert_eq!(behind.to_string(), text);
        let at_once = StreamEnding { reason: EndReason::Left, last: None, skipped: 0 };
        assert_eq!(at_once.to_string(), "the subscriber left (before any step)");
        let missed = StreamEnding { reason: EndReason::Closed, last: None, skipped: 3 };
        assert_eq!(missed.to_string(), "the publisher closed the stream (all its 3 steps were skipped)");
    }
}
