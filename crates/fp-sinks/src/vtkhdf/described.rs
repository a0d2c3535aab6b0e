//! A taken step as rules of conventions look at it.

use fp_conventions::{DescribedStep, DescribedVariable, ScalarValue};
use fp_core::Dtype;

use crate::taken_step::{TakenStep, TakenVariable};

/// What a step is, for those who know conventions.
pub(super) fn describe(step: &TakenStep) -> DescribedStep {
    let variable = |of: &TakenVariable| {
        let (def, shape, value) = (of.def.clone(), of.shape, value(of));
        let blocks = if def.kind.is_scalar() { Vec::new() } else { of.blocks.clone() };
        DescribedVariable { def, shape, blocks, value }
    };
    DescribedStep { variables: step.variables.iter().map(variable).collect() }
}

/// The value of a scalar, of those types that rules look at.
fn value(of: &TakenVariable) -> Option<ScalarValue> {
    let bytes = of.value.as_deref()?;
    /// The value as that type of Rust.
    macro_rules! number {
        ($type:ty, $into:ident) => {
            bytemuck::try_pod_read_unaligned::<$type>(bytes)
                .ok()
                .map(|number| ScalarValue::$into(number.into()))
        };
    }
    match of.def.dtype {
        Dtype::I8 => number!(i8, Integer),
        Dtype::I16 => number!(i16, Integer),
        Dtype::I32 => number!(i32, Integer),
        Dtype::I64 => number!(i64, Integer),
        Dtype::U8 => number!(u8, Integer),
        Dtype::U16 => number!(u16, Integer),
        Dtype::U32 => number!(u32, Integer),
        Dtype::U64 => number!(u64, Integer),
        Dtype::F32 => number!(f32, Real),
        Dtype::F64 => number!(f64, Real),
        Dtype::String => Some(ScalarValue::Text(std::str::from_utf8(bytes).ok()?.to_owned())),
        Dtype::F16 | Dtype::BF16 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::Bytes => None,
    }
}
