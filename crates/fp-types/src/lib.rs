//! What things are: element types, regions, layouts, plans and schemas, pure.
#![forbid(unsafe_code)]

mod dims;
mod dtype;
mod hash;
mod id;
mod index;
mod layout;
mod order;
mod plan;
mod region;
mod regions;
mod runs;
mod schema;
mod selection;
mod shape;
mod stride;
mod table;

pub use dims::{Dims, MAX_DIMS, TooManyDims};
pub use dtype::{Dtype, ParseDtypeError, UnknownDtype};
pub use id::{
    BlockId, Epoch, Fingerprint, LayoutId, ParseBlockIdError, ParseEpochError, Rank, StepId, SubscriptionId,
    TableId,
};
pub use layout::{Layout, LayoutError, MAX_BLOCKS};
pub use order::MemoryOrder;
pub use plan::{
    Destination, GapPolicy, MAX_PIECES, Part, PartRuns, Piece, Plan, PlanError, SelectedPoint, plan,
};
pub use region::{Region, RegionError};
pub use runs::{CopyError, Packing, Run, RunSeries, Runs, RunsError, Side, copy, copy_runs};
pub use schema::{
    ArrayKind, AttributeValue, FieldDef, FieldExtent, FieldType, MAX_ATTRIBUTE_VALUES, MAX_ATTRIBUTES,
    MAX_FIELDS, MAX_NAME_BYTES, MAX_RECORDS, MAX_TEXT_BYTES, MAX_VARIABLES, NameError, Real, RecordDef,
    Schema, SchemaError, VariableDef, validate_name,
};
pub use selection::{ParseSelectionError, Position, Selection, SelectionError, SelectionExpression, Slice};
pub use shape::{Shape, ShapeTooLarge};
pub use stride::{StrideError, StridedRegion};
pub use table::{
    ApplyError, ComposeError, Contribution, ContributionError, Difference, StepTable, TableBuilder,
    TableEntry, TableError, VariablePut,
};
