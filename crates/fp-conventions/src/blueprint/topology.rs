//! Topologies: what is between points.

use fp_types::BlockId;

use crate::blueprint::coordset::{Coordset, Points, count};
use crate::blueprint::{lengths, text};
use crate::finding::Finding;
use crate::mesh::Mesh;
use crate::mesh::association::Association;
use crate::mesh::cell_shape::CellShape;
use crate::mesh::domain::Domain;
use crate::mesh::image::ImageMesh;
use crate::mesh::unstructured::UnstructuredMesh;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

/// A topology; its fields are added as they are found.
pub(super) struct Topology {
    /// Its name.
    pub(super) name: String,
    /// The mesh that it makes of its coordinates; none if it cannot be made out.
    pub(super) mesh: Option<Mesh>,
}

/// Types at which nobody looks here.
const UNSEEN_TYPES: [&str; 3] = ["points", "rectilinear", "structured"];
/// Shapes at which nobody looks here.
const UNSEEN_SHAPES: [&str; 3] = ["polygonal", "polyhedral", "mixed"];

/// Looks at all topologies.
pub(super) fn all(
    step: &DescribedStep,
    coordsets: &[Coordset<'_>],
    findings: &mut Vec<Finding>,
) -> Vec<Topology> {
    let names = step.children("topologies").into_iter();
    let topology = |name: &str| {
        let mesh = mesh(step, name, coordsets, findings);
        Topology { name: name.to_owned(), mesh }
    };
    names.map(topology).collect()
}

fn mesh(
    step: &DescribedStep,
    name: &str,
    coordsets: &[Coordset<'_>],
    findings: &mut Vec<Finding>,
) -> Option<Mesh> {
    let path = format!("topologies.{name}");
    let rule = Rule::BlueprintTopologyType;
    let of_type = format!("{path}.type");
    let kind = text(step, &of_type, rule, "Put the text unstructured or uniform", findings);
    let coordset = coordset(step, &path, coordsets, findings);
    let kind = kind?;
    if UNSEEN_TYPES.contains(&kind) {
        let what = format!("is {kind:?}, at which nobody looks here");
        findings.push(Finding::warning(rule, what, "Check it by other means").of(of_type));
        return None;
    }
    if !["unstructured", "uniform"].contains(&kind) {
        let advice = "Put one of points, uniform, rectilinear, structured, unstructured";
        findings.push(Finding::violation(rule, format!("is {kind:?}"), advice).of(of_type));
        return None;
    }
    let points = coordset?.points.as_ref();
    match (kind, points) {
        ("unstructured", Some(Points::Explicit(coordinates, points))) => {
            unstructured(step, name, coordinates, points, findings).map(Mesh::Unstructured)
        }
        ("uniform", Some(Points::Uniform(grid))) => Some(Mesh::Image(ImageMesh {
            name: name.to_owned(),
            grid: grid.clone(),
            counted: Association::Vertex,
            fields: Vec::new(),
        })),
        (_, None) => None,
        (_, Some(_)) => {
            let what = format!("names a coordinate set of another type than {kind} wants");
            let advice = "Let unstructured name an explicit one, and uniform a uniform one";
            let finding = Finding::violation(Rule::BlueprintTopologyCoordset, what, advice);
            findings.push(finding.of(format!("{path}.coordset")));
            None
        }
    }
}

fn coordset<'a, 'b>(
    step: &DescribedStep,
    path: &str,
    coordsets: &'b [Coordset<'a>],
    findings: &mut Vec<Finding>,
) -> Option<&'b Coordset<'a>> {
    let (name, rule) = (format!("{path}.coordset"), Rule::BlueprintTopologyCoordset);
    let named = text(step, &name, rule, "Put the name of a coordinate set", findings)?;
    let found = coordsets.iter().find(|coordset| coordset.name == named);
    if found.is_none() {
        let known: Vec<&str> = coordsets.iter().map(|coordset| coordset.name).collect();
        let what = format!("is {named:?}, but there is no coordinate set of that name");
        let advice = format!("Name one of those that there are: {known:?}");
        findings.push(Finding::violation(rule, what, advice).of(name));
    }
    found
}

fn unstructured(
    step: &DescribedStep,
    name: &str,
    coordinates: &[String],
    points: &[(BlockId, u64)],
    findings: &mut Vec<Finding>,
) -> Option<UnstructuredMesh> {
    let path = format!("topologies.{name}.elements");
    let cell_shape = shape(step, &format!("{path}.shape"), findings)?;
    let connectivity = connectivity(step, &format!("{path}.connectivity"), findings)?;
    let domains = domains(connectivity, cell_shape, points, findings)?;
    let (name, coordinates) = (name.to_owned(), coordinates.to_vec());
    let connectivity = connectivity.name().to_owned();
    Some(UnstructuredMesh { name, coordinates, connectivity, cell_shape, domains, fields: Vec::new() })
}

fn shape(step: &DescribedStep, name: &str, findings: &mut Vec<Finding>) -> Option<CellShape> {
    let rule = Rule::BlueprintShape;
    let names = CellShape::ALL.map(CellShape::name).join(", ");
    let said = text(step, name, rule, &format!("Put one of {names}"), findings)?;
    let found = CellShape::ALL.into_iter().find(|shape| shape.name() == said);
    if UNSEEN_SHAPES.contains(&said) {
        let what = format!("is {said:?}, at which nobody looks here");
        findings.push(Finding::warning(rule, what, "Check it by other means").of(name));
    } else if found.is_none() {
        let finding = Finding::violation(rule, format!("is {said:?}"), format!("Put one of {names}"));
        findings.push(finding.of(name));
    }
    found
}

fn connectivity<'a>(
    step: &'a DescribedStep,
    name: &str,
    findings: &mut Vec<Finding>,
) -> Option<&'a DescribedVariable> {
    let found = step.variable(name);
    let fit = found.filter(|variable| variable.is_local_list() && variable.is_integer());
    if fit.is_none() {
        let what = found.map_or_else(|| "is missing".to_owned(), |of| format!("is {}", of.kind_text()));
        let advice = "Put a local array of integers with one dimension, a block for each domain";
        findings.push(Finding::violation(Rule::BlueprintConnectivity, what, advice).of(name));
    }
    fit
}

/// Every block of the connectivity has points and whole elements, and every block of points has elements.
fn domains(
    connectivity: &DescribedVariable,
    shape: CellShape,
    points: &[(BlockId, u64)],
    findings: &mut Vec<Finding>,
) -> Option<Vec<Domain>> {
    let (rule, before) = (Rule::BlueprintConnectivityCount, findings.len());
    let each = shape.vertex_count();
    let mut domains = Vec::new();
    let indices = lengths(connectivity);
    let wrong = |block, what: String, advice: &str| {
        Finding::violation(rule, what, advice).of(connectivity.name()).at(block)
    };
    for (block, indices) in &indices {
        let Some(points) = count(points, *block) else {
            let what = "there are no coordinates in the same block".to_owned();
            findings.push(wrong(*block, what, "Put coordinates as often as connectivity on each rank"));
            continue;
        };
        if indices % each != 0 {
            let what = format!("has {indices} indices, but each {} has {each}", shape.name());
            findings.push(wrong(*block, what, "Put all indices of each element"));
        }
        domains.push(Domain { block: *block, points, elements: indices / each });
    }
    for (block, _) in points.iter().filter(|(block, _)| count(&indices, *block).is_none()) {
        let what = "there is no connectivity in the same block as coordinates".to_owned();
        findings.push(wrong(*block, what, "Put connectivity as often as coordinates; it may be empty"));
    }
    (findings.len() == before).then_some(domains)
}
