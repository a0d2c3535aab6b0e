//! Flexpath: typed publish/subscribe for parallel science.
//!
//! A [`Publisher`] opens a stream and writes steps. A [`Subscriber`] attaches while it runs, and leaves when it likes.
//! It takes the slices that it asks for straight from the ranks that own them. Here both are in one process:
//!
//! ```
//! use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
//! use std::time::Duration;
//!
//! # let place = tempfile::tempdir()?;
//! let rendezvous = Rendezvous::at(place.path())?;
//! let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
//! let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
//!
//! let temperature = Variable::global::<f64>("temperature", &[4])?.with_unit("K");
//! let mut writer = publisher.begin_step()?;
//! writer.put(&temperature, &Region::new([0], [4])?, vec![300.0, 301.0, 302.0, 303.0])?;
//! writer.end()?;
//!
//! let NextStep::Step(step) = subscriber.next_step(Duration::from_secs(10))? else { panic!("no step") };
//! assert_eq!(step.get::<f64>("temperature", "[1:3]")?, [301.0, 302.0]);
//! drop(step); // released: the publisher may use its memory again
//! publisher.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What `[1:3]` may be says [`SelectionExpression`]. [`guide::workers`] is about workers that share a stream, and about
//! what comes back after a failure. [`guide`] has all guides.
//!
//! # For tasks
//!
//! These calls have counterparts that return plain futures. They need no particular executor: tokio, smol, or the loop
//! of ten lines in `examples/async_subscriber.rs`.
//!
//! | waits | its future | dropped before it is ready |
//! |---|---|---|
//! | [`Publisher::open`], [`Subscriber::open`] | `open_async` | what was opened is closed again |
//! | [`Subscriber::of`] | [`Subscriber::of_async`] | the step that was looked at is still the next one |
//! | [`Publisher::begin_step`] | [`Publisher::begin_step_async`] | no step is begun |
//! | [`Publisher::sync`] | [`Publisher::sync_async`] | nothing changes |
//! | [`Subscriber::next_step`] | [`Subscriber::next_step_async`] | no step is lost: the next call gives it |
//! | the same | `Subscriber::steps`, a `Stream` (feature `stream`) | no step is lost |
//! | [`flow::Windows::next`], [`flow::Family::next`] | `next_async` | no step is lost: the next call goes on |
//! | [`StepReader::get`], [`StepReader::get_into`] | [`StepReader::get_async`], [`StepReader::get_into_async`] | the stream goes on; the memory is freed when nothing can write there any more |
//! | [`StepReader::fetch`], [`StepReader::view`] | [`StepReader::fetch_async`], [`StepReader::view_async`] | as above |
//! | [`StepReader::variables`] | [`StepReader::variables_async`] | nothing is lost |
//! | [`StepReader::get_records`], [`StepReader::get_array`], [`StepReader::get_or_fill`] | `get_records_async` and so on | a thread ends its work, for nobody, within `fetch_timeout` |
//! | [`Publisher::close`], [`Subscriber::close`] | `close_async` | it goes on closing |
//!
//! No poll waits, and none is called but for an event or a deadline. The waiting calls are not refused inside a task,
//! as nothing tells them that they are in one. They stand on threads that may wait: `spawn_blocking` of tokio,
//! `blocking` of smol, or threads of your own. So do those which may wait and have no
//! future of their own. They are the other calls that read records, [`StepReader::get_bytes`], [`StepReader::blocks`]
//! and [`Subscriber::find`].
//! [`EventQueue::next`] waits too, and so does [`StepWriter::end`] where something is derived. [`StepReader::done`] and
//! [`StepReader::give_back`] never wait.
//!
//! A [`Publisher`] or [`Subscriber`] that is dropped and was not closed waits for half a second at most. It goes on
//! closing on a thread of its own, and what is not delivered as the process ends is lost. So a task awaits
//! `close_async` before it drops a handle.
//! `examples/two_streams.rs` serves two streams and a timer in one `select!`.
//!
//! # Features
//!
//! `ndarray` (on by default) has [`StepReader::get_array`]. `stream` has `Subscriber::steps`. `wasm` runs WebAssembly that
//! subscribers hand over. TLS and compression are in every build: either side may need them of the other.
//!
//! # For records
//!
//! `#[derive(flexpath::Record)]` makes a Rust struct a record: see [`guide::types`]. Structs that are put and viewed as
//! they lie in memory are `Pod` as well, which the derives of [`bytemuck`] make them.
//!
//! # Several streams
//!
//! [`flow`] joins steps of several streams and cuts them into windows, and has streams of one kind under one handle: see
//! [`guide::windows`].
//!
//! # Derived variables
//!
//! [`SubscriberOptions::with_derivation`] has a variable computed where the data is: see [`guide::derived`].
#![forbid(unsafe_code)]
pub mod guide;

