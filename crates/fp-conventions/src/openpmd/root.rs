//! What openPMD has as attributes of a file's root and of an iteration: scalars of the step, under the same names.

use crate::finding::Finding;
use crate::path::from_slashes;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::value::ScalarValue;

/// What the root says of the rest.
pub(super) struct Root {
    /// How the names of meshes begin.
    pub(super) meshes: Option<String>,
    /// How the names of particles begin.
    pub(super) particles: Option<String>,
    /// Whether the extension for particles in cells is said to be kept.
    pub(super) has_ed_pic: bool,
}

/// The bit of the extension ED-PIC. From openPMD 1.1.0, Domain-Specific Extensions.
const ED_PIC: i128 = 1;

/// Looks at what there is for all records.
pub(super) fn read(step: &DescribedStep, findings: &mut Vec<Finding>) -> Root {
    version(step, findings);
    let extension = extension(step, findings);
    for name in ["time", "dt", "timeUnitSI"] {
        if !matches!(step.value(name), Some(ScalarValue::Real(_))) {
            findings.push(missing(
                step,
                name,
                Rule::OpenPmdTime,
                "Put a scalar of real numbers of that name",
            ));
        }
    }
    for name in ["author", "software", "date"] {
        if step.text(name).is_none() {
            let advice = "Put a text of that name, as openPMD recommends";
            findings.push(Finding::warning(Rule::OpenPmdAuthor, "is missing", advice).of(name));
        }
    }
    let (meshes, particles) = (path(step, "meshesPath", findings), path(step, "particlesPath", findings));
    if step.value("meshesPath").is_none() && step.value("particlesPath").is_none() {
        let what = "there is neither meshesPath nor particlesPath: no record can be found";
        let advice = "Put a text meshesPath such as meshes/, and name variables meshes.E.x";
        findings.push(Finding::warning(Rule::OpenPmdPath, what, advice));
    }
    Root { meshes, particles, has_ed_pic: extension.is_some_and(|mask| mask & ED_PIC != 0) }
}

fn version(step: &DescribedStep, findings: &mut Vec<Finding>) {
    let advice = "Put the text 1.1.0 under that name";
    let is_known = |text: &str| text.starts_with("1.0.") || text.starts_with("1.1.");
    if !step.text("openPMD").is_some_and(is_known) {
        findings.push(missing(step, "openPMD", Rule::OpenPmdVersion, advice));
    }
}

fn extension(step: &DescribedStep, findings: &mut Vec<Finding>) -> Option<i128> {
    if let Some(ScalarValue::Integer(mask)) = step.value("openPMDextension")
        && u32::try_from(*mask).is_ok()
    {
        return Some(*mask);
    }
    let advice = "Put a scalar u32 of that name: 0 if there is none";
    findings.push(missing(step, "openPMDextension", Rule::OpenPmdExtension, advice));
    None
}

/// How names begin under a path.
fn path(step: &DescribedStep, name: &str, findings: &mut Vec<Finding>) -> Option<String> {
    step.variable(name)?;
    let is_path = |text: &str| text.ends_with('/') && text.len() > 1;
    let Some(path) = step.text(name).filter(|text| is_path(text)) else {
        let advice = "Put a text that ends in a slash, such as meshes/";
        findings.push(missing(step, name, Rule::OpenPmdPath, advice));
        return None;
    };
    let names = from_slashes(path);
    if step.children(&names).is_empty() {
        let what = format!("is {path:?}, but no variable's name begins with {names}.");
        let advice = "Name variables so, or leave the path out";
        // In a file the group has to be there, be it empty; a stream has no empty groups.
        findings.push(Finding::warning(Rule::OpenPmdPath, what.trim_end_matches('.'), advice).of(name));
    }
    Some(names)
}

/// A scalar that is not there or not what it must be.
fn missing(step: &DescribedStep, name: &str, rule: Rule, advice: &str) -> Finding {
    let what = match (step.variable(name), step.value(name)) {
        (None, _) => "is missing".to_owned(),
        (Some(variable), None) => format!("is {}", variable.kind_text()),
        (Some(_), Some(value)) => format!("is {value}"),
    };
    Finding::violation(rule, what, advice).of(name)
}
