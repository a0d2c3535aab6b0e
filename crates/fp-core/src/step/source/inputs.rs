//! The variables from which a step's derived ones are made: what they are, how many rows each rank has, and all elements.

use crate::data::taker::fetch::job::{Get, Gets};
use crate::data::taker::fetch_plan::{FetchPlan, names};
use crate::error::ReadError;
use crate::session::derived_variables::DerivedRequest;
use crate::step::held::HeldStep;
use crate::step::request::Request;
use crate::step::source::parts;
use crate::step::{fill, plan};
use crate::value::derivation_inputs::{Part, StackedRows, extent, ndims, of_one_element, together};
use fp_transform::{Array, ArrayType, Block, DerivationPlan, DeriveError};
use fp_types::{
    BlockId, Dims, Dtype, MemoryOrder, Rank, Region, Selection, Shape, StepTable, TableEntry, VariableDef,
};
use std::sync::Arc;
use std::time::Instant;

/// Why nothing can be derived from them.
pub(crate) enum Unusable {
    /// What does not fit, in words.
    Unfit(String),
    /// They cannot be read, or the publisher did not say where blocks lie.
    Read(ReadError),
}

impl From<ReadError> for Unusable {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<DeriveError> for Unusable {
    fn from(error: DeriveError) -> Self {
        Self::Unfit(error.to_string())
    }
}

/// The variables of a derivation as the step has them, or which there are instead.
pub(crate) fn entries<'t>(
    asked: &DerivedRequest,
    table: &'t StepTable,
) -> Result<Vec<&'t TableEntry>, String> {
    let entry = |name: &String| {
        let none = || format!("there is no variable {name:?}; there are {}", names(table).join(", "));
        table.entry(name).ok_or_else(none)
    };
    asked.derivation.inputs().iter().map(entry).collect()
}

/// What the variables are together.
pub(crate) fn together_in(asked: &DerivedRequest, table: &StepTable) -> Result<Part, String> {
    let entries = entries(asked, table)?;
    together(entries.iter().map(|entry| &*entry.def)).map_err(|error| error.to_string())
}

/// The plan for the variables as the step has them. Asks the publisher where blocks lie of which that is not known.
pub(crate) fn plan_in(
    held: &HeldStep,
    asked: &DerivedRequest,
    table: &StepTable,
    deadline: Instant,
) -> Result<DerivationPlan, Unusable> {
    together_in(asked, table).map_err(Unusable::Unfit)?;
    let mut types = Vec::new();
    for entry in entries(asked, table).map_err(Unusable::Unfit)? {
        let shape = match known_shape(entry) {
            Some(shape) => shape,
            None => {
                let blocks = parts::blocks(held, &entry.def.name, deadline)?;
                rows_shape(&entry.def, &blocks).map_err(Unusable::Unfit)?
            }
        };
        types.push(ArrayType { dtype: entry.def.dtype, shape });
    }
    asked.derivation.plan(&types).map_err(|error| Unusable::Unfit(error.to_string()))
}

/// The same without asking anybody, and whether it says the shapes. Otherwise it is for one element of each variable.
pub(crate) fn plan_now(
    held: &HeldStep,
    asked: &DerivedRequest,
    table: &StepTable,
) -> Result<(DerivationPlan, bool), String> {
    together_in(asked, table)?;
    let entries = entries(asked, table)?;
    let shape = |entry: &&TableEntry| {
        let blocks = || parts::known_blocks(held, &entry.def.name);
        known_shape(entry).or_else(|| rows_shape(&entry.def, &blocks()?).ok())
    };
    let shapes: Option<Vec<Shape>> = entries.iter().map(shape).collect();
    let plan = match &shapes {
        Some(shapes) => {
            let of =
                |(entry, shape): (&&TableEntry, &Shape)| ArrayType { dtype: entry.def.dtype, shape: *shape };
            asked.derivation.plan(&entries.iter().zip(shapes).map(of).collect::<Vec<_>>())
        }
        None => of_one_element(&element_types(&entries)).and_then(|types| asked.derivation.plan(&types)),
    };
    plan.map(|plan| (plan, shapes.is_some())).map_err(|error| error.to_string())
}

/// Element types and numbers of dimensions.
pub(crate) fn element_types(entries: &[&TableEntry]) -> Vec<(Dtype, usize)> {
    entries.iter().map(|entry| (entry.def.dtype, ndims(&entry.def))).collect()
}

/// The shape, if the table says it.
fn known_shape(entry: &TableEntry) -> Option<Shape> {
    match Part::of(&entry.def) {
        Part::Value => Some(Shape::scalar()),
        Part::Placed | Part::Rows { .. } => entry.layout.shape().copied(),
    }
}

/// The shape of all rows together, and where each block lies there.
fn stacked(
    def: &VariableDef,
    dim: usize,
    blocks: &[(BlockId, Region)],
) -> Result<(Shape, Vec<Region>), String> {
    let (mut rows, mut regions) = (StackedRows::new(dim), Vec::with_capacity(blocks.len()));
    for (block, region) in blocks {
        let count = extent(region.count(), def);
        let start = rows.push(count).map_err(|(first, others)| {
            let (name, rank) = (&def.name, block.rank);
            format!(
                "blocks of {name:?} have rows of {first} and, on rank {rank}, of {others} (dimension {dim} is that of the rows): nothing is derived from these together"
            )
        })?;
        regions.push(Region::new(start, count).map_err(|error| error.to_string())?);
    }
    let dims = rows.extents().unwrap_or_else(|| Dims::filled(ndims(def), 0).unwrap_or_default());
    Ok((Shape::new(dims).map_err(|error| error.to_string())?, regions))
}

