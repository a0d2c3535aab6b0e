//! A derivation for arrays of known types: what it gives and costs, and how it runs on what a rank has.

use std::sync::Arc;

use fp_types::record::ElementForm;
use fp_types::{Dtype, MemoryOrder, Region, Shape};

use super::attached::Attached;
use super::partial::Content;
use super::{Derivation, DerivationId, Partial};
use crate::block::{Array, ArrayType, Block};
use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::memory::Memory;
use crate::operation::{
    Operation, OutputType, averages, cast, elementwise, find, finish_averages, locate, reduce, relate, taken,
};
use crate::placing::Placing;
use crate::policy::ModuleHash;

/// A derivation and the types of its variables: equal on every rank.
#[derive(Clone, Debug)]
pub struct DerivationPlan {
    derivation: Derivation,
    id: DerivationId,
    /// What goes into each operation.
    stages: Vec<Vec<ArrayType>>,
    outputs: Vec<OutputType>,
    /// Of results that were dropped.
    memory: Memory,
    /// What is run that is not built in.
    modules: Attached,
}

/// What a plan gave on one rank: arrays whose blocks are whole, and what is still to be merged.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The arrays, as many as [`DerivationPlan::outputs`] says. If the derivation gathers, they have only the blocks
    /// that are whole already.
    pub arrays: Vec<Array>,
    /// What this rank knows of the rest, if the derivation gathers.
    pub partial: Option<Partial>,
}

impl Derivation {
    /// Checks the derivation against the types of its variables, in their order.
    ///
    /// # Errors
    /// Another number of types, or shapes or elements that an operation does not take.
    pub fn plan(&self, inputs: &[ArrayType]) -> Result<DerivationPlan, DeriveError> {
        if inputs.len() != self.inputs().len() {
            let (operation, count) = (self.to_string(), inputs.len());
            return Err(DeriveError::Arity { operation, wanted: "a type for each variable", count });
        }
        let whole =
            |of: &ArrayType| OutputType { suffix: "", dtype: of.dtype, shape: of.shape, at_most: false };
        let (mut stages, mut outputs) = (Vec::new(), inputs.iter().map(whole).collect::<Vec<_>>());
        for operation in self.operations() {
            let types: Vec<_> =
                outputs.iter().map(|of| ArrayType { dtype: of.dtype, shape: of.shape }).collect();
            outputs = operation.outputs(&types)?;
            stages.push(types);
        }
        let (derivation, id) = (self.clone(), self.id());
        Ok(DerivationPlan {
            derivation,
            id,
            stages,
            outputs,
            memory: Memory::default(),
            modules: Attached::default(),
        })
    }
}

impl DerivationPlan {
    /// With memory that results of other plans leave as well, and of which so much may be used.
    #[must_use]
    pub fn with_memory(mut self, memory: &Memory) -> Self {
        self.memory = memory.clone();
        self
    }

    /// Whether what it gives has places in an array: rows of several ranks lie one behind another.
    pub fn has_places(&self) -> bool {
        let last = self.derivation.operations().last();
        !matches!(last, Some(Operation::Reduce(_) | Operation::Relate(_)))
    }

    /// With a module that the derivation asks for: without it, it cannot run.
    #[must_use]
    pub fn with_module(mut self, hash: ModuleHash, module: Arc<dyn RunModule>) -> Self {
        self.modules.insert(hash, module);
        self
    }

    /// With a registered function that the derivation calls by that name: without it, it cannot run.
    #[must_use]
    pub fn with_function(mut self, name: impl Into<String>, function: Arc<dyn RunModule>) -> Self {
        self.modules.insert_function(name.into(), function);
        self
    }

    /// What is planned.
    pub fn derivation(&self) -> &Derivation {
        &self.derivation
    }

    /// The derivation's id.
    pub fn id(&self) -> DerivationId {
        self.id
    }

    /// What comes out.
    pub fn outputs(&self) -> &[OutputType] {
        &self.outputs
    }

    /// How many bytes go in, and how many come out at most, of all ranks together and before compression.
    pub fn len_bytes(&self) -> (u128, u128) {
        let size = |of: &OutputType| ArrayType { dtype: of.dtype, shape: of.shape }.len_bytes();
        let output = self.outputs.iter().map(size).sum();
        let input = self.stages.first().map(|types| types.iter().map(ArrayType::len_bytes).sum());
        (input.unwrap_or(output), output)
    }

