//! The indices of elements, which are data.

use fp_conventions::{DescribedStep, Finding, Mesh};
use fp_core::{BlockId, Dtype, ReadError, StepReader};

/// Looks at all indices of all meshes of elements, one block after another.
pub(super) fn check(
    step: &StepReader,
    described: &DescribedStep,
    meshes: &[Mesh],
) -> Result<Vec<Finding>, ReadError> {
    let mut findings = Vec::new();
    for mesh in meshes {
        if let Mesh::Unstructured(mesh) = mesh {
            let Some(variable) = described.variable(&mesh.connectivity) else { continue };
            for domain in mesh.domains.iter().filter(|domain| domain.elements > 0) {
                let indices = indices(step, &mesh.connectivity, variable.def.dtype, domain.block)?;
                findings.extend(mesh.check_indices(domain.block, &indices));
            }
        }
    }
    Ok(findings)
}

/// The integers of a block. Those that are too large for any point become the largest of all.
fn indices(step: &StepReader, name: &str, dtype: Dtype, block: BlockId) -> Result<Vec<i64>, ReadError> {
    fn wide<T: Into<i64>>(numbers: Vec<T>) -> Vec<i64> {
        numbers.into_iter().map(Into::into).collect()
    }
    match dtype {
        Dtype::I8 => step.get::<i8>(name, block).map(wide),
        Dtype::I16 => step.get::<i16>(name, block).map(wide),
        Dtype::I32 => step.get::<i32>(name, block).map(wide),
        Dtype::I64 => step.get::<i64>(name, block),
        Dtype::U8 => step.get::<u8>(name, block).map(wide),
        Dtype::U16 => step.get::<u16>(name, block).map(wide),
        Dtype::U32 => step.get::<u32>(name, block).map(wide),
        Dtype::U64 => {
            let narrow = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            step.get::<u64>(name, block).map(|numbers| numbers.into_iter().map(narrow).collect())
        }
        // No rule lets connectivity of such elements pass.
        Dtype::F16
        | Dtype::BF16
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => Ok(Vec::new()),
    }
}
