//! Refined meshes: levels as global arrays, by the names of openPMD's proposed extension.

mod blocks;
mod family;
mod level;
#[cfg(test)]
mod tests;

use crate::finding::Finding;
use crate::mesh::Mesh;
use crate::mesh::amr::{AmrLevel, AmrMesh};
use crate::step::DescribedStep;

/// Whether a step has the marks of a refined mesh.
pub(crate) fn is_in(step: &DescribedStep) -> bool {
    step.variables.iter().any(|variable| family::level_of(variable.name()).1 > 0)
}

/// Looks at the whole step.
pub(crate) fn read(step: &DescribedStep, findings: &mut Vec<Finding>) -> Vec<Mesh> {
    let families = family::all(step, findings);
    let meshes = families.iter().map(|family| {
        let levels: Vec<Option<AmrLevel>> =
            family.levels.iter().map(|of| level::read(of, &family.name, findings)).collect();
        for (number, pair) in family.levels.windows(2).enumerate() {
            if let (Some(coarse), Some(fine)) = (&levels[number], &levels[number + 1]) {
                level::compare((pair[0], coarse), (pair[1], fine), findings);
            }
        }
        Some(Mesh::OverlappingAmr(AmrMesh {
            name: family.name.clone(),
            levels: levels.into_iter().collect::<Option<_>>()?,
        }))
    });
    meshes.flatten().collect()
}
