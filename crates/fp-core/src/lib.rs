//! The public handles of Flexpath, the coordinator that moves their machines, and the data plane.
//!
//! A [`Publisher`] opens a stream and writes steps. A [`Subscriber`] attaches while it runs, and leaves when it likes.
//! It takes the slices that it asks for straight from the ranks that own them.
//!
//! Each folder is a layer. A layer knows only those above it in this table.
//!
//! | layer | what it holds |
//! |---|---|
//! | `error` | one enumeration for each operation, sorted by whose fault it is |
//! | `value` | variables, selections, counters, views, names: pure values |
//! | [`connection`] | notes and bytes between two processes, outside all streams |
//! | `rendezvous` | the files, or the meeting place, by which cohorts find each other |
//! | `coordinator` | the actor of a process: links, deadlines, wakers; it knows traits, no roles |
//! | `records` | record types of a stream and blocks of records |
//! | `options` | what is asked of a stream: each `with_*` beside its struct |
//! | `data` | `owner`, blocks from put to reclaim; `taker`, fetching; neither knows the other |
//! | `session` | what calls on one handle share: machine, wants, layouts |
//! | `publisher` | [`Publisher`] and [`StepWriter`]: begin, put, derive, end |
//! | `step` | [`StepReader`] over free functions; one `Source` of what is read |
//! | `subscriber` | [`Subscriber`]: attach, next step, place, find |
//! | `asynchronous` | the same calls as futures |
//! | [`diagnosis`] | whether a transport works, with real bytes; it opens no stream |
#![forbid(unsafe_code)]

mod asynchronous;
pub mod connection;
mod coordinator;
mod data;
pub mod diagnosis;
mod error;
#[cfg(fuzzing)]
pub mod fuzzed;
mod options;
mod publisher;
mod records;
pub mod rendezvous;
mod session;
mod step;
mod subscriber;
mod value;

pub use asynchronous::arrays::{Append, Arrays};
pub use asynchronous::events::EventQueue;
pub use asynchronous::fetch::{AsyncFetch, Fetched};
#[cfg(feature = "stream")]
pub use asynchronous::steps::Steps;
pub use coordinator::signals::Signal;
pub use data::owner::room::limit_process_bytes;
pub use error::access::AccessError;
pub use error::cohort::CohortError;
pub use error::condition::ConditionError;
pub use error::derivation::DerivationError;
pub use error::gather::{CollectiveFailure, GatherError};
pub use error::limit::LimitError;
pub use error::misfit::Misfit;
pub use error::misuse::Misuse;
pub use error::record::RecordProblem;
pub use error::record_block::RecordBlockError;
pub use error::request::RequestError;
pub use error::sync::SyncError;
pub use error::transform::TransformProblem;
pub use error::{BeginError, CloseError, OpenError, PutError, ReadError};
pub use fp_proto::access::{Action, Denial};
pub use fp_proto::commands::CommandError;
pub use fp_proto::config::{ContactText, OnLoss, QueuePolicy, Share, ShareMode, StartAt, VariableSet};
pub use fp_proto::event::{CloseOutcome, MemberEnd, OpenFailure, OpenWait, Seen, StepRejection};
pub use fp_proto::message::NoTable;
pub use fp_proto::outcome::{
    EndReason, ExpulsionCause, LossReason, MemoryShortage, RefusalReason, SharePart, SpecPart, StreamEnding,
};
pub use fp_proto::parameter::{Parameter, ParameterError, ParameterKind};
pub use fp_proto::steering::{SteeringOutcome, SteeringRefusal};
pub use fp_transform::{
    Array, ArrayType, Bins, Block, CallError, CohortSide, Comparison, Compression, CompressionError, Cost,
    DataType, DeployLimits, DeployPolicy, Derivation, DerivationDecodeError, DerivationId, DeriveError,
    Expression, ExpressionError, ExpressionFault, Extreme, Function, ModuleCall, ModuleHash, Native,
    NativeElement, NativeError, Operation, OutputType, ParseDerivationError, ParseFault,
    ParseModuleHashError, PathError, PolicyRefusal, PoolError, Reduction, RegisterError, Relation,
    TransformOptions, TransformPath, Transforms, claimed_bytes, decompress, record_array,
};
#[cfg(feature = "wasm")]
pub use fp_transform::{DeployError, OutputFault, Runtime};
pub use fp_transport::{
    Breakage, Contact, DialError, Endpoint, HostId, LinkError, ListenAddress, ListenAddressError,
    ListenError, MemoryError, PolicyError, PoolStats, ProcessId, Reason, Refusal, TlsError, TlsFailure,
    TlsOptions, Token, TokenError, TokenFileError, TokenHash, TransportKind, TransportPolicy,
    TransportRefusal, VerbsDevice, VerbsTrouble, own_pid, verbs_devices,
};
pub use fp_types::record;
pub use fp_types::record::{Loss, Record};
pub use fp_types::{
    ArrayKind, AttributeValue, BlockId, Condition, ConditionRefusal, ContributionError, CopyError, Dims,
    Dtype, Epoch, Fingerprint, FunctionOrigin, Judgement, Measure, Measured, MeasuredCall, MeasuredNumber,
    MemoryOrder, NameError, ParseConditionError, ParseSelectionError, PlanError, Position, Quantity, Rank,
    Real, RecordId, Region, RegionError, RunsError, SchemaError, Selection, SelectionError,
    SelectionExpression, Shape, ShapeTooLarge, Side, Slice, Statistic, StepId, StrideError, StridedRegion,
    SubscriptionId, TooManyDims, Unmeasured, VariableDef, VariableOrigin, WindowStatistic,
};
pub use options::access::{Access, AccessRule, Who, stream_name_fits};
pub use options::derived_variable::DerivedVariable;
pub use options::link::LinkOptions;
pub use options::module::DeployedModule;
pub use options::publisher::PublisherOptions;
pub use options::request::SubscriptionRequest;
pub use options::subscriber::SubscriberOptions;
pub use options::transformed_variable::TransformedVariable;
pub use options::wanted_type::WantedType;
pub use publisher::Publisher;
pub use publisher::loan::{KeptBytes, Loan, LoanBytes};
pub use publisher::step_writer::StepWriter;
pub use records::block::RecordBlock;
pub use records::fit::{Fit, Provided};
pub use records::set::RecordSet;
pub use rendezvous::Rendezvous;
pub use session::sides::VariablePlacement;
pub use step::StepReader;
pub use step::fetch::Fetch;
pub use step::held::VariableInfo;
pub use subscriber::find::{FindError, FoundStream, NoProvider};
pub use subscriber::{NextStep, Subscriber};
pub use value::cohort::Cohort;
pub use value::collectives::{Collectives, SharedCollectives};
pub use value::counters::Statistics;
pub use value::element::Element;
pub use value::event::Event;
pub use value::fill_target::{Fillable, Registered, RegisteredPart};
pub use value::interrupt::Interrupt;
pub use value::log::start_log;
pub use value::parameter_request::ParameterRequest;
pub use value::request_delegate::RequestDelegate;
pub use value::select::Select;
pub use value::stored_bytes::StoredBytes;
pub use value::variable::{Variable, VariableError};
pub use value::view::View;
