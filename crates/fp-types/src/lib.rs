//! What things are: element types, regions, layouts, plans and schemas, pure.
//!
//! Nothing here knows bytes in flight, files, clocks or threads. In the order in which things build on one another:
//!
//! | module | what |
//! |---|---|
//! | `id`, `dtype`, `order` | ranks, steps, epochs, blocks and content ids; element types; memory orders |
//! | `dims`, `shape`, `region`, `stride` | up to eight numbers; the extent of an array; parts of it, also strided |
//! | `selection` | what a subscriber asks for, and how users write it: `[0:10, ::2]` |
//! | `runs` | contiguous copies between any two memory layouts, and the copying itself |
//! | `layout`, `index` | all blocks of a variable over all ranks, with a content hash and a spatial index |
//! | `plan` | which blocks send which elements for a selection |
//! | `name`, `attribute` | what things may be called; facts about them |
//! | [`record`] | records as values: their types, layout, reading, and conversions between types |
//! | `schema` | variables, attributes, and the fingerprint of all that |
//! | `table` | what ranks put in a step, composed to the table of the step |
//! | `condition` | what a subscription demands of a step: `has(particles)`, `max(T) > 9` |
//!
//! A region of an array that two ranks put by halves:
//!
//! ```
//! use fp_types::{BlockId, GapPolicy, Layout, MemoryOrder, Rank, Region, SelectionExpression, Shape, plan};
//!
//! let shape = Shape::new([4, 3])?;
//! let half = |rank: u32| Region::new([u64::from(rank) * 2, 0], [2, 3]).map(|r| (BlockId::new(Rank(rank), 0), r));
//! let layout = Layout::global(shape, [half(0)?, half(1)?])?;
//!
//! let selection = "[1:3, ::2]".parse::<SelectionExpression>()?.resolve(&shape)?;
//! let plan = plan(&layout, &selection, GapPolicy::Error)?;
//! assert_eq!(plan.result_shape(), Shape::new([2, 2])?);
//!
//! let blocks = [[0u8, 1, 2, 10, 11, 12], [20, 21, 22, 30, 31, 32]];
//! let mut array = [0u8; 4];
//! for piece in &plan.pieces {
//!     let block = &blocks[piece.block.rank.0 as usize];
//!     plan.copy_piece(piece, block, MemoryOrder::RowMajor, &mut array, MemoryOrder::RowMajor, 1)?;
//! }
//! assert_eq!(array, [10, 12, 20, 22]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod attribute;
mod condition;
mod dims;
mod dtype;
mod hash;
mod id;
mod index;
mod instructions;
mod layout;
mod name;
mod number_map;
mod order;
mod plan;
pub mod record;
mod region;
mod regions;
mod runs;
mod schema;
mod selection;
mod shape;
mod step_map;
mod stride;
mod table;

pub use attribute::{AttributeValue, MAX_TEXT_BYTES, Real};
pub use condition::{
    Comparison, Condition, ConditionRefusal, Found, FunctionOrigin, Judgement, LIMIT_CONDITION_BYTES,
    LIMIT_QUANTILE_BINS, LIMIT_REASON_BYTES, Measure, MeasureParts, Measured, MeasuredCall, MeasuredNumber,
    NoMeasures, ParseConditionError, Quantity, StandingCondition, Statistic, Thresholds, Unmeasured, Verdict,
    WindowStatistic,
};
pub use dims::{Dims, MAX_DIMS, TooManyDims};
pub use dtype::{Dtype, ParseDtypeError, UnknownDtype};
pub use id::{
    BlockId, Epoch, Fingerprint, LayoutId, ParseBlockIdError, ParseEpochError, Rank, StepId, SubscriptionId,
    TableId,
};
pub use instructions::Instructions;
pub use layout::{Layout, LayoutError, MAX_BLOCKS};
pub use name::{MAX_NAME_BYTES, NameError, validate_name};
pub use number_map::NumberMap;
pub use order::MemoryOrder;
pub use plan::{
    Destination, GapPolicy, MAX_PIECES, Part, PartRuns, Piece, Plan, PlanError, SelectedPoint, plan,
};
pub use region::{Region, RegionError};
pub use runs::{CopyError, DenseArray, Run, RunPattern, RunSeries, Runs, RunsError, Side, copy, copy_runs};
pub use schema::{
    ArrayKind, MAX_ATTRIBUTE_VALUES, MAX_ATTRIBUTES, MAX_VARIABLES, RecordId, Schema, SchemaError,
    VariableDef, VariableOrigin,
};
pub use selection::{ParseSelectionError, Position, Selection, SelectionError, SelectionExpression, Slice};
pub use shape::{Shape, ShapeTooLarge};
pub use step_map::{StepMap, StepSet};
pub use stride::{StrideError, StridedRegion};
pub use table::{
    ApplyError, ComposeError, Contribution, ContributionError, PutChanges, PutChangesError, PutColumn,
    PutDifference, RankRange, StepTable, TableBuilder, TableEntry, TableError, VariablePut,
};
