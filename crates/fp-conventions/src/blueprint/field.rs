//! Fields on topologies.

use crate::blueprint::coordset::count;
use crate::blueprint::topology::Topology;
use crate::blueprint::{lengths, text};
use crate::finding::Finding;
use crate::mesh::Mesh;
use crate::mesh::association::Association;
use crate::mesh::field::MeshField;
use crate::mesh::grid::Grid;
use crate::mesh::unstructured::UnstructuredMesh;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

/// Looks at all fields, and adds them to their meshes.
pub(super) fn all(step: &DescribedStep, topologies: &mut [Topology], findings: &mut Vec<Finding>) {
    for name in step.children("fields") {
        let path = format!("fields.{name}");
        let association = association(step, &path, findings);
        let topology = topology(step, &path, topologies, findings);
        let values = values(step, &path, findings);
        let (Some(association), Some(topology)) = (association, topology) else { continue };
        let variables = values.iter().map(|variable| variable.name().to_owned()).collect();
        let name = name.to_owned();
        let field = MeshField { name, association, variables, has_component_dimension: false };
        let before = findings.len();
        match &mut topology.mesh {
            Some(Mesh::Unstructured(mesh)) => {
                values.iter().for_each(|of| on_domains(of, mesh, association, findings));
                mesh.fields.extend(Some(field).filter(|_| findings.len() == before && !values.is_empty()));
            }
            Some(Mesh::Image(image)) => {
                values.iter().for_each(|of| on_grid(of, &image.grid, association, findings));
                image.fields.extend(Some(field).filter(|_| findings.len() == before && !values.is_empty()));
            }
            Some(Mesh::OverlappingAmr(_)) | None => {}
        }
    }
}

fn association(step: &DescribedStep, path: &str, findings: &mut Vec<Finding>) -> Option<Association> {
    let (name, rule) = (format!("{path}.association"), Rule::BlueprintAssociation);
    let advice = "Put the text vertex or element";
    match text(step, &name, rule, advice, findings)? {
        "vertex" => Some(Association::Vertex),
        "element" => Some(Association::Element),
        other => {
            findings.push(Finding::violation(rule, format!("is {other:?}"), advice).of(name));
            None
        }
    }
}

fn topology<'a>(
    step: &DescribedStep,
    path: &str,
    topologies: &'a mut [Topology],
    findings: &mut Vec<Finding>,
) -> Option<&'a mut Topology> {
    let (name, rule) = (format!("{path}.topology"), Rule::BlueprintFieldTopology);
    let named = text(step, &name, rule, "Put the name of a topology", findings)?;
    let known: Vec<String> = topologies.iter().map(|topology| topology.name.clone()).collect();
    let found = topologies.iter_mut().find(|topology| topology.name == named);
    if found.is_none() {
        let what = format!("is {named:?}, but there is no topology of that name");
        let advice = format!("Name one of those that there are: {known:?}");
        findings.push(Finding::violation(rule, what, advice).of(name));
    }
    found
}

/// The variables of values: one, or one for each component.
fn values<'a>(
    step: &'a DescribedStep,
    path: &str,
    findings: &mut Vec<Finding>,
) -> Vec<&'a DescribedVariable> {
    let name = format!("{path}.values");
    let rule = Rule::BlueprintValues;
    let components = step.children(&name).into_iter().map(|component| format!("{name}.{component}"));
    let names = std::iter::once(name.clone()).chain(components);
    let found: Vec<&DescribedVariable> = names.filter_map(|name| step.variable(&name)).collect();
    if found.is_empty() {
        let advice = "Put numbers of that name, or of that name with a dot and each component";
        findings.push(Finding::violation(rule, "is missing", advice).of(name));
    }
    for variable in found.iter().filter(|variable| !variable.is_number()) {
        let what = format!("is {}", variable.kind_text());
        findings.push(Finding::violation(rule, what, "Put numbers").of(variable.name()));
    }
    found.into_iter().filter(|variable| variable.is_number()).collect()
}

/// As many values as each domain has points or elements.
fn on_domains(
    values: &DescribedVariable,
    mesh: &UnstructuredMesh,
    association: Association,
    findings: &mut Vec<Finding>,
) {
    if !values.is_local_list() {
        let what = format!("is {}", values.kind_text());
        let advice = "Put a local array with one dimension, a block for each domain";
        findings.push(Finding::violation(Rule::BlueprintValues, what, advice).of(values.name()));
        return;
    }
    let found = lengths(values);
    for domain in &mesh.domains {
        let (expected, places) = match association {
            Association::Vertex => (domain.points, "points"),
            Association::Element => (domain.elements, "elements"),
        };
        let found = count(&found, domain.block);
        if found != Some(expected) {
            let found = found.map_or("no".to_owned(), |found| found.to_string());
            let what = format!("has {found} values, but the domain has {expected} {places}");
            let finding = Finding::violation(Rule::BlueprintValueCount, what, "Put one value for each");
            findings.push(finding.of(values.name()).at(domain.block));
        }
    }
}

/// One array of the shape of the points, or of the cells between them.
fn on_grid(values: &DescribedVariable, grid: &Grid, association: Association, findings: &mut Vec<Finding>) {
    let less = match association {
        Association::Vertex => 0,
        Association::Element => 1,
    };
    let expected: Vec<u64> = grid.shape.iter().map(|points| points.saturating_sub(less)).collect();
    let found = values.shape.map(|shape| shape.dims().to_vec()).filter(|_| values.is_global_array());
    if found.as_ref() != Some(&expected) {
        let found = found.map_or_else(|| values.kind_text(), |shape| format!("an array of shape {shape:?}"));
        let what = format!("is {found}, but the topology has {expected:?}");
        let advice = "Put a global array of that shape, slowest axis first";
        findings.push(Finding::violation(Rule::BlueprintValueCount, what, advice).of(values.name()));
    }
}
