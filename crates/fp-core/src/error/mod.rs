//! Errors: one enum for each operation, sorted by whose fault it is, with the values that caused them.

pub(crate) mod access;
mod close;
pub(crate) mod cohort;
pub(crate) mod condition;
pub(crate) mod connection;
pub(crate) mod derivation;
pub(crate) mod gather;
pub(crate) mod limit;
pub(crate) mod misfit;
pub(crate) mod misuse;
mod open_failure;
mod place;
mod put;
mod read;
pub(crate) mod record;
pub(crate) mod record_block;
pub(crate) mod rendezvous;
pub(crate) mod request;
mod retry;
pub(crate) mod sync;
pub(crate) mod transform;

pub use close::CloseError;
pub use put::PutError;

use crate::error::access::AccessError;
use crate::error::cohort::CohortError;
use crate::error::gather::GatherError;
use crate::error::limit::LimitError;
use crate::error::misfit::Misfit;
use crate::error::misuse::Misuse;
use crate::error::open_failure::{describe_failure, holder};
use crate::error::place::within;
use crate::error::record::RecordProblem;
use crate::error::rendezvous::RendezvousError;
use crate::error::transform::TransformProblem;
use fp_proto::access::Denial;
use fp_proto::event::OpenFailure;
use fp_proto::message::NoTable;
use fp_proto::outcome::LossReason;
use fp_proto::parameter::ParameterError;
use fp_transport::{Contact, ListenError, Reason, Refusal};
use fp_types::record::Incompatible;
use fp_types::{NameError, PlanError, Rank, StepId};
use std::time::Duration;

