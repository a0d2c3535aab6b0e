//! The levels of one array, by their names: `rho`, `rho_lvl1`, `rho_lvl2`, and `E.x`, `E_lvl1.x`.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::variable::DescribedVariable;

/// All levels of one array.
pub(super) struct Family<'a> {
    /// The name of level 0.
    pub(super) name: String,
    /// The levels, the coarsest first.
    pub(super) levels: Vec<&'a DescribedVariable>,
}

/// The name of level 0 of a variable, and the variable's level.
pub(crate) fn level_of(name: &str) -> (String, u32) {
    let mut level = 0;
    let parts = name.split('.').map(|part| match part.rsplit_once("_lvl").and_then(numbered) {
        Some((record, number)) => {
            level = number;
            record
        }
        None => part,
    });
    let base = parts.collect::<Vec<_>>().join(".");
    (base, level)
}

/// A record and a level in digits alone, without zeros before them.
fn numbered<'a>((record, digits): (&'a str, &str)) -> Option<(&'a str, u32)> {
    let number = digits.parse::<u32>().ok().filter(|number| *number > 0)?;
    (!record.is_empty() && number.to_string() == digits).then_some((record, number))
}

/// All arrays that have more than one level. Those with holes are found and left out.
pub(super) fn all<'a>(step: &'a DescribedStep, findings: &mut Vec<Finding>) -> Vec<Family<'a>> {
    let mut families: BTreeMap<String, BTreeMap<u32, &DescribedVariable>> = BTreeMap::new();
    for variable in &step.variables {
        let (name, level) = level_of(variable.name());
        families.entry(name).or_default().insert(level, variable);
    }
    components(&families, findings);
    families.retain(|_, levels| levels.keys().any(|level| *level > 0));
    if families.is_empty() {
        let what = "no variable's name ends in _lvl1: there is no refined mesh";
        let advice = "Name level 1 of an array rho rho_lvl1";
        findings.push(Finding::violation(Rule::AmrLevels, what, advice));
    }
    families.retain(|name, levels| {
        let highest = levels.keys().last().copied().unwrap_or(0);
        let missing = (0..highest).find(|level| !levels.contains_key(level));
        findings.extend(missing.map(|level| hole(name, level, levels)));
        missing.is_none()
    });
    families
        .into_iter()
        .map(|(name, levels)| Family { name, levels: levels.into_values().collect() })
        .collect()
}

fn hole(name: &str, level: u32, levels: &BTreeMap<u32, &DescribedVariable>) -> Finding {
    let highest = levels.values().next_back().map_or("", |variable| variable.name());
    let what = format!("has no level {level}");
    let advice = format!("Number levels without holes, from {name:?} on");
    Finding::violation(Rule::AmrLevels, what, advice).of(highest)
}

/// All components of a record have the same levels.
fn components(families: &BTreeMap<String, BTreeMap<u32, &DescribedVariable>>, findings: &mut Vec<Finding>) {
    let variables = families.values().flat_map(|levels| levels.values());
    let records: BTreeSet<String> = variables.filter_map(|variable| record_of(variable.name())).collect();
    let mut first: BTreeMap<&str, (&str, BTreeSet<u32>)> = BTreeMap::new();
    for (name, levels) in families {
        let record = name.rsplit_once('.').map(|(record, _)| record);
        let Some(record) = record.filter(|record| records.contains(*record)) else { continue };
        let levels: BTreeSet<u32> = levels.keys().copied().collect();
        let Some((other, expected)) = first.get(record) else {
            first.insert(record, (name, levels));
            continue;
        };
        if *expected != levels {
            let what = format!("has the levels {levels:?}, but {other:?} has {expected:?}");
            let advice = "Put every component of a record at each level";
            findings.push(Finding::violation(Rule::AmrComponents, what, advice).of(name));
        }
    }
}

/// The record at level 0 of which a variable of a finer level is a component: the level stands before the last dot.
fn record_of(name: &str) -> Option<String> {
    let (record, _) = name.rsplit_once('.')?;
    let (base, level) = level_of(record);
    (level > 0).then_some(base)
}

#[test]
fn levels_are_told_by_names() {
    let of = |name: &str| level_of(name);
    assert_eq!((of("rho"), of("rho_lvl2")), (("rho".into(), 0), ("rho".into(), 2)));
    assert_eq!(of("meshes.E_lvl1.x"), ("meshes.E.x".into(), 1));
    for name in ["rho_lvl0", "rho_lvl01", "rho_lvl", "_lvl1", "rho_level1"] {
        assert_eq!(of(name), (name.to_owned(), 0));
    }
}