    /// What goes into the last operation.
    pub(crate) fn last_input(&self) -> Option<&ArrayType> {
        self.stages.last()?.first()
    }

    /// Whether results are whole only after all ranks' parts were merged.
    pub fn gathers(&self) -> bool {
        self.derivation.operations().last().is_some_and(Operation::gathers)
    }

    /// Derives what the blocks of one rank (or of any set of them) give. Blocks of one variable are disjoint.
    ///
    /// # Errors
    /// Arrays of other types than planned, or variables that do not hold the same elements.
    pub fn apply(&self, inputs: &[Array]) -> Result<Derived, DeriveError> {
        let planned: Option<Vec<ArrayType>> = self.stages.first().cloned();
        let given: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
        if planned.is_some_and(|planned| planned != given) {
            // Planning again says what does not fit, if it is not only that another plan was wanted.
            self.derivation.plan(&given)?;
            return Err(DeriveError::Unlike);
        }
        let mut derived = Derived { arrays: inputs.to_vec(), partial: None };
        for (index, operation) in self.derivation.operations().iter().enumerate() {
            let outputs = self.stages.get(index + 1).and_then(|types| types.first().copied());
            let output = self.outputs.first().map(|of| ArrayType { dtype: of.dtype, shape: of.shape });
            let Some(to) = outputs.or(output) else {
                break;
            };
            derived = self.step(operation, &derived.arrays, to)?;
        }
        Ok(derived)
    }

    /// One operation on what the one before it gave.
    fn step(&self, operation: &Operation, inputs: &[Array], to: ArrayType) -> Result<Derived, DeriveError> {
        let Some(first) = inputs.first() else {
            return Err(DeriveError::InputCount { count: 0 });
        };
        let whole = |array| Derived { arrays: vec![array], partial: None };
        let partial = |arrays, content| Derived { arrays, partial: Some(Partial { of: self.id, content }) };
        Ok(match operation {
            Operation::Cast(dtype) => whole(
                first.map_blocks(to, &self.memory, |block| cast(block, *dtype, &self.memory).map(Some))?,
            ),
            Operation::Reorder(order) => whole(first.map_blocks(to, &self.memory, |block| {
                block.native(&self.memory)?.reordered(*order, &self.memory).map(Some)
            })?),
            Operation::Stride(_) | Operation::Slice(_) => {
                let wanted = operation.slice_of(first.shape())?;
                let part = |block: &Block| taken(&block.native(&self.memory)?, &wanted, &self.memory);
                whole(first.map_blocks(to, &self.memory, part)?)
            }
            Operation::Scale { .. } | Operation::Magnitude | Operation::Compute(_) => {
                whole(elementwise(operation, inputs, to, &self.memory)?)
            }
            Operation::Average(steps) => {
                let (array, cells) = averages(first, steps, to, &self.memory)?;
                partial(vec![array], Content::Cells(cells))
            }
            Operation::Reduce(reduction) => {
                let statistic = reduce(*reduction, first, &self.memory)?;
                partial(self.empty()?, Content::Statistic(Box::new(statistic)))
            }
            Operation::Locate(extreme) => {
                partial(self.empty()?, Content::Located(locate(*extreme, first, &self.memory)?))
            }
            Operation::Relate(relation) => {
                partial(self.empty()?, Content::Related(relate(*relation, inputs, &self.memory)?))
            }
            Operation::Module(call) => {
                let module = self.modules.find(call)?;
                match call.rows() {
                    None => whole(call.blocks(module, inputs, to, &self.memory)?),
                    Some(_) => {
                        let rows = call.rows_of(module, inputs, to, &self.memory)?;
                        partial(self.empty()?, Content::Found(rows))
                    }
                }
            }
            Operation::Points { comparison, threshold } => {
                partial(self.empty()?, Content::Found(find(first, *comparison, *threshold, &self.memory)?))
            }
        })
    }

    /// The results without any block.
    fn empty(&self) -> Result<Vec<Array>, DeriveError> {
        self.outputs.iter().map(|of| Array::new(of.dtype, of.shape, Vec::new())).collect()
    }

