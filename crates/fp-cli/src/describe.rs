//! `flexpath describe`: the variables of a stream, as its next step has them.

use std::io::Write as _;

use fp_core::rendezvous::Rendezvous;
use fp_core::{NextStep, QueuePolicy, StepReader, Subscriber, SubscriberOptions};
use serde::Serialize;

use crate::arguments::DescribeOptions;
use crate::failure::Failure;
use crate::list;
use crate::summary::VariableSummary;

/// A stream, as far as one step tells.
#[derive(Debug, Serialize)]
struct Description {
    /// The stream's name.
    stream: String,
    /// This opening of it.
    epoch: Option<String>,
    /// The step that was looked at.
    step: u64,
    /// Its variables, by name.
    variables: Vec<VariableSummary>,
}

/// Describes a stream.
pub(crate) fn run(rendezvous: Rendezvous, options: &DescribeOptions) -> Result<(), Failure> {
    // No variable is asked for: the publisher keeps no data, and tells what there is.
    let subscription = SubscriberOptions::default()
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::LatestOnly)
        .with_open_timeout(options.timeout);
    let mut subscriber = open(&options.stream, subscription, rendezvous)?;
    let step = first_step(&mut subscriber, options)?;
    let description = describe(&options.stream, &step)?;
    drop(step);
    subscriber.close()?;
    let mut out = std::io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &description)?;
        writeln!(out)?;
    } else {
        print(&mut out, &description)?;
    }
    Ok(out.flush()?)
}

/// Attaches to a stream; the error says which streams there are.
pub(crate) fn open(
    stream: &str,
    options: SubscriberOptions,
    rendezvous: Rendezvous,
) -> Result<Subscriber, Failure> {
    let opened = Subscriber::open(stream, options.with_rendezvous(rendezvous.clone()));
    opened.map_err(|source| Failure::Open { source: Box::new(source), alive: list::alive(&rendezvous) })
}

/// The first step that comes.
fn first_step(subscriber: &mut Subscriber, options: &DescribeOptions) -> Result<StepReader, Failure> {
    let stream = options.stream.clone();
    match subscriber.next_step(options.timeout) {
        Ok(NextStep::Step(step)) => Ok(step),
        Ok(NextStep::NotYet) => Err(Failure::NoStep { stream, waited: options.timeout }),
        Ok(NextStep::Ended(ending)) => Err(Failure::Ended { stream, ending: ending.reason.to_string() }),
        Err(source) => Err(Failure::read(&stream, source)),
    }
}

/// What a step tells.
fn describe(stream: &str, step: &StepReader) -> Result<Description, Failure> {
    let variables = step.variables();
    let variables = variables.map_err(|source| Failure::read(stream, source))?;
    Ok(Description {
        stream: stream.to_owned(),
        epoch: step.epoch().map(|epoch| epoch.to_string()),
        step: step.step().0,
        variables: variables.iter().map(VariableSummary::new).collect(),
    })
}

/// Prints a description for people.
fn print(out: &mut impl std::io::Write, description: &Description) -> std::io::Result<()> {
    let epoch = description.epoch.as_deref().unwrap_or("unknown");
    writeln!(out, "{}, epoch {epoch}, step {}", description.stream, description.step)?;
    for variable in &description.variables {
        writeln!(out, "  {}", variable.full())?;
    }
    Ok(())
}
