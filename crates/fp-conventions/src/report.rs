//! What was found in a step.

use crate::convention::Convention;
use crate::finding::{Finding, Severity};
use crate::mesh::Mesh;

/// What was found in a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What the step was held against.
    pub convention: Convention,
    /// What is wrong, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// The meshes that could be made out. What is wrong is left out.
    pub meshes: Vec<Mesh>,
}

impl Report {
    /// How many findings break the convention.
    pub fn violation_count(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Violation).count()
    }

    /// How many findings are about what is recommended.
    pub fn warning_count(&self) -> usize {
        self.findings.len() - self.violation_count()
    }
}
