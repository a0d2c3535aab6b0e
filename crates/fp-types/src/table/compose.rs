//! Composes one variable from what all ranks put of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{TableEntry, VariablePut};
use crate::dtype::Dtype;
use crate::id::{BlockId, Rank};
use crate::layout::{Layout, LayoutError};
use crate::order::MemoryOrder;
use crate::region::Region;
use crate::schema::{ArrayKind, RecordId, VariableDef};
use crate::shape::Shape;

/// Why ranks' contributions make no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// A rank of the cohort has not contributed (not even nothing).
    #[error("rank {rank} has not contributed")]
    RankMissing {
        /// The lowest such rank.
        rank: Rank,
    },
    /// Two ranks put one variable as two different things.
    #[error("variable {variable:?}: ranks {first} and {second} disagree: {difference}")]
    Disagreement {
        /// The variable's name.
        variable: String,
        /// The lowest rank that put it.
        first: Rank,
        /// The lowest rank that disagrees with that one.
        second: Rank,
        /// In what, with both values.
        difference: Box<Difference>,
    },
    /// The blocks make no layout.
    #[error("variable {variable:?}: {error}")]
    Layout {
        /// The variable's name.
        variable: String,
        /// Why.
        error: LayoutError,
    },
}

/// In what two ranks disagree about a variable: the lower rank's value, then the other's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// Element types.
    #[error("element type {0} against {1}")]
    Dtype(Dtype, Dtype),
    /// Records that elements are.
    #[error("record {0:?} against {1:?}")]
    Record(Option<RecordId>, Option<RecordId>),
    /// Array kinds.
    #[error("{0} against {1}")]
    Kind(ArrayKind, ArrayKind),
    /// Names or number of dimensions.
    #[error("dimensions {0:?} against {1:?}")]
    Dimensions(Vec<String>, Vec<String>),
    /// Memory orders.
    #[error("{0} against {1}")]
    Order(MemoryOrder, MemoryOrder),
    /// Global extents.
    #[error("shape {0:?} against {1:?}")]
    Shape(Option<Shape>, Option<Shape>),
    /// Units.
    #[error("unit {0:?} against {1:?}")]
    Unit(Option<String>, Option<String>),
    /// Descriptions.
    #[error("description {0:?} against {1:?}")]
    Description(Option<String>, Option<String>),
    /// An attribute that only one has, or that has two values.
    #[error("attribute {0:?}")]
    Attribute(String),
}

/// What one rank put of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RankPut {
    /// Shared by all ranks that agree.
    pub(super) def: Arc<VariableDef>,
    pub(super) shape: Option<Shape>,
    pub(super) blocks: Vec<Region>,
}

/// The entry of one variable. There is at least one rank.
pub(super) fn compose(
    name: &str,
    puts: &BTreeMap<Rank, RankPut>,
) -> Result<Option<TableEntry>, ComposeError> {
    let Some((&first, agreed)) = puts.first_key_value() else {
        return Ok(None);
    };
    for (&second, put) in puts.iter().skip(1) {
        if let Some(difference) = difference(agreed, put) {
            let (variable, difference) = (name.to_owned(), Box::new(difference));
            return Err(ComposeError::Disagreement { variable, first, second, difference });
        }
    }
    let layout =
        lay_out(agreed, puts).map_err(|error| ComposeError::Layout { variable: name.to_owned(), error })?;
    Ok(Some(TableEntry { def: Arc::clone(&agreed.def), layout: Arc::new(layout) }))
}

/// The layout of all ranks' blocks, of the kind that all agreed on.
fn lay_out(agreed: &RankPut, puts: &BTreeMap<Rank, RankPut>) -> Result<Layout, LayoutError> {
    let ndims = agreed.def.ndims();
    let blocks = puts.iter().flat_map(|(&rank, put)| VariablePut::block_ids(rank, &put.blocks));
    let counts = |(block, region): (BlockId, Region)| (block, *region.count());
    match agreed.def.kind {
        ArrayKind::Scalar | ArrayKind::GlobalArray => {
            Layout::global(agreed.shape.unwrap_or_default(), blocks)
        }
        ArrayKind::LocalScalar | ArrayKind::LocalArray => Layout::local(ndims, blocks.map(counts)),
        ArrayKind::JoinedArray { joined_dim } => Layout::joined(ndims, joined_dim.into(), blocks.map(counts)),
    }
}

/// The first thing in which two ranks disagree.
fn difference(first: &RankPut, second: &RankPut) -> Option<Difference> {
    let same = Arc::ptr_eq(&first.def, &second.def) || first.def == second.def;
    let of_def = if same { None } else { def_difference(&first.def, &second.def) };
    of_def.or_else(|| (first.shape != second.shape).then_some(Difference::Shape(first.shape, second.shape)))
}

/// The first thing in which two definitions of one name differ.
fn def_difference(a: &VariableDef, b: &VariableDef) -> Option<Difference> {
    let differences = [
        (a.dtype != b.dtype).then_some(Difference::Dtype(a.dtype, b.dtype)),
        (a.record != b.record).then(|| Difference::Record(a.record.clone(), b.record.clone())),
        (a.kind != b.kind).then_some(Difference::Kind(a.kind, b.kind)),
        (a.dimensions != b.dimensions)
            .then(|| Difference::Dimensions(a.dimensions.clone(), b.dimensions.clone())),
        (a.order != b.order).then_some(Difference::Order(a.order, b.order)),
        (a.unit != b.unit).then(|| Difference::Unit(a.unit.clone(), b.unit.clone())),
        (a.description != b.description)
            .then(|| Difference::Description(a.description.clone(), b.description.clone())),
        attribute_difference(a, b),
    ];
    differences.into_iter().flatten().next()
}

/// The first attribute that differs.
fn attribute_difference(a: &VariableDef, b: &VariableDef) -> Option<Difference> {
    let mut names = a.attributes.keys().chain(b.attributes.keys());
    let differing = names.find(|name| a.attributes.get(*name) != b.attributes.get(*name));
    differing.map(|name| Difference::Attribute(name.clone()))
}
