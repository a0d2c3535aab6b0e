//! Composes one variable from what all ranks put of it.

use std::sync::Arc;

use super::TableEntry;
use super::pages::Page;
use super::variable::Variable;
use crate::dims::Dims;
use crate::dtype::Dtype;
use crate::id::{BlockId, Rank};
use crate::layout::parts::LayoutWriter;
use crate::layout::{Layout, LayoutError, MAX_BLOCKS};
use crate::order::MemoryOrder;
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
        difference: Box<PutDifference>,
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
pub enum PutDifference {
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

/// What ranks have to agree on about a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    pub(super) def: Arc<VariableDef>,
    pub(super) shape: Option<Shape>,
}

/// The entry of one variable; none if no rank puts it.
pub(super) fn compose(name: &str, variable: &mut Variable) -> Result<Option<TableEntry>, ComposeError> {
    let Some(agreed) = variable.agreed(name)?.cloned() else { return Ok(None) };
    let layout = lay_out(&agreed, &mut variable.pages)
        .map_err(|error| ComposeError::Layout { variable: name.to_owned(), error })?;
    Ok(Some(TableEntry { def: agreed.def, layout: Arc::new(layout) }))
}

/// The layout of all ranks' blocks, of the kind that all agreed on. Only parts that changed are hashed.
fn lay_out(agreed: &Agreed, pages: &mut [Page]) -> Result<Layout, LayoutError> {
    let count = pages.iter().map(Page::block_count).sum();
    if count > MAX_BLOCKS {
        return Err(LayoutError::TooManyBlocks { blocks: count });
    }
    let ndims = agreed.def.ndims();
    let writer = LayoutWriter::new(ndims, count);
    match agreed.def.kind {
        ArrayKind::Scalar => Ok(write(writer, pages, at_zero(ndims)).finish(Some(Shape::scalar()))),
        ArrayKind::GlobalArray => Ok(write(writer, pages, place).finish(agreed.shape)),
        ArrayKind::LocalScalar | ArrayKind::LocalArray => {
            Ok(write(writer, pages, at_zero(ndims)).finish(None))
        }
        ArrayKind::JoinedArray { joined_dim } => {
            let joined_dim = usize::from(joined_dim);
            let shape = joined_shape(ndims, joined_dim, pages)?;
            Ok(write(writer, pages, behind_one_another(ndims, joined_dim)).finish(Some(shape)))
        }
    }
}

/// Writes every block; its numbers become corners in the writer.
fn write(
    mut writer: LayoutWriter,
    pages: &mut [Page],
    mut push: impl FnMut(&mut LayoutWriter, BlockId, &[u64]),
) -> LayoutWriter {
    for page in pages {
        for (block, numbers) in page.blocks() {
            push(&mut writer, block, numbers);
        }
        page.hash = writer.end_part(page.hash);
    }
    writer
}

/// The block of a global array: its numbers are start and count.
fn place(writer: &mut LayoutWriter, block: BlockId, numbers: &[u64]) {
    let (start, count) = numbers.split_at(numbers.len() / 2);
    writer.push(block, start, start.iter().zip(count).map(|(start, count)| start + count));
}

/// The block of a local array: its numbers are its count.
fn at_zero(ndims: usize) -> impl FnMut(&mut LayoutWriter, BlockId, &[u64]) {
    let zero = Dims::filled(ndims, 0).unwrap_or_default();
    move |writer, block, numbers| writer.push(block, &zero, numbers.iter().copied())
}

/// The block of a joined array: its numbers are its count, and it begins where the one before ends.
fn behind_one_another(ndims: usize, joined_dim: usize) -> impl FnMut(&mut LayoutWriter, BlockId, &[u64]) {
    let mut start = Dims::filled(ndims, 0).unwrap_or_default();
    move |writer, block, numbers| {
        writer.push(block, &start, start.iter().zip(numbers).map(|(start, count)| start + count));
        start[joined_dim] += numbers[joined_dim];
    }
}

/// The shape of a joined array whose blocks all agree but in the joined dimension.
fn joined_shape(ndims: usize, joined_dim: usize, pages: &[Page]) -> Result<Shape, LayoutError> {
    let mut blocks = pages.iter().flat_map(Page::blocks);
    let Some((_, first)) = blocks.next() else {
        return Ok(Shape::new(Dims::filled(ndims, 0).unwrap_or_default()).unwrap_or_default());
    };
    let mut extent = Dims::from_slice(first).unwrap_or_default();
    for (_, count) in blocks {
        let others_agree = (0..ndims).all(|dim| dim == joined_dim || count[dim] == extent[dim]);
        match extent[joined_dim].checked_add(count[joined_dim]) {
            Some(sum) if others_agree => extent[joined_dim] = sum,
            Some(_) | None => return Err(joined_error(ndims, joined_dim, pages)),
        }
    }
    Shape::new(extent).map_err(|_| joined_error(ndims, joined_dim, pages))
}

/// What is wrong with blocks that cannot be joined, and with which of them.
fn joined_error(ndims: usize, joined_dim: usize, pages: &[Page]) -> LayoutError {
    let blocks = pages.iter().flat_map(Page::blocks);
    let counts = blocks.map(|(block, count)| (block, Dims::from_slice(count).unwrap_or_default()));
    let joined = Layout::joined(ndims, joined_dim, counts);
    joined.err().unwrap_or(LayoutError::NoSuchDimension { joined_dim, ndims })
}

/// The first thing in which two ranks disagree.
pub(super) fn difference(first: &Agreed, second: &Agreed) -> Option<PutDifference> {
    let same = Arc::ptr_eq(&first.def, &second.def) || first.def == second.def;
    let of_def = if same { None } else { def_difference(&first.def, &second.def) };
    of_def
        .or_else(|| (first.shape != second.shape).then_some(PutDifference::Shape(first.shape, second.shape)))
}

/// The first thing in which two definitions of one name differ.
fn def_difference(a: &VariableDef, b: &VariableDef) -> Option<PutDifference> {
    let differences = [
        (a.dtype != b.dtype).then_some(PutDifference::Dtype(a.dtype, b.dtype)),
        (a.record != b.record).then(|| PutDifference::Record(a.record.clone(), b.record.clone())),
        (a.kind != b.kind).then_some(PutDifference::Kind(a.kind, b.kind)),
        (a.dimensions != b.dimensions)
            .then(|| PutDifference::Dimensions(a.dimensions.clone(), b.dimensions.clone())),
        (a.order != b.order).then_some(PutDifference::Order(a.order, b.order)),
        (a.unit != b.unit).then(|| PutDifference::Unit(a.unit.clone(), b.unit.clone())),
        (a.description != b.description)
            .then(|| PutDifference::Description(a.description.clone(), b.description.clone())),
        attribute_difference(a, b),
    ];
    differences.into_iter().flatten().next()
}

/// The first attribute that differs.
fn attribute_difference(a: &VariableDef, b: &VariableDef) -> Option<PutDifference> {
    let mut names = a.attributes.keys().chain(b.attributes.keys());
    let differing = names.find(|name| a.attributes.get(*name) != b.attributes.get(*name));
    differing.map(|name| PutDifference::Attribute(name.clone()))
}
