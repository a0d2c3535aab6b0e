//! Records and their components, which are the variables.

use fp_types::{ArrayKind, AttributeValue};

use crate::attributes::{Attributes, integers};
use crate::finding::Finding;
use crate::path::is_word;
use crate::rule::Rule;
use crate::step::{DescribedStep, below};
use crate::variable::DescribedVariable;

/// A record.
pub(super) struct Record<'a> {
    /// Its name, without the path.
    pub(super) name: &'a str,
    /// Its components with their names, which are empty in a scalar record. There is at least one.
    pub(super) components: Vec<(&'a str, &'a DescribedVariable)>,
}

impl<'a> Record<'a> {
    /// The component that speaks for all.
    pub(super) fn first(&self) -> &'a DescribedVariable {
        self.components[0].1
    }
}

/// All records under a path. What has no name of a record is found and left out.
pub(super) fn all<'a>(step: &'a DescribedStep, path: &str, findings: &mut Vec<Finding>) -> Vec<Record<'a>> {
    let mut records: Vec<Record<'a>> = Vec::new();
    for variable in &step.variables {
        let Some(rest) = below(variable.name(), path) else { continue };
        let (name, component) = rest.split_once('.').unwrap_or((rest, ""));
        if !is_word(name) || !(component.is_empty() && !rest.contains('.') || is_word(component)) {
            let what = format!("the part {rest:?} is no record, and no record with a component");
            let advice = "Use letters, digits and underscores, and one dot before the component";
            findings.push(Finding::violation(Rule::OpenPmdName, what, advice).of(variable.name()));
            continue;
        }
        match records.iter_mut().find(|record| record.name == name) {
            Some(record) => record.components.push((component, variable)),
            None => records.push(Record { name, components: vec![(component, variable)] }),
        }
    }
    records
}

/// Looks at what every record has: units, and components that are alike. `of_record` are the attributes of the record
/// itself.
pub(super) fn check(record: &Record<'_>, of_record: &[&str], findings: &mut Vec<Finding>) {
    let first = record.first();
    let mut attributes = Attributes { of: first, findings };
    attributes.reals("unitDimension", Rule::OpenPmdUnitDimension, 7);
    attributes.real("timeOffset", Rule::OpenPmdTimeOffset);
    for (_, variable) in &record.components {
        component(variable, findings);
        let all = of_record.iter().chain(&["unitDimension", "timeOffset"]);
        let differs = |name: &&&str| variable.def.attributes.get(**name) != first.def.attributes.get(**name);
        for name in all.filter(differs) {
            let what = format!("is another than that of {:?}, which is of the same record", first.name());
            let advice = "Give all components of a record the same";
            let finding = Finding::violation(Rule::OpenPmdSame, what, advice);
            findings.push(finding.of(variable.name()).attribute(*name));
        }
        if extent(variable) != extent(first) && is_component(variable) && is_component(first) {
            let what = format!("has another shape than {:?}, which is of the same record", first.name());
            let advice = "Give all components of a record one shape";
            findings.push(Finding::violation(Rule::OpenPmdSame, what, advice).of(variable.name()));
        }
    }
}

/// Looks at one component by itself.
fn component(variable: &DescribedVariable, findings: &mut Vec<Finding>) {
    let mut attributes = Attributes { of: variable, findings };
    attributes.real("unitSI", Rule::OpenPmdUnitSi);
    if is_constant(variable) && constant_shape(variable).is_none() {
        let value = variable.def.attributes.get("shape");
        let what = if value.is_none() { "is missing" } else { "is no list of integers" };
        let advice = "Give a constant component, which is a scalar, the shape that it stands for";
        attributes.wrong("shape", Rule::OpenPmdConstant, what, advice);
    }
    if !is_component(variable) {
        let what = format!("is {}", variable.kind_text());
        let advice = "Make it a global or joined array of numbers, or a scalar if it is constant";
        findings.push(Finding::violation(Rule::OpenPmdComponent, what, advice).of(variable.name()));
    }
}

fn is_component(variable: &DescribedVariable) -> bool {
    variable.is_number() && (variable.is_global_array() || is_constant(variable))
}

/// Whether it stands for an array of one value.
fn is_constant(variable: &DescribedVariable) -> bool {
    variable.def.kind == ArrayKind::Scalar
}

fn constant_shape(variable: &DescribedVariable) -> Option<Vec<u64>> {
    let shape: &AttributeValue = variable.def.attributes.get("shape")?;
    integers(shape)
}

/// The extent of a component, whether it is an array or stands for one.
pub(super) fn extent(variable: &DescribedVariable) -> Option<Vec<u64>> {
    if is_constant(variable) {
        return constant_shape(variable);
    }
    variable.shape.map(|shape| shape.dims().to_vec())
}