/// Why a stream could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name is no name.
    #[error("stream name: {0}")]
    Name(NameError),
    /// The launcher's environment makes no sense.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// The rendezvous cannot be used.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The rank cannot listen.
    #[error("stream {stream:?}, rank {rank}: {source}")]
    Listen {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// Why.
        r#source: ListenError,
    },
    /// A setting of the transports is wrong.
    #[error(transparent)]
    Policy(#[from] fp_transport::PolicyError),
    /// TLS is configured and cannot be set up.
    #[error(transparent)]
    Tls(#[from] fp_transport::TlsError),
    /// The file that `FLEXPATH_TOKEN_FILE` names gives no token.
    #[error(transparent)]
    Token(#[from] fp_transport::TokenFileError),
    /// The file that `FLEXPATH_ACCESS_FILE` names gives no access list.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// `FLEXPATH_LISTEN` is no address.
    #[error(transparent)]
    Address(#[from] fp_transport::ListenAddressError),
    /// The environment's bound of bytes is no number.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A bound that lets nothing through.
    #[error("stream {stream:?}: {option} is 0, so nothing could be published or taken: set it to 1 or more")]
    NoBound {
        /// The stream.
        stream: String,
        /// The option.
        option: &'static str,
    },
    /// A bound that is higher than it can be.
    #[error("stream {stream:?}: {option} is {found}, and {most} is the most that it can be")]
    BoundTooHigh {
        /// The stream.
        stream: String,
        /// The option.
        option: &'static str,
        /// What it was set to.
        found: u64,
        /// The highest possible.
        most: u64,
    },
    /// A parameter that nobody could ask for.
    #[error("stream {stream:?}, parameter {parameter:?}: {source}")]
    Parameter {
        /// The stream.
        stream: String,
        /// The parameter.
        parameter: String,
        /// What of it is not possible.
        r#source: ParameterError,
    },
    /// Steps are to be said to be done, and none is ever given again.
    #[error(
        "stream {stream:?}: with_explicit_done is for members of a work-sharing set that redelivers: ask for one by with_share"
    )]
    NotRedelivered {
        /// The stream.
        stream: String,
    },
    /// What the reserve is to have cannot be.
    #[error("stream {stream:?}: the reserve is to have steps with {condition}, but {what}")]
    Reserve {
        /// The stream.
        stream: String,
        /// What steps are to be like.
        condition: String,
        /// Why there can be none.
        what: &'static str,
    },
    /// The number of the first step leaves no room for those after it.
    #[error("stream {stream:?}: first_step is {first_step}: say a number up to {}", i64::MAX)]
    FirstStep {
        /// The stream.
        stream: String,
        /// The number.
        first_step: u64,
    },
    /// Refused, timed out, or a rank was lost.
    #[error("stream {stream:?}, rank {rank}: {}", describe_failure(failure, *rank, directory, dials))]
    Failed {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// What happened.
        failure: Box<OpenFailure>,
        /// The rendezvous directory that was looked in.
        directory: String,
        /// Contacts that were dialled in vain, each with the reason.
        dials: Vec<(String, String)>,
    },
    /// Who was found wants another token, or speaks another version of the protocol.
    #[error("stream {stream:?}, rank {rank}: {contact} refused this rank: {refusal}")]
    Refused {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// Who refused.
        contact: Box<Contact>,
        /// Why.
        refusal: Refusal,
    },
    /// The publisher's access list does not allow what this subscriber asks for.
    #[error("stream {stream:?}, rank {rank}: {denial}")]
    Denied {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// What, by which rule, and as whom the publisher knows this process.
        denial: Denial,
    },
    /// The name belongs to somebody who is alive.
    #[error("stream {stream:?}, rank {rank}: the name is taken by {}; close that one, or publish under another name", holder(contact.as_deref()))]
    NameTaken {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// Where the one is who has it, if its entry is still there.
        contact: Option<Box<Contact>>,
    },
    /// Somebody answered, whose credentials or TLS do not go with those of this rank.
    #[error("stream {stream:?}, rank {rank}: no link to {contact}, which answers: {reason}")]
    NotTrusted {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// Who answered.
        contact: Box<Contact>,
        /// What does not go together.
        reason: Box<Reason>,
    },
    /// The ranks did not come together through the launcher's collectives.
    #[error("stream {stream:?}, rank {rank}: {source}")]
    Gather {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// Why.
        r#source: GatherError,
    },
    /// The stream does not have a type that was asked for, or nothing said in time what types it has.
    #[error("{source}")]
    Types {
        /// Which, and field by field why not; or what was waited for.
        r#source: Box<ReadError>,
    },
    /// Fewer subscribers came than were waited for.
    #[error("stream {stream:?}: {present} of {wanted} subscribers attached within {waited:?}")]
    TooFewSubscribers {
        /// The stream.
        stream: String,
        /// How many came.
        present: u32,
        /// How many were waited for.
        wanted: u32,
        /// For how long.
        waited: Duration,
    },
    /// The coordinator failed.
    #[error("stream {stream:?}: {what}")]
    Coordinator {
        /// The stream.
        stream: String,
        /// What happened.
        what: String,
    },
    /// The system refused something.
    #[error("stream {stream:?}: {source}")]
    Io {
        /// The stream.
        stream: String,
        /// What.
        r#source: std::io::Error,
    },
}

impl From<NameError> for OpenError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

/// Why a step could not be begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginError {
    /// The caller's mistake.
    #[error("{}", within(stream, source))]
    Misuse {
        /// The stream.
        stream: String,
        /// Which.
        r#source: Misuse,
    },
    /// A rank of the own cohort is lost.
    #[error("stream {stream:?}: rank {rank} of the own cohort is lost: {reason}")]
    Lost {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// The handle is closed.
    #[error("stream {stream:?}: it is closed")]
    Closed {
        /// The stream.
        stream: String,
    },
    /// The wait for the own cohort took too long.
    #[error("stream {stream:?}: waited {waited:?} for {waits_for}")]
    TimedOut {
        /// The stream.
        stream: String,
        /// How long.
        waited: Duration,
        /// For what.
        waits_for: String,
    },
    /// The coordinator failed.
    #[error("stream {stream:?}: {what}")]
    Coordinator {
        /// The stream.
        stream: String,
        /// What happened.
        what: String,
    },
}

/// Why a step, or something of it, could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The caller's mistake.
    #[error("{}", within(stream, source))]
    Misuse {
        /// The stream.
        stream: String,
        /// Which.
        r#source: Misuse,
    },
    /// No plan: a gap, or a selection that does not go with the array.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {source}")]
    Plan {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        r#source: PlanError,
    },
    /// The rank that owns a piece is lost.
    #[error("stream {stream:?}, step {step}: publisher rank {rank} is lost: {what}")]
    Lost {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        what: String,
    },
    /// The layout of the step's variables is there and cannot be had: it is too large, or cannot be read.
    #[error("stream {stream:?}, step {step}: {source}")]
    NoLayout {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// Why.
        r#source: NoTable,
    },
    /// The access list of the publisher rank does not allow it.
    #[error("stream {stream:?}, step {step}, publisher rank {rank}: {denial}")]
    Denied {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The publisher rank that refused.
        rank: Rank,
        /// What, by which rule, and as whom the publisher knows this process.
        denial: Denial,
    },
    /// The owner has the step no more.
    #[error("stream {stream:?}, step {step}: publisher rank {rank} has it no more ({what})")]
    Gone {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// What it has no more.
        what: &'static str,
    },
    /// It took too long.
    #[error("stream {stream:?}, step {step}: waited {waited:?} for {waits_for}")]
    TimedOut {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// How long.
        waited: Duration,
        /// For what.
        waits_for: String,
    },
    /// A peer broke the protocol.
    #[error("stream {stream:?}, step {step}: publisher rank {rank} broke the protocol: {what}")]
    PeerMisbehaved {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The rank.
        rank: Rank,
        /// How.
        what: String,
    },
    /// Records of a type that does not become the one that is wanted.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {source}")]
    Incompatible {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// What the types differ in.
        r#source: Box<Incompatible>,
    },
    /// Records cannot be had.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {source}")]
    Records {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        r#source: Box<RecordProblem>,
    },
    /// Transforms gave nothing of the records of this step; the next may have more luck.
    #[error("stream {stream:?}, step {step}, variable {variable:?} ({path}): {source}")]
    NotTransformed {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable whose records were to be transformed.
        variable: String,
        /// By which transforms.
        path: String,
        /// Why not.
        r#source: Box<TransformProblem>,
    },
    /// A derived variable could not be derived in this step; the next may have it.
    #[error("stream {stream:?}, step {step}, variable {variable:?} ({derivation}): {what}")]
    NotDerived {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The derived variable.
        variable: String,
        /// What it is derived by.
        derivation: String,
        /// Why not, where each rank that failed has its own reason.
        what: String,
    },
    /// The stream ended without a step that could say what types it has.
    #[error("stream {stream:?}: it ended before a step came that says what types it has")]
    NoStep {
        /// The stream.
        stream: String,
    },
    /// No variable provides the type that was asked for.
    #[error("stream {stream:?}: no variable provides {wanted:?}{}", misfit::list(refused))]
    NotProvided {
        /// The stream.
        stream: String,
        /// The type.
        wanted: String,
        /// Each variable that was subscribed to, and why it does not.
        refused: Vec<Misfit>,
    },
    /// The coordinator failed.
    #[error("stream {stream:?}: {what}")]
    Coordinator {
        /// The stream.
        stream: String,
        /// What happened.
        what: String,
    },
}
