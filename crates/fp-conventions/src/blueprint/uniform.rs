//! Sets of coordinates at equal distances.

use crate::finding::Finding;
use crate::mesh::grid::Grid;
use crate::rule::Rule;
use crate::step::DescribedStep;
use crate::value::ScalarValue;

/// The grid of points of a uniform set, slowest first: `z`, `y`, `x`, as arrays in row-major order have them.
pub(super) fn grid(step: &DescribedStep, name: &str, findings: &mut Vec<Finding>) -> Option<Grid> {
    let path = format!("coordsets.{name}");
    let found = step.children(&format!("{path}.dims"));
    let axes: &[(&str, &str)] = match found[..] {
        ["i"] => &[("i", "x")],
        ["i", "j"] => &[("j", "y"), ("i", "x")],
        ["i", "j", "k"] => &[("k", "z"), ("j", "y"), ("i", "x")],
        _ => {
            let advice = format!("Put {path}.dims.i, {path}.dims.j and {path}.dims.k, one integer each");
            let what = format!("has the dimensions {found:?}");
            let finding = Finding::violation(Rule::BlueprintUniform, what, advice);
            findings.push(finding.of(format!("{path}.dims")));
            return None;
        }
    };
    let mut grid = Grid { axes: Vec::new(), origin: Vec::new(), spacing: Vec::new(), shape: Vec::new() };
    let before = findings.len();
    for (dimension, axis) in axes {
        grid.axes.push((*axis).to_owned());
        grid.shape.extend(points(step, &format!("{path}.dims.{dimension}"), findings));
        grid.origin.push(real(step, &format!("{path}.origin.{axis}"), 0.0, |_| true, findings));
        let is_size = |size: f64| size > 0.0;
        grid.spacing.push(real(step, &format!("{path}.spacing.d{axis}"), 1.0, is_size, findings));
    }
    (findings.len() == before).then_some(grid)
}

/// How many points there are along an axis.
fn points(step: &DescribedStep, name: &str, findings: &mut Vec<Finding>) -> Option<u64> {
    if let Some(ScalarValue::Integer(count)) = step.value(name)
        && let Some(count) = u64::try_from(*count).ok().filter(|count| *count > 0)
    {
        return Some(count);
    }
    let what = said(step, name);
    let advice = "Put an integer above 0 for all ranks: the number of points";
    findings.push(Finding::violation(Rule::BlueprintUniform, what, advice).of(name));
    None
}

/// A number that has a default.
fn real(
    step: &DescribedStep,
    name: &str,
    default: f64,
    is_fit: impl Fn(f64) -> bool,
    findings: &mut Vec<Finding>,
) -> f64 {
    if step.variable(name).is_none() {
        return default;
    }
    let number = match step.value(name) {
        Some(ScalarValue::Real(number)) => Some(*number),
        Some(ScalarValue::Integer(number)) => Some(*number as f64),
        Some(ScalarValue::Text(_)) | None => None,
    };
    number.filter(|number| is_fit(*number)).unwrap_or_else(|| {
        let (what, advice) = (said(step, name), "Put a number for all ranks; a spacing is above 0");
        findings.push(Finding::violation(Rule::BlueprintUniform, what, advice).of(name));
        default
    })
}

fn said(step: &DescribedStep, name: &str) -> String {
    step.value(name).map_or_else(|| "is no scalar of all ranks".to_owned(), |value| format!("is {value}"))
}
