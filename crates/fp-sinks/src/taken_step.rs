//! What a step is, as far as sinks need to know before they have its data.

use std::collections::BTreeMap;

use fp_cli::Failure;
use fp_core::record::RecordSchema;
use fp_core::{ArrayKind, BlockId, Dtype, Region, Shape, StepId, StepReader, VariableDef, VariableInfo};

use crate::error::SinkError;

/// A step that was taken, without what its arrays hold.
#[derive(Clone, Debug)]
pub(crate) struct TakenStep {
    /// The stream's name.
    pub(crate) stream: String,
    /// Its number.
    pub(crate) step: StepId,
    /// Those of its variables that are written, by name.
    pub(crate) variables: Vec<TakenVariable>,
}

/// A variable of a step.
#[derive(Clone, Debug)]
pub(crate) struct TakenVariable {
    /// Name, kind, dimensions, unit, attributes, and the type that it was published with.
    pub(crate) def: VariableDef,
    /// The type that its elements are written as.
    pub(crate) dtype: Dtype,
    /// The global extent; none of local arrays.
    pub(crate) shape: Option<Shape>,
    /// Its blocks by rank and then by put, of local arrays and values, of joined arrays and of records; else none.
    pub(crate) blocks: Vec<(BlockId, Region)>,
    /// The value of a global scalar: its bytes, those of a text in UTF-8.
    pub(crate) value: Option<Vec<u8>>,
    /// The type of its records.
    pub(crate) records: Option<RecordSchema>,
}

/// Which variables are written, and as what.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// These alone; all if there is none.
    pub(crate) variables: Vec<String>,
    /// As what real numbers of arrays are written.
    pub(crate) cast: Option<Dtype>,
    /// Whether blocks of global arrays are asked for too.
    pub(crate) with_blocks: bool,
}

impl TakenStep {
    /// Asks a step what it is.
    pub(crate) fn of(step: &StepReader, choice: &Choice) -> Result<Self, Failure> {
        let is_chosen =
            |info: &VariableInfo| choice.variables.is_empty() || choice.variables.contains(&info.def.name);
        let values: BTreeMap<&str, &[u8]> = step.scalars().collect();
        let (mut variables, all) = (Vec::new(), step.variables()?);
        if !all.is_empty() && !all.iter().any(is_chosen) {
            let known: Vec<&str> = all.iter().map(|info| info.def.name.as_str()).collect();
            let (stream, known) = (step.stream(), known.join(", "));
            return Err(Failure::Usage(format!(
                "stream {stream:?} has none of these variables, but {known}"
            )));
        }
        for info in all.into_iter().filter(is_chosen) {
            let value = values.get(info.def.name.as_str()).map(|bytes| bytes.to_vec());
            variables.push(TakenVariable::of(step, info, value, choice)?);
        }
        let (stream, step) = (step.stream().to_owned(), step.step());
        Ok(Self { stream, step, variables })
    }
}

impl TakenStep {
    /// For a variable that the target cannot hold as it is.
    pub(crate) fn refusal(&self, variable: &TakenVariable, why: impl Into<String>) -> SinkError {
        SinkError::Variable { step: self.step, variable: variable.def.name.clone(), why: why.into() }
    }
}

impl TakenVariable {
    fn of(
        step: &StepReader,
        info: VariableInfo,
        value: Option<Vec<u8>>,
        choice: &Choice,
    ) -> Result<Self, Failure> {
        let VariableInfo { def, shape, .. } = info;
        let is_real = matches!(def.dtype, Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64);
        let dtype = choice.cast.filter(|_| is_real && def.kind != ArrayKind::Scalar).unwrap_or(def.dtype);
        let has_blocks = match def.kind {
            ArrayKind::Scalar => false,
            ArrayKind::GlobalArray => choice.with_blocks || def.record.is_some(),
            ArrayKind::LocalScalar | ArrayKind::LocalArray | ArrayKind::JoinedArray { .. } => true,
        };
        let blocks = if has_blocks { step.blocks(&def.name)? } else { Vec::new() };
        let records = def.record.as_ref().map(|_| step.record_schema(&def.name)).transpose()?;
        Ok(Self { def, dtype, shape, blocks, value, records })
    }

    /// How many bytes an element takes as it is written; none of texts and of records with lists.
    pub(crate) fn element_bytes(&self) -> Option<usize> {
        self.dtype.size_bytes()
    }

    /// What stands in a global array where no rank put anything, as it is written: NaN for real numbers, else 0.
    pub(crate) fn fill_value(&self) -> Vec<u8> {
        match self.dtype {
            Dtype::F16 => 0x7e00_u16.to_ne_bytes().to_vec(),
            Dtype::BF16 => 0x7fc0_u16.to_ne_bytes().to_vec(),
            Dtype::F32 => f32::NAN.to_ne_bytes().to_vec(),
            Dtype::F64 => f64::NAN.to_ne_bytes().to_vec(),
            Dtype::I8
            | Dtype::I16
            | Dtype::I32
            | Dtype::I64
            | Dtype::U8
            | Dtype::U16
            | Dtype::U32
            | Dtype::U64
            | Dtype::C32
            | Dtype::C64
            | Dtype::Bool
            | Dtype::String
            | Dtype::Bytes => vec![0; self.element_bytes().unwrap_or(0)],
        }
    }
}
