//! The mesh protocol of Conduit's Blueprint, of which a dot stands for each slash. A block is a domain.

mod coordset;
mod field;
#[cfg(test)]
mod tests;
mod topology;
mod uniform;

use fp_types::BlockId;

use crate::finding::Finding;
use crate::mesh::Mesh;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

/// Whether a step has the marks of Blueprint.
pub(crate) fn is_in(step: &DescribedStep) -> bool {
    !step.children("coordsets").is_empty() || !step.children("topologies").is_empty()
}

/// Looks at the whole step.
pub(crate) fn read(step: &DescribedStep, findings: &mut Vec<Finding>) -> Vec<Mesh> {
    for path in ["coordsets", "topologies"] {
        if step.children(path).is_empty() {
            let what = format!("there is no variable whose name begins with {path} and a dot");
            let advice = format!("Put {path}.NAME.type and what belongs to it");
            findings.push(Finding::violation(Rule::BlueprintProtocol, what, advice));
        }
    }
    let coordsets = coordset::all(step, findings);
    let mut topologies = topology::all(step, &coordsets, findings);
    field::all(step, &mut topologies, findings);
    topologies.into_iter().filter_map(|topology| topology.mesh).collect()
}

/// A text that must be there: its value.
fn text<'a>(
    step: &'a DescribedStep,
    name: &str,
    rule: Rule,
    advice: &str,
    findings: &mut Vec<Finding>,
) -> Option<&'a str> {
    let text = step.text(name);
    if text.is_none() {
        let what = match step.variable(name) {
            Some(variable) => format!("is {}, and no text for all ranks", variable.kind_text()),
            None => "is missing".to_owned(),
        };
        findings.push(Finding::violation(rule, what, advice).of(name));
    }
    text
}

/// How long each block of a list is.
fn lengths(variable: &DescribedVariable) -> Vec<(BlockId, u64)> {
    variable.blocks.iter().map(|(block, region)| (*block, region.element_count())).collect()
}