pub use bytemuck;
#[cfg(feature = "stream")]
pub use fp_core::Steps;
pub use fp_core::{
    Access, AccessError, AccessRule, Action, Append, Array, ArrayKind, ArrayType, Arrays, AsyncFetch,
    AttributeValue, BeginError, Bins, Block, BlockId, Breakage, CallError, CloseError, CloseOutcome, Cohort,
    CohortError, CohortSide, CollectiveFailure, Collectives, CommandError, Comparison, Compression,
    CompressionError, Condition, ConditionError, ConditionRefusal, Contact, ContactText, ContributionError,
    CopyError, Cost, DataType, Denial, DeployLimits, DeployPolicy, DeployedModule, Derivation,
    DerivationDecodeError, DerivationError, DerivationId, DeriveError, DerivedVariable, DialError, Dims,
    Dtype, Element, EndReason, Endpoint, Epoch, Event, EventQueue, Expression, ExpressionError,
    ExpressionFault, ExpulsionCause, Extreme, Fetch, Fetched, Fillable, FindError, Fingerprint, Fit,
    FoundStream, Function, FunctionOrigin, GatherError, HostId, Interrupt, Judgement, KeptBytes, LimitError,
    LinkError, LinkOptions, ListenAddress, ListenAddressError, ListenError, Loan, LoanBytes, Loss,
    LossReason, Measure, Measured, MeasuredCall, MeasuredNumber, MemberEnd, MemoryError, MemoryOrder,
    MemoryShortage, Misfit, Misuse, ModuleCall, ModuleHash, NameError, Native, NativeElement, NativeError,
    NextStep, NoProvider, NoTable, OnLoss, OpenError, OpenFailure, OpenWait, Operation, OutputType,
    Parameter, ParameterError, ParameterKind, ParameterRequest, ParseConditionError, ParseDerivationError,
    ParseFault, ParseModuleHashError, ParseSelectionError, PathError, PlanError, PolicyError, PolicyRefusal,
    PoolError, PoolStats, Position, ProcessId, Provided, Publisher, PublisherOptions, PutError, Quantity,
    QueuePolicy, Rank, ReadError, Real, Reason, Record, RecordBlock, RecordBlockError, RecordId,
    RecordProblem, RecordSet, Reduction, Refusal, RefusalReason, Region, RegionError, RegisterError,
    Registered, RegisteredPart, Relation, Rendezvous, RequestDelegate, RequestError, RunsError, SchemaError,
    Seen, Select, Selection, SelectionError, SelectionExpression, Shape, ShapeTooLarge, Share, ShareMode,
    SharePart, SharedCollectives, Side, Signal, Slice, SpecPart, StartAt, Statistic, Statistics,
    SteeringOutcome, SteeringRefusal, StepId, StepReader, StepRejection, StepWriter, StoredBytes,
    StreamEnding, StrideError, StridedRegion, Subscriber, SubscriberOptions, SubscriptionId,
    SubscriptionRequest, SyncError, TlsError, TlsFailure, TlsOptions, Token, TokenError, TokenFileError,
    TokenHash, TooManyDims, TransformOptions, TransformPath, TransformProblem, TransformedVariable,
    Transforms, TransportKind, TransportPolicy, TransportRefusal, Unmeasured, Variable, VariableDef,
    VariableError, VariableInfo, VariableOrigin, VariablePlacement, VariableSet, VerbsDevice, VerbsTrouble,
    View, WantedType, Who, WindowStatistic, diagnosis, limit_process_bytes, own_pid, record, record_array,
    rendezvous, start_log, verbs_devices,
};
#[cfg(feature = "wasm")]
pub use fp_core::{DeployError, OutputFault, Runtime};
pub use fp_derive::Record;
pub use fp_flow as flow;
pub use half;
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use num_complex;
