//! What publishers put: a pure function of run, variable, step, rank and global index. So whoever reads a step can tell
//! alone whether every element is the right one.

use crate::simulator::prng::{Prng, mix};
use fp_types::{Comparison, Condition};

/// A global array in two dimensions, cut by rows; some ranks have two blocks, some none.
pub(crate) const GRID: &str = "grid";
/// A joined array: every rank's count is its own.
pub(crate) const PARTICLES: &str = "particles";
/// A local array: each rank has its own, and the counts never change.
pub(crate) const COUNTERS: &str = "counters";
/// A global scalar: its value rides in the decision.
pub(crate) const CLOCK: &str = "clock";

/// All variables of the stream, sorted.
pub(crate) const VARIABLES: [&str; 4] = [CLOCK, COUNTERS, GRID, PARTICLES];

/// Columns of the grid.
const COLUMNS: u64 = 3;
/// Rows of the grid for each rank.
const ROWS_PER_RANK: u64 = 4;
/// Elements of a rank's local array.
const COUNTERS_PER_RANK: u64 = 2;

/// How often layouts change, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutHabit {
    /// Never.
    Fixed,
    /// Every rank's, every so many steps.
    AllEvery(u64),
    /// One rank's counts, every so many steps.
    OneEvery(u64),
    /// So many layouts of every rank take turns.
    InTurn(u64),
    /// One layout of every rank comes back in every other step. Those between are always others.
    ComesBack,
}

impl LayoutHabit {
    pub(crate) fn draw(prng: &mut Prng) -> Self {
        let every = prng.pick(&[1, 2, 5]);
        prng.pick(&[Self::Fixed, Self::AllEvery(every), Self::OneEvery(every)])
    }
}

/// What a subscription demands of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// That some rank puts this variable.
    Has(&'static str),
    /// That what ranks measure compares so with that, together.
    Sum(Comparison, u64),
}

impl Demand {
    /// The condition.
    pub(crate) fn condition(self) -> Option<Condition> {
        self.text().parse().ok()
    }

    fn text(self) -> String {
        match self {
            Self::Has(variable) => format!("has({variable})"),
            Self::Sum(comparison, threshold) => format!("{MEASURE} {} {threshold}", comparison.sign()),
        }
    }
}

/// What may be asked of the simulation.
pub(crate) const PARAMETER: &str = "level";

/// Whether a rank declines a value.
pub(crate) fn declines(value: u64, rank: u32) -> bool {
    mix(value << 8 | u64::from(rank)).is_multiple_of(9)
}

/// What is measured.
pub(crate) const MEASURE: &str = "sum(counters)";
/// What a rank measures is less.
pub(crate) const MEASURED_BELOW: u64 = 1000;
/// What a rank measures is a multiple of this, so that sums are what they are compared with at times.
const MEASURED_IN: u64 = 50;

/// The contents of one publisher cohort's stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// Scatters values and layouts; another one for each epoch.
    pub(crate) salt: u64,
    pub(crate) size: u32,
    pub(crate) habit: LayoutHabit,
    /// The joined array is in every so manieth step.
    pub(crate) particles_every: u64,
    pub(crate) disagree_percent: u64,
    /// For how many steps one after the other a rank contradicts the others, and does not change its mind.
    pub(crate) disagree_steps: u64,
}

/// A block that one rank puts of one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) variable: &'static str,
    /// The first position of each dimension; for a joined array counted from the rank's own first element.
    pub(crate) start: Vec<u64>,
    pub(crate) count: Vec<u64>,
    /// The elements in row order.
    pub(crate) values: Vec<u64>,
}

impl Content {
    /// The value of an element of a global or joined array at this index in row order, or of a scalar.
    pub(crate) fn value(&self, variable: &str, step: u64, index: u64) -> u64 {
        let name = variable.bytes().fold(0, |hash: u64, byte| mix(hash ^ u64::from(byte)));
        mix(self.salt ^ mix(name ^ mix(step << 32 | index)))
    }

