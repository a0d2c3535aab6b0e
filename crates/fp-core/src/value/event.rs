//! What happens on a stream, as its user hears of it. What only the parts of this crate tell one another is not here.

use fp_proto::access::Denial;
use fp_proto::event::{CloseOutcome, Event as Told, MemberEnd, StepRejection};
use fp_proto::outcome::{EndReason, LossReason, StreamEnding};
use fp_types::{Epoch, Rank, StepId, SubscriptionId};
use std::fmt;

/// Something happened on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The cohort is complete and the stream open (publisher), or attached (subscriber).
    Opened {
        /// The publisher's epoch.
        epoch: Epoch,
    },
    /// Opening failed; nothing else follows.
    OpenFailed {
        /// Why, in words.
        what: String,
    },
    /// A subscription starts at this step (publisher).
    SubscriptionStarted {
        /// Which.
        subscription: SubscriptionId,
        /// Its first step.
        first: StepId,
    },
    /// A member joined a subscription (publisher's lead).
    MemberJoined {
        /// The subscription.
        subscription: SubscriptionId,
        /// The member's number, which no other one has.
        member: u64,
        /// Who it says it is.
        label: String,
        /// Its ranks.
        cohort_size: u32,
    },
    /// A member left or was lost (publisher's lead).
    MemberLeft {
        /// The subscription.
        subscription: SubscriptionId,
        /// The member's number, which no other one has.
        member: u64,
        /// Why.
        reason: MemberEnd,
    },
    /// A subscription is over (publisher).
    SubscriptionEnded {
        /// Which.
        subscription: SubscriptionId,
    },
    /// The access list refused what a peer asked for (publisher).
    Denied(Denial),
    /// A step that a subscription does not get (publisher's lead).
    StepDropped {
        /// The subscription.
        subscription: SubscriptionId,
        /// The step.
        step: StepId,
    },
    /// A step that nobody gets (publisher's lead).
    StepRejected {
        /// The step.
        step: StepId,
        /// Why.
        reason: StepRejection,
    },
    /// A rank of the publisher cohort is late (publisher).
    RankLagging {
        /// The step that waits for it.
        step: StepId,
        /// The rank.
        rank: Rank,
    },
    /// A rank of the own cohort is lost: the handle is of no more use but to close it.
    RankLost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// Another selection holds from this step on (subscriber).
    Reselected {
        /// The first step under it.
        first: StepId,
    },
    /// The publisher is lost, or the way to it; it is looked for again (subscriber).
    AwaitingRestart {
        /// Why it is.
        reason: EndReason,
    },
    /// The publisher was found again: a new epoch of the stream, or the same (subscriber).
    Restarted {
        /// The epoch.
        epoch: Epoch,
        /// The first step that may come.
        first: StepId,
        /// Whether its numbers are those of before, as they are in the same epoch. Each rank then goes on after what it
        /// took last. Otherwise steps count anew.
        continues: bool,
    },
    /// The stream is over (subscriber); steps assigned before can still be read.
    Ended(StreamEnding),
    /// Closing is complete; the coordinator may go.
    Closed(CloseOutcome),
}

