//! Records of particles.

use fp_types::Dtype;

use crate::attributes::Attributes;
use crate::finding::Finding;
use crate::openpmd::record::{self, Record};
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

/// What belongs to a record of particles and not to one component.
const OF_RECORD: [&str; 2] = ["weightingPower", "macroWeighted"];

/// Looks at a species.
pub(super) fn check(step: &DescribedStep, path: &str, has_ed_pic: bool, findings: &mut Vec<Finding>) {
    let patches = format!("{path}.particlePatches.");
    let mut own = step.clone();
    own.variables.retain(|variable| !variable.name().starts_with(&patches));
    let records = record::all(&own, path, findings);
    positions(&records, path, findings);
    for record in &records {
        record::check(record, &OF_RECORD, findings);
        weighting(record.first(), has_ed_pic, findings);
        if record.name == "id" && record.first().def.dtype != Dtype::U64 {
            let what = format!("is {}", record.first().kind_text());
            let advice = "Make it an array of u64";
            let finding = Finding::violation(Rule::OpenPmdParticleId, what, advice);
            findings.push(finding.of(record.first().name()));
        }
    }
    lengths(&records, findings);
}

/// Both are there, and have the same components.
fn positions(records: &[Record<'_>], path: &str, findings: &mut Vec<Finding>) {
    let names = |wanted: &str| {
        let found = records.iter().find(|record| record.name == wanted);
        found.map(|record| record.components.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    };
    let (position, offset) = (names("position"), names("positionOffset"));
    for (name, found) in [("position", &position), ("positionOffset", &offset)] {
        if found.is_none() {
            let advice = format!("Put {path}.{name}.x and so on; a scalar will do where all are the same");
            let finding = Finding::violation(Rule::OpenPmdSpecies, "is missing", advice);
            findings.push(finding.of(format!("{path}.{name}")));
        }
    }
    if let (Some(position), Some(offset)) = (position, offset)
        && position != offset
    {
        let what = format!("has the components {offset:?}, but position has {position:?}");
        let advice = "Give both the same components";
        let finding = Finding::violation(Rule::OpenPmdSpecies, what, advice);
        findings.push(finding.of(format!("{path}.positionOffset")));
    }
}

/// What macroparticles mean: needed where the extension is kept, else looked at where it is.
fn weighting(variable: &DescribedVariable, has_ed_pic: bool, findings: &mut Vec<Finding>) {
    let rule = Rule::OpenPmdWeighting;
    for name in OF_RECORD {
        if !has_ed_pic && !variable.def.attributes.contains_key(name) {
            let advice = "Set it, so that macroparticles are understood";
            let finding = Finding::warning(rule, "is missing", advice);
            findings.push(finding.of(variable.name()).attribute(name));
            continue;
        }
        let mut attributes = Attributes { of: variable, findings };
        if name == "weightingPower" {
            attributes.real(name, rule);
        } else if let Some(number) = attributes.count(name, rule).filter(|number| *number > 1) {
            attributes.wrong(name, rule, format!("is the integer {number}"), "Set it to 0 or 1");
        }
    }
}

/// All records are lists of one length.
fn lengths(records: &[Record<'_>], findings: &mut Vec<Finding>) {
    let all = || records.iter().map(Record::first);
    let of_list = |variable: &DescribedVariable| record::extent(variable).filter(|shape| shape.len() == 1);
    let Some((first, expected)) = all().find_map(|variable| Some((variable, of_list(variable)?))) else {
        return;
    };
    for variable in all() {
        let Some(found) = record::extent(variable).filter(|found| *found != expected) else { continue };
        let what = format!("has the shape {found:?}, but {:?} has {expected:?}", first.name());
        let advice = "Give all records of a species as many particles";
        findings.push(Finding::violation(Rule::OpenPmdParticleCount, what, advice).of(variable.name()));
    }
}
