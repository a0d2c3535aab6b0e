//! What the publishers put: a grid of one box a rank, or particles. Each rank has as many of those as it happens to.

use crate::scale::least::{GRID, part};
use fp_proto::message::{MeasurePart, ResolveQuery};
use fp_types::{Contribution, Dims, Dtype, Region, Selection, Shape, VariableDef, VariablePut};

const ATOMS: &str = "atoms";
/// Elements of a box along each dimension, and what it grows by from layout to layout.
const BOX: u64 = 64;

/// What a step's decision is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// Every rank's box is another one.
    NewLayout,
    /// One rank cuts its box in two, or puts it whole again.
    OneRank,
    /// Every rank has another number of particles.
    EveryCount,
    /// Nothing changed.
    Unchanged,
}

/// What all ranks put in one step.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    publishers: u32,
    /// Boxes along each dimension.
    boxes: [u64; 3],
    extent: u64,
    halved: bool,
    /// Particles instead of the grid, of this draw.
    counts: Option<u64>,
    /// Whether the least element of the grid is below 0.
    pub(crate) fires: bool,
}

/// Splits a power of two into three as evenly as it goes, the first the largest.
fn factors(size: u32) -> [u64; 3] {
    let exponent = size.trailing_zeros();
    [0, 1, 2].map(|dim| 1 << ((exponent + 2 - dim) / 3))
}

/// A small number that differs from rank to rank and from draw to draw.
fn mixed(rank: u32, draw: u64) -> u64 {
    let mut word = (u64::from(rank) << 32 | draw).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^= word >> 29;
    word.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

fn region(start: &[u64], count: &[u64]) -> Region {
    let dims = |values| Dims::from_slice(values).expect("few dimensions");
    Region::new(dims(start), dims(count)).expect("it can be counted")
}

impl Content {
    pub(crate) fn new(publishers: u32) -> Self {
        Self {
            publishers,
            boxes: factors(publishers),
            extent: BOX,
            halved: false,
            counts: None,
            fires: false,
        }
    }

    /// The content of the next step.
    pub(crate) fn advance(&mut self, case: Case) {
        match case {
            Case::NewLayout => {
                self.extent += BOX;
                self.counts = None;
            }
            Case::OneRank => self.halved = !self.halved,
            Case::EveryCount => self.counts = Some(self.counts.map_or(0, |draw| draw + 1)),
            Case::Unchanged => {}
        }
    }

    fn shape(&self) -> [u64; 3] {
        self.boxes.map(|boxes| boxes * self.extent)
    }

    fn atoms(&self, rank: u32, draw: u64) -> u64 {
        900 + mixed(rank, draw) % 200
    }

    /// What one rank puts.
    pub(crate) fn contribution(&self, rank: u32) -> Contribution {
        let put = match self.counts {
            Some(draw) => self.particles(self.atoms(rank, draw)),
            None => self.grid(rank),
        };
        Contribution { variables: vec![put] }
    }

    /// What one rank measures: the least of its elements, which may be below 0 on the last rank.
    pub(crate) fn measured(&self, measure: &str, rank: u32) -> MeasurePart {
        let is_low = self.fires && rank + 1 == self.publishers;
        let least = if is_low { -1.0 } else { 1.0 + mixed(rank, 0) as f64 };
        MeasurePart { measure: measure.to_owned(), part: part(least), unmeasured: None }
    }

    fn particles(&self, count: u64) -> VariablePut {
        let def = VariableDef::joined_array(ATOMS, Dtype::F64, 2, 0).into();
        VariablePut { def, shape: None, blocks: vec![region(&[0, 0], &[count, 3])], bytes: 24 * count }
    }

    fn grid(&self, rank: u32) -> VariablePut {
        let [_, high, wide] = self.boxes;
        let at = u64::from(rank);
        let start = [at / (high * wide), at / wide % high, at % wide].map(|at| at * self.extent);
        let half = self.extent / 2;
        let blocks = if self.halved && rank == self.publishers / 2 {
            let second = [start[0] + half, start[1], start[2]];
            let count = [half, self.extent, self.extent];
            vec![region(&start, &count), region(&second, &count)]
        } else {
            vec![region(&start, &[self.extent; 3])]
        };
        let def = VariableDef::global_array(GRID, Dtype::F64, 3).into();
        let shape = Some(Shape::new(Dims::from(self.shape())).expect("it can be counted"));
        VariablePut { def, shape, blocks, bytes: 8 * self.extent.pow(3) }
    }

    /// The part of the step that one of so many subscriber ranks takes: all parts are of one size.
    pub(crate) fn query(&self, rank: u32, subscribers: u32) -> ResolveQuery {
        let (variable, part) = match self.counts {
            Some(draw) => (ATOMS, self.rows(rank, subscribers, draw)),
            None => (GRID, self.part(rank, subscribers)),
        };
        ResolveQuery { variable: variable.to_owned(), selection: Selection::Region(part) }
    }

    fn rows(&self, rank: u32, subscribers: u32, draw: u64) -> Region {
        let total: u64 = (0..self.publishers).map(|rank| self.atoms(rank, draw)).sum();
        let at = |rank: u32| total * u64::from(rank) / u64::from(subscribers);
        region(&[at(rank), 0], &[at(rank + 1) - at(rank), 3])
    }

    fn part(&self, rank: u32, subscribers: u32) -> Region {
        let (parts, shape) = (factors(subscribers), self.shape());
        let at = u64::from(rank);
        let place = [at / (parts[1] * parts[2]), at / parts[2] % parts[1], at % parts[2]];
        let count = [0, 1, 2].map(|dim| (shape[dim] / parts[dim]).max(1));
        let start = [0, 1, 2].map(|dim| (place[dim] * count[dim]).min(shape[dim] - count[dim]));
        region(&start, &count)
    }
}
