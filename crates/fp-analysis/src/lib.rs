//! Analyses of streams while they run: connected features of a field, tracked in time.
//!
//! A *feature* is a region of neighbouring elements that all compare so with a threshold. The ranks of an analysis each
//! label a slab of the array. What they found of it are [`Part`]s, which one of them merges to [`Feature`]s and tracks.
//! All of that is pure: there is no stream and no clock in it, and every cut gives the same bits. [`analyse`] and
//! [`analyse_in_threads`] do it over a stream, and publish a stream of features. `docs/features.md` teaches both.
//!
//! In the order in which things build on one another:
//!
//! | module | what |
//! |---|---|
//! | `grid`, `threshold` | what is a neighbour of what, and which elements count |
//! | `forest`, `plane`, `spread` | what was joined; rows of runs; where elements lie, as exact sums |
//! | `part`, `codec` | what a rank found, as value and as bytes |
//! | `label`, `overlap` | labels a slab; which regions share elements with those of the step before |
//! | `feature`, `merge` | features of all ranks' parts |
//! | `statistics`, `track` | columns, variances, correlations; ids that stay, and events |
//! | `options`, `error`, `gather` | what is asked, why it fails, how parts come together |
//! | `field`, `publication`, `rank` | the array of a step, the stream of features, and a rank between the two |
#![forbid(unsafe_code)]

mod codec;
mod error;
mod feature;
mod field;
mod forest;
mod gather;
mod grid;
mod label;
mod merge;
mod options;
mod overlap;
mod part;
mod plane;
mod publication;
mod rank;
mod spread;
mod statistics;
mod threshold;
mod track;

pub use error::AnalysisError;
pub use feature::Feature;
pub use field::{Connectivity, PeriodicDim};
pub use gather::channel::ChannelGather;
pub use gather::stream::StreamGather;
pub use gather::{Gather, GatherFailure};
pub use grid::{Grid, GridError, LIMIT_DIMS, Neighbours};
pub use label::{Labeller, Slab};
pub use merge::Merger;
pub use options::AnalysisOptions;
pub use part::{Part, PartError};
pub use rank::{AnalysedStep, analyse, analyse_in_threads};
pub use statistics::{Column, ParseColumnError, StepStatistics, correlation};
pub use threshold::{ParseThresholdError, Threshold};
pub use track::{EventKind, FeatureEvent, TrackedFeature, TrackedStep};
