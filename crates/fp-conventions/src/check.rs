//! Holding a step against conventions.

use std::collections::BTreeSet;

use crate::convention::Convention;
use crate::finding::{Finding, Severity};
use crate::mesh::Mesh;
use crate::report::Report;
use crate::step::DescribedStep;
use crate::{amr, blueprint, openpmd};

/// Holds a step against a convention.
pub fn check(step: &DescribedStep, convention: Convention) -> Report {
    let mut findings = Vec::new();
    let meshes = match convention {
        Convention::OpenPmd => openpmd::read(step, &mut findings),
        Convention::Blueprint => blueprint::read(step, &mut findings),
        Convention::Amr => amr::read(step, &mut findings),
    };
    Report { convention, findings, meshes }
}

/// The conventions of which a step has the marks: whether it keeps them is another question.
pub fn recognized(step: &DescribedStep) -> Vec<Convention> {
    let is_in = |convention: &Convention| match convention {
        Convention::OpenPmd => openpmd::is_in(step),
        Convention::Blueprint => blueprint::is_in(step),
        Convention::Amr => amr::is_in(step),
    };
    Convention::ALL.into_iter().filter(is_in).collect()
}

/// The meshes of a step, by all conventions of which it has the marks. Levels of a refined mesh are no images beside it.
///
/// # Errors
/// The violations that were found. A step without any mark has no meshes.
pub fn meshes(step: &DescribedStep) -> Result<Vec<Mesh>, Vec<Finding>> {
    let reports: Vec<Report> =
        recognized(step).into_iter().map(|convention| check(step, convention)).collect();
    let findings = reports.iter().flat_map(|report| report.findings.iter().cloned());
    let violations: Vec<Finding> =
        findings.filter(|finding| finding.severity == Severity::Violation).collect();
    if !violations.is_empty() {
        return Err(violations);
    }
    let mut meshes: Vec<Mesh> = reports.into_iter().flat_map(|report| report.meshes).collect();
    let refined = refined(&meshes);
    for mesh in &mut meshes {
        if let Mesh::Image(image) = mesh {
            image.fields.retain(|field| field.variables.iter().all(|variable| !refined.contains(variable)));
        }
    }
    meshes.retain(|mesh| !matches!(mesh, Mesh::Image(image) if image.fields.is_empty()));
    Ok(meshes)
}

/// The variables of all levels.
fn refined(meshes: &[Mesh]) -> BTreeSet<String> {
    let levels = meshes.iter().filter_map(|mesh| match mesh {
        Mesh::OverlappingAmr(amr) => Some(&amr.levels),
        Mesh::Image(_) | Mesh::Unstructured(_) => None,
    });
    levels.flatten().flat_map(|level| level.field.variables.iter().cloned()).collect()
}
