//! The public handles of Flexpath, the driver that moves their machines, and the data plane.
//!
//! A [`Publisher`] opens a stream and writes steps; a [`Subscriber`] attaches while it runs, takes the slices that it
//! asks for straight from the ranks that own them, and leaves when it likes.
#![forbid(unsafe_code)]

mod ahead;
mod announcing;
mod attaching;
mod beginning;
mod blocks;
mod cohort;
mod collectives;
mod converting;
mod derived;
pub mod diagnosis;
mod driver;
mod element;
mod error;
mod events;
mod fetch;
mod finding;
mod futures;
mod gathering;
mod misuse;
mod opening;
mod options;
mod owners;
mod parts;
mod patience;
mod peer;
mod placed;
mod placing;
mod planned;
mod planning;
mod preparing;
mod publisher;
mod records;
mod registered;
pub mod rendezvous;
mod resolving;
mod room;
mod select;
mod selected;
mod served;
mod server;
mod statistics;
mod step;
mod subscriber;
mod truth;
mod variable;
mod view;
mod weighing;
mod workers;
mod writer;

pub use cohort::{Cohort, CohortError};
pub use collectives::{CollectiveFailure, Collectives, GatherError, SharedCollectives};
pub use derived::{DeployedModule, DerivationError, DerivedVariable};
pub use element::Element;
pub use error::{BeginError, CloseError, Misuse, OpenError, PutError, ReadError};
pub use events::EventQueue;
pub use finding::{FindError, FoundStream, NoProvider};
pub use fp_proto::config::{OnLoss, QueuePolicy, Share, ShareMode, StartAt, VariableSet};
pub use fp_proto::event::{CloseOutcome, Event, MemberEnd, OpenFailure, StepRejection};
pub use fp_proto::message::NoTable;
pub use fp_proto::outcome::{EndReason, LossReason, RefusalReason, StreamEnding};
pub use fp_transform::{
    Array, CallError, Cost, DataType, DeployLimits, DeployPolicy, Derivation, ModuleHash, Native,
    NativeElement, NativeError, ParseModuleHashError, PathError, Placement, PolicyRefusal, PoolError,
    RegisterError, TransformOptions, TransformPath, Transforms, record_array,
};
pub use fp_transport::{
    Contact, PoolStats, Refusal, TlsError, TlsOptions, Token, TransportKind, TransportPolicy, VerbsDevice,
    VerbsTrouble, own_pid, verbs_devices,
};
pub use fp_types::record;
pub use fp_types::record::{Loss, Record};
pub use fp_types::{
    ArrayKind, AttributeValue, BlockId, Dims, Dtype, Epoch, MemoryOrder, ParseSelectionError, Position, Rank,
    Region, Selection, SelectionError, SelectionExpression, Shape, Slice, StepId, StridedRegion,
    SubscriptionId, VariableDef,
};
pub use futures::{Append, Arrays, AsyncFetch, Fetched};
pub use options::{LinkOptions, PublisherOptions, SubscriberOptions};
pub use placing::PlacedVariable;
pub use publisher::Publisher;
pub use records::{
    Fit, Misfit, Provided, RecordBlock, RecordBlockError, RecordProblem, RecordSet, TransformProblem,
    TransformedVariable, WantedType,
};
pub use registered::{Fillable, Registered, RegisteredPart};
pub use rendezvous::Rendezvous;
pub use room::{LimitError, limit_process_bytes};
pub use select::Select;
pub use statistics::Statistics;
pub use step::{Fetch, StepReader, VariableInfo};
pub use subscriber::{NextStep, Subscriber};
pub use variable::{Variable, VariableError};
pub use view::View;
pub use writer::{Loan, StepWriter};
