//! Every message of the control plane. Discriminants are never reordered; new variants go to the end.
//!
//! The types are flat: no message contains itself, and every count has a bound that [`Message::check`] enforces
//! on receipt (`docs/protocol.md` lists them).

mod assignment;
mod check;
mod name;
mod report;

pub use assignment::Assignment;
pub use report::{MeasurePart, ReadyReport, ScalarValue};

use crate::access::Denial;
use crate::config::{ContactText, SubscriptionSpec};
use crate::few;
use crate::few::Few;
use crate::outcome::{EndReason, LossReason, RefusalReason};
use crate::status::report::{StatusRefusal, StatusReport, StatusScope};
use crate::steering::{SteeringOutcome, SteeringRequest, Urgency};
use fp_types::{AttributeValue, Epoch, Judgement, Rank, Selection, StepId, SubscriptionId, TableId};
use serde::{Deserialize, Serialize};

/// A member of a subscription: one subscriber cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemberId(pub u64);

/// With what a subscriber cohort goes on that was attached before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumption {
    /// The epoch that it was attached to.
    pub epoch: Epoch,
    /// The number that it goes on with: it has all lower ones.
    pub from: StepId,
}

/// One change of what the publisher cohort keeps, agreed in two passes of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChangeId(pub u64);

/// What a change does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// A new subscription.
    Add(Box<SubscriptionSpec>),
    /// The end of one.
    Remove,
    /// Another selection for one.
    Update(Box<SubscriptionSpec>),
    /// Something that a member asks of the simulation. All ranks see it at the first step of the change.
    Steer(Box<SteeringRequest>),
}

/// The lead's decisions: one ordered log that every publisher rank receives whole, down the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// First pass of a change: keep from now on, and answer with the next step to begin.
    Prepare {
        /// The change.
        change: ChangeId,
        /// The subscription it is about.
        subscription: SubscriptionId,
        /// What it does.
        kind: ChangeKind,
    },
    /// Second pass: the change holds from this step on.
    Start {
        /// The change.
        change: ChangeId,
        /// The first step under it: the maximum over all ranks of the next step to begin.
        first: StepId,
        /// Reserved steps that the newcomer gets as well; sorted, all below `first`.
        reserved: Vec<StepId>,
        /// Steps from here up to `first` are its too, where the reserve keeps them.
        reserve_from: StepId,
    },
    /// A step is complete, or will never be.
    Decided {
        /// The step.
        step: StepId,
        /// Its table; `None` if it was abandoned or its ranks disagree.
        table: Option<TableId>,
        /// Who has it, standing subscriptions included; sorted. A rank that kept it for others frees it for them.
        #[serde(deserialize_with = "few::read")]
        kept: Few<SubscriptionId>,
    },
    /// A step was assigned to a member, which pins it.
    Assigned {
        /// The subscription.
        subscription: SubscriptionId,
        /// The member that gets it.
        member: MemberId,
        /// The step.
        step: StepId,
    },
    /// A subscription needs these steps no more: released, dropped or lost; sorted.
    Released {
        /// The subscription.
        subscription: SubscriptionId,
        /// The steps.
        #[serde(deserialize_with = "few::read")]
        steps: Few<StepId>,
        /// Whether somebody may still look at them: the memory is retired, not reused.
        retire: bool,
    },
    /// A rank is late with a step.
    Lagging {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
    },
    /// A publisher rank is lost: the stream ends.
    Lost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// Everything was released or given up: the stream is closed.
    Closed,
}

/// One selection that a subscriber rank wants resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolveQuery {
    /// The variable.
    pub variable: String,
    /// What of it.
    pub selection: Selection,
}

/// Why a table cannot be had, or the part of it that was asked for, though a step may have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NoTable {
    /// It is too large to be sent.
    #[error("a layout of {blocks} blocks takes {len_bytes} bytes, and at most {limit_bytes} are sent")]
    TooLarge {
        /// The blocks asked for, over all layouts.
        blocks: u64,
        /// Bytes that it would take at most.
        len_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The rank above sent a publisher rank something for it that is no such table.
    #[error("what publisher rank {rank} sent for the layout cannot be read")]
    Unreadable {
        /// The rank that sent it.
        rank: Rank,
    },
    /// Nobody is there to answer the rank that passed the question on.
    #[error("no publisher rank is there to answer for the layout")]
    Unanswered,
    /// The access list of the publisher rank does not allow to ask.
    #[error("{0}")]
    Denied(Denial),
}

