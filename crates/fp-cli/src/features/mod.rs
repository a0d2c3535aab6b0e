//! `flexpath features`: finds connected regions of a field while it is published, follows them in time, and publishes what
//! it knows of them.

mod line;
mod picture;

use std::collections::BTreeMap;
use std::io::Write as _;

use fp_analysis::{
    AnalysedStep, AnalysisError, AnalysisOptions, EventKind, StreamGather, analyse, analyse_in_threads,
};
use fp_core::Cohort;
use fp_core::rendezvous::Rendezvous;

use crate::arguments::FeaturesOptions;
use crate::entries::alive;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Analyses a stream until it ends, or the user has seen enough.
pub(crate) fn run(rendezvous: Rendezvous, options: &FeaturesOptions) -> Result<(), Failure> {
    let published = options.published()?;
    let cohort = options.rank.map(|rank| Cohort::of(rank, options.ranks)).transpose();
    let cohort = cohort.map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(folder) = &options.pictures {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| Failure::Usage(format!("--pictures {}: {error}", folder.display())))?;
    }
    let credentials = options.credentials.read()?;
    let rendezvous = credentials.shown_to(rendezvous)?;
    let interrupt = Interrupt::watch()?;
    let mut asked = AnalysisOptions::new(&options.stream, published, options.of.clone());
    credentials.set(&mut asked.link);
    asked.link.rendezvous = Some(rendezvous.clone());
    let mut asked = set(asked, options).with_interrupt(interrupt.asked());
    // Unlike a lone subscriber's, its ranks are dialled.
    asked.link.tcp = options.listen;
    let mut telling = Telling { options, counts: Counts::default(), failure: None };
    let outcome = analysed(&asked, cohort, &mut telling);
    telling.sum_up();
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    // What could not be printed ended it.
    telling.failure.map_or(Ok(()), Err)?;
    outcome.map_err(|error| failure(error, &rendezvous))
}

fn set(mut asked: AnalysisOptions, options: &FeaturesOptions) -> AnalysisOptions {
    asked.connectivity = options.neighbours;
    asked.periodic.clone_from(&options.periodic);
    asked.correlated = options.correlate;
    asked.lossy = options.lossy;
    asked.steps = options.steps;
    asked.mapped = options.pictures.is_some();
    asked.awaits = options.awaits;
    asked.subscribers = options.subscribers;
    asked.reserve_steps = options.reserve;
    asked.link.open_timeout = options.timeout;
    asked
}

fn analysed(
    asked: &AnalysisOptions,
    cohort: Option<Cohort>,
    telling: &mut Telling<'_>,
) -> Result<(), AnalysisError> {
    let (stream, published, threshold) = (&asked.stream, &asked.published, &asked.threshold);
    let ranks = telling.options.ranks;
    match cohort {
        Some(cohort) => {
            let parts = StreamGather::open(&asked.parts_stream(), &asked.link, cohort, asked.patience)?;
            eprintln!(
                "flexpath: stream {stream:?}: rank {} of {ranks} labels {threshold} for {published:?}",
                cohort.rank()
            );
            analyse(asked, cohort, Box::new(parts), &mut |step| telling.tell(step))
        }
        None => {
            eprintln!("flexpath: stream {stream:?}: features of {threshold} are published as {published:?}");
            analyse_in_threads(asked, ranks, &mut |step| telling.tell(step))
        }
    }
}

fn failure(error: AnalysisError, rendezvous: &Rendezvous) -> Failure {
    if let AnalysisError::Open(source) = error {
        return Failure::Open { source, alive: alive(rendezvous) };
    }
    Failure::Other(Box::new(error))
}

/// What came of it so far.
#[derive(Default)]
struct Counts {
    steps: u64,
    unlabelled: u64,
    features: usize,
    events: BTreeMap<EventKind, u64>,
}

/// Prints what is found.
struct Telling<'o> {
    options: &'o FeaturesOptions,
    counts: Counts,
    failure: Option<Failure>,
}

impl Telling<'_> {
    /// Says whether to go on.
    fn tell(&mut self, step: &AnalysedStep<'_>) -> bool {
        self.counts.steps += 1;
        match step.outcome {
            Ok(tracked) => {
                self.counts.features = tracked.features.len();
                tracked
                    .events
                    .iter()
                    .for_each(|event| *self.counts.events.entry(event.kind).or_default() += 1);
            }
            Err(_) => self.counts.unlabelled += 1,
        }
        self.failure = self.print(step).and_then(|()| self.draw(step)).err();
        self.failure.is_none()
    }

    fn print(&self, step: &AnalysedStep<'_>) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match self.options.json {
            true => writeln!(out, "{}", line::json(&self.options.stream, step)?)?,
            false => line::texts(step).iter().try_for_each(|line| writeln!(out, "{line}"))?,
        }
        Ok(out.flush()?)
    }

    /// Draws a step in which something happened.
    fn draw(&self, step: &AnalysedStep<'_>) -> Result<(), Failure> {
        match (&self.options.pictures, step.outcome, step.map) {
            (Some(folder), Ok(tracked), Some(map)) if !tracked.events.is_empty() => {
                picture::draw(folder, self.options, step, (tracked, map))
            }
            _ => Ok(()),
        }
    }

    fn sum_up(&self) {
        let Counts { steps, unlabelled, features, events } = &self.counts;
        if *steps == 0 {
            return;
        }
        let of = |kind| events.get(&kind).copied().unwrap_or(0);
        let kinds = [EventKind::Birth, EventKind::Death, EventKind::Merge, EventKind::Split];
        let [births, deaths, merges, splits] = kinds.map(of);
        eprintln!(
            "flexpath: stream {:?}: {steps} steps ({unlabelled} not labelled), {births} births, {deaths} deaths, \
             {merges} merges, {splits} splits, {features} features in the last",
            self.options.stream
        );
    }
}