impl Event {
    /// What the machine tells, if it is for the user; `None` for answers to questions of this crate.
    pub(crate) fn of(told: Told) -> Option<Self> {
        Some(match told {
            Told::Opened { epoch } => Self::Opened { epoch },
            Told::OpenFailed(failure) => Self::OpenFailed { what: format!("{failure:?}") },
            Told::SubscriptionStarted { subscription, first } => {
                Self::SubscriptionStarted { subscription, first }
            }
            Told::MemberJoined { subscription, member, label, cohort_size } => {
                Self::MemberJoined { subscription, member: member.0, label, cohort_size }
            }
            Told::MemberLeft { subscription, member, reason } => {
                Self::MemberLeft { subscription, member: member.0, reason }
            }
            Told::SubscriptionEnded { subscription } => Self::SubscriptionEnded { subscription },
            Told::Denied(denial) => Self::Denied(denial),
            Told::StepDropped { subscription, step } => Self::StepDropped { subscription, step },
            Told::StepRejected { step, reason } => Self::StepRejected { step, reason },
            Told::RankLagging { step, rank } => Self::RankLagging { step, rank },
            Told::RankLost { rank, reason } => Self::RankLost { rank, reason },
            Told::Reselected { first } => Self::Reselected { first },
            Told::AwaitingRestart { reason } => Self::AwaitingRestart { reason },
            Told::Restarted { epoch, first, continues } => Self::Restarted { epoch, first, continues },
            Told::Ended(ending) => Self::Ended(ending),
            Told::Closed(outcome) => Self::Closed(outcome),
            #[rustfmt::skip]
            Told::Resolved { .. } | Told::Contacts { .. } | Told::Specified { .. } | Told::Steered { .. }
            | Told::ConditionRefused { .. } => return None,
        })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened { epoch } => write!(f, "the stream is open, epoch {epoch}"),
            Self::OpenFailed { what } => write!(f, "opening failed: {what}"),
            Self::SubscriptionStarted { subscription, first } => {
                write!(f, "subscription {subscription} starts at step {first}")
            }
            Self::MemberJoined { subscription, label, cohort_size, .. } => {
                write!(f, "{label} of {cohort_size} ranks joined subscription {subscription}")
            }
            Self::MemberLeft { subscription, member, reason } => {
                write!(f, "member {member} of subscription {subscription} {reason}")
            }
            Self::SubscriptionEnded { subscription } => write!(f, "subscription {subscription} is over"),
            Self::Denied(denial) => write!(f, "refused: {denial}"),
            Self::StepDropped { subscription, step } => {
                write!(f, "subscription {subscription} does not get step {step}")
            }
            Self::StepRejected { step, reason } => write!(f, "nobody gets step {step}: {reason}"),
            Self::RankLagging { step, rank } => write!(f, "step {step} waits for rank {rank}"),
            Self::RankLost { rank, reason } => write!(f, "rank {rank} of the own cohort is lost: {reason}"),
            Self::Reselected { first } => {
                write!(f, "another selection or condition holds from step {first} on")
            }
            Self::AwaitingRestart { reason } => write!(f, "a new epoch is awaited: {reason}"),
            Self::Restarted { epoch, first, continues: false } => {
                write!(f, "restarted at step {first}, epoch {epoch}")
            }
            Self::Restarted { epoch, first, continues: true } => {
                write!(f, "goes on at step {first}, epoch {epoch}")
            }
            Self::Ended(ending) => ending.fmt(f),
            Self::Closed(outcome) => outcome.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_proto::event::{OpenFailure, OpenWait, ResolveOutcome};
    use fp_proto::message::MemberId;

    #[test]
    fn events_say_who_and_why() {
        let (subscription, member) = (SubscriptionId(2), MemberId(7));
        let reason = MemberEnd::Lost(LossReason::Disconnected);
        let left = Event::of(Told::MemberLeft { subscription, member, reason }).expect("it is for users");
        assert_eq!(left.to_string(), "member 7 of subscription 2 is lost: its link was closed");
        let rejected =
            Event::StepRejected { step: StepId(3), reason: StepRejection::Abandoned { rank: Rank(1) } };
        assert_eq!(rejected.to_string(), "nobody gets step 3: rank 1 abandoned it");
        let failed = Event::of(Told::OpenFailed(OpenFailure::TimedOut(OpenWait::Publisher)));
        assert!(failed.is_some_and(|failed| failed.to_string().starts_with("opening failed: ")));
    }

    #[test]
    fn answers_to_our_own_questions_are_no_events() {
        assert_eq!(Event::of(Told::Resolved { request: 1, outcome: ResolveOutcome::Lost }), None);
        assert_eq!(Event::of(Told::Contacts { request: 1, contacts: Vec::new(), left: 0 }), None);
    }
}
