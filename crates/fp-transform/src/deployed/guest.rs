//! One call of a module: its memory is filled, it runs, and its output is checked and taken.

use std::sync::Arc;
use std::time::Duration;

use fp_types::record::ElementForm;
use fp_types::{Dims, Dtype, MAX_DIMS, MemoryOrder, Region};
use wasmtime::{Instance, InstancePre, Memory, PoolConcurrencyLimitError, ResourceLimiter, Store, Trap};

use super::error::{DeployError, OutputFault};
use super::memory_use::{Used, table_elements};
use super::ticker::TICK;
use crate::block::Block;
use crate::policy::DeployLimits;

/// The size of a block's description in the guest's memory.
const DESCRIPTION_BYTES: usize = 152;
/// On what elements start.
const ALIGNMENT: usize = 64;

/// What the runtime knows of a call.
pub(super) struct Guest {
    limit_bytes: usize,
    limit_elements: usize,
    used: Used,
    /// What it wanted more of than it may have.
    exceeded: Option<DeployError>,
}

impl Guest {
    fn new(limits: &DeployLimits, used: Used) -> Self {
        let limit_elements = table_elements(limits);
        Self { limit_bytes: limits.memory_bytes, limit_elements, used, exceeded: None }
    }

    /// Refusing would leave the guest to make of it what it likes; the error ends the call.
    fn end_if(&mut self, is_over: bool, error: DeployError) -> wasmtime::Result<bool> {
        if is_over {
            self.exceeded.get_or_insert(error);
        }
        self.exceeded.as_ref().map_or(Ok(true), |error| Err(wasmtime::Error::msg(error.to_string())))
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let limit_bytes = self.limit_bytes;
        self.used.add(desired.min(limit_bytes));
        self.end_if(desired > limit_bytes, DeployError::Memory { limit_bytes })
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let limit_elements = self.limit_elements;
        self.end_if(desired > limit_elements, DeployError::Table { limit_elements })
    }
}

/// How many epochs a time is, and the one that has begun.
fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_micros().div_ceil(TICK.as_micros())).unwrap_or(u64::MAX / 2).min(u64::MAX / 2) + 1
}

/// Where descriptions and elements go, from an address on 64 bytes on.
struct Places {
    /// Of each input's elements.
    offsets: Vec<usize>,
    /// All of it, and room to align it.
    len_bytes: usize,
}

impl Places {
    /// Fails on what no memory of 32 bits holds.
    fn of(inputs: &[Block]) -> Result<Self, DeployError> {
        let mut end = (inputs.len() + 1) * DESCRIPTION_BYTES;
        let mut offsets = Vec::with_capacity(inputs.len());
        for block in inputs {
            let offset = end.next_multiple_of(ALIGNMENT);
            offsets.push(offset);
            end = offset.saturating_add(block.bytes().len());
        }
        let len_bytes = end.saturating_add(ALIGNMENT);
        let fits = u32::try_from(len_bytes).is_ok();
        fits.then_some(Self { offsets, len_bytes }).ok_or(DeployError::NoRoom { len_bytes })
    }
}

/// A module with a memory of its own, in which it runs once: no call finds what another left.
pub(super) struct Call {
    store: Store<Guest>,
    instance: Instance,
    limits: DeployLimits,
}

/// Says by what a call ended that the runtime ended.
fn outcome<T>(
    store: &Store<Guest>,
    limits: &DeployLimits,
    result: wasmtime::Result<T>,
) -> Result<T, DeployError> {
    result.map_err(|error| match (&store.data().exceeded, error.downcast_ref::<Trap>()) {
        (Some(exceeded), _) => exceeded.clone(),
        (None, Some(Trap::OutOfFuel)) => DeployError::Fuel { limit: limits.fuel },
        (None, Some(Trap::Interrupt)) => DeployError::TimedOut { limit: limits.time },
        (None, Some(trap)) => DeployError::Trapped { what: trap.to_string() },
        (None, None) => DeployError::Runtime { reason: format!("{error:#}") },
    })
}

/// Gives a call all the work and time that it may use.
fn renew(store: &mut Store<Guest>, limits: &DeployLimits) -> Result<(), DeployError> {
    store.set_epoch_deadline(ticks(limits.time));
    store.set_fuel(limits.fuel).map_err(|error| DeployError::Runtime { reason: error.to_string() })
}

impl Call {
    /// A memory as if nobody had used it. None where it is to come from a pool and others have all of it.
    pub(super) fn start(
        ready: &InstancePre<Guest>,
        limits: &DeployLimits,
        used: Used,
    ) -> Result<Option<Self>, DeployError> {
        let mut store = Store::new(ready.module().engine(), Guest::new(limits, used));
        store.limiter(|guest| guest);
        renew(&mut store, limits)?;
        let instance = match ready.instantiate(&mut store) {
            Err(error) if error.is::<PoolConcurrencyLimitError>() => return Ok(None),
            started => outcome(&store, limits, started)?,
        };
        Ok(Some(Self { store, instance, limits: limits.clone() }))
    }

    /// Runs the module on blocks.
    pub(super) fn run(mut self, inputs: &[Block]) -> Result<Block, DeployError> {
        let memory = crate::memory::Memory::default();
        let inputs = inputs.iter().map(|block| block.native(&memory)).collect::<Result<Vec<_>, _>>()?;
        let places = Places::of(&inputs)?;
        renew(&mut self.store, &self.limits)?;
        let memory = self.instance.get_memory(&mut self.store, "memory");
        let memory = memory.ok_or(DeployError::Export { name: "memory", wanted: "its one memory" })?;
        let start = self.reserve(places.len_bytes)?;
        let output = self.fill(memory, start, &places, &inputs)?;
        self.transform(output, inputs.len())?;
        Ok(take_output(memory.data(&self.store), output)?)
    }

