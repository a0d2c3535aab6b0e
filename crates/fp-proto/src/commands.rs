//! What the commands of the application answer.

use crate::bounds::LIMIT_STEERING_TEXT_BYTES;
use crate::few::Few;
use crate::message::{Assignment, ChangeId};
use crate::outcome::{LossReason, StreamEnding};
use crate::request::Request;
use crate::steering::SteeringRequest;
use crate::time::Moment;
use fp_types::{ContributionError, Rank, StepId, SubscriptionId};
use std::sync::Arc;

/// The answer to `PublisherMachine::begin_step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The step is begun.
    Started(BegunStep),
    /// There is no room yet; call again after any effect or at the deadline.
    Wait {
        /// What for.
        reason: BeginWait,
        /// When the wait ends by itself, if it does.
        until: Option<Moment>,
    },
}

/// A begun step and for whom it is kept; frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunStep {
    /// The step.
    pub step: StepId,
    /// The subscriptions that it is kept for, standing ones included, but for `watches`; sorted.
    pub kept: Few<SubscriptionId>,
    /// Lossless subscriptions with a condition, for which it is kept until it is decided; sorted. The same value for all
    /// steps between two changes of them, so that they cost a step nothing, however many there are.
    pub watches: Arc<[SubscriptionId]>,
    /// Those of `kept` whose condition is judged when the step is decided. Until it is assigned they hear nothing of it, as
    /// `watches`.
    pub unjudged: Few<SubscriptionId>,
    /// What all those ask for of it, each once and with how many of them asked for it; sorted.
    pub requests: Vec<(Arc<Request>, u32)>,
    /// What is to be measured of it for their conditions, each once; sorted. See `PublisherMachine::measured`.
    pub measures: Vec<Arc<str>>,
    /// What subscribers ask of the simulation at this step. What `PublisherMachine::decline` does not decline is taken.
    pub steering: Vec<(ChangeId, Arc<SteeringRequest>)>,
}

impl BegunStep {
    /// Whether it is kept for anybody: otherwise nothing need be stored.
    pub fn is_kept(&self) -> bool {
        !self.kept.is_empty() || !self.watches.is_empty()
    }
}

/// What a step takes on its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepBytes {
    /// In memory: these count to the rank's bound.
    pub memory: u64,
    /// Elsewhere, such as on disk.
    pub elsewhere: u64,
}

impl StepBytes {
    /// Both.
    pub(crate) fn all(self) -> u64 {
        self.memory.saturating_add(self.elsewhere)
    }
}

impl From<u64> for StepBytes {
    fn from(memory: u64) -> Self {
        Self { memory, elsewhere: 0 }
    }
}

/// What a publisher waits for before its next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginWait {
    /// The cohort is not complete yet.
    Opening,
    /// Too many steps of this rank are undecided.
    Skew {
        /// The oldest undecided step.
        step: StepId,
        /// The rank that lags, once it is known.
        lagging: Option<Rank>,
    },
    /// A subscription holds as many steps or bytes as it may.
    Subscription {
        /// Which.
        subscription: SubscriptionId,
        /// Its live steps on this rank.
        live_steps: u32,
        /// Bytes live on this rank.
        live_bytes: u64,
    },
    /// Somebody paused the simulation.
    Paused {
        /// Who: the label of the subscriber.
        by: String,
    },
    /// The ranks agree at which step they see a request that is urgent.
    Request {
        /// The parameter.
        parameter: String,
        /// Who asks.
        by: String,
    },
}

/// Why a command is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The stream is lost.
    #[error("rank {rank} of the own cohort is lost: {reason}")]
    Lost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// The handle is closing or closed, or opening failed.
    #[error("the stream is closed on this handle")]
    Closed,
    /// A step is begun already and neither ended nor abandoned.
    #[error("step {0}: it is still open: end it first")]
    StepOpen(StepId),
    /// This step is not the one that is begun.
    #[error("step {0}: it is not open")]
    StepNotOpen(StepId),
    /// The step was not assigned, or is released already.
    #[error("step {0}: it is not held")]
    NotHeld(StepId),
    /// The publisher has not yet said from which step on the condition holds that was asked for before.
    #[error("the condition that was asked for before is not answered yet: wait for that, and ask again")]
    ConditionUnanswered,
    /// Steps are given again only to members of a work-sharing set that redelivers.
    #[error("nothing is given back: this is no member of a work-sharing set that redelivers")]
    NotRedelivered,
    /// Scalars of one step exceed their bound.
    #[error("the scalars of step {step} take {len_bytes} bytes, more than {limit_bytes}")]
    ScalarsTooLarge {
        /// The step.
        step: StepId,
        /// Their bytes.
        len_bytes: u64,
        /// The bound.
        limit_bytes: u64,
    },
    /// The blocks of one step are more than can be told of.
    #[error("the {blocks} blocks of step {step} take {len_bytes} bytes to tell of, more than {limit_bytes}")]
    TooManyBlocks {
        /// The step.
        step: StepId,
        /// Blocks, over all variables.
        blocks: u64,
        /// Bytes that their regions take.
        len_bytes: u64,
        /// The bound.
        limit_bytes: u64,
    },
    /// What was put in a step breaks the rules.
    #[error("step {step}: {error}")]
    Contribution {
        /// The step.
        step: StepId,
        /// Which rule.
        error: Box<ContributionError>,
    },
    /// The stream has not been attached yet, or is over.
    #[error("the stream has no publisher: none yet, or it is over")]
    NotAttached,
    /// These are no ranks of the publisher, or none, or too many for one question.
    #[error(
        "{ranks} ranks, to be of the publisher's {size}, and at most {} in one question",
        crate::bounds::LIMIT_CONTACTS
    )]
    InvalidRanks {
        /// How many.
        ranks: usize,
        /// The publisher's.
        size: u32,
    },
    /// Numbers, truth values and short texts are asked of a simulation, and nothing else.
    #[error(
        "a request takes a number, a truth value, or a text of at most {LIMIT_STEERING_TEXT_BYTES} bytes"
    )]
    InvalidValue,
    /// The new selection is not acceptable.
    #[error("invalid selection: only the variables of a subscription can change")]
    InvalidSpec,
}

/// The answer to `SubscriberMachine::next_step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next step; it is held until `release`.
    Step(Assignment),
    /// None has come yet.
    NotYet,
    /// No more will come.
    Ended(StreamEnding),
}
