//! Rows of ours beside their bounds, for people and for programs.

use crate::rows::{Figure, keep};

/// Prints and keeps a row: ours, the most that it may be, and whether it is.
pub(crate) fn bounded(case: &str, (ours, bound): (f64, f64), unit: &str, target: &str) {
    let is_met = ours <= bound;
    let met = if is_met { "met" } else { "missed" };
    println!("{case:<66}{ours:>15.2} of {bound:>9.2} {unit:<5} {met:<7} {target}");
    keep(&[
        ("case", Figure::Text(case)),
        ("ours", Figure::Number(ours)),
        ("bound", Figure::Number(bound)),
        ("unit", Figure::Text(unit)),
        ("target", Figure::Text(target)),
        ("verdict", Figure::Met(is_met)),
    ]);
}

/// Prints and keeps a row that has no bound: what others are compared with.
pub(crate) fn noted(case: &str, ours: f64, unit: &str) {
    println!("{case:<66}{ours:>15.2}              {unit}");
    keep(&[("case", Figure::Text(case)), ("ours", Figure::Number(ours)), ("unit", Figure::Text(unit))]);
}

/// The value below which that part of all lies.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The middle one.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}
