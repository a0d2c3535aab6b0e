//! A figure of ours beside another one, for people and for programs.

use super::rows::{Figure, keep};

/// Prints and keeps a row: ours beside another figure, and whether the target was met.
pub(crate) fn report(name: &str, (ours, other): (f64, f64), unit: &str, (is_met, target): (bool, &str)) {
    let met = if is_met { "met" } else { "missed" };
    println!("{name:<34}{ours:>9.1}{other:>9.1} {unit:<6}{:>7.2}  {target} {met}", ours / other);
    keep(&[
        ("case", Figure::Text(name)),
        ("ours", Figure::Number(ours)),
        ("other", Figure::Number(other)),
        ("unit", Figure::Text(unit)),
        ("ratio", Figure::Number(ours / other)),
        ("target", Figure::Text(target)),
        ("verdict", Figure::Met(is_met)),
    ]);
}

/// The middle one.
pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
