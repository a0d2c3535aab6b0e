//! `flexpath tail`: a stream's steps as they come, or the values of one variable.

mod line;
mod record;

use std::io::Write;
use std::time::{Duration, Instant};

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    EndReason, NextStep, QueuePolicy, ReadError, Selection, StepReader, Subscriber, SubscriberOptions,
    VariableInfo,
};

use crate::arguments::{TailOptions, Target};
use crate::describe::open;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};

/// After how much silence the user is told that nothing comes.
const SILENCE: Duration = Duration::from_secs(10);

/// Follows a stream.
pub(crate) fn run(rendezvous: Rendezvous, options: &TailOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let mut subscriber = open(&options.stream, subscription(options), &credentials, rendezvous)?;
    let interrupt = Interrupt::watch()?;
    follow(&mut subscriber, options, &interrupt)?;
    subscriber.close()?;
    Ok(interrupt.finish()?)
}

/// What is asked of the publisher: the one variable that is shown, and not to wait unless told so.
fn subscription(options: &TailOptions) -> SubscriberOptions {
    let variable = options.target.iter().map(|target| target.variable.clone());
    let asked = SubscriberOptions::default().with_variables(variable).with_open_timeout(options.timeout);
    let mut asked = asked.with_start_at(options.start_at);
    asked.condition = options.when.clone();
    if options.every_step { asked } else { asked.with_policy(QueuePolicy::DropOldest) }
}

/// Shows steps until there are enough, the stream ends, or the user has seen enough.
fn follow(subscriber: &mut Subscriber, options: &TailOptions, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut shown = 0;
    let mut quiet_since = Instant::now();
    while !interrupt.is_requested() && options.steps.is_none_or(|limit| shown < limit) {
        match subscriber.next_step(NOTICE)? {
            NextStep::Step(step) => {
                show(&mut out, options, &step)?;
                shown += 1;
                quiet_since = Instant::now();
            }
            NextStep::NotYet if quiet_since.elapsed() >= SILENCE => {
                let wanted = options.when.iter().map(|when| format!(" with {when}")).collect::<String>();
                eprintln!("flexpath: stream {:?}: no step{wanted} for {SILENCE:?}; waiting", options.stream);
                quiet_since = Instant::now();
            }
            NextStep::NotYet => {}
            NextStep::Ended(ending) => return ended(options, &ending.reason),
        }
    }
    Ok(())
}

/// Shows one step.
fn show(out: &mut impl Write, options: &TailOptions, step: &StepReader) -> Result<(), Failure> {
    match &options.target {
        Some(target) => {
            let TailOptions { stream, json, values, .. } = options;
            show_values(out, &Showing { stream, json: *json, values: *values }, target, step)?;
        }
        None => show_step(out, options, step)?,
    }
    Ok(out.flush()?)
}

/// Shows what a step holds.
fn show_step(out: &mut impl Write, options: &TailOptions, step: &StepReader) -> Result<(), Failure> {
    let variables = step.variables()?;
    if options.json {
        line::step_json(out, step, &variables)
    } else {
        Ok(line::step_text(out, step, &variables)?)
    }
}

/// How values are shown.
pub(crate) struct Showing<'a> {
    pub(crate) stream: &'a str,
    pub(crate) json: bool,
    /// Most values of a step.
    pub(crate) values: usize,
}

/// Shows the selected values of one variable.
pub(crate) fn show_values(
    out: &mut impl Write,
    options: &Showing<'_>,
    target: &Target,
    step: &StepReader,
) -> Result<(), Failure> {
    let (info, selection) = find(step, target)?;
    line::values(out, options, step, &info, &selection)
}

/// A variable of the step, and what is selected of it.
pub(crate) fn find(step: &StepReader, target: &Target) -> Result<(VariableInfo, Selection), ReadError> {
    let mut variables = step.variables()?;
    let Some(found) = variables.iter().position(|info| info.def.name == target.variable) else {
        let known = variables.into_iter().map(|info| info.def.name).collect();
        return Err(line::unknown(step, target, known));
    };
    let info = variables.swap_remove(found);
    let selection = line::selection(step, target, &info)?;
    Ok((info, selection))
}

/// How a stream's end ends this command: well, if its publisher closed it.
fn ended(options: &TailOptions, reason: &EndReason) -> Result<(), Failure> {
    let (stream, ending) = (options.stream.clone(), reason.to_string());
    if matches!(reason, EndReason::Closed) {
        eprintln!("flexpath: stream {stream:?}: {ending}");
        return Ok(());
    }
    Err(Failure::Ended { stream, ending })
}
