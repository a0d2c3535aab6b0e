//! Analyses of streams while they run: connected features of a field, tracked in time.
//!
//! A *feature* is a region of neighbouring elements that all compare so with a threshold. The ranks of an analysis each
//! label a range of planes of the array. What they found of it are [`Part`]s, which one of them merges to [`Feature`]s and tracks.
//! All of that is pure: there is no stream and no clock in it, and every cut gives the same bits. [`analyse`] and
//! [`analyse_in_threads`] do it over a stream, and publish a stream of features. `docs/features.md` teaches both.
//!
//! ```
//! use fp_analysis::{Column, Grid, Labeller, Merger, Neighbours, PlaneRange, Threshold};
//!
//! let threshold: Threshold = "x > 0.5".parse()?;
//! let grid = Grid::new(&[2, 4], Neighbours::Faces, &[])?;
//! let mut labeller = Labeller::new(threshold.clone()); // one for each rank, each with its range of planes
//! let elements = [1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 3.0];
//! let part = labeller.label(0, &grid, PlaneRange { first: 0, planes: 2 }, &elements);
//! let mut merger = Merger::new(threshold, (Column::Volume, Column::Peak));
//! let step = merger.merge(&grid, &[part])?;
//! assert_eq!(step.features.len(), 2);
//! assert_eq!(step.features[1].feature.peak_place, [1, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In the order in which things build on one another:
//!
//! | module | what |
//! |---|---|
//! | `grid`, `threshold` | what is a neighbour of what, and which elements count |
//! | `forest`, `plane`, `spread`, `extrema` | what was joined; rows of runs; where elements lie, as exact sums; the least and the greatest |
//! | `part`, `codec` | what a rank found, as value and as bytes |
//! | `slab`, `label`, `overlap` | labels planes; which regions share elements with those of the step before |
//! | `feature`, `merge`, `map` | features of all ranks' parts; where they are seen |
//! | `statistics`, `track` | columns, variances, correlations; ids that stay, and events |
//! | `connectivity`, `options`, `error`, `gather` | what is asked, why it fails, how parts come together |
//! | `field`, `publication`, `rank` | the array of a step, the stream of features, and a rank between the two |
#![forbid(unsafe_code)]

mod codec;
mod connectivity;
mod error;
mod extrema;
mod feature;
mod field;
mod forest;
mod gather;
mod grid;
mod label;
mod map;
mod merge;
mod options;
mod overlap;
mod part;
mod plane;
mod publication;
mod rank;
mod slab;
mod spread;
mod statistics;
mod threshold;
mod track;

pub use connectivity::{Connectivity, PeriodicDim};
pub use error::AnalysisError;
pub use feature::Feature;
pub use gather::stream::StreamGather;
pub use gather::threads::ThreadGather;
pub use gather::{Gather, GatherFailure};
pub use grid::{Grid, GridError, LIMIT_DIMENSIONS, Neighbours};
pub use label::Labeller;
pub use map::FeatureMap;
pub use merge::Merger;
pub use options::AnalysisOptions;
pub use part::{Part, PartError};
pub use rank::{AnalysedStep, analyse, analyse_in_threads};
pub use slab::PlaneRange;
pub use statistics::{Column, ParseColumnError, StepStatistics, correlation};
pub use threshold::{ParseThresholdError, Threshold};
pub use track::{EventKind, FeatureEvent, TrackedFeature, TrackedStep};
