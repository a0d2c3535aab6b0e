//! `flexpath record`: the steps of a stream into a file, as they come.

use std::time::{Duration, Instant};

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    EndReason, Interrupt as Asked, NextStep, QueuePolicy, StepReader, Subscriber, SubscriberOptions,
    VariableInfo, VariableOrigin,
};
use fp_spool::Spool;

use crate::arguments::RecordOptions;
use crate::describe::open;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};
use crate::recorded_step;

/// How often it says how far it is.
const PROGRESS: Duration = Duration::from_secs(10);

/// What was recorded so far.
#[derive(Default)]
struct Recorded {
    steps: u64,
    skipped: u64,
    len_bytes: u64,
}

/// Records a stream.
pub(crate) fn run(rendezvous: Rendezvous, options: &RecordOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let is_new = !options.out.exists();
    if !is_new && !options.append {
        let path = options.out.display();
        return Err(Failure::Usage(format!("{path} is there already: name another file, or say --append")));
    }
    let mut spool = Spool::append(&options.out)?;
    check_stream(&spool, options)?;
    let interrupt = Interrupt::watch()?;
    let mut recorded = Recorded::default();
    let subscription = subscription(options).with_interrupt(Asked::new(interrupt.asked()));
    let outcome = open(&options.stream, subscription, &credentials, rendezvous).and_then(|mut subscriber| {
        follow(&mut subscriber, &mut spool, options, &interrupt, &mut recorded)?;
        Ok(subscriber.close()?)
    });
    if is_new && spool.entries().is_empty() {
        // Nobody asked for an empty file. If it stays, the next attempt says so.
        let _ = std::fs::remove_file(&options.out);
    } else {
        // What came is kept, however the stream ended.
        spool.sync()?;
        eprintln!("flexpath: stream {:?}: {}", options.stream, recorded.told(options));
    }
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    outcome
}

/// A file has steps of one stream. What a kill left of the last one was cut off.
fn check_stream(spool: &Spool, options: &RecordOptions) -> Result<(), Failure> {
    let file = options.out.display();
    if let Some(torn) = spool.torn() {
        eprintln!(
            "flexpath: {file}: the step that begins at byte {} was not finished, and is cut off",
            torn.offset
        );
    }
    let Some(last) = spool.entries().last() else { return Ok(()) };
    let stream = spool.step(last)?.head.stream;
    if stream == options.stream {
        return Ok(());
    }
    Err(Failure::Usage(format!("{file} has steps of stream {stream:?}: name another file")))
}

impl Recorded {
    fn told(&self, options: &RecordOptions) -> String {
        let (steps, mebibytes) = (self.steps, self.len_bytes as f64 / f64::from(1 << 20));
        format!("{steps} steps, {mebibytes:.1} MiB in {}, {} skipped", options.out.display(), self.skipped)
    }
}

fn subscription(options: &RecordOptions) -> SubscriberOptions {
    let mut asked =
        SubscriberOptions::default().with_open_timeout(options.timeout).with_start_at(options.start_at);
    if !options.variables.is_empty() {
        asked = asked.with_variables(options.variables.clone());
    }
    if options.lossy { asked.with_policy(QueuePolicy::DropOldest) } else { asked }
}

/// Records steps until there are enough, the stream ends, or the user has seen enough.
fn follow(
    subscriber: &mut Subscriber,
    spool: &mut Spool,
    options: &RecordOptions,
    interrupt: &Interrupt,
    recorded: &mut Recorded,
) -> Result<(), Failure> {
    let mut told = Instant::now();
    while !interrupt.is_requested() && options.steps.is_none_or(|limit| recorded.steps < limit) {
        match subscriber.next_step(NOTICE)? {
            NextStep::Step(step) => {
                recorded.skipped += step.skipped();
                recorded.len_bytes += write(spool, options, &step)?;
                recorded.steps += 1;
            }
            NextStep::NotYet => {}
            NextStep::Ended(ending) => {
                recorded.skipped += ending.skipped;
                return ended(options, &ending.reason);
            }
        }
        if told.elapsed() >= PROGRESS {
            eprintln!("flexpath: stream {:?}: {} so far", options.stream, recorded.told(options));
            told = Instant::now();
        }
    }
    Ok(())
}

fn ended(options: &RecordOptions, reason: &EndReason) -> Result<(), Failure> {
    if matches!(reason, EndReason::Closed) {
        return Ok(());
    }
    Err(Failure::Ended { stream: options.stream.clone(), ending: reason.to_string() })
}

/// Writes one step: how many bytes it takes.
fn write(spool: &mut Spool, options: &RecordOptions, step: &StepReader) -> Result<u64, Failure> {
    let is_kept = |info: &VariableInfo| {
        let is_asked = options.variables.is_empty() || options.variables.contains(&info.def.name);
        is_asked && info.def.origin == VariableOrigin::Put
    };
    let all = step.variables()?;
    let variables: Vec<VariableInfo> = all.iter().filter(|info| is_kept(info)).cloned().collect();
    if variables.is_empty() && !all.is_empty() {
        let known: Vec<&str> = all.iter().map(|info| info.def.name.as_str()).collect();
        let (stream, known) = (step.stream(), known.join(", "));
        return Err(Failure::Usage(format!("stream {stream:?} has none of these variables, but {known}")));
    }
    let head = recorded_step::head(step, &variables)?;
    let entry: Result<_, Failure> = spool.write(&head, |record| {
        for (block, name, select) in recorded_step::all_blocks(step, &variables)? {
            let (_, bytes) = step.view_bytes(name, select)?;
            record.block(&block, &bytes)?;
        }
        Ok(())
    });
    let entry = entry?;
    if options.durable {
        spool.sync()?;
    }
    Ok(entry.len_bytes)
}
