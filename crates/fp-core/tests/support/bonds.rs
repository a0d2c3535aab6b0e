//! Record types of bonds, of which some become others by transforms.

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
