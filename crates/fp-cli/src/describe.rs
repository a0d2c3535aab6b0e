//! `flexpath describe`: the variables of a stream, as its next step has them, or of a step of a file.

use std::path::Path;
use std::time::Duration;

use fp_core::rendezvous::{Entry, Rendezvous};
use fp_core::{NextStep, QueuePolicy, StepReader, Subscriber, SubscriberOptions, VariableInfo};
use serde::Serialize;

use crate::arguments::DescribeOptions;
use crate::credentials::Credentials;
use crate::entries::alive;
use crate::failure::Failure;
use crate::output;
use crate::record_file;
use crate::summary::VariableSummary;

/// How long it may take to leave a stream of a list.
const LEAVE: Duration = Duration::from_millis(500);

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

/// Describes a stream or a step of a file.
pub(crate) fn run(rendezvous: Rendezvous, options: &DescribeOptions) -> Result<(), Failure> {
    let description = if record_file::is_path(&options.stream) {
        of_file(options)?
    } else if options.step.is_some() {
        let why = "--step is of files: of a stream the next step is described".to_owned();
        return Err(Failure::Usage(why));
    } else {
        of_stream(rendezvous, options)?
    };
    output::print(&description, options.json, |out| print(out, &description))
}

fn of_file(options: &DescribeOptions) -> Result<Description, Failure> {
    let step = record_file::step(Path::new(&options.stream), options.step)?;
    Ok(Description {
        stream: step.head.stream.clone(),
        epoch: Some(step.head.epoch.to_string()),
        step: step.head.step.0,
        variables: record_file::variables(&step),
    })
}

fn of_stream(rendezvous: Rendezvous, options: &DescribeOptions) -> Result<Description, Failure> {
    let credentials = options.credentials.read()?;
    let mut subscriber = open(&options.stream, looking(options.timeout), &credentials, rendezvous)?;
    let step = first_step(&mut subscriber, &options.stream, options.timeout)?;
    let description = describe(&options.stream, &step)?;
    drop(step);
    subscriber.close()?;
    Ok(description)
}

/// A subscription that asks for no variable: the publisher keeps no data, and tells what there is.
fn looking(timeout: Duration) -> SubscriberOptions {
    SubscriberOptions::default()
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::LatestOnly)
        .with_open_timeout(timeout)
}

/// The variables of the stream that an entry speaks of, or in words why they cannot be told.
pub(crate) fn variables(
    rendezvous: &Rendezvous,
    entry: &Entry,
    timeout: Duration,
    credentials: &Credentials,
) -> Result<Vec<VariableSummary>, String> {
    let mut options = looking(timeout).with_rendezvous(rendezvous.clone()).with_close_timeout(LEAVE);
    credentials.set(&mut options.link);
    let opened = Subscriber::open(&entry.name, options.with_publisher_contact(entry.contact.clone()));
    let mut subscriber = opened.map_err(|error| error.to_string())?;
    let described = first_step(&mut subscriber, &entry.name, timeout);
    let described = described.and_then(|step| describe(&entry.name, &step));
    // What was told is shown, however the stream was left.
    let _ = subscriber.close();
    described.map(|described| described.variables).map_err(|failure| failure.to_string())
}

/// Attaches to a stream; the error says which streams there are.
///
/// # Errors
/// No such stream, or one that lets this process not in; a rendezvous that cannot be used.
pub fn open(
    stream: &str,
    mut options: SubscriberOptions,
    credentials: &Credentials,
    rendezvous: Rendezvous,
) -> Result<Subscriber, Failure> {
    credentials.set(&mut options.link);
    let rendezvous = credentials.shown_to(rendezvous)?;
    let opened = Subscriber::open(stream, options.with_rendezvous(rendezvous.clone()));
    opened.map_err(|source| Failure::Open { source: Box::new(source), alive: alive(&rendezvous) })
}

/// The first step that comes.
pub(crate) fn first_step(
    subscriber: &mut Subscriber,
    stream: &str,
    timeout: Duration,
) -> Result<StepReader, Failure> {
    let stream = stream.to_owned();
    match subscriber.next_step(timeout) {
        Ok(NextStep::Step(step)) => Ok(step),
        Ok(NextStep::NotYet) => Err(Failure::NoStep { stream, waited: timeout }),
        Ok(NextStep::Ended(ending)) => Err(Failure::Ended { stream, ending: ending.reason.to_string() }),
        Err(source) => Err(source.into()),
    }
}

/// What a step tells.
fn describe(stream: &str, step: &StepReader) -> Result<Description, Failure> {
    let variables = step.variables()?;
    let summary = |info: &VariableInfo| VariableSummary::with_fields(step, info);
    Ok(Description {
        stream: stream.to_owned(),
        epoch: step.epoch().map(|epoch| epoch.to_string()),
        step: step.step().0,
        variables: variables.iter().map(summary).collect::<Result<_, _>>()?,
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