    /// The value of an element of a rank's local array.
    pub(crate) fn local_value(&self, variable: &str, step: u64, rank: u32, index: u64) -> u64 {
        self.value(variable, step, (u64::from(rank) + 1) << 16 | index)
    }

    /// The shape of the grid.
    pub(crate) fn grid_shape(&self) -> Vec<u64> {
        vec![u64::from(self.size) * ROWS_PER_RANK, COLUMNS]
    }

    /// Whether this rank contradicts the others in this step.
    pub(crate) fn disagrees(&self, step: u64, rank: u32) -> bool {
        let dispute = step / self.disagree_steps;
        let odd = u64::from(rank) == mix(self.salt ^ dispute) % u64::from(self.size);
        let chosen = mix(self.salt ^ mix(dispute ^ 0xd15a)) % 100 < self.disagree_percent;
        self.size > 1 && odd && chosen
    }

    /// Whether any rank contradicts the others in this step.
    pub(crate) fn is_disputed(&self, step: u64) -> bool {
        (0..self.size).any(|rank| self.disagrees(step, rank))
    }

    /// Which layout a rank's blocks follow in this step.
    fn generation(&self, step: u64, rank: u32) -> u64 {
        match self.habit {
            LayoutHabit::Fixed => 0,
            LayoutHabit::AllEvery(every) => step / every,
            LayoutHabit::OneEvery(every) if rank == self.size / 2 => step / every,
            LayoutHabit::OneEvery(_) => 0,
            LayoutHabit::InTurn(layouts) => step % layouts,
            LayoutHabit::ComesBack => step * (step % 2),
        }
    }

    /// What a rank measures in this step; nothing where it has no element, and an error where it could not measure.
    pub(crate) fn measured(&self, step: u64, rank: u32) -> Option<Result<u64, ()>> {
        let drawn = self.local_value("measured", step, rank, 0);
        match drawn % 20 {
            0 => Some(Err(())),
            1..4 => None,
            _ => Some(Ok(mix(drawn) % (MEASURED_BELOW / MEASURED_IN) * MEASURED_IN)),
        }
    }

    /// What all ranks measure together: no number without any element, and no sum where one could not measure.
    pub(crate) fn sum(&self, step: u64) -> Result<Option<u64>, u32> {
        let mut sum = None;
        for rank in 0..self.size {
            match self.measured(step, rank) {
                Some(Ok(measured)) => sum = Some(sum.unwrap_or(0) + measured),
                Some(Err(())) => return Err(rank),
                None => {}
            }
        }
        Ok(sum)
    }

    /// Whether the step is as demanded, or it is not known whether it is.
    pub(crate) fn is_as(&self, step: u64, demand: Demand) -> bool {
        match demand {
            Demand::Has(variable) => self.has(step, variable),
            Demand::Sum(comparison, threshold) => {
                let holds = |sum| match comparison {
                    Comparison::Above => sum > threshold,
                    Comparison::AtLeast => sum >= threshold,
                    Comparison::Below => sum < threshold,
                    Comparison::AtMost => sum <= threshold,
                };
                self.sum(step).map_or(true, |sum| sum.is_some_and(holds))
            }
        }
    }

    /// Whether this rank puts the joined array in this step. Where that comes and goes, some ranks never have any.
    pub(crate) fn puts_particles(&self, step: u64, rank: u32) -> bool {
        let has_none = mix(self.salt ^ mix(0xa70 ^ u64::from(rank))).is_multiple_of(4);
        self.particles_every == 1 || (step.is_multiple_of(self.particles_every) && !has_none)
    }

    /// Whether some rank puts the variable in this step.
    pub(crate) fn has(&self, step: u64, variable: &str) -> bool {
        let puts = |rank: u32| self.blocks(step, rank).iter().any(|block| block.variable == variable);
        (0..self.size).any(puts) || (variable == CLOCK && self.agreed_clock(step).is_some())
    }

    /// How many elements of the joined array this rank puts in this step.
    pub(crate) fn particles(&self, step: u64, rank: u32) -> u64 {
        if !self.puts_particles(step, rank) {
            return 0;
        }
        mix(self.salt ^ mix(self.generation(step, rank) << 8 | u64::from(rank))) % 5
    }

