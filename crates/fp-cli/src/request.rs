//! `flexpath request`: asks a running simulation for values of its parameters, or lists these.

use std::io::Write as _;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{Interrupt as Asked, Parameter, QueuePolicy, Subscriber, SubscriberOptions};
use serde::Serialize;

use crate::arguments::{Assignment, RequestOptions};
use crate::describe::open;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;

/// Options of one who asks. It takes no step, so nothing is kept for it, and nobody waits for it.
pub(crate) fn asker(interrupt: Asked, timeout: Duration) -> SubscriberOptions {
    SubscriberOptions::default()
        .with_open_timeout(timeout)
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::DropOldest)
        .with_interrupt(interrupt)
}

/// A parameter, as it is listed.
#[derive(Debug, Serialize)]
struct Listed {
    /// Its name.
    parameter: String,
    /// What values it takes.
    takes: String,
    /// What it is, as the simulation says.
    text: String,
}

impl From<Parameter> for Listed {
    fn from(parameter: Parameter) -> Self {
        let Parameter { name, kind, text } = parameter;
        // They are the publisher's words, and go to a terminal.
        let plain = |words: String| words.replace(char::is_control, " ");
        Self { parameter: plain(name), takes: kind.to_string(), text: plain(text) }
    }
}

/// Lists what can be asked for.
fn list(subscriber: &mut Subscriber, options: &RequestOptions) -> Result<(), Failure> {
    let known = subscriber.parameters(options.timeout).map_err(|error| Failure::Request(Box::new(error)))?;
    let listed: Vec<Listed> = known.into_iter().map(Listed::from).collect();
    output::print(&listed, options.json, |out| {
        if listed.is_empty() {
            writeln!(out, "{} takes no requests: it declares no parameter", options.stream)?;
        }
        let width = |of: fn(&Listed) -> &str| listed.iter().map(|one| of(one).chars().count()).max();
        let name = width(|one| &one.parameter).unwrap_or(0);
        let takes = width(|one| &one.takes).unwrap_or(0);
        listed.iter().try_for_each(|one| {
            let line = format!("{:name$}  {:takes$}  {}", one.parameter, one.takes, one.text);
            writeln!(out, "{}", line.trim_end())
        })
    })
}

/// Asks for one after another and says what became of each, or lists what there is.
pub(crate) fn run(rendezvous: Rendezvous, options: &RequestOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let interrupt = Interrupt::watch()?;
    let asked = asker(Asked::new(interrupt.asked()), options.timeout);
    let mut subscriber = open(&options.stream, asked, &credentials, rendezvous)?;
    let outcome = match options.assignments.is_empty() {
        true => list(&mut subscriber, options),
        false => ask(&mut subscriber, options),
    };
    let closed = subscriber.close();
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    // Why it was not taken says more than how it was left.
    outcome?;
    Ok(closed?)
}

/// Asks for one after another, and says what became of each, until one is not applied.
fn ask(subscriber: &mut Subscriber, options: &RequestOptions) -> Result<(), Failure> {
    for assignment in &options.assignments {
        let Assignment { parameter, value } = assignment;
        let asked = match options.now {
            true => subscriber.request_now(parameter, value.clone(), options.timeout),
            false => subscriber.request(parameter, value.clone(), options.timeout),
        };
        let step = asked.map_err(|error| Failure::Request(Box::new(error)))?;
        writeln!(std::io::stdout(), "{parameter} = {value}: applied at step {step}")?;
    }
    Ok(())
}
