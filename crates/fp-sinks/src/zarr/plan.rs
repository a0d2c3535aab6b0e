//! Where each variable of a step goes, and who writes it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use fp_core::{ArrayKind, BlockId, Region, Shape};

use super::document::{Cut, NewArray, STEP, attributes, data_type};
use super::grid::{Grid, owner, shards};
use super::store::{Store, VALUES};
use crate::error::SinkError;
use crate::part::Part;
use crate::taken_step::{TakenStep, TakenVariable};

/// The fewest values of ranks in a chunk.
const RANKS: u64 = 64;

/// What becomes of a variable of a step.
pub(crate) enum Planned {
    /// The value that the step has is appended.
    Value,
    /// The values of ranks are gathered, and stored together.
    Ranks(Mutex<Vec<u8>>),
    /// Regions of the array are stored as they come.
    Array,
    /// So are those of an array that has so many rows in this step.
    Rows(u64),
    /// Each block is an array.
    Blocks,
}

/// Parts of a step, by the rank that writes each.
pub(crate) type Parts = Vec<Vec<Part>>;

/// A variable that is being planned.
pub(crate) struct Planning<'a> {
    pub(crate) step: &'a TakenStep,
    pub(crate) index: usize,
    pub(crate) parts: &'a mut Parts,
}

