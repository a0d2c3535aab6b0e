//! Registered transforms as derivations call them: on a block of each variable, with all that the registry says of a
//! call.

use std::sync::Arc;
use std::time::Duration;

use fp_types::{MemoryOrder, Region, Shape};

use super::Transforms;
use crate::block::{Array, Block};
use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::memory::Memory;

/// A transform by its name: it is looked for when it is called.
struct Called {
    transforms: Transforms,
    name: String,
    /// For a thread, and for the call.
    limits: (Duration, Duration),
}

impl Transforms {
    /// The transform of that name as what a plan runs
    /// ([`DerivationPlan::with_function`](crate::DerivationPlan::with_function)), on this registry's threads.
    ///
    /// Of each block it gets one array for every variable: of the block's shape, in one block that begins at index 0.
    /// It gives one array: of that shape, or of as many elements in one dimension, which are those of the block in its
    /// order. Where rows are asked for, the array has whatever shape a row has.
    pub fn function(&self, name: impl Into<String>) -> Arc<dyn RunModule> {
        self.function_within(name, Duration::MAX, Duration::MAX)
    }

    /// The same, waiting at most so long for a thread, and letting each call take at most so long. Shorter limits of
    /// the registry and of the transform hold all the same.
    pub fn function_within(
        &self,
        name: impl Into<String>,
        waiting: Duration,
        running: Duration,
    ) -> Arc<dyn RunModule> {
        Arc::new(Called { transforms: self.clone(), name: name.into(), limits: (waiting, running) })
    }
}

impl RunModule for Called {
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError> {
        let arrays = inputs.iter().map(alone).collect::<Result<Vec<_>, _>>()?;
        let given = self.transforms.run_within(&self.name, arrays, self.limits)?;
        match &given[..] {
            [array] => one_block(array),
            several => Err(DeriveError::ModuleOutput {
                by: format!("transform {:?}", self.name),
                given: format!("{} arrays", several.len()),
                wanted: "one".to_owned(),
            }),
        }
    }
}

/// The block as an array of its own.
fn alone(block: &Block) -> Result<Array, DeriveError> {
    let shape = Shape::new(*block.region().count())?;
    let block = block.clone().moved(Region::whole(&shape), block.order());
    Array::new(block.dtype(), shape, vec![block])
}

/// All elements of an array in this machine's byte order: as they lie, if they lie in one block.
fn one_block(array: &Array) -> Result<Block, DeriveError> {
    let (memory, whole) = (Memory::default(), Region::whole(array.shape()));
    if let [block] = array.blocks()
        && *block.region() == whole
    {
        return block.native(&memory);
    }
    let native = array.map_blocks(array.array_type(), &memory, |block| block.native(&memory).map(Some))?;
    Block::new(whole, array.dtype(), MemoryOrder::RowMajor, native.assemble(MemoryOrder::RowMajor)?)
}
