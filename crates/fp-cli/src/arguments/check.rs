//! What the command line says of `check`.

use std::time::Duration;

use clap::Args;
use fp_conventions::Convention;

use super::seconds;
use crate::credentials::CredentialOptions;

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flexpath check run                          whatever conventions the step has marks of
  flexpath check run --convention blueprint   that one, though nothing in the step says so
What the conventions ask for is in docs/conventions.md.

Exit status: 0 nothing is wrong (warnings may have been printed), 1 the step could not be looked at, or has the marks of
no convention, 2 wrong usage, 3 the step breaks a convention.")]
pub(crate) struct CheckOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// What it is held against: openpmd, blueprint, amr; or auto, all of which it has the marks
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = convention)]
    pub(crate) convention: Asked,
    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How long to wait for the stream, and again for its next step
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// What a step is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All conventions of which it has the marks.
    Auto,
    /// This one.
    One(Convention),
}

fn convention(text: &str) -> Result<Asked, String> {
    if text == "auto" {
        return Ok(Asked::Auto);
    }
    text.parse().map(Asked::One).map_err(|error: fp_conventions::ParseConventionError| {
        format!("{error}, and auto takes all of which the step has marks")
    })
}

#[test]
fn a_convention_is_said_by_its_name() {
    assert_eq!(convention("auto"), Ok(Asked::Auto));
    assert_eq!(convention("amr"), Ok(Asked::One(Convention::Amr)));
    assert!(convention("vtk").is_err_and(|why| why.contains("blueprint") && why.contains("auto")));
}