/// A message of the control plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Nothing but a sign of life.
    Heartbeat,
    /// Who are you? From a lead that claims the same name, or from a subscriber that found a contact.
    Probe {
        /// The asker's epoch (zero from a subscriber).
        epoch: Epoch,
    },
    /// The answer to `Probe`.
    ProbeReply {
        /// The answering lead's epoch.
        epoch: Epoch,
        /// Whether its cohort holds the name (rather than claiming it).
        incumbent: bool,
    },
    /// A rank asks its lead for its place in the cohort.
    Join {
        /// The rank.
        rank: Rank,
        /// The size it believes in.
        size: u32,
        /// Its contact.
        contact: ContactText,
        /// The first step that it believes in.
        first_step: Option<StepId>,
    },
    /// The lead's answer when all ranks have joined.
    Welcome {
        /// The cohort's epoch.
        epoch: Epoch,
        /// The parent's contact.
        parent: ContactText,
    },
    /// The lead's answer to a rank that does not fit, or a publisher's to a subscription that does not. To a member it is
    /// the answer to a `Reselect` with another condition.
    Refused {
        /// Why.
        reason: RefusalReason,
    },
    /// A child's first word to its parent.
    TreeHello {
        /// The child.
        rank: Rank,
        /// Its contact, which the parent alone keeps.
        contact: ContactText,
    },
    /// A subtree is complete.
    SubtreeOpen,
    /// The whole cohort is complete, down the tree.
    CohortOpen,
    /// A rank was lost; up to the lead and down to everybody.
    RankLost {
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },

    /// Up the publisher tree: a step is complete below.
    Ready {
        /// The step.
        step: StepId,
        /// What the ranks below put is the same as in the report of this number, and `report.changed` is empty. Reports
        /// over this link that told of any are counted, from 0.
        again: Option<u64>,
        /// The merged report.
        report: Box<ReadyReport>,
    },
    /// Up the publisher tree: the first pass of a change is complete below.
    Prepared {
        /// The change.
        change: ChangeId,
        /// The highest next step to begin in this subtree.
        next: StepId,
    },
    /// Up the publisher tree: the owner's patience with this subscription is at its end.
    Expire {
        /// The subscription.
        subscription: SubscriptionId,
        /// The rank whose wait it was.
        rank: Rank,
        /// How long it waited.
        waited_ms: u64,
    },
    /// Up the publisher tree: every rank below has closed.
    Closing {
        /// The lowest number of steps that a rank below has ended.
        steps: u64,
    },
    /// Up the publisher tree: a rank below is late with a step.
    Late {
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
    },
    /// Up the publisher tree: somebody asked for a table that is not known here.
    TableRequest {
        /// The table.
        table: TableId,
    },
    /// Down the publisher tree, only to who asked: a table, encoded by `table::encode`.
    TableReply {
        /// The table.
        table: TableId,
        /// The encoded table; `None` if no live step has it any more.
        #[serde(with = "serde_bytes")]
        encoded: Option<Vec<u8>>,
    },
    /// Down the publisher tree: the next entries of the lead's log.
    Log {
        /// The number of the first entry, from 0; a gap is a broken peer.
        serial: u64,
        /// The entries.
        entries: Vec<Decision>,
    },

    /// A subscriber cohort's lead asks the publisher's lead for a subscription.
    Subscribe {
        /// What it asks for.
        spec: Box<SubscriptionSpec>,
        /// A name for people to read: who is attached.
        label: String,
        /// Ranks in the subscriber cohort.
        cohort_size: u32,
        /// Steps that this cohort takes before it has released any.
        credit: u64,
        /// It was attached before, and goes on.
        resume: Option<Resumption>,
    },
    /// The publisher's answer, once the first step is agreed.
    Subscribed {
        /// The subscription.
        subscription: SubscriptionId,
        /// The membership.
        member: MemberId,
        /// The first step that may be assigned.
        first: StepId,
        /// Publisher ranks: so many answer questions about layouts, but no more than the subscriber cohort has ranks.
        publisher_size: u32,
        /// Whether it goes on as it asked to: numbers are those of the epoch before.
        continues: bool,
    },
    /// A step for this cohort; down its tree as well.
    Assign(Assignment),
    /// Up the subscriber tree: every rank below has released this step. To the publisher: the cohort has, and will
    /// take one more.
    Release {
        /// The step.
        step: StepId,
        /// Whether a rank that closed may still look at it: the memory is retired, not reused.
        retire: bool,
        /// Whether a rank gave it back: a member of the set that redelivers gets it again.
        given_back: bool,
    },
    /// The subscriber's lead asks for other variables, to have other things derived, or to be told of other steps. A
    /// condition that the publisher cannot judge by is answered with `Refused`, and the one before holds on.
    Reselect {
        /// The new specification. Policy and sharing must be unchanged, and who has no condition goes on without one.
        spec: Box<SubscriptionSpec>,
    },
    /// The answer to `Reselect`, passed down the subscriber's tree as well. A lead that asked also tells its tree when
    /// it is attached again.
    Reselected {
        /// The first step under it.
        first: StepId,
        /// The specification: ranks that asked for nothing learn of it here.
        spec: Box<SubscriptionSpec>,
    },
    /// The subscriber cohort leaves.
    Unsubscribe,
    /// The stream is over for this cohort; down its tree as well.
    StreamEnd {
        /// Why.
        reason: EndReason,
        /// Steps that the subscription lost or dropped since the last assignment.
        skipped: u64,
    },
    /// Up the subscriber tree: every rank below has closed.
    Leaving,
    /// Down the subscriber tree: the cohort is attached (again).
    Attached {
        /// The subscription.
        subscription: SubscriptionId,
        /// The membership.
        member: MemberId,
        /// The publisher's epoch.
        epoch: Epoch,
        /// The first step that may come.
        first: StepId,
        /// Publisher ranks.
        publisher_size: u32,
        /// Publisher ranks that answer questions about layouts: the lowest so many.
        answerers: u32,
        /// Ranks of this cohort that ask them, each its own: the lowest so many. The others ask their parents.
        askers: u32,
        /// Whether numbers are those of the epoch before: what a rank has taken of them it passes over.
        continues: bool,
    },
    /// Down the subscriber tree: the publisher is lost, a new epoch is awaited.
    AwaitingRestart {
        /// Why the old epoch ended.
        reason: EndReason,
    },
    /// Down the subscriber tree: all have left, the handles may go.
    Left,

    /// A subscriber rank asks its publisher peer which blocks its selections touch. A rank without such a peer asks its
    /// parent, which passes the question on.
    Resolve {
        /// The asker's number for it.
        request: u64,
        /// The table.
        table: TableId,
        /// The selections; empty asks for the variables alone.
        queries: Vec<ResolveQuery>,
    },
    /// The answer: a table that holds every variable, but only the blocks that the queries touch.
    Resolved {
        /// The asker's number.
        request: u64,
        /// The encoded table; `None` if no live step has it any more.
        #[serde(with = "serde_bytes")]
        encoded: Option<Vec<u8>>,
        /// Contacts of ranks that own the blocks, as far as the answering rank has them at hand: its own, and those of
        /// its children. The asker asks for the others.
        owners: Vec<(Rank, ContactText)>,
    },

    /// Part of a message that is longer than one frame. Its fragments follow one another with nothing between them, and
    /// their bytes together are the message.
    Fragment {
        /// The next bytes of the message, at least one.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        /// How many bytes follow this fragment; 0 in the last.
        left_bytes: u64,
    },
    /// Down the publisher tree, in place of `TableReply`: the table is there and cannot be had.
    TableRefused {
        /// The table.
        table: TableId,
        /// Why.
        reason: NoTable,
    },
    /// In place of `Resolved`: the table is there and cannot be had.
    Unresolved {
        /// The asker's number.
        request: u64,
        /// Why.
        reason: NoTable,
    },
    /// Up the subscriber tree, the answer to `AwaitingRestart`. Releases that came before it on this link were of the
    /// epoch that is over. Those that come after it are of the next.
    RestartHeard,
    /// Where are these publisher ranks? A subscriber rank asks the publisher rank that answers it, or its parent, which
    /// passes the question on. Then it goes along the publisher tree to the parent of each.
    AskContacts {
        /// The asker's number for it.
        request: u64,
        /// The ranks, rising, at least one.
        ranks: Vec<Rank>,
    },
    /// The answer, in as many parts as come from different ranks: each rank that was asked for is in one of them.
    Contacts {
        /// The asker's number.
        request: u64,
        /// The contacts; `None` where nobody can say any more, as a rank on the way is lost.
        contacts: Vec<(Rank, Option<ContactText>)>,
    },
    /// An observer asks how ranks are; a rank asks its neighbours for it.
    AskStatus {
        /// The asker's number for it.
        request: u64,
        /// How far it goes.
        scope: StatusScope,
        /// Who has not answered after so long is left out, and named; at most the heartbeat.
        patience_ms: u32,
    },
    /// The answer.
    Status {
        /// The asker's number.
        request: u64,
        /// What was said, and who said nothing.
        report: Box<StatusReport>,
    },
    /// In place of it, to an observer.
    StatusRefused {
        /// The asker's number.
        request: u64,
        /// Why.
        reason: StatusRefusal,
    },

    /// In place of `Ready`, where ranks measure for conditions.
    ReadyMeasured {
        /// As in `Ready`.
        step: StepId,
        /// As in `Ready`.
        again: Option<u64>,
        /// As in `Ready`.
        report: Box<ReadyReport>,
        /// What was measured; sorted by the names of measures.
        parts: Vec<MeasurePart>,
    },
    /// In place of `Assign`, where the subscription has a condition.
    AssignJudged {
        /// As in `Assign`.
        assignment: Box<Assignment>,
        /// Why the step is one that the condition asks for, and when that was decided.
        judgement: Box<Judgement>,
    },
    /// A subscriber cohort's lead asks something of the simulation.
    Steer {
        /// The asker's number for it.
        id: u64,
        /// The parameter.
        name: String,
        /// Its value.
        value: AttributeValue,
        /// How soon.
        urgency: Urgency,
    },
    /// The answer, when all publisher ranks have left the step at which they saw it, or at once if none will.
    Steered {
        /// The asker's number.
        id: u64,
        /// What became of it.
        outcome: SteeringOutcome,
    },
    /// Up the publisher tree: all ranks below have left the step at which they saw the request.
    SteeringAnswer {
        /// The change that it is.
        change: ChangeId,
        /// The lowest rank that declined it, and why.
        declined: Option<(Rank, String)>,
    },
}
