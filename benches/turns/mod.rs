//! Benches whose figure is a ratio: a baseline and ours take turns, so that both see the same machine.
//!
//! Criterion measures ours and compares it with the last run. The ratio to the baseline of this run is what counts: it
//! is printed below, from medians over all rounds.

use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode};

/// Fewer rounds are a trial (`-- --test`), not a measurement.
const FEWEST_ROUNDS: usize = 10;

/// The benches of one file, under its name.
pub(crate) type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// The medians of both sides.
#[derive(Clone, Copy)]
pub(crate) struct Medians {
    /// Of what ours is compared with.
    pub(crate) baseline: Duration,
    /// Of ours.
    pub(crate) ours: Duration,
}

/// A group for rounds of milliseconds, of both sides together.
pub(crate) fn group<'a>(criterion: &'a mut Criterion, name: &str) -> Group<'a> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    group
}

/// The medians of two things done in turn; nothing if they were left out or only tried.
pub(crate) fn in_turns(
    group: &mut Group<'_>,
    name: &str,
    mut baseline: impl FnMut(),
    mut ours: impl FnMut(),
) -> Option<Medians> {
    measured(group, name, || (timed(&mut baseline), timed(&mut ours)))
}

/// The medians of rounds that time themselves, the baseline first.
pub(crate) fn measured(
    group: &mut Group<'_>,
    name: &str,
    mut round: impl FnMut() -> (Duration, Duration),
) -> Option<Medians> {
    let mut rounds = Vec::new();
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|count| {
            let before = rounds.len();
            rounds.extend((0..count).map(|_| round()));
            rounds[before..].iter().map(|(_, ours)| *ours).sum()
        });
    });
    let (baseline, ours): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    (ours.len() >= FEWEST_ROUNDS).then(|| Medians { baseline: median(baseline), ours: median(ours) })
}

impl Medians {
    /// How many times as fast as the baseline ours is.
    pub(crate) fn speed(self) -> f64 {
        self.baseline.as_secs_f64() / self.ours.as_secs_f64()
    }
}

/// How long it takes once.
pub(crate) fn timed(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
