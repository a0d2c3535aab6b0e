//! The magnetic field of the torus: it is stronger where the way round is shorter.

/// Major radius.
pub const MAJOR_RADIUS: f64 = 3.0;

/// The field, in its value on the axis.
pub fn field(x: f64) -> f64 {
    MAJOR_RADIUS / (MAJOR_RADIUS + x)
}
