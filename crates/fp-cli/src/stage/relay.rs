//! One stream on its way through a stager: who its ranks are, and what they agree on.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fp_core::diagnosis::status::{StatusScope, status};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Epoch, LinkOptions, Rank, StepId};

use super::bounds::Bounds;
use super::course::Course;
use super::intake::Intake;
use super::shelf::{self, Kept, Shelf};
use crate::arguments::StageOptions;
use crate::failure::Failure;
use crate::interrupt::NOTICE;

/// Each rank is two handles of this process.
const LIMIT_RANKS: u32 = 256;

/// How long the lead of a stream has to say how many ranks there are.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it says how far it is.
const PROGRESS: Duration = Duration::from_secs(10);

/// Where the steps come from.
pub(super) enum Source {
    /// From a stream, in this opening.
    Stream(Epoch),
    /// From disk alone.
    Disk(Kept),
}

impl Source {
    /// The opening of the stream that is taken.
    pub(super) fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Stream(epoch) => Some(*epoch),
            Self::Disk(_) => None,
        }
    }
}

/// What was staged.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) steps: AtomicU64,
    /// Those of them that went over the disk, on some rank.
    pub(super) shelved: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) len_bytes: AtomicU64,
}

/// One stream on its way.
pub(super) struct Relay {
    pub(super) stream: String,
    pub(super) staged: String,
    pub(super) options: Arc<StageOptions>,
    pub(super) rendezvous: Rendezvous,
    pub(super) course: Arc<Course>,
    pub(super) bounds: Bounds,
    pub(super) counts: Counts,
    /// The first step of each opening of the staged stream, as rank 0 found it.
    firsts: Mutex<Vec<StepId>>,
    found: Condvar,
    /// Whether the disk failed when it was tried last, and when.
    disk_failed: Mutex<Option<Instant>>,
}

/// What the ranks of a relay begin with.
pub(super) struct Beginning {
    /// Whether there is a stream to take.
    pub(super) has_stream: bool,
    /// As many as the publisher has.
    pub(super) ranks: u32,
    /// The number of the step that begins next.
    pub(super) next: StepId,
    pub(super) shelf: Option<Shelf>,
    /// Steps that are on disk already.
    pub(super) kept: BTreeSet<StepId>,
    /// How many subscribed to what was staged, before an earlier stager was killed.
    pub(super) subscribers: u32,
    /// Until when they are awaited.
    pub(super) awaits: Instant,
}

impl Relay {
    pub(super) fn new(
        stream: &str,
        options: &Arc<StageOptions>,
        rendezvous: Rendezvous,
        course: Arc<Course>,
    ) -> Self {
        Self {
            stream: stream.to_owned(),
            staged: options.staged_name(stream),
            options: options.clone(),
            rendezvous,
            course,
            bounds: Bounds::default(),
            counts: Counts::default(),
            firsts: Mutex::default(),
            found: Condvar::new(),
            disk_failed: Mutex::default(),
        }
    }

    /// Stages the stream until it has ended.
    pub(super) fn run(&self, source: Source) -> Result<(), Failure> {
        let beginning = self.begin(source)?;
        let Self { stream, staged, .. } = self;
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
            let rank = |rank| scope.spawn(move || self.rank(Rank(rank), beginning));
            let threads: Vec<_> = (0..ranks).map(rank).collect();
            self.report(|| threads.iter().all(|thread| thread.is_finished()));
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        eprintln!("flexpath: stream {stream:?}: {}", self.told());
        outcomes.into_iter().find_map(Result::err).map_or(Ok(()), Err)
    }

    fn rank(&self, rank: Rank, beginning: &Beginning) -> Result<(), Failure> {
        let outcome = Intake::new(self, beginning, rank).run();
        if outcome.is_err() {
            self.course.fail();
            self.found.notify_all();
        }
        outcome
    }

