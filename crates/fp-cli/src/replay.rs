//! `flexpath replay`: publishes the steps of a file, as they were recorded.

use std::io::Write as _;
use std::time::{Duration, Instant};

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    ArrayKind, Dims, Dtype, Interrupt as Asked, Publisher, PublisherOptions, Region, StepWriter, Variable,
};
use fp_spool::{BlockHead, Entry, Spool, StepHead, StoredStep};

use crate::arguments::{ReplayOptions, Speed};
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};

/// Replays a file.
pub(crate) fn run(rendezvous: Rendezvous, options: &ReplayOptions) -> Result<(), Failure> {
    let spool = Spool::open(&options.file).map_err(Failure::spool(&options.file))?;
    if let Some(torn) = spool.torn() {
        let (file, at, damage) = (options.file.display(), torn.offset, &torn.damage);
        eprintln!(
            "flexpath: {file}: what follows byte {at} is no whole step ({damage}); the steps before are replayed"
        );
    }
    let entries: Vec<Entry> =
        spool.entries().iter().copied().filter(|entry| options.holds(entry.step)).collect();
    let Some(first) = entries.first() else {
        let known = spool.entries().iter().map(|entry| entry.step.0);
        let known = known.clone().min().zip(known.max());
        let there = known.map_or("it has none".to_owned(), |(low, high)| format!("it has {low} to {high}"));
        return Err(Failure::Usage(format!("{}: no such step: {there}", options.file.display())));
    };
    if options.list {
        return list(&spool, options, &entries);
    }
    let head = read(&spool, options, first)?.head;
    publish(rendezvous, &spool, options, &entries, &head)
}

fn read(spool: &Spool, options: &ReplayOptions, entry: &Entry) -> Result<StoredStep, Failure> {
    spool.step(entry).map_err(Failure::spool(&options.file))
}

/// A line for each step.
fn list(spool: &Spool, options: &ReplayOptions, entries: &[Entry]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for entry in entries {
        let StoredStep { head, blocks, .. } = read(spool, options, entry)?;
        let names: Vec<&str> = head.variables.iter().map(|variable| variable.def.name.as_str()).collect();
        let (stream, blocks, len) = (&head.stream, blocks.len(), entry.len_bytes);
        writeln!(
            out,
            "step {} of {stream:?}: {blocks} blocks, {len} bytes: {}",
            entry.step,
            names.join(", ")
        )?;
    }
    Ok(out.flush()?)
}

fn publish(
    rendezvous: Rendezvous,
    spool: &Spool,
    options: &ReplayOptions,
    entries: &[Entry],
    first: &StepHead,
) -> Result<(), Failure> {
    let interrupt = Interrupt::watch()?;
    let stream = options.stream.as_ref().unwrap_or(&first.stream);
    let (mut published, began) = (0, Instant::now());
    let outcome = Publisher::open(stream, asked(rendezvous, options, first, &interrupt)?)
        .map_err(|error| Failure::Publish(Box::new(error)))
        .and_then(|mut publisher| {
            let began = Instant::now();
            for entry in entries {
                let stored = read(spool, options, entry)?;
                let due = due(options.speed, published, stored.head.taken.saturating_sub(first.taken));
                if !wait(began, due, &interrupt) {
                    break;
                }
                step(&mut publisher, spool, options, &stored)?;
                published += 1;
            }
            Ok(publisher.close()?)
        });
    let (file, took) = (options.file.display(), began.elapsed());
    eprintln!(
        "flexpath: stream {stream:?}: {published} steps of {file} replayed in {:.1} s",
        took.as_secs_f64()
    );
    // What was asked to end says that it did not wait to the end.
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    outcome
}

/// Waits until a step is due; false if the user has seen enough. A step that is due later than clocks go is due now.
fn wait(began: Instant, due: Duration, interrupt: &Interrupt) -> bool {
    let due = began.checked_add(due).unwrap_or(began);
    while Instant::now() < due && !interrupt.is_requested() {
        std::thread::sleep(due.saturating_duration_since(Instant::now()).min(NOTICE));
    }
    !interrupt.is_requested()
}

fn step(
    publisher: &mut Publisher,
    spool: &Spool,
    options: &ReplayOptions,
    stored: &StoredStep,
) -> Result<(), Failure> {
    let mut writer = publisher.begin_step().map_err(|error| Failure::Publish(Box::new(error)))?;
    put(&mut writer, spool, options, stored)?;
    writer.end().map_err(|error| Failure::Publish(Box::new(error)))
}

fn asked(
    rendezvous: Rendezvous,
    options: &ReplayOptions,
    first: &StepHead,
    interrupt: &Interrupt,
) -> Result<PublisherOptions, Failure> {
    let credentials = options.credentials.read()?;
    let rendezvous = credentials.shown_to(rendezvous)?;
    let requested = interrupt.asked();
    let mut asked = PublisherOptions::default()
        .with_rendezvous(rendezvous)
        .with_first_step(first.step.0)
        .with_min_subscribers(options.subscribers)
        .with_open_timeout(options.timeout)
        .with_interrupt(Asked::new(requested));
    credentials.set(&mut asked.link);
    Ok(asked)
}

/// When a step is due: so long after the first.
fn due(speed: Speed, number: u32, recorded: Duration) -> Duration {
    match speed {
        Speed::Recorded => recorded,
        Speed::Full => Duration::ZERO,
        Speed::PerSecond(steps) => Duration::from_secs_f64(f64::from(number) / steps),
    }
}

/// Puts what a step has. One rank puts the blocks of all.
fn put(
    writer: &mut StepWriter,
    spool: &Spool,
    options: &ReplayOptions,
    step: &StoredStep,
) -> Result<(), Failure> {
    let variables: Vec<Variable> = step
        .head
        .variables
        .iter()
        .map(|of| {
            let id = of.def.record.as_ref();
            let records = step
                .head
                .records
                .iter()
                .find(|schema| id.is_some_and(|id| id.fingerprint == schema.fingerprint()));
            Variable::from_definition(of.def.clone(), of.shape, records.cloned())
        })
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Publish(Box::new(error)))?;
    for block in &step.blocks {
        let Some(variable) = variables.get(block.head.variable as usize) else { continue };
        if !options.variables.is_empty() && !options.variables.iter().any(|name| name == variable.name()) {
            continue;
        }
        let bytes = spool.bytes(block).map_err(Failure::spool(&options.file))?;
        put_block(writer, variable, &block.head, bytes)?;
    }
    Ok(())
}

fn put_block(
    writer: &mut StepWriter,
    variable: &Variable,
    of: &BlockHead,
    bytes: Vec<u8>,
) -> Result<(), Failure> {
    let failed = |error| Failure::Publish(Box::new(error));
    if variable.definition().dtype == Dtype::String {
        let text = String::from_utf8(bytes).map_err(|error| Failure::Publish(Box::new(error)))?;
        return writer.put_text(variable, &text).map_err(failed);
    }
    // Rows of a joined array go where those of the blocks before end.
    let is_joined = matches!(variable.definition().kind, ArrayKind::JoinedArray { .. });
    let region = if is_joined { from_zero(&of.region)? } else { of.region };
    writer.put_bytes(variable, &region, &bytes).map_err(failed)
}

fn from_zero(region: &Region) -> Result<Region, Failure> {
    let zeros =
        Dims::from_slice(&vec![0; region.ndims()]).map_err(|error| Failure::Publish(Box::new(error)))?;
    Region::new(zeros, *region.count()).map_err(|error| Failure::Publish(Box::new(error)))
}
