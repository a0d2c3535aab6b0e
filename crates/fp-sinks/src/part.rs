//! A part of a variable that one rank takes and writes.

use fp_cli::Failure;
use fp_core::{ArrayKind, BlockId, Dtype, Loss, PlanError, ReadError, Region, Select, StepReader};

use crate::dense::Dense;
use crate::error::SinkError;
use crate::taken_step::{TakenStep, TakenVariable};

/// A part of a variable that one rank takes and writes.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Which variable of the step, from 0.
    pub(crate) variable: usize,
    /// Where it lies: in the global array, or in the block.
    pub(crate) region: Region,
    /// The block, where a block is taken as it was put.
    pub(crate) block: Option<BlockId>,
}

impl Part {
    /// A region of a global array.
    pub(crate) fn region(variable: usize, region: Region) -> Self {
        Self { variable, region, block: None }
    }

    /// A block as a rank put it: of local arrays and values, and of records.
    pub(crate) fn block(variable: usize, block: BlockId, region: Region) -> Self {
        Self { variable, region, block: Some(block) }
    }

    fn select(&self) -> Select {
        match self.block {
            Some(block) => block.into(),
            None => self.region.into(),
        }
    }
}

/// Memory into which a rank takes one part after another.
#[derive(Debug, Default)]
pub(crate) struct PartMemory {
    words: Vec<u64>,
    len_bytes: usize,
    records: Vec<u8>,
    /// Whether the publisher has its elements where they cannot be seen from here.
    pub(crate) is_elsewhere: bool,
}

impl PartMemory {
    /// Takes a part of a step: its elements in row-major order, in the type that they are written as.
    pub(crate) fn take(&mut self, reader: &StepReader, step: &TakenStep, part: &Part) -> Result<(), Failure> {
        let variable = &step.variables[part.variable];
        let name = variable.def.name.as_str();
        self.records.clear();
        let Some(size) = variable.element_bytes() else {
            self.len_bytes = 0;
            self.records = reader.get_bytes(name, part.select())?.2;
            return Ok(());
        };
        // A declared shape may be larger than what anybody has put.
        let len_bytes =
            usize::try_from(part.region.element_count()).unwrap_or(usize::MAX).saturating_mul(size);
        self.len_bytes = len_bytes;
        let words = len_bytes.div_ceil(size_of::<u64>());
        if self.words.try_reserve(words.saturating_sub(self.words.len())).is_err() {
            let (step, variable) = (step.step, name.to_owned());
            return Err(Failure::Other(Box::new(SinkError::Memory { step, variable, len_bytes })));
        }
        self.words.resize(words, 0);
        let bytes = &mut bytemuck::cast_slice_mut(&mut self.words)[..len_bytes];
        match take(reader, variable, part.select(), bytes) {
            Err(error) if is_gap(&error) && variable.def.kind == ArrayKind::GlobalArray => {
                take_blocks(reader, variable, Dense { region: part.region, bytes }, size)
            }
            taken => Ok(taken?),
        }
    }

    /// What was taken last: aligned for numbers of 8 bytes, but for records and texts.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.records.is_empty() {
            &bytemuck::cast_slice(&self.words)[..self.len_bytes]
        } else {
            &self.records
        }
    }
}

/// Takes elements in the type that they are written as.
fn take(
    reader: &StepReader,
    variable: &TakenVariable,
    select: Select,
    bytes: &mut [u8],
) -> Result<(), ReadError> {
    let name = variable.def.name.as_str();
    if variable.dtype == variable.def.dtype {
        return reader.get_bytes_into(name, select, bytes);
    }
    let select = select.with_conversion(Loss::Allowed);
    if variable.dtype == Dtype::F32 {
        reader.get_into::<f32>(name, select, bytemuck::cast_slice_mut(bytes))
    } else {
        reader.get_into::<f64>(name, select, bytemuck::cast_slice_mut(bytes))
    }
}

fn is_gap(error: &ReadError) -> bool {
    matches!(error, ReadError::Plan { source: PlanError::Gap { .. }, .. })
}

/// Takes what blocks have of a region. Elsewhere it gets the fill value.
fn take_blocks(
    reader: &StepReader,
    variable: &TakenVariable,
    mut into: Dense<'_>,
    size: usize,
) -> Result<(), Failure> {
    into.fill(&variable.fill_value());
    let mut words: Vec<u64> = Vec::new();
    for (_, block) in reader.blocks(&variable.def.name)? {
        let Some(common) = into.region.intersection(&block) else { continue };
        let len_bytes = common.element_count() as usize * size;
        words.resize(len_bytes.div_ceil(size_of::<u64>()), 0);
        let bytes = &mut bytemuck::cast_slice_mut(&mut words)[..len_bytes];
        take(reader, variable, common.into(), bytes)?;
        into.copy_from(&common, bytes, size).map_err(|error| Failure::Other(Box::new(error)))?;
    }
    Ok(())
}
