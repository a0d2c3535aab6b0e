//! The analytics as plain functions on slices: what is computed, whatever brings the data.

pub mod adjacency;
pub mod atoms;
pub mod bonds;
pub mod cells;
pub mod check;
pub mod cna;
pub mod csym;
pub mod geometry;
pub mod share;
pub mod tear;