    fn begin(&self, source: Source) -> Result<Beginning, Failure> {
        let options = &self.options;
        let (epoch, has_stream, size, next, kept) = match source {
            Source::Disk(kept) => (kept.epoch, false, kept.ranks, StepId(0), Some(kept)),
            Source::Stream(epoch) => {
                let (size, next) = self.ask()?;
                let folder = options.disk.as_deref();
                let kept = folder.map(|folder| shelf::kept_of(folder, &self.stream, epoch)).transpose()?;
                (epoch, true, size, next, kept.flatten())
            }
        };
        let ranks = kept.as_ref().map_or(size, |kept| kept.ranks);
        if ranks > LIMIT_RANKS || ranks != size {
            let stream = &self.stream;
            let why = match ranks != size {
                true => {
                    format!("has {size} ranks, and steps on disk of {ranks}: remove these, or another --disk")
                }
                false => format!("has {ranks} ranks, and {LIMIT_RANKS} at most are staged"),
            };
            return Err(Failure::Usage(format!("stream {stream:?} {why}")));
        }
        let open = |folder| Shelf::open(folder, &self.stream, epoch, ranks, options.durable);
        let shelf = options.disk.as_deref().map(open).transpose()?;
        let steps = kept.map(|kept| kept.steps).unwrap_or_default();
        let subscribers = shelf.as_ref().map_or(0, Shelf::subscribers);
        let awaits = Instant::now().checked_add(options.awaits);
        let awaits = awaits.unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30));
        // Of a stream that is gone somebody has to come for what is there.
        let subscribers = if has_stream { subscribers } else { subscribers.max(1) };
        if steps.is_empty() || subscribers == 0 {
            self.course.set_back();
        }
        Ok(Beginning { has_stream, ranks, next, shelf, kept: steps, subscribers, awaits })
    }

    /// How many ranks the publisher has, and the number of its next step.
    fn ask(&self) -> Result<(u32, StepId), Failure> {
        let mut link = LinkOptions::default();
        self.options.credentials.read()?.set(&mut link);
        link.rendezvous = Some(self.rendezvous.clone());
        let report = status(&self.stream, StatusScope::Rank(Rank(0)), &link, PATIENCE)?;
        let publisher = report.cohorts.into_iter().find(|cohort| cohort.publishes);
        let told = publisher.map(|cohort| {
            let next = cohort.ranks.iter().map(|rank| rank.steps.next).max();
            (cohort.size, next.unwrap_or_default())
        });
        let untold = || Failure::Ended {
            stream: self.stream.clone(),
            ending: "its lead says nothing of its ranks".to_owned(),
        };
        told.ok_or_else(untold)
    }

    /// Rank 0 has found out with which step an opening of the staged stream begins.
    pub(super) fn tell_first(&self, first: StepId) {
        self.firsts.lock().unwrap_or_else(PoisonError::into_inner).push(first);
        self.found.notify_all();
    }

    /// The same on another rank; `None` if there is no such opening any more.
    pub(super) fn first_of(&self, opening: usize) -> Option<StepId> {
        let mut firsts = self.firsts.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(first) = firsts.get(opening) {
                return Some(*first);
            }
            if self.course.is_over() {
                return None;
            }
            let waited = self.found.wait_timeout(firsts, NOTICE);
            firsts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether the disk is worth a try: it has not failed just now.
    pub(super) fn may_use_disk(&self) -> bool {
        let failed = self.disk_failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_none_or(|at| at.elapsed() > PROGRESS)
    }

    /// A step could not be written, or could again.
    pub(super) fn note_disk(&self, outcome: Result<(), &Failure>) {
        let mut failed = self.disk_failed.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(()) => *failed = None,
            Err(failure) => {
                if failed.replace(Instant::now()).is_none_or(|at| at.elapsed() > PROGRESS) {
                    let stream = &self.stream;
                    eprintln!("flexpath: stream {stream:?}: {failure}. Its steps wait for memory meanwhile");
                }
            }
        }
    }

    /// Says how far it is now and then, until it is done.
    fn report(&self, is_done: impl Fn() -> bool) {
        let (mut told, mut steps) = (Instant::now(), 0);
        while !is_done() {
            thread::sleep(NOTICE / 4);
            let now = self.counts.steps.load(Ordering::Relaxed);
            if told.elapsed() >= PROGRESS && now != steps {
                eprintln!("flexpath: stream {:?}: {} so far", self.stream, self.told());
                (told, steps) = (Instant::now(), now);
            }
        }
    }

    fn told(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { steps, shelved, skipped, len_bytes } = &self.counts;
        let mebibytes = of(len_bytes) as f64 / f64::from(1 << 20);
        let (steps, shelved, skipped) = (of(steps), of(shelved), of(skipped));
        format!("{steps} steps, {mebibytes:.1} MiB, {shelved} of them over the disk, {skipped} skipped")
    }
}
