//! What whoever retries asks of an error: whether the same call may succeed later, and whether the handle is of use.

use crate::error::misuse::Misuse;
use crate::error::{BeginError, OpenError, PutError, ReadError};
use fp_proto::event::OpenFailure;
use fp_proto::outcome::RefusalReason;

impl OpenError {
    /// Whether the same call may succeed later, though nothing is changed here. Who is waited for may come. Who has the
    /// name, or the last place, may go.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Failed { failure, .. } => may_pass(failure),
            Self::NameTaken { .. } | Self::TooFewSubscribers { .. } => true,
            Self::Types { source } => source.is_retryable() || matches!(**source, ReadError::NoStep { .. }),
            Self::Name(_)
            | Self::Cohort(_)
            | Self::Rendezvous(_)
            | Self::Listen { .. }
            | Self::Policy(_)
            | Self::Tls(_)
            | Self::Token(_)
            | Self::Access(_)
            | Self::Address(_)
            | Self::Limit(_)
            | Self::NoBound { .. }
            | Self::BoundTooHigh { .. }
            | Self::Parameter { .. }
            | Self::NotRedelivered { .. }
            | Self::FirstStep { .. }
            | Self::Reserve { .. }
            | Self::Refused { .. }
            | Self::Denied { .. }
            | Self::NotTrusted { .. }
            | Self::Gather { .. }
            | Self::Coordinator { .. }
            | Self::Io { .. } => false,
        }
    }
}

/// Whether what was in the way of opening may go by itself.
fn may_pass(failure: &OpenFailure) -> bool {
    match failure {
        OpenFailure::TimedOut(_) | OpenFailure::RankLost { .. } => true,
        OpenFailure::Refused(reason) => match reason {
            RefusalReason::NameTaken { .. }
            | RefusalReason::RankTaken { .. }
            | RefusalReason::Closing
            | RefusalReason::TooManySubscriptions { .. }
            | RefusalReason::TooManyOfPeer { .. }
            | RefusalReason::ShortOfMemory(_) => true,
            RefusalReason::CohortMismatch { .. }
            | RefusalReason::ShareMismatch { .. }
            | RefusalReason::InvalidSpec { .. }
            | RefusalReason::Denied(_)
            | RefusalReason::FirstStepMismatch { .. }
            | RefusalReason::Condition(_) => false,
        },
    }
}

impl Misuse {
    /// Whether no call on the handle will succeed.
    fn is_fatal(&self) -> bool {
        matches!(self, Self::Forked | Self::Closed)
    }
}

impl BeginError {
    /// Whether the same call may succeed later: it took too long, and nothing was begun.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// Whether no call on this handle will succeed any more: drop it, and open the stream again.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Lost { .. } | Self::Closed { .. } | Self::Coordinator { .. } => true,
            Self::Misuse { source, .. } => source.is_fatal(),
            Self::TimedOut { .. } => false,
        }
    }
}

impl PutError {
    /// Whether the same call may succeed later: memory may come free as steps are released, and a file
    /// be there again.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Memory { .. } | Self::Unreadable { .. })
    }

    /// Whether no call on this handle will succeed any more: drop it, and open the stream again.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Lost { .. } => true,
            Self::Misuse { source, .. } => source.is_fatal(),
            Self::Memory { .. } | Self::Unreadable { .. } => false,
        }
    }
}

impl ReadError {
    /// Whether the same call may succeed later: it took too long, and the step is still held.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// Whether no call on this handle will succeed any more: drop it, and open the stream again. A publisher that is
    /// lost is none of that: [`Subscriber::next_step`](crate::Subscriber::next_step) says whether the stream goes on.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Coordinator { .. } => true,
            Self::Misuse { source, .. } => source.is_fatal(),
            Self::Plan { .. }
            | Self::Lost { .. }
            | Self::NoLayout { .. }
            | Self::Denied { .. }
            | Self::Gone { .. }
            | Self::TimedOut { .. }
            | Self::PeerMisbehaved { .. }
            | Self::Incompatible { .. }
            | Self::Records { .. }
            | Self::NotTransformed { .. }
            | Self::NotDerived { .. }
            | Self::NoStep { .. }
            | Self::NotProvided { .. } => false,
        }
    }
}