/// The shape of all rows together.
fn rows_shape(def: &VariableDef, blocks: &[(BlockId, Region)]) -> Result<Shape, String> {
    let Part::Rows { dim } = Part::of(def) else { return Ok(Shape::scalar()) };
    stacked(def, dim, blocks).map(|(shape, _)| shape)
}

/// Along which dimension the rows of ranks lie one behind another. For each rank with some, the first and how many.
pub(crate) struct RankRows {
    pub(crate) dim: usize,
    ranks: Vec<(Rank, u64, u64)>,
}

impl RankRows {
    pub(crate) fn of(
        held: &HeldStep,
        asked: &DerivedRequest,
        table: &StepTable,
        deadline: Instant,
    ) -> Result<Option<Self>, ReadError> {
        let entries = entries(asked, table).unwrap_or_default();
        let rows = |entry: &&TableEntry| match Part::of(&entry.def) {
            Part::Rows { dim } => Some((entry.def.clone(), dim)),
            Part::Placed | Part::Value => None,
        };
        let Some((def, dim)) = entries.iter().find_map(rows) else { return Ok(None) };
        let (mut ranks, mut first): (Vec<(Rank, u64, u64)>, u64) = (Vec::new(), 0);
        for (block, region) in parts::blocks(held, &def.name, deadline)? {
            let count = extent(region.count(), &def)[dim];
            match ranks.last_mut().filter(|(rank, ..)| *rank == block.rank) {
                Some((_, _, rows)) => *rows = rows.saturating_add(count),
                None => ranks.push((block.rank, first, count)),
            }
            first = first.saturating_add(count);
        }
        Ok(Some(Self { dim, ranks }))
    }

    /// The first row of a rank, and how many it has.
    pub(crate) fn of_rank(&self, rank: Rank) -> (u64, u64) {
        let found = self.ranks.iter().find(|(known, ..)| *known == rank);
        found.map_or((0, 0), |&(_, first, rows)| (first, rows))
    }
}

/// The variables, whole, each in one block.
pub(crate) fn all_here(
    held: &HeldStep,
    asked: &DerivedRequest,
    deadline: Instant,
) -> Result<Vec<Array>, Unusable> {
    let table = held.table(deadline)?;
    let entries = entries(asked, &table).map_err(Unusable::Unfit)?;
    let mut places = Vec::new();
    for entry in &entries {
        places.push(places_of(held, entry, deadline)?);
    }
    let len = |planned: &Arc<FetchPlan>| planned.len_bytes().unwrap_or(usize::MAX);
    let plans: Vec<&Arc<FetchPlan>> = places.iter().flat_map(|place| &place.plans).collect();
    let mut elements: Vec<Vec<u8>> = plans.iter().map(|planned| vec![0; len(planned)]).collect();
    let gets = plans.iter().map(|planned| Arc::clone(planned)).zip(&mut elements);
    let gets: Gets<'_> = gets.map(|(planned, elements)| Get::new(planned, &mut elements[..])).collect();
    fill::fill_all(held, gets, deadline.into())?;
    let mut elements = elements.into_iter();
    let array = |(entry, place): (&&TableEntry, Places)| {
        let elements = elements.by_ref().take(place.plans.len()).collect();
        place.array(held, entry, elements)
    };
    entries.iter().zip(places).map(array).collect()
}

/// How the elements of a variable are fetched.
struct Places {
    plans: Vec<Arc<FetchPlan>>,
    /// Where each of several blocks lies among all rows; none of an array that is fetched whole.
    blocks: Option<(Shape, Vec<Region>)>,
}

fn places_of(held: &HeldStep, entry: &TableEntry, deadline: Instant) -> Result<Places, Unusable> {
    let (name, shape) = (entry.def.name.as_str(), entry.layout.shape());
    match (Part::of(&entry.def), shape) {
        (Part::Value, _) => Ok(Places { plans: Vec::new(), blocks: None }),
        (Part::Rows { dim }, None) => {
            let known = parts::blocks(held, name, deadline)?;
            let blocks = stacked(&entry.def, dim, &known).map_err(Unusable::Unfit)?;
            let wanted: Vec<(&str, BlockId)> = known.iter().map(|(block, _)| (name, *block)).collect();
            let plans = plan::planned_blocks(held, &wanted, MemoryOrder::RowMajor, deadline)?;
            Ok(Places { plans, blocks: Some(blocks) })
        }
        (Part::Placed | Part::Rows { .. }, _) => {
            let all = Selection::All.into();
            let planned = plan::planned_as_put(held, Request::new(name, &all, deadline))?;
            Ok(Places { plans: vec![planned], blocks: None })
        }
    }
}

impl Places {
    fn array(
        self,
        held: &HeldStep,
        entry: &TableEntry,
        mut elements: Vec<Vec<u8>>,
    ) -> Result<Array, Unusable> {
        let (dtype, order) = (entry.def.dtype, MemoryOrder::RowMajor);
        let Some((shape, regions)) = self.blocks else {
            let (shape, bytes) = match self.plans.first() {
                Some(planned) => (planned.plan.result_shape(), elements.pop().unwrap_or_default()),
                None => (Shape::scalar(), held.value(&entry.def.name)?.bytes.clone()),
            };
            return Ok(Array::whole(dtype, shape, order, bytes)?);
        };
        let block = |(region, bytes)| Block::new(region, dtype, order, bytes);
        let blocks = regions.into_iter().zip(elements).map(block).collect::<Result<_, _>>()?;
        let bytes = Array::new(dtype, shape, blocks)?.assemble(order)?;
        Ok(Array::whole(dtype, shape, order, bytes)?)
    }
}
