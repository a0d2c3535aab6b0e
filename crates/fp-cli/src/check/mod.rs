//! `flexpath check`: whether a step's names, attributes and shapes are what other tools read.

mod indices;
mod outcome;
mod step;

use fp_conventions::{Convention, check, recognized};
use fp_core::rendezvous::Rendezvous;
use fp_core::{QueuePolicy, StepReader, SubscriberOptions};

use crate::arguments::{Asked, CheckOptions};
use crate::describe::{first_step, open};
use crate::failure::Failure;
use crate::output;
use outcome::Outcome;

/// Looks at the next step of a stream.
pub(crate) fn run(rendezvous: Rendezvous, options: &CheckOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    // All variables, as indices are looked at; the publisher waits for nothing, and keeps this one step.
    let asked =
        SubscriberOptions::default().with_policy(QueuePolicy::LatestOnly).with_open_timeout(options.timeout);
    let mut subscriber = open(&options.stream, asked, &credentials, rendezvous)?;
    let step = first_step(&mut subscriber, &options.stream, options.timeout)?;
    let outcome = look(&step, options)?;
    drop(step);
    subscriber.close()?;
    output::print(&outcome, options.json, |out| outcome.print(out))?;
    match outcome.violations {
        0 => Ok(()),
        violations => Err(Failure::Violations { stream: options.stream.clone(), violations }),
    }
}

/// Holds a step against what was asked for.
fn look(step: &StepReader, options: &CheckOptions) -> Result<Outcome, Failure> {
    let described = step::describe(step)?;
    let conventions: Vec<Convention> = match options.convention {
        Asked::Auto => recognized(&described),
        Asked::One(convention) => vec![convention],
    };
    if conventions.is_empty() {
        return Err(Failure::NoConvention { stream: options.stream.clone() });
    }
    let mut reports: Vec<_> =
        conventions.into_iter().map(|convention| check(&described, convention)).collect();
    for report in &mut reports {
        let found = indices::check(step, &described, &report.meshes)?;
        report.findings.extend(found);
    }
    Ok(Outcome::new(&options.stream, step, &reports))
}
