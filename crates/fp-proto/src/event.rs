//! What the application may want to know of a stream's life.

mod words;

use crate::access::Denial;
use crate::config::{ContactText, SubscriptionSpec};
use crate::message::{MemberId, NoTable};
use crate::outcome::{EndReason, LossReason, RefusalReason, StreamEnding};
use crate::steering::SteeringOutcome;
use fp_types::{Epoch, Rank, StepId, SubscriptionId};

/// Something happened on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The cohort is complete and the stream open (publisher), or attached (subscriber).
    Opened {
        /// The publisher's epoch.
        epoch: Epoch,
    },
    /// Opening failed; nothing else follows.
    OpenFailed(OpenFailure),
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
        /// The member.
        member: MemberId,
        /// Who it says it is.
        label: String,
        /// Its ranks.
        cohort_size: u32,
    },
    /// A member left or was lost (publisher's lead).
    MemberLeft {
        /// The subscription.
        subscription: SubscriptionId,
        /// The member.
        member: MemberId,
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
    /// The answer to `resolve` (subscriber).
    Resolved {
        /// The request.
        request: u64,
        /// What became of it.
        outcome: ResolveOutcome,
    },
    /// Part of the answer to `ask_contacts` (subscriber): every rank that was asked for is in one part.
    Contacts {
        /// The request.
        request: u64,
        /// Where these publisher ranks are; `None` where nobody can say any more, as a rank on the way is lost.
        contacts: Vec<(Rank, Option<ContactText>)>,
        /// Ranks that are still to come.
        left: usize,
    },
    /// What the subscription asks for from this step on, before `Reselected` says that it is so (subscriber).
    Specified {
        /// The first step under it.
        first: StepId,
        /// All of it.
        spec: Box<SubscriptionSpec>,
    },
    /// Another selection holds from this step on (subscriber).
    Reselected {
        /// The first step under it.
        first: StepId,
    },
    /// The publisher does not judge by the condition that was asked for last, and goes on with the one before (subscriber's
    /// lead).
    ConditionRefused {
        /// Why.
        reason: RefusalReason,
    },
    /// What became of a request to the simulation (subscriber's lead).
    Steered {
        /// The number of the request.
        id: u64,
        /// What became of it.
        outcome: SteeringOutcome,
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

/// Why opening failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenFailure {
    /// The lead or the publisher refused.
    Refused(RefusalReason),
    /// The time was up; this is what was waited for.
    TimedOut(OpenWait),
    /// A rank was lost while the cohort assembled.
    RankLost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
}

/// What opening waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenWait {
    /// Some ranks of the own cohort have not come.
    Ranks {
        /// How many there are.
        present: u32,
        /// How many there should be.
        size: u32,
    },
    /// The name is not in the rendezvous.
    Name {
        /// The name.
        name: String,
        /// The entries that were there, each with what became of it.
        seen: Vec<(ContactText, Seen)>,
    },
    /// The lead has not answered.
    Lead,
    /// The publisher has not answered the subscription.
    Publisher,
}

/// What became of a rendezvous entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nobody answered there.
    Unreachable,
    /// Somebody else answered.
    OtherEpoch,
    /// It is still claiming the name.
    Claiming,
    /// It refused: it belongs to another run or is closing.
    Refused,
}

/// Why a member is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberEnd {
    /// It left.
    Left,
    /// It is lost.
    Lost(LossReason),
    /// The publisher's owner would not wait for it any longer.
    Expelled,
    /// It asked for more than the access list lets it.
    Denied,
}

/// Why a step is for nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepRejection {
    /// A rank dropped its writer without ending the step.
    Abandoned {
        /// The rank.
        rank: Rank,
    },
    /// The ranks disagree on a variable; the message names it and the ranks.
    Disagreement {
        /// In words.
        what: String,
    },
}

/// The answer to `resolve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveOutcome {
    /// A table that holds every variable, but only the blocks that the queries touch.
    Table {
        /// To be decoded by `table::decode`.
        encoded: Vec<u8>,
        /// The contacts that came with the answer, of ranks that own those blocks.
        owners: Vec<(Rank, ContactText)>,
    },
    /// No live step has that table any more.
    Unknown,
    /// The table is there, and cannot be had.
    Refused(NoTable),
    /// The publisher is lost.
    Lost,
}

/// How closing went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseOutcome {
    /// Everything was released, everybody was told.
    Clean,
    /// The deadline passed; these held steps still.
    Held(Vec<(SubscriptionId, Vec<StepId>)>),
    /// The cohort was lost before.
    Lost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
}
