//! Events in words, for logs and for callers in other languages.

use super::{CloseOutcome, Event, MemberEnd, StepRejection};
use std::fmt;

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened { epoch } => write!(f, "the stream is open, epoch {epoch}"),
            Self::OpenFailed(failure) => write!(f, "opening failed: {failure:?}"),
            Self::SubscriptionStarted { subscription, first } => {
                write!(f, "subscription {subscription} starts at step {first}")
            }
            Self::MemberJoined { subscription, label, cohort_size, .. } => {
                write!(f, "{label} of {cohort_size} ranks joined subscription {subscription}")
            }
            Self::MemberLeft { subscription, member, reason } => {
                write!(f, "member {} of subscription {subscription} {reason}", member.0)
            }
            Self::SubscriptionEnded { subscription } => write!(f, "subscription {subscription} is over"),
            Self::Denied(denial) => write!(f, "refused: {denial}"),
            Self::StepDropped { subscription, step } => {
                write!(f, "subscription {subscription} does not get step {step}")
            }
            Self::StepRejected { step, reason } => write!(f, "nobody gets step {step}: {reason}"),
            Self::RankLagging { step, rank } => write!(f, "step {step} waits for rank {rank}"),
            Self::RankLost { rank, reason } => write!(f, "rank {rank} of the own cohort is lost: {reason}"),
            Self::Resolved { request, .. } => write!(f, "question {request} about a layout is answered"),
            Self::Contacts { request, contacts, left } => {
                write!(f, "question {request} about contacts: {} came, {left} are to come", contacts.len())
            }
            Self::Specified { first, .. } => write!(f, "another specification holds from step {first} on"),
            Self::Reselected { first } => write!(f, "another selection holds from step {first} on"),
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

impl fmt::Display for MemberEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("left"),
            Self::Lost(reason) => write!(f, "is lost: {reason}"),
            Self::Expelled => f.write_str("was expelled: the publisher would wait for it no longer"),
            Self::Denied => f.write_str("was detached: it asked for more than the access list lets it"),
        }
    }
}

impl fmt::Display for StepRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abandoned { rank } => write!(f, "rank {rank} abandoned it"),
            Self::Disagreement { what } => f.write_str(what),
        }
    }
}

impl fmt::Display for CloseOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("closed: everything was released"),
            Self::Held(held) => write!(f, "closed, but {} subscriptions held steps still", held.len()),
            Self::Lost { rank, reason } => write!(f, "closed after the loss of rank {rank}: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MemberId;
    use crate::outcome::LossReason;
    use fp_types::{Rank, StepId, SubscriptionId};

    #[test]
    fn events_say_who_and_why() {
        let (subscription, member) = (SubscriptionId(2), MemberId(7));
        let reason = MemberEnd::Lost(LossReason::Disconnected);
        let left = Event::MemberLeft { subscription, member, reason };
        assert_eq!(left.to_string(), "member 7 of subscription 2 is lost: its link was closed");
        let rejected =
            Event::StepRejected { step: StepId(3), reason: StepRejection::Abandoned { rank: Rank(1) } };
        assert_eq!(rejected.to_string(), "nobody gets step 3: rank 1 abandoned it");
    }
}
