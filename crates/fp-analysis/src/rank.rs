//! One rank of an analysis: takes its range of planes of each step, labels it, and hands over what it found. Rank 0 merges, tracks
//! and publishes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fp_core::{Cohort, EndReason, NextStep, StepReader, Subscriber};

use crate::error::AnalysisError;
use crate::field::{self, Found};
use crate::gather::threads::ThreadGather;
use crate::gather::{Gather, NOTICE};
use crate::grid::Grid;
use crate::label::Labeller;
use crate::map::{FeatureMap, RegionMap};
use crate::merge::Merger;
use crate::options::AnalysisOptions;
use crate::part::{Part, PartError};
use crate::publication::Publication;
use crate::slab::PlaneRange;
use crate::track::TrackedStep;

/// What was found of a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AnalysedStep<'a> {
    /// Its number in the stream that is taken, and in that of features.
    pub step: u64,
    /// Steps that were dropped since the one before.
    pub skipped: u64,
    /// Its features, or in words why there are none.
    pub outcome: Result<&'a TrackedStep, &'a str>,
    /// Where they are seen, if that was asked for and there are features.
    pub map: Option<&'a FeatureMap>,
}

/// What is told of each step, on rank 0. Says whether to go on.
type Told<'t> = &'t mut (dyn FnMut(&AnalysedStep<'_>) -> bool + 't);

/// What a message begins with: if it is a part, if there is no such variable, and if that could not be read.
const IS_PART: u8 = 1;
const IS_NOTHING: u8 = 0;
const IS_UNREAD: u8 = 2;

/// Runs one rank of an analysis, until the stream has ended. All ranks call it, be it in several processes, each with its
/// end of the same way to rank 0. What is found of each step is told to `told` on rank 0, once it is published. It says
/// whether to go on.
///
/// A step without the variable is told with the reason, and features go on from the last step that had it. So do they
/// where a publisher comes back whose numbers go on. Where its numbers begin anew, so do features and their ids.
///
/// # Errors
/// Streams that cannot be opened, read or published; a variable that has no features; a rank that is lost. A stream that
/// ended before its publisher closed it.
pub fn analyse(
    options: &AnalysisOptions,
    cohort: Cohort,
    gather: Box<dyn Gather>,
    told: &mut dyn FnMut(&AnalysedStep<'_>) -> bool,
) -> Result<(), AnalysisError> {
    let outcome = AnalysisRank::new(options, cohort, gather, told).run();
    // Whoever is interrupted is told of nothing that came of it.
    if options.is_stopped() { Ok(()) } else { outcome }
}

/// Runs all ranks of an analysis in threads of this process, as [`analyse`].
///
/// # Errors
/// As [`analyse`]: what went wrong first.
pub fn analyse_in_threads(
    options: &AnalysisOptions,
    ranks: u32,
    told: &mut dyn FnMut(&AnalysedStep<'_>) -> bool,
) -> Result<(), AnalysisError> {
    let over = Arc::new(AtomicBool::new(false));
    let (own, user) = (over.clone(), options.clone());
    let asked = options.clone().with_interrupt(move || own.load(Ordering::Relaxed) || user.is_stopped());
    let stop = asked.clone();
    let gathers = ThreadGather::of(ranks.max(1), options.patience, move || stop.is_stopped());
    let first = Mutex::new(None);
    let run = |rank: u32, gather: ThreadGather, told: Told<'_>| {
        let run = || {
            let cohort = Cohort::of(rank, ranks.max(1))?;
            AnalysisRank::new(&asked, cohort, Box::new(gather), told).run()
        };
        let outcome = catch_unwind(AssertUnwindSafe(run));
        let outcome = outcome.unwrap_or(Err(AnalysisError::Panicked { rank }));
        // What others say of an end that this one brought about is of no interest.
        if let Some(error) = outcome.err().filter(|_| !asked.is_stopped() || rank == 0) {
            first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        if rank == 0 {
            over.store(true, Ordering::Relaxed);
        }
    };
    // Whoever has seen enough ends all ranks, which wait for one another as they close.
    let mut told = |step: &AnalysedStep<'_>| {
        let goes_on = told(step);
        over.fetch_or(!goes_on, Ordering::Relaxed);
        goes_on
    };
    thread::scope(|scope| {
        let mut gathers = (0..).zip(gathers);
        let own = gathers.next();
        let run = &run;
        for (rank, gather) in gathers {
            scope.spawn(move || run(rank, gather, &mut |_| true));
        }
        if let Some((rank, gather)) = own {
            run(rank, gather, &mut told);
        }
    });
    // Whoever is interrupted is told of nothing that came of it.
    if options.is_stopped() {
        return Ok(());
    }
    first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// What rank 0 has besides.
struct Lead<'o, 't> {
    merger: Merger,
    publication: Publication<'o>,
    told: Told<'t>,
    /// Whether there is a map of each step.
    mapped: bool,
}

/// One rank.
struct AnalysisRank<'o, 't> {
    options: &'o AnalysisOptions,
    cohort: Cohort,
    gather: Box<dyn Gather>,
    labeller: Labeller,
    lead: Option<Lead<'o, 't>>,
    /// The number of the last step.
    last: Option<u64>,
}

impl<'o, 't> AnalysisRank<'o, 't> {
    fn new(options: &'o AnalysisOptions, cohort: Cohort, gather: Box<dyn Gather>, told: Told<'t>) -> Self {
        let (merger, publication) =
            (Merger::new(options.threshold.clone(), options.correlated), Publication::new(options));
        let mapped = options.mapped;
        let lead = (cohort.rank().0 == 0).then_some(Lead { merger, publication, told, mapped });
        let labeller = Labeller::new(options.threshold.clone());
        Self { options, cohort, gather, labeller, lead, last: None }
    }

    fn run(mut self) -> Result<(), AnalysisError> {
        let mut source = Subscriber::open(&self.options.stream, self.options.subscription(self.cohort))?;
        self.follow(&mut source)?;
        let left = source.close();
        let step = self.last.unwrap_or(0);
        let gathered = self.gather.close().map_err(|source| AnalysisError::Gather { step, source });
        // What was published is delivered, whatever became of the others.
        let published = self.lead.map_or(Ok(()), |lead| lead.publication.close());
        left?;
        gathered?;
        published
    }

    fn follow(&mut self, source: &mut Subscriber) -> Result<(), AnalysisError> {
        let mut steps = 0;
        while !self.options.is_stopped() && self.options.steps.is_none_or(|limit| steps < limit) {
            match source.next_step(NOTICE)? {
                NextStep::Step(step) => {
                    steps += 1;
                    if !self.take(step)? {
                        return Ok(());
                    }
                }
                NextStep::NotYet => {}
                NextStep::Ended(ending) if matches!(ending.reason, EndReason::Closed) => return Ok(()),
                NextStep::Ended(ending) => {
                    let (stream, reason) = (self.options.stream.clone(), ending.reason);
                    return Err(AnalysisError::Ended { stream, reason });
                }
            }
        }
        Ok(())
    }

    /// Says whether to go on.
    fn take(&mut self, step: StepReader) -> Result<bool, AnalysisError> {
        let (number, skipped) = (step.step().0, step.skipped());
        if self.last.replace(number).is_some_and(|last| number <= last) {
            self.labeller.forget();
            self.lead.iter_mut().for_each(|lead| lead.merger.forget(true));
        }
        let found = field::look(&step, self.options)?;
        let (grid, message) = match &found {
            Found::Nothing(why) => (None, Message::Nothing(why.clone())),
            Found::Array(grid) => (Some(grid), self.label(&step, grid)),
        };
        // A get that was given up says nothing of the step.
        if matches!(message, Message::Unread(_)) && self.options.is_stopped() {
            return Ok(false);
        }
        // The publisher may use its memory again.
        drop(step);
        let gathered = self.gather.gather(message.encode());
        let gathered = gathered.map_err(|source| AnalysisError::Gather { step: number, source })?;
        match (&mut self.lead, gathered) {
            (Some(lead), Some(messages)) => lead.take((number, skipped), grid, &messages),
            _ => Ok(true),
        }
    }

    fn label(&mut self, step: &StepReader, grid: &Grid) -> Message {
        let slab = PlaneRange::of_rank(self.cohort.rank().0, self.cohort.size(), grid.extents()[0]);
        if slab.planes == 0 {
            return self.labelled(step, grid, slab, &[]);
        }
        match field::elements(step, self.options.threshold.variable(), grid, slab) {
            Ok(elements) => self.labelled(step, grid, slab, &elements),
            Err(why) => Message::Unread(why),
        }
    }

    fn labelled(&mut self, step: &StepReader, grid: &Grid, slab: PlaneRange, elements: &[f64]) -> Message {
        let part = self.labeller.label(step.step().0, grid, slab, elements);
        let map = if self.options.mapped { self.labeller.map(grid) } else { RegionMap::default() };
        Message::Part(part, map)
    }
}

impl Lead<'_, '_> {
    /// Says whether to go on.
    fn take(
        &mut self,
        (step, skipped): (u64, u64),
        grid: Option<&Grid>,
        messages: &[Vec<u8>],
    ) -> Result<bool, AnalysisError> {
        let wrong = |source| AnalysisError::Part { step, source };
        let is_unread = messages.iter().any(|message| message.first() == Some(&IS_UNREAD));
        let read = messages.iter().enumerate().map(|(rank, of)| decoded(rank, of));
        let parts: Result<(Vec<Part>, Vec<RegionMap>), String> =
            read.collect::<Result<Vec<_>, PartError>>().map_err(wrong)?.into_iter().collect();
        let (parts, maps) =
            parts.map_or_else(|why| (Err(why), Vec::new()), |(parts, maps)| (Ok(parts), maps));
        let tracked = match (parts, grid) {
            (Ok(parts), Some(grid)) => Ok(self.merger.merge(grid, &parts).map_err(wrong)?),
            (Err(why), _) => {
                // The step has the variable, and nobody knows its features: what was there before cannot be followed.
                if is_unread {
                    self.merger.forget(false);
                }
                Err(why)
            }
            (Ok(_), None) => Err("the variable is not known on rank 0".to_owned()),
        };
        let ndims = grid.map_or(0, Grid::ndims);
        let content = tracked.as_ref().map(|tracked| (tracked, ndims)).map_err(String::as_str);
        self.publication.publish(step, content)?;
        let outcome = tracked.as_ref().map_err(String::as_str);
        let map = grid.filter(|_| self.mapped).zip(outcome.ok()).map(|(grid, tracked)| {
            FeatureMap::of(grid, &maps, |rank, region| {
                tracked.features.get(self.merger.feature_of(rank, region)?).map(|of| of.id)
            })
        });
        Ok((self.told)(&AnalysedStep { step, skipped, outcome, map: map.as_ref() }))
    }
}

/// What a rank hands over of a step.
enum Message {
    /// What it found, and what is seen of it.
    Part(Part, RegionMap),
    /// The step has no such variable: on no rank.
    Nothing(String),
    /// It could not read its planes.
    Unread(String),
}

impl Message {
    fn encode(self) -> Vec<u8> {
        let (kind, content) = match self {
            Self::Part(part, map) => (IS_PART, [map.encode(), part.encode()].concat()),
            Self::Nothing(why) => (IS_NOTHING, why.into_bytes()),
            Self::Unread(why) => (IS_UNREAD, why.into_bytes()),
        };
        [vec![kind], content].concat()
    }
}

/// A part, or why a rank has none.
fn decoded(rank: usize, message: &[u8]) -> Result<Result<(Part, RegionMap), String>, PartError> {
    match message.split_first() {
        Some((&IS_PART, part)) => {
            let (map, part) = RegionMap::decode(rank, part)?;
            Ok(Ok((Part::decode(rank, part)?, map)))
        }
        Some((&IS_NOTHING, why)) => Ok(Err(String::from_utf8_lossy(why).into_owned())),
        Some((&IS_UNREAD, why)) => Ok(Err(format!("analysis rank {rank}: {}", String::from_utf8_lossy(why)))),
        _ => Err(PartError::Bytes { rank, what: "they are neither a part nor a reason" }),
    }
}
