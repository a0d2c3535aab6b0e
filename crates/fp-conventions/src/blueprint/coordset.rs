//! Sets of coordinates.

use fp_types::BlockId;

use crate::blueprint::{lengths, text, uniform};
use crate::finding::Finding;
use crate::mesh::grid::Grid;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

/// The names of axes. From Conduit Mesh Blueprint, Coordinate Sets.
const AXES: [&[&str]; 6] =
    [&["x"], &["x", "y"], &["x", "y", "z"], &["r", "z"], &["r", "theta"], &["r", "theta", "phi"]];

/// A set of coordinates, as far as its topologies need it.
pub(super) struct Coordset<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// What it is; none if that is not known.
    pub(super) points: Option<Points>,
}

/// Where the points are.
pub(super) enum Points {
    /// By lists: their variables, and how many points each block has.
    Explicit(Vec<String>, Vec<(BlockId, u64)>),
    /// On a grid of so many points.
    Uniform(Grid),
}

/// Looks at all sets.
pub(super) fn all<'a>(step: &'a DescribedStep, findings: &mut Vec<Finding>) -> Vec<Coordset<'a>> {
    let names = step.children("coordsets").into_iter();
    names.map(|name| Coordset { name, points: points(step, name, findings) }).collect()
}

fn points(step: &DescribedStep, name: &str, findings: &mut Vec<Finding>) -> Option<Points> {
    let of_type = format!("coordsets.{name}.type");
    let rule = Rule::BlueprintCoordsetType;
    match text(step, &of_type, rule, "Put the text explicit or uniform", findings)? {
        "explicit" => explicit(step, name, findings),
        "uniform" => uniform::grid(step, name, findings).map(Points::Uniform),
        "rectilinear" => {
            let what = "is \"rectilinear\", at which nobody looks here";
            findings.push(Finding::warning(rule, what, "Check it by other means").of(of_type));
            None
        }
        other => {
            let advice = "Put one of uniform, rectilinear, explicit";
            findings.push(Finding::violation(rule, format!("is {other:?}"), advice).of(of_type));
            None
        }
    }
}

fn explicit(step: &DescribedStep, name: &str, findings: &mut Vec<Finding>) -> Option<Points> {
    let path = format!("coordsets.{name}.values");
    let (rule, found) = (Rule::BlueprintCoordinates, step.children(&path));
    let axes =
        AXES.iter().find(|axes| axes.len() == found.len() && axes.iter().all(|axis| found.contains(axis)));
    let Some(axes) = axes else {
        let what = format!("has the axes {found:?}");
        let advice = format!("Put {path}.x, {path}.y and {path}.z, one local list of numbers each");
        findings.push(Finding::violation(rule, what, advice).of(path));
        return None;
    };
    let names: Vec<String> = axes.iter().map(|axis| format!("{path}.{axis}")).collect();
    let variables: Vec<&DescribedVariable> = names.iter().filter_map(|name| step.variable(name)).collect();
    let wrong: Vec<&&DescribedVariable> =
        variables.iter().filter(|of| !of.is_local_list() || !(of.is_real() || of.is_integer())).collect();
    for variable in &wrong {
        let advice = "Make it a local array of numbers with one dimension, a block for each domain";
        let finding = Finding::violation(rule, format!("is {}", variable.kind_text()), advice);
        findings.push(finding.of(variable.name()));
    }
    if !wrong.is_empty() || variables.len() != names.len() {
        return None;
    }
    let expected = lengths(variables[0]);
    let mut is_whole = true;
    for variable in &variables[1..] {
        is_whole &= same_lengths(variables[0], variable, findings);
    }
    is_whole.then_some(Points::Explicit(names, expected))
}

/// Whether both have as many coordinates in each block.
fn same_lengths(first: &DescribedVariable, other: &DescribedVariable, findings: &mut Vec<Finding>) -> bool {
    let (expected, found) = (lengths(first), lengths(other));
    let longer = if expected.len() >= found.len() { &expected } else { &found };
    let differs = longer.iter().find(|(block, _)| count(&expected, *block) != count(&found, *block));
    let Some((block, _)) = differs else { return true };
    let said = |count: Option<u64>| count.map_or("none".to_owned(), |count| count.to_string());
    let (is, should) = (said(count(&found, *block)), said(count(&expected, *block)));
    let what = format!("has {is} coordinates, but {:?} has {should}", first.name());
    let advice = "Put as many for each axis";
    findings
        .push(Finding::violation(Rule::BlueprintCoordinateCount, what, advice).of(other.name()).at(*block));
    false
}

/// How much a block has.
pub(super) fn count(counts: &[(BlockId, u64)], block: BlockId) -> Option<u64> {
    counts.iter().find(|(id, _)| *id == block).map(|(_, count)| *count)
}