    /// What a rank derived by a plan for its own rows of joined or local arrays, where these rows lie among all. It has
    /// `count` of them along dimension `dim`, and the first is row `first`. This plan is for all rows.
    ///
    /// `None` of what is no such part. Only for derivations that [need no rows](Derivation::needs_rows) to be known.
    pub fn placed(&self, derived: Derived, dim: usize, (first, count): (u64, u64)) -> Option<Derived> {
        let Derived { arrays, mut partial } = derived;
        let place = |shape: &Shape| Placing::new(shape, dim, (first, count));
        if let Some(partial) = &mut partial {
            let of_elements = self.derivation.operations().last().is_some_and(Operation::has_places_of_input);
            let shape = if of_elements { self.last_input()?.shape } else { self.outputs.first()?.shape };
            partial.placed(&place(&shape))?;
        }
        let array = |(array, of): (Array, &OutputType)| array.placed(of.shape, place(&of.shape));
        let arrays = arrays.into_iter().zip(&self.outputs).map(array).collect::<Option<_>>()?;
        Some(Derived { arrays, partial })
    }

    /// The results, once all ranks' parts were merged.
    ///
    /// # Errors
    /// A part is missing, or there was nothing to bring together.
    pub fn finish(&self, derived: Derived) -> Result<Vec<Array>, DeriveError> {
        let Derived { mut arrays, partial } = derived;
        let (Some(partial), Some(operation)) = (partial, self.derivation.operations().last()) else {
            return Ok(arrays);
        };
        let (of, first) = match (self.last_input(), self.outputs.first()) {
            (Some(of), Some(first)) => (of, ArrayType { dtype: first.dtype, shape: first.shape }),
            _ => return Ok(arrays),
        };
        match (operation, &partial.content) {
            (Operation::Average(steps), Content::Cells(cells)) => {
                let blocks = finish_averages(cells, &of.shape, steps, first)?;
                if let Some(array) = arrays.first_mut() {
                    array.extend(blocks);
                }
                Ok(arrays)
            }
            (Operation::Reduce(reduction), Content::Statistic(statistic)) => {
                let bytes = statistic.finish(*reduction, of.dtype)?;
                Ok(vec![array(first.dtype, first.shape, bytes)?])
            }
            (Operation::Points { .. }, Content::Found(found)) => {
                let (places, values) = found.finish(of.dtype.size_bytes().unwrap_or(1));
                let shape = Shape::new([(places.len() / 8) as u64])?;
                Ok(vec![array(Dtype::U64, shape, places)?, array(of.dtype, shape, values)?])
            }
            (Operation::Locate(_), Content::Located(located)) => {
                let (place, value) = located.finish(of.dtype)?;
                let scalar = Shape::scalar();
                Ok(vec![array(Dtype::U64, scalar, place)?, array(of.dtype, scalar, value)?])
            }
            (Operation::Relate(_), Content::Related(related)) => {
                Ok(vec![array(first.dtype, first.shape, related.finish()?)?])
            }
            (Operation::Module(call), Content::Found(found)) => {
                let (places, values) = found.finish(call.row_bytes());
                Ok(vec![array(first.dtype, call.rows_shape((places.len() / 8) as u64)?, values)?])
            }
            _ => Err(DeriveError::Unlike),
        }
    }

    /// Derives from all blocks of all ranks at once.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply) and [`finish`](Self::finish).
    pub fn run(&self, inputs: &[Array]) -> Result<Vec<Array>, DeriveError> {
        self.finish(self.apply(inputs)?)
    }
}

fn array(dtype: Dtype, shape: Shape, bytes: Vec<u8>) -> Result<Array, DeriveError> {
    let form = ElementForm::native(dtype);
    let block = Block::shared(Region::whole(&shape), form, MemoryOrder::RowMajor, Arc::new(bytes))?;
    Array::new(dtype, shape, vec![block])
}

impl Derived {
    /// Brings together what two ranks derived by the same plan.
    ///
    /// # Errors
    /// [`DeriveError::Unlike`] if it was not the same.
    pub fn merge(&mut self, other: Derived) -> Result<(), DeriveError> {
        if self.arrays.len() != other.arrays.len() {
            return Err(DeriveError::Unlike);
        }
        match (&mut self.partial, &other.partial) {
            (Some(ours), Some(theirs)) => ours.merge(theirs)?,
            (None, None) => {}
            _ => return Err(DeriveError::Unlike),
        }
        for (ours, theirs) in self.arrays.iter_mut().zip(&other.arrays) {
            if ours.array_type() != theirs.array_type() {
                return Err(DeriveError::Unlike);
            }
            ours.extend(theirs.blocks().to_vec());
        }
        Ok(())
    }
}