    /// The global index of this rank's first element of the joined array.
    pub(crate) fn particles_before(&self, step: u64, rank: u32) -> u64 {
        (0..rank).map(|lower| self.particles(step, lower)).sum()
    }

    /// The first row of the grid that belongs to `rank`; for `rank == size` the number of rows.
    fn first_row(&self, step: u64, rank: u32) -> u64 {
        let even = u64::from(rank) * ROWS_PER_RANK;
        let generation = match self.habit {
            LayoutHabit::AllEvery(_) | LayoutHabit::InTurn(_) | LayoutHabit::ComesBack => {
                self.generation(step, rank)
            }
            LayoutHabit::Fixed | LayoutHabit::OneEvery(_) => 0,
        };
        let inner = rank > 0 && rank < self.size;
        // Up to a whole rank's rows: some ranks have none.
        even - if inner {
            mix(self.salt ^ mix(generation << 8 | u64::from(rank))) % (ROWS_PER_RANK + 1)
        } else {
            0
        }
    }

    fn grid_blocks(&self, step: u64, rank: u32) -> Vec<Block> {
        let (first, end) = (self.first_row(step, rank), self.first_row(step, rank + 1));
        // Odd ranks put their rows in two blocks.
        let middle = if rank % 2 == 1 { first + (end - first) / 2 } else { first };
        let pieces = [(first, middle), (middle, end)];
        pieces
            .into_iter()
            .filter(|(from, to)| from < to)
            .map(|(from, to)| self.grid_block(step, from, to))
            .collect()
    }

    fn grid_block(&self, step: u64, from: u64, to: u64) -> Block {
        let indices = from * COLUMNS..to * COLUMNS;
        let values = indices.map(|index| self.value(GRID, step, index)).collect();
        Block { variable: GRID, start: vec![from, 0], count: vec![to - from, COLUMNS], values }
    }

    fn particle_block(&self, step: u64, rank: u32) -> Block {
        let count = self.particles(step, rank);
        let before = self.particles_before(step, rank);
        let values = (before..before + count).map(|index| self.value(PARTICLES, step, index)).collect();
        Block { variable: PARTICLES, start: vec![0], count: vec![count], values }
    }

    fn counter_block(&self, step: u64, rank: u32) -> Block {
        let indices = 0..COUNTERS_PER_RANK;
        let values = indices.map(|index| self.local_value(COUNTERS, step, rank, index)).collect();
        Block { variable: COUNTERS, start: vec![0], count: vec![COUNTERS_PER_RANK], values }
    }

    /// Every block that a rank puts in this step, in the order of the puts.
    pub(crate) fn blocks(&self, step: u64, rank: u32) -> Vec<Block> {
        let mut blocks = self.grid_blocks(step, rank);
        blocks.extend(self.puts_particles(step, rank).then(|| self.particle_block(step, rank)));
        blocks.push(self.counter_block(step, rank));
        blocks
    }

    /// Which blocks every rank puts in this step, for comparing steps.
    pub(crate) fn layout(&self, step: u64) -> Vec<(u32, Vec<u64>)> {
        let of_rank = |rank: u32| {
            let blocks = self.blocks(step, rank);
            blocks.into_iter().map(move |block| (rank, block.start.into_iter().chain(block.count).collect()))
        };
        (0..self.size).flat_map(of_rank).collect()
    }

    /// The scalar as this rank gives it, if it does: ranks differ, and the highest one's value is taken.
    pub(crate) fn clock(&self, step: u64, rank: u32) -> Option<u64> {
        let gives = mix(self.salt ^ mix(u64::from(rank))) % 3 > 0;
        gives.then(|| self.local_value(CLOCK, step, rank, 0))
    }

    /// The scalar that the step must arrive with.
    pub(crate) fn agreed_clock(&self, step: u64) -> Option<u64> {
        (0..self.size).rev().find_map(|rank| self.clock(step, rank))
    }
}