impl Planning<'_> {
    fn variable(&self) -> &TakenVariable {
        &self.step.variables[self.index]
    }

    fn ranks(&self) -> u32 {
        self.parts.len() as u32
    }

    fn size(&self) -> u64 {
        self.variable().element_bytes().unwrap_or(0) as u64
    }

    fn refused(&self, why: impl Into<String>) -> SinkError {
        self.step.refusal(self.variable(), why)
    }

    /// Plans it.
    pub(crate) fn plan(&mut self, store: &mut Store) -> Result<Planned, SinkError> {
        self.check(store)?;
        let name = self.variable().def.name.clone();
        match self.variable().def.kind {
            ArrayKind::Scalar => {
                let steps = if self.variable().element_bytes().is_some() { VALUES } else { 1 };
                self.array(store, &name, &[], Cut::Steps(steps))?;
                Ok(Planned::Value)
            }
            ArrayKind::LocalScalar => self.ranks_values(store, &name),
            ArrayKind::GlobalArray => {
                let shape = self.variable().shape.unwrap_or_default();
                let cut = Cut::Shards(Grid::of(shape.dims(), self.size(), self.ranks()));
                self.array(store, &name, shape.dims(), cut)?;
                self.share_out(store, &name, &shape)?;
                Ok(Planned::Array)
            }
            ArrayKind::JoinedArray { joined_dim } => self.rows(store, &name, usize::from(joined_dim)),
            ArrayKind::LocalArray => self.blocks(store, &name),
        }
    }

    /// Whether a Zarr store can have it.
    fn check(&self, store: &Store) -> Result<(), SinkError> {
        let variable = self.variable();
        let name = variable.def.name.as_str();
        if variable.records.is_some() {
            return Err(self.refused(
                "records have no place in a Zarr array: write them with --to parquet:FILE, and all else with --variables",
            ));
        }
        let is_text = variable.element_bytes().is_none() && variable.def.kind != ArrayKind::Scalar;
        if is_text || data_type(variable.dtype).is_none() {
            let (kind, dtype) = (variable.def.kind, variable.dtype);
            return Err(self.refused(format!(
                "a {kind} of {dtype} has no element type that Zarr's readers know: leave it out with --variables, or \
                 write real numbers with --cast f32"
            )));
        }
        let counts_rows = name.strip_suffix(COUNT).is_some_and(|joined| store.counts_rows(name, joined));
        if name == STEP || name.starts_with("__") || name == "zarr.json" || counts_rows {
            return Err(self.refused("the store needs this name itself: leave it out with --variables"));
        }
        let is_group = variable.def.kind == ArrayKind::LocalArray;
        if !is_group && store.has_other(name) || is_group && store.nodes.contains_key(name) {
            return Err(self.refused("the store has something else of this name: write to another folder"));
        }
        Ok(())
    }

    /// The array of that path, which is made if it is not there: its elements and extents are those of this step.
    fn array(&self, store: &mut Store, path: &str, shape: &[u64], cut: Cut) -> Result<(), SinkError> {
        self.growing_array(store, path, (shape, &self.variable().def.dimensions), cut, None)
    }

    /// As [`Self::array`], but that the extent along `grows` may be another in each step.
    fn growing_array(
        &self,
        store: &mut Store,
        path: &str,
        (shape, names): (&[u64], &[String]),
        cut: Cut,
        grows: Option<usize>,
    ) -> Result<(), SinkError> {
        let variable = self.variable();
        let Some(node) = store.nodes.get_mut(path) else {
            let dimensions = store.dimensions(path, names, shape);
            let shape = [&[store.steps], shape].concat();
            let mut attributes = attributes(&variable.def);
            if let ArrayKind::JoinedArray { .. } = variable.def.kind {
                attributes.insert("ancillary_variables".to_owned(), count_of(path).into());
            }
            let array = NewArray { shape, dtype: variable.dtype, dimensions, attributes, cut };
            store.make(path, array)?;
            return Ok(());
        };
        let (known, found) = (node.data_type().to_owned(), data_type(variable.dtype).map(|(name, _)| name));
        if found != Some(known.as_str()) {
            let found = found.unwrap_or_default();
            return Err(self.refused(format!(
                "its elements were {known}, and are {found} now: write it to another store, or leave it out with \
                 --variables"
            )));
        }
        let is_same = |dim: usize| Some(dim) == grows || node.shape()[dim] == shape[dim];
        if node.shape().len() != shape.len() || !(0..shape.len()).all(is_same) {
            return Err(self.refused(format!(
                "{path}: its shape was {:?}, and is {shape:?} now. An array of a Zarr store keeps its shape: write it to \
                 another store, or leave it out with --variables",
                node.shape()
            )));
        }
        if let Some(dim) = grows
            && shape[dim] > node.shape()[dim]
        {
            let shape = shape.to_vec();
            node.resize(store.steps, &shape)?;
        }
        Ok(())
    }

    /// Gives each rank its shards of an array.
    fn share_out(&mut self, store: &Store, path: &str, shape: &Shape) -> Result<(), SinkError> {
        let Some(node) = store.nodes.get(path) else { return Ok(()) };
        let place = store.files.place(path);
        let shards = shards(&Region::whole(shape), node.extents()).map_err(SinkError::format(&place))?;
        let count = shards.len();
        for (shard, (_, region)) in shards.into_iter().enumerate() {
            let rank = owner(shard, count, self.ranks(), self.index);
            self.parts[rank].push(Part::region(self.index, region));
        }
        Ok(())
    }

    fn ranks_values(&mut self, store: &mut Store, name: &str) -> Result<Planned, SinkError> {
        // What a rank put last counts.
        let last: BTreeMap<u32, BlockId> =
            self.variable().blocks.iter().map(|(block, _)| (block.rank.0, *block)).collect();
        let count = last.keys().last().map_or(0, |rank| u64::from(*rank) + 1);
        let cut = Cut::Chunks(vec![count.max(RANKS)]);
        self.growing_array(store, name, (&[count], &[format!("{name}_ranks")]), cut, Some(0))?;
        let place = store.files.place(name);
        for block in last.into_values() {
            let at = Region::new([u64::from(block.rank.0)], [1]).map_err(SinkError::format(&place))?;
            let rank = self.index % self.parts.len();
            self.parts[rank].push(Part::block(self.index, block, at));
        }
        let row = store.nodes.get(name).map(|node| node.fill_value().repeat(node.shape()[0] as usize));
        Ok(Planned::Ranks(Mutex::new(row.unwrap_or_default())))
    }

    fn rows(&mut self, store: &mut Store, name: &str, dim: usize) -> Result<Planned, SinkError> {
        let shape = self.variable().shape.unwrap_or_default();
        let mut names = self.variable().def.dimensions.clone();
        names[dim] = format!("{name}_rows");
        let cut = Cut::Shards(Grid::growing(shape.dims(), dim, self.size(), self.ranks()));
        self.growing_array(store, name, (shape.dims(), &names), cut, Some(dim))?;
        let count = count_of(name);
        if !store.nodes.contains_key(&count) && !store.has_other(&count) {
            store.make(&count, super::count_array(name, store.steps))?;
        } else if !store.counts_rows(&count, name) {
            return Err(self.refused(format!(
                "{count:?} is to say how many rows it has, and is a variable: leave one of them out with --variables"
            )));
        }
        self.share_out(store, name, &shape)?;
        Ok(Planned::Rows(shape.dims()[dim]))
    }

    fn blocks(&mut self, store: &mut Store, name: &str) -> Result<Planned, SinkError> {
        store.make_group(name);
        let blocks = self.variable().blocks.clone();
        for (place, (block, region)) in blocks.iter().enumerate() {
            let cut = Cut::Shards(Grid::of(region.count(), self.size(), 1));
            self.array(store, &block_path(name, *block), region.count(), cut)?;
            let rank = owner(place, blocks.len(), self.ranks(), self.index);
            self.parts[rank].push(Part::block(self.index, *block, *region));
        }
        Ok(Planned::Blocks)
    }
}

/// What the name of a joined array is followed by in that of its numbers of rows.
const COUNT: &str = "_count";

/// The array of the numbers of rows of a joined array.
pub(crate) fn count_of(name: &str) -> String {
    format!("{name}{COUNT}")
}

/// The array of a block of a local array.
pub(crate) fn block_path(name: &str, block: BlockId) -> String {
    format!("{name}/{}_{}", block.rank.0, block.index)
}
