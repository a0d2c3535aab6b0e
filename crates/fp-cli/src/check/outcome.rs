//! What was found, for people and for programs.

use std::io::{self, Write};

use fp_conventions::{Finding, Mesh, Report};
use fp_core::StepReader;
use serde::Serialize;

/// What was found in a step.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    /// The stream's name.
    stream: String,
    /// This opening of it.
    epoch: Option<String>,
    /// The step that was looked at.
    step: u64,
    /// How many findings break a convention.
    pub(super) violations: usize,
    /// How many are about what is recommended.
    warnings: usize,
    /// What was found for each convention.
    conventions: Vec<OfConvention>,
}

/// What was found for a convention.
#[derive(Debug, Serialize)]
struct OfConvention {
    /// Its name.
    convention: &'static str,
    /// The meshes that could be made out, in a few words each.
    meshes: Vec<String>,
    /// What was found.
    findings: Vec<FindingLine>,
}

/// One finding.
#[derive(Debug, Serialize)]
struct FindingLine {
    /// `violation` or `warning`.
    severity: String,
    /// The name of the rule.
    rule: &'static str,
    /// The document and its part that the rule is from.
    origin: &'static str,
    /// The variable.
    variable: Option<String>,
    /// Its attribute.
    attribute: Option<String>,
    /// The rank whose block it is about.
    rank: Option<u32>,
    /// That block, among the rank's puts of the variable.
    block: Option<u32>,
    /// What is wrong.
    what: String,
    /// What to do.
    advice: String,
    /// All of it in a line.
    #[serde(skip)]
    text: String,
}

impl Outcome {
    /// What reports say of a step.
    pub(super) fn new(stream: &str, step: &StepReader, reports: &[Report]) -> Self {
        Self {
            stream: stream.to_owned(),
            epoch: step.epoch().map(|epoch| epoch.to_string()),
            step: step.step().0,
            violations: reports.iter().map(Report::violation_count).sum(),
            warnings: reports.iter().map(Report::warning_count).sum(),
            conventions: reports.iter().map(OfConvention::new).collect(),
        }
    }

    /// Prints it for people.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let epoch = self.epoch.as_deref().unwrap_or("unknown");
        writeln!(out, "{}, epoch {epoch}, step {}", self.stream, self.step)?;
        for of in &self.conventions {
            of.print(out)?;
        }
        Ok(())
    }
}

impl OfConvention {
    fn new(report: &Report) -> Self {
        Self {
            convention: report.convention.name(),
            meshes: report.meshes.iter().map(brief).collect(),
            findings: report.findings.iter().map(FindingLine::new).collect(),
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let count = |severity: &str| self.findings.iter().filter(|line| line.severity == severity).count();
        let (violations, warnings) = (count("violation"), count("warning"));
        let found = match (violations, warnings) {
            (0, 0) => "nothing is wrong".to_owned(),
            (0, warnings) => format!("nothing is wrong; warnings: {warnings}"),
            (violations, 0) => format!("violations: {violations}"),
            (violations, warnings) => format!("violations: {violations}, warnings: {warnings}"),
        };
        writeln!(out, "  {}: {found}", self.convention)?;
        for mesh in &self.meshes {
            writeln!(out, "    {mesh}")?;
        }
        for line in &self.findings {
            writeln!(out, "    {}: {} [{}: {}]", line.severity, line.text, line.rule, line.origin)?;
        }
        Ok(())
    }
}

impl FindingLine {
    fn new(finding: &Finding) -> Self {
        Self {
            severity: finding.severity.to_string(),
            rule: finding.rule.name(),
            origin: finding.rule.origin(),
            variable: finding.variable.clone(),
            attribute: finding.attribute.clone(),
            rank: finding.block.map(|block| block.rank.0),
            block: finding.block.map(|block| block.index),
            what: finding.what.clone(),
            advice: finding.advice.clone(),
            text: finding.to_string(),
        }
    }
}

/// A mesh in a few words.
fn brief(mesh: &Mesh) -> String {
    match mesh {
        Mesh::Image(image) => {
            format!("image {:?} of shape {:?}, {} fields", image.name, image.grid.shape, image.fields.len())
        }
        Mesh::Unstructured(mesh) => {
            let elements: u64 = mesh.domains.iter().map(|domain| domain.elements).sum();
            let (shape, domains) = (mesh.cell_shape.name(), mesh.domains.len());
            let fields = mesh.fields.len();
            format!("mesh {:?}: {elements} {shape} in {domains} domains, {fields} fields", mesh.name)
        }
        Mesh::OverlappingAmr(amr) => format!("refined {:?}, {} levels", amr.name, amr.levels.len()),
    }
}
