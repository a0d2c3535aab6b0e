//! Runs the ranks of a relay, and says how far they are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use fp_core::Rank;

use super::beginning::{Beginning, Source};
use super::intake::Intake;
use super::per_host;
use super::relay::{PROGRESS, Relay};
use crate::failure::Failure;
use crate::interrupt::NOTICE;

/// Stages the stream until it has ended.
pub(super) fn run(relay: &Relay, source: Source) -> Result<(), Failure> {
    if let Some(asked) = relay.options.per_host.per_host {
        return per_host::run(relay, asked);
    }
    let beginning = Beginning::of(relay, source)?;
    let Relay { stream, staged, .. } = relay;
    let ranks = beginning.ranks;
    match beginning.has_stream {
        true => eprintln!("flexpath: stream {stream:?} is staged as {staged:?} by {ranks} ranks"),
        false => eprintln!(
            "flexpath: {} steps of stream {stream:?} are on disk, and published as {staged:?}",
            beginning.kept.len()
        ),
    }
    let outcomes: Vec<Result<(), Failure>> = thread::scope(|scope| {
        let beginning = &beginning;
        let rank = |rank| scope.spawn(move || run_rank(relay, Rank(rank), beginning));
        let threads: Vec<_> = (0..ranks).map(rank).collect();
        report(relay, || threads.iter().all(|thread| thread.is_finished()));
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    eprintln!("flexpath: stream {stream:?}: {}", relay.told());
    outcomes.into_iter().find_map(Result::err).map_or(Ok(()), Err)
}

fn run_rank(relay: &Relay, rank: Rank, beginning: &Beginning) -> Result<(), Failure> {
    let outcome = catch_unwind(AssertUnwindSafe(|| Intake::new(relay, beginning, rank).run()));
    let outcome = outcome.unwrap_or_else(|_| {
        let ending = format!("rank {rank} of what stages it panicked");
        Err(Failure::Ended { stream: relay.stream.clone(), ending })
    });
    if outcome.is_err() {
        relay.fail();
    }
    outcome
}

/// Says how far it is now and then, until it is done.
pub(super) fn report(relay: &Relay, is_done: impl Fn() -> bool) {
    let (mut told, mut steps) = (Instant::now(), 0);
    while !is_done() {
        thread::sleep(NOTICE / 4);
        let now = relay.counts.steps.load(Ordering::Relaxed);
        if told.elapsed() >= PROGRESS && now != steps {
            eprintln!("flexpath: stream {:?}: {} so far", relay.stream, relay.told());
            (told, steps) = (Instant::now(), now);
        }
    }
}