    fn outcome<T>(&self, result: wasmtime::Result<T>) -> Result<T, DeployError> {
        outcome(&self.store, &self.limits, result)
    }

    /// Has the guest make room; where it is, on 64 bytes.
    fn reserve(&mut self, len_bytes: usize) -> Result<usize, DeployError> {
        let function = self.instance.get_typed_func::<u32, u32>(&mut self.store, "flexpath_reserve_1");
        let reserved = self.outcome(function)?.call(&mut self.store, len_bytes as u32);
        match self.outcome(reserved)? as usize {
            0 => Err(DeployError::NoRoom { len_bytes }),
            start => Ok(start.next_multiple_of(ALIGNMENT)),
        }
    }

    /// Puts descriptions and elements into the guest's memory; says where the output's description is.
    fn fill(
        &mut self,
        memory: Memory,
        start: usize,
        places: &Places,
        inputs: &[Block],
    ) -> Result<usize, DeployError> {
        let no_room = || DeployError::NoRoom { len_bytes: places.len_bytes };
        let room = memory.data_mut(&mut self.store);
        let end = start.checked_add(places.len_bytes - ALIGNMENT).ok_or_else(no_room)?;
        let room = room.get_mut(start..end).ok_or_else(no_room)?;
        for (index, (block, offset)) in inputs.iter().zip(&places.offsets).enumerate() {
            let at = index * DESCRIPTION_BYTES;
            room[at..at + DESCRIPTION_BYTES].copy_from_slice(&describe(block, start + offset));
            room[*offset..*offset + block.bytes().len()].copy_from_slice(block.bytes());
        }
        let output = inputs.len() * DESCRIPTION_BYTES;
        room[output..output + DESCRIPTION_BYTES].fill(0);
        Ok(start + output)
    }

    fn transform(&mut self, output: usize, count: usize) -> Result<(), DeployError> {
        let name = "flexpath_transform_1";
        let function = self.instance.get_typed_func::<(u32, u32, u32), u32>(&mut self.store, name);
        let inputs = output - count * DESCRIPTION_BYTES;
        let arguments = (inputs as u32, count as u32, output as u32);
        let returned = self.outcome(function)?.call(&mut self.store, arguments);
        match self.outcome(returned)? {
            0 => Ok(()),
            number => Err(DeployError::Failed { number }),
        }
    }
}

/// A block's description, as `flexpath_guest.h` has it.
fn describe(block: &Block, data: usize) -> [u8; DESCRIPTION_BYTES] {
    let region = block.region();
    let head = [
        data as u32,
        block.bytes().len() as u32,
        u32::from(block.dtype().as_u8()),
        u32::from(block.order().as_u8()),
        region.ndims() as u32,
        0,
    ];
    let mut description = [0; DESCRIPTION_BYTES];
    let (words, numbers) = description.split_at_mut(24);
    words.as_chunks_mut::<4>().0.iter_mut().zip(head).for_each(|(to, word)| *to = word.to_le_bytes());
    let (start, count) = numbers.split_at_mut(8 * MAX_DIMS);
    for (to, dims) in [(start, region.start()), (count, region.count())] {
        to.as_chunks_mut::<8>().0.iter_mut().zip(dims.iter()).for_each(|(to, dim)| *to = dim.to_le_bytes());
    }
    description
}

/// The block that a description of the guest's stands for.
fn take_output(memory: &[u8], at: usize) -> Result<Block, OutputFault> {
    let outside = |data: u32, len_bytes: u32| OutputFault::Outside { data, len_bytes };
    let description = memory.get(at..).and_then(|rest| rest.get(..DESCRIPTION_BYTES));
    let description = description.ok_or_else(|| outside(at as u32, DESCRIPTION_BYTES as u32))?;
    let (words, numbers) = description.split_at(24);
    let word = |at: usize| words.as_chunks::<4>().0.get(at).map_or(0, |word| u32::from_le_bytes(*word));
    let (data, len_bytes, ndims) = (word(0), word(1), word(4));
    let unknown = |what, number| OutputFault::Unknown { what, number };
    let dtype = u8::try_from(word(2)).ok().and_then(|number| Dtype::try_from(number).ok());
    let dtype = dtype.ok_or_else(|| unknown("element type", word(2)))?;
    let order = u8::try_from(word(3)).ok().and_then(MemoryOrder::from_u8);
    let order = order.ok_or_else(|| unknown("memory order", word(3)))?;
    let numbers: Vec<u64> =
        numbers.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
    let dims =
        |from: usize| numbers.get(from..from + ndims as usize).and_then(|all| Dims::from_slice(all).ok());
    let is_known = ndims as usize <= MAX_DIMS;
    let both = dims(0).zip(dims(MAX_DIMS)).filter(|_| is_known);
    let (start, count) = both.ok_or_else(|| unknown("number of dimensions", ndims))?;
    let no_region = |error: fp_types::RegionError| OutputFault::Region { reason: error.to_string() };
    let region = Region::new(start, count).map_err(no_region)?;
    let elements = memory.get(data as usize..).and_then(|rest| rest.get(..len_bytes as usize));
    let elements = elements.ok_or_else(|| outside(data, len_bytes))?;
    let size = dtype.size_bytes().map(|size| u128::from(region.element_count()) * size as u128);
    let wanted_bytes = size.unwrap_or(u128::from(len_bytes));
    let wrong =
        || OutputFault::Size { region: region.into(), dtype, len_bytes: elements.len(), wanted_bytes };
    if wanted_bytes != elements.len() as u128 {
        return Err(wrong());
    }
    Block::shared(region, ElementForm::native(dtype), order, Arc::new(elements.to_vec())).map_err(|_| wrong())
}
