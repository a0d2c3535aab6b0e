//! A step as rules look at it.

use fp_conventions::{DescribedStep, DescribedVariable, ScalarValue};
use fp_core::{ArrayKind, Dtype, ReadError, StepReader, VariableInfo};

/// Asks the publisher for everything that it tells of a step without data.
pub(super) fn describe(step: &StepReader) -> Result<DescribedStep, ReadError> {
    let variables = step.variables()?.into_iter();
    let variables = variables.map(|info| variable(step, info)).collect::<Result<_, _>>()?;
    Ok(DescribedStep { variables })
}

fn variable(step: &StepReader, info: VariableInfo) -> Result<DescribedVariable, ReadError> {
    let name = info.def.name.as_str();
    let blocks = if info.def.kind.is_scalar() { Vec::new() } else { step.blocks(name)? };
    let value = if info.def.kind == ArrayKind::Scalar { value(step, &info)? } else { None };
    Ok(DescribedVariable { shape: info.shape, blocks, value, def: info.def })
}

/// The value of a scalar, of those types that rules look at.
fn value(step: &StepReader, info: &VariableInfo) -> Result<Option<ScalarValue>, ReadError> {
    let name = info.def.name.as_str();
    if info.def.record.is_some() {
        return Ok(None);
    }
    let integer = |number: Result<i128, ReadError>| number.map(|number| Some(ScalarValue::Integer(number)));
    match info.def.dtype {
        Dtype::I8 => integer(step.scalar::<i8>(name).map(i128::from)),
        Dtype::I16 => integer(step.scalar::<i16>(name).map(i128::from)),
        Dtype::I32 => integer(step.scalar::<i32>(name).map(i128::from)),
        Dtype::I64 => integer(step.scalar::<i64>(name).map(i128::from)),
        Dtype::U8 => integer(step.scalar::<u8>(name).map(i128::from)),
        Dtype::U16 => integer(step.scalar::<u16>(name).map(i128::from)),
        Dtype::U32 => integer(step.scalar::<u32>(name).map(i128::from)),
        Dtype::U64 => integer(step.scalar::<u64>(name).map(i128::from)),
        Dtype::F32 => step.scalar::<f32>(name).map(|number| Some(ScalarValue::Real(f64::from(number)))),
        Dtype::F64 => step.scalar::<f64>(name).map(|number| Some(ScalarValue::Real(number))),
        Dtype::String => step.text(name).map(|text| Some(ScalarValue::Text(text))),
        Dtype::F16 | Dtype::BF16 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::Bytes => Ok(None),
    }
}
