//! `flexpath replay`: publishes the steps of a file, as they were recorded.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fp_core::rendezvous::Rendezvous;
use fp_core::{
    CloseError, Cohort, Epoch, Interrupt as Asked, Publisher, PublisherOptions, Rank, StepId, StepWriter,
};
use fp_spool::{Entry, Spool, StepHead, StoredStep};

use crate::arguments::{ReplayOptions, Speed};
use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};
use crate::publisher_size::LIMIT_RANKS;
use crate::{record_file, recorded_step};

/// What all ranks of a replay know.
struct Replay<'a> {
    spool: &'a Spool,
    options: &'a ReplayOptions,
    stream: &'a str,
    credentials: Credentials,
    /// The steps, and when each is due after the first.
    steps: Vec<(StoredStep, Duration)>,
    ranks: u32,
    interrupt: &'a Interrupt,
    /// Whether a rank has failed, so that the others need not wait for it.
    has_failed: Arc<AtomicBool>,
    /// The place among the steps of the first that cannot be put: no rank goes on from there.
    ends_at: Arc<AtomicUsize>,
    /// Why it cannot.
    damage: Mutex<Option<Failure>>,
}

/// Replays a file.
pub(crate) fn run(rendezvous: Rendezvous, options: &ReplayOptions) -> Result<(), Failure> {
    let spool = Spool::open(&options.file)?;
    let entries: Vec<Entry> =
        spool.entries().iter().copied().filter(|entry| options.holds(entry.step)).collect();
    if !entries.is_empty() {
        publish(rendezvous, &spool, options, &entries)?;
    } else if spool.damaged().is_none() {
        return Err(record_file::no_such_step(&spool, &options.file));
    }
    record_file::tell_torn(&spool, &options.file)
}

