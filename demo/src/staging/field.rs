//! Heat in a plate whose edges are cold: the exact solution, so that whoever reads it knows every number.

use std::f64::consts::PI;

/// Rows and columns of the plate.
pub const ROWS: u64 = 256;
/// Columns of the plate.
pub const COLUMNS: u64 = 256;

/// How fast the first and the third wave of it fade, in each step.
const FADING: [f64; 2] = [0.002, 0.018];

/// The temperature there, K above the edges.
pub fn temperature(step: u64, row: u64, column: u64) -> f64 {
    let (x, y) = ((row as f64 + 0.5) / ROWS as f64, (column as f64 + 0.5) / COLUMNS as f64);
    let wave = |times: f64| (times * PI * x).sin() * (times * PI * y).sin();
    let fade = |rate: f64| (-rate * step as f64).exp();
    100.0 * wave(1.0) * fade(FADING[0]) + 30.0 * wave(3.0) * fade(FADING[1])
}
