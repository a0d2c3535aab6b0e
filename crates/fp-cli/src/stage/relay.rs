//! One stream on its way through a stager: what its ranks share and agree on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fp_core::StepId;
use fp_core::rendezvous::Rendezvous;

use super::bounds::Bounds;
use super::course::Course;
use super::fate::OpeningFate;
use super::shelf::{Shelf, ToldDamage};
use crate::arguments::StageOptions;
use crate::failure::Failure;
use crate::interrupt::NOTICE;

/// How often it says how far it is, and that the disk fails.
pub(super) const PROGRESS: Duration = Duration::from_secs(10);

/// What was staged.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) steps: AtomicU64,
    /// Those of them that went over the disk, on some rank.
    pub(super) shelved: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) len_bytes: AtomicU64,
}

/// One opening of a staged stream.
#[derive(Clone)]
pub(super) struct Opening {
    /// The number of its first step.
    pub(super) first: StepId,
    /// Whether numbers go on from those of an opening before, also from 0 on.
    pub(super) goes_on: bool,
    /// The place for its steps.
    pub(super) shelf: Option<Arc<Shelf>>,
    /// What becomes of what is on disk, and whether subscribers are awaited for it.
    pub(super) fate: Arc<OpeningFate>,
}

/// One stream on its way.
pub(super) struct Relay {
    pub(super) stream: String,
    pub(super) staged: String,
    pub(super) options: Arc<StageOptions>,
    pub(super) rendezvous: Rendezvous,
    pub(super) course: Arc<Course>,
    pub(super) bounds: Arc<Bounds>,
    pub(super) told_damage: Arc<ToldDamage>,
    pub(super) counts: Counts,
    /// The openings of the staged stream, as rank 0 found them.
    openings: Mutex<Vec<Opening>>,
    found: Condvar,
    /// Whether the disk failed when it was tried last, and when.
    disk_failed: Mutex<Option<Instant>>,
}

impl Relay {
    pub(super) fn new(
        stream: &str,
        options: &Arc<StageOptions>,
        rendezvous: Rendezvous,
        (course, bounds, told_damage): (Arc<Course>, Arc<Bounds>, Arc<ToldDamage>),
    ) -> Self {
        Self {
            stream: stream.to_owned(),
            staged: options.staged_name(stream),
            options: options.clone(),
            rendezvous,
            course,
            bounds,
            told_damage,
            counts: Counts::default(),
            openings: Mutex::default(),
            found: Condvar::new(),
            disk_failed: Mutex::default(),
        }
    }

    /// Rank 0 has found out how the staged stream opens next.
    pub(super) fn tell(&self, opening: Opening) {
        self.openings.lock().unwrap_or_else(PoisonError::into_inner).push(opening);
        self.found.notify_all();
    }

    /// A rank failed: nobody waits for it.
    pub(super) fn fail(&self) {
        self.course.fail();
        self.found.notify_all();
    }

    /// The same on another rank; `None` if there is no such opening any more.
    pub(super) fn opening(&self, number: usize) -> Option<Opening> {
        let mut openings = self.openings.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(opening) = openings.get(number) {
                return Some(opening.clone());
            }
            if self.course.is_over() {
                return None;
            }
            let waited = self.found.wait_timeout(openings, NOTICE);
            openings = waited.unwrap_or_else(PoisonError::into_inner).0;
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
                    let meanwhile = match self.options.durable {
                        true => "The publisher waits until it can be written",
                        false => "Its steps wait for memory meanwhile",
                    };
                    eprintln!("flexpath: stream {:?}: {failure}. {meanwhile}", self.stream);
                }
            }
        }
    }

    /// How far it is, in words.
    pub(super) fn told(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { steps, shelved, skipped, len_bytes } = &self.counts;
        let mebibytes = of(len_bytes) as f64 / f64::from(1 << 20);
        let (steps, shelved, skipped) = (of(steps), of(shelved), of(skipped));
        format!("{steps} steps, {mebibytes:.1} MiB, {shelved} of them over the disk, {skipped} skipped")
    }
}
