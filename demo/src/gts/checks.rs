//! What must hold of a run, whatever the particles did.

use std::collections::BTreeSet;

use super::axes::PARTICLE_AXES;
use super::found::Found;
use super::grid::CELLS;
use super::settings::Settings;
use crate::shared::check_result::CheckResult;

/// What was seen so far.
pub struct Checks {
    steps: u64,
    ranks: u32,
    numbers: Vec<u64>,
    /// Counts that do not add up to what was counted.
    wrong: Vec<String>,
    counted: u64,
    /// How many particles any rank had in any step.
    sizes: BTreeSet<u64>,
    arrived: u64,
    published: u64,
    crossed: [u64; 2],
    last: Option<Found>,
}

impl Checks {
    /// Nothing was seen yet.
    pub fn new(settings: &Settings) -> Self {
        Checks {
            steps: settings.steps,
            ranks: settings.ranks,
            numbers: Vec::new(),
            wrong: Vec::new(),
            counted: 0,
            sizes: BTreeSet::new(),
            arrived: 0,
            published: 0,
            crossed: [0; 2],
            last: None,
        }
    }

    /// One more step.
    pub fn take(&mut self, found: Found) {
        let particles: u64 = found.held.iter().sum();
        for (index, histogram) in found.histograms.iter().enumerate() {
            let expected = if index < PARTICLE_AXES { particles } else { CELLS };
            self.add_up(found.number, "histogram", index, histogram, expected);
        }
        for (index, counts) in found.between.iter().enumerate() {
            self.add_up(found.number, "pair of axes", index, counts, particles);
        }
        self.numbers.push(found.number);
        self.sizes.extend(&found.held);
        self.arrived += found.arrived.iter().sum::<u64>();
        self.published += found.published_bytes;
        self.crossed[0] += found.histogram_bytes;
        self.crossed[1] += found.coordinate_bytes;
        self.last = Some(found);
    }

    fn add_up(&mut self, number: u64, kind: &str, index: usize, counts: &[u64], expected: u64) {
        let found: u64 = counts.iter().sum();
        self.counted += 1;
        if found != expected {
            self.wrong.push(format!("step {number}, {kind} {index}: {found} counted of {expected}"));
        }
    }

    /// What holds, and the last step.
    pub fn finish(self) -> (Vec<CheckResult>, Option<Found>) {
        let in_order = self.numbers.iter().copied().eq(0..self.steps);
        let sums = match self.wrong.first() {
            Some(first) => format!("{} of {} do not, first {first}", self.wrong.len(), self.counted),
            None => format!("{} histograms and pairs of axes, of particles and cells", self.counted),
        };
        // A lone rank has nobody to trade with, and a lone step nothing to trade.
        let trades = self.ranks > 1 && self.steps > 1;
        let sizes = (self.sizes.first().copied().unwrap_or(0), self.sizes.last().copied().unwrap_or(0));
        let changes = format!("{} to {} on a rank; {} changed ranks", sizes.0, sizes.1, self.arrived);
        let [histograms, coordinates] = self.crossed;
        let share = |bytes: u64| 100.0 * bytes as f64 / self.published.max(1) as f64;
        let moved = format!(
            "{} B published, {histograms} B crossed for histograms ({:.2} %), {coordinates} B for coordinates ({:.2} %)",
            self.published,
            share(histograms),
            share(coordinates)
        );
        let all = vec![
            CheckResult::of(
                in_order,
                "no step was lost",
                format!("{} of {}", self.numbers.len(), self.steps),
            ),
            CheckResult::of(self.wrong.is_empty() && self.counted > 0, "counts add up", sums),
            CheckResult::of(!trades || self.sizes.len() > 1, "sizes change all the time", changes),
            CheckResult::of(histograms > 0 && histograms < self.published, "only counts cross", moved),
        ];
        (all, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::axes::{AXES, COUNTS, PAIR_BINS, PAIRS};
    use super::*;
    use crate::shared::check_result::CheckStatus;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        settings: Settings,
    }

    fn found(number: u64) -> Found {
        let counts = |len: usize, sum: u64| [vec![0; len - 1], vec![sum]].concat();
        let histogram = |index| counts(COUNTS, if index < PARTICLE_AXES { 30 } else { CELLS });
        Found {
            number,
            held: vec![10 + number, 20 - number],
            arrived: vec![1, 2],
            published_bytes: 1000,
            histogram_bytes: 10,
            coordinate_bytes: 20,
            histograms: (0..AXES).map(histogram).collect(),
            between: vec![counts(PAIR_BINS, 30); PAIRS],
            selected: 0,
            lines: Vec::new(),
        }
    }

    /// Which checks fail of what was found in two steps.
    fn failing(change: impl Fn(&mut [Found; 2])) -> Vec<&'static str> {
        let settings = Arguments::parse_from(["gts", "--ranks=2", "--steps=2"]).settings;
        let mut steps = [found(0), found(1)];
        change(&mut steps);
        let mut checks = Checks::new(&settings);
        steps.into_iter().for_each(|step| checks.take(step));
        let (found, _) = checks.finish();
        found.into_iter().filter(|check| check.status != CheckStatus::Holds).map(|check| check.what).collect()
    }

    #[test]
    fn each_check_can_fail() {
        assert_eq!(failing(|_| {}), Vec::<&str>::new());
        assert_eq!(failing(|steps| steps[1].number = 2), ["no step was lost"]);
        assert_eq!(failing(|steps| steps[0].histograms[3][5] += 1), ["counts add up"]);
        assert_eq!(failing(|steps| steps[1].between[5][0] += 1), ["counts add up"]);
        assert_eq!(
            failing(|steps| steps.iter_mut().for_each(|step| step.held = vec![15; 2])),
            ["sizes change all the time"]
        );
        assert_eq!(failing(|steps| steps[1].histogram_bytes = 5000), ["only counts cross"]);
    }
}
