//! Record types of bonds, some of which become others by transforms, and pairs of a step.

use fp_core::NativeError;
use std::collections::BTreeMap;

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
pub struct BondPair {
    pub a: u32,
    pub b: u32,
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
pub struct BondAdjacency {
    pub atom: u64,
    pub neighbours: Vec<u64>,
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
pub struct Label {
    pub text: String,
}

pub fn pair(step: u64, index: u64) -> BondPair {
    BondPair { a: (index / 3) as u32, b: ((index + step) % 7) as u32 + 1000 }
}

pub fn pairs(step: u64, range: std::ops::Range<u64>) -> Vec<BondPair> {
    range.map(|index| pair(step, index)).collect()
}

/// For each atom that a pair begins with, those that it ends with.
pub fn adjacency(pairs: &[BondPair]) -> Vec<BondAdjacency> {
    let mut near: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for pair in pairs {
        near.entry(pair.a.into()).or_default().push(pair.b.into());
    }
    near.into_iter().map(|(atom, neighbours)| BondAdjacency { atom, neighbours }).collect()
}

pub fn label(pair: &BondPair) -> Result<Label, NativeError> {
    Ok(Label { text: format!("{}-{}", pair.a, pair.b) })
}