/// Publishes the steps, by as many ranks as had put them: each has its blocks again.
fn publish(
    rendezvous: Rendezvous,
    spool: &Spool,
    options: &ReplayOptions,
    entries: &[Entry],
) -> Result<(), Failure> {
    let steps = entries.iter().map(|entry| spool.step(entry)).collect::<Result<Vec<_>, _>>()?;
    let steps = with_times(steps, options.speed);
    let interrupt = Interrupt::watch()?;
    let credentials = options.credentials.read()?;
    let rendezvous = credentials.shown_to(rendezvous)?;
    let Some((first, _)) = steps.first() else { return Ok(()) };
    check_variables(options, &first.head)?;
    let stream = options.stream.clone().unwrap_or_else(|| first.head.stream.clone());
    let blocks = steps.iter().flat_map(|(step, _)| &step.blocks);
    let ranks = blocks.map(|block| block.head.block.rank.0.saturating_add(1)).max().unwrap_or(1);
    if ranks > LIMIT_RANKS {
        let file = options.file.display();
        let why = format!("{file} was published by {ranks} ranks, and {LIMIT_RANKS} at most are replayed");
        return Err(Failure::Usage(why));
    }
    let replay = Replay {
        spool,
        options,
        stream: &stream,
        credentials,
        steps,
        ranks,
        interrupt: &interrupt,
        has_failed: Arc::default(),
        ends_at: Arc::new(AtomicUsize::new(usize::MAX)),
        damage: Mutex::default(),
    };
    let began = Instant::now();
    let outcomes: Vec<Result<u64, Failure>> = std::thread::scope(|scope| {
        let rank = |rank| {
            scope.spawn({
                let (replay, rendezvous) = (&replay, rendezvous.clone());
                move || replay.rank(rank, rendezvous)
            })
        };
        let threads: Vec<_> = (0..ranks).map(rank).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let published = outcomes.iter().map(|outcome| *outcome.as_ref().unwrap_or(&0)).min().unwrap_or(0);
    let (file, seconds) = (options.file.display(), began.elapsed().as_secs_f64());
    eprintln!("flexpath: stream {stream:?}: {published} steps of {file} replayed in {seconds:.1} s");
    // What was asked to end says that it did not wait to the end.
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    let mut failures = outcomes.into_iter().filter_map(Result::err);
    let Some(damage) = replay.damage.into_inner().unwrap_or_else(PoisonError::into_inner) else {
        return failures.next().map_or(Ok(()), Err);
    };
    // Not all steps before it were taken.
    failures.for_each(|failure| eprintln!("flexpath: {failure}"));
    Err(damage)
}

/// Whether the variables that are asked for are there at all.
fn check_variables(options: &ReplayOptions, first: &StepHead) -> Result<(), Failure> {
    let known: Vec<&str> = first.variables.iter().map(|variable| variable.def.name.as_str()).collect();
    if options.variables.is_empty() || options.variables.iter().any(|name| known.contains(&name.as_str())) {
        return Ok(());
    }
    let (file, known) = (options.file.display(), known.join(", "));
    Err(Failure::Usage(format!("{file} has none of these variables, but {known}")))
}

/// Steps with the time at which each is due. Between the runs of a file no time passes.
fn with_times(steps: Vec<StoredStep>, speed: Speed) -> Vec<(StoredStep, Duration)> {
    let mut due = Duration::ZERO;
    let mut before: Option<(fp_core::Epoch, Duration)> = None;
    let timed = steps.into_iter().enumerate().map(|(number, step)| {
        let (epoch, taken) = (step.head.epoch, step.head.taken);
        let between = before.filter(|(of, _)| *of == epoch).map(|(_, last)| taken.saturating_sub(last));
        before = Some((epoch, taken));
        due = match speed {
            Speed::Recorded => due.saturating_add(between.unwrap_or_default()),
            Speed::Full => Duration::ZERO,
            Speed::PerSecond(steps) => Duration::from_secs_f64(number as f64 / steps),
        };
        (step, due)
    });
    timed.collect()
}

impl Replay<'_> {
    /// One rank: how many steps it published.
    fn rank(&self, rank: u32, rendezvous: Rendezvous) -> Result<u64, Failure> {
        let outcome = self.published(rank, rendezvous);
        if outcome.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn published(&self, rank: u32, rendezvous: Rendezvous) -> Result<u64, Failure> {
        let at = Arc::new(AtomicUsize::new(0));
        let asked = self.asked(rank, rendezvous, at.clone())?;
        let patience = asked.link.close_timeout;
        let mut publisher = Publisher::open(self.stream, asked).map_err(Failure::publishing)?;
        let (began, mut published) = (Instant::now(), 0);
        let mut before = None;
        for (place, (stored, due)) in self.steps.iter().enumerate() {
            if !self.wait(began, *due, place) {
                break;
            }
            at.store(place, Ordering::Relaxed);
            let own = (stored.head.epoch, stored.head.step);
            let gap = missing(before.replace(own), own);
            match self.publish_step(&mut publisher, gap, (place, stored), Rank(rank)) {
                Ok(true) => published += 1,
                Ok(false) => break,
                // It was ahead of another rank, and no step of these is ever whole.
                Err(_) if place > self.ends_at.load(Ordering::Relaxed) => break,
                Err(failure) => return Err(failure),
            }
        }
        // What went before is waited for, whatever the others have come upon.
        at.store(0, Ordering::Relaxed);
        let is_broken = self.ends_at.load(Ordering::Relaxed) < usize::MAX;
        match publisher.close() {
            // Before its time is up it lacks those steps alone that no other rank put: they are nobody's.
            Err(CloseError::Held { waited, .. }) if is_broken && waited < patience => {}
            closed => closed?,
        }
        Ok(published)
    }

    /// Publishes what this rank has of a step, behind so many that are missing; false if that cannot be put.
    fn publish_step(
        &self,
        publisher: &mut Publisher,
        gap: u64,
        (place, stored): (usize, &StoredStep),
        rank: Rank,
    ) -> Result<bool, Failure> {
        for _ in 0..gap {
            publisher.begin_step().map_err(Failure::publishing)?.abandon();
        }
        let mut writer = publisher.begin_step().map_err(Failure::publishing)?;
        if let Err(failure) = self.put(&mut writer, stored, rank) {
            writer.abandon();
            let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
            if self.ends_at.fetch_min(place, Ordering::Relaxed) > place {
                *damage = Some(failure);
            }
            return Ok(false);
        }
        writer.end().map_err(Failure::publishing)?;
        Ok(true)
    }

    /// Options of a rank that is at that place among the steps.
    fn asked(
        &self,
        rank: u32,
        rendezvous: Rendezvous,
        at: Arc<AtomicUsize>,
    ) -> Result<PublisherOptions, Failure> {
        let (requested, has_failed) = (self.interrupt.asked(), Arc::clone(&self.has_failed));
        let ends_at = Arc::clone(&self.ends_at);
        let is_ahead = move || at.load(Ordering::Relaxed) > ends_at.load(Ordering::Relaxed);
        let is_over = move || requested() || has_failed.load(Ordering::Relaxed) || is_ahead();
        let first = self.steps.first().map_or(0, |(step, _)| step.head.step.0);
        let largest = self.steps.iter().map(|(step, _)| step.entry.len_bytes).max().unwrap_or(0);
        let defaults = PublisherOptions::default();
        let limit_bytes = defaults.limit_bytes.max(largest.saturating_mul(2));
        let mut asked = defaults
            .with_rendezvous(rendezvous)
            .with_cohort(Cohort::of(rank, self.ranks).map_err(Failure::publishing)?)
            .with_min_subscribers(self.options.subscribers)
            .with_open_timeout(self.options.timeout)
            .with_limit_bytes(limit_bytes)
            .with_interrupt(Asked::new(is_over));
        // A run that is replayed from its beginning is another one than before: nobody passes over what he had of that.
        asked.first_step = (first > 0).then_some(first);
        self.credentials.set(&mut asked.link);
        Ok(asked)
    }

    /// Waits until a step is due; false if the user has seen enough, or one before cannot be put. A step that is due later than
    /// clocks go is due now.
    fn wait(&self, began: Instant, due: Duration, place: usize) -> bool {
        let due = began.checked_add(due).unwrap_or(began);
        let is_behind = || place >= self.ends_at.load(Ordering::Relaxed);
        let is_over =
            || self.interrupt.is_requested() || self.has_failed.load(Ordering::Relaxed) || is_behind();
        while Instant::now() < due && !is_over() {
            std::thread::sleep(due.saturating_duration_since(Instant::now()).min(NOTICE));
        }
        !is_over()
    }

    /// Puts what that rank had put into a step.
    fn put(&self, writer: &mut StepWriter, stored: &StoredStep, rank: Rank) -> Result<(), Failure> {
        let path = &self.options.file;
        let failed = |source| Failure::Replay { path: path.clone(), step: stored.head.step, source };
        let own = || stored.blocks.iter().filter(|block| block.head.block.rank == rank);
        let used: BTreeSet<u32> = own().map(|block| block.head.variable).collect();
        for (at, of) in stored.head.variables.iter().enumerate() {
            let is_asked = self.options.variables.is_empty() || self.options.variables.contains(&of.def.name);
            if !is_asked || !used.contains(&(at as u32)) {
                continue;
            }
            let variable =
                recorded_step::variable(&stored.head, of).map_err(|error| failed(Box::new(error)))?;
            for block in own().filter(|block| block.head.variable as usize == at) {
                let bytes = self.spool.bytes(block)?;
                recorded_step::put(writer, &variable, &block.head, &bytes).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// How many steps of a run are missing before this one. A gap that is longer than anybody would wait is left out: numbers
/// count on behind it.
fn missing(before: Option<(Epoch, StepId)>, (epoch, step): (Epoch, StepId)) -> u64 {
    const LIMIT_GAP: u64 = 100_000;
    let last = before.filter(|(of, _)| *of == epoch).map(|(_, last)| last);
    let gap = last.and_then(|last| step.0.checked_sub(last.0.checked_add(1)?));
    gap.filter(|gap| *gap <= LIMIT_GAP).unwrap_or(0)
}
