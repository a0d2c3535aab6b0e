//! The base standard of openPMD, of which a dot stands for each slash. A step is an iteration.

mod mesh_record;
mod particles;
mod record;
mod root;
#[cfg(test)]
mod tests;

use crate::finding::Finding;
use crate::mesh::Mesh;
use crate::step::DescribedStep;

/// Whether a step has the mark of openPMD.
pub(crate) fn is_in(step: &DescribedStep) -> bool {
    step.variable("openPMD").is_some()
}

/// Looks at the whole step.
pub(crate) fn read(step: &DescribedStep, findings: &mut Vec<Finding>) -> Vec<Mesh> {
    let root = root::read(step, findings);
    let mut images = Vec::new();
    if let Some(path) = &root.meshes {
        for record in record::all(step, path, findings) {
            mesh_record::read(&record, &mut images, findings);
        }
    }
    if let Some(path) = &root.particles {
        for species in step.children(path) {
            let path = format!("{path}.{species}");
            particles::check(step, &path, root.has_ed_pic, findings);
        }
    }
    images.into_iter().map(Mesh::Image).collect()
}
