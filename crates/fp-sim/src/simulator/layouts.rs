//! Between the contents of a run and the types of the protocol: contributions, selections, and the blocks of an
//! answer.

use crate::simulator::content::{Block, CLOCK, COUNTERS, Content, GRID, PARTICLES};
use crate::simulator::prng::Prng;
use fp_proto::message::{ResolveQuery, ScalarValue};
use fp_types::{
    BlockId, Contribution, Dims, Dtype, Rank, Region, Selection, Shape, StepTable, StridedRegion,
    VariableDef, VariablePut,
};

/// A block of the table that a subscriber got, with its region in global coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) variable: &'static str,
    pub(crate) block: BlockId,
    pub(crate) start: Vec<u64>,
    pub(crate) count: Vec<u64>,
}

fn region(start: &[u64], count: &[u64]) -> Region {
    let dims = |values: &[u64]| Dims::from_slice(values).expect("few dimensions");
    Region::new(dims(start), dims(count)).expect("small regions")
}

fn shape(dims: &[u64]) -> Option<Shape> {
    Shape::new(Dims::from_slice(dims).expect("few dimensions")).ok()
}

fn put(def: VariableDef, shape: Option<Shape>, blocks: &[&Block]) -> VariablePut {
    let bytes = blocks.iter().map(|block| 8 * block.values.len() as u64).sum();
    let blocks = blocks.iter().map(|block| region(&block.start, &block.count)).collect();
    VariablePut { def: def.into(), shape, blocks, bytes }
}

/// What a rank hands over at `end_step`.
pub(crate) fn contribution(content: &Content, step: u64, rank: u32) -> Contribution {
    let blocks = content.blocks(step, rank);
    let of = |variable: &str| blocks.iter().filter(|block| block.variable == variable).collect::<Vec<_>>();
    let mut grid = content.grid_shape();
    grid[1] += u64::from(content.disagrees(step, rank));
    let mut variables = vec![
        put(VariableDef::local_array(COUNTERS, Dtype::U64, 1), None, &of(COUNTERS)),
        put(VariableDef::global_array(GRID, Dtype::U64, 2), shape(&grid), &of(GRID)),
    ];
    if content.puts_particles(step, rank) {
        variables.push(put(VariableDef::joined_array(PARTICLES, Dtype::U64, 1, 0), None, &of(PARTICLES)));
    }
    if content.clock(step, rank).is_some() {
        let def = VariableDef::scalar(CLOCK, Dtype::U64).into();
        variables.push(VariablePut { def, shape: None, blocks: vec![region(&[], &[])], bytes: 8 });
    }
    Contribution { variables }
}

/// The scalars that a rank hands over at `end_step`.
pub(crate) fn scalars(content: &Content, step: u64, rank: u32) -> Vec<ScalarValue> {
    let clock = content.clock(step, rank);
    let value = |value: u64| ScalarValue {
        name: CLOCK.to_owned(),
        rank: Rank(rank),
        dtype: Dtype::U64,
        bytes: value.to_le_bytes().to_vec(),
    };
    clock.map(value).into_iter().collect()
}

/// What a subscriber rank asks of the arrays; a scalar needs no question.
pub(crate) fn draw_queries(content: &Content, wanted: &[&'static str], prng: &mut Prng) -> Vec<ResolveQuery> {
    let arrays = wanted.iter().filter(|variable| **variable != CLOCK);
    let draw = |&variable: &&'static str| ResolveQuery {
        variable: variable.to_owned(),
        selection: if variable == GRID { draw_selection(content, prng) } else { Selection::All },
    };
    arrays.map(draw).collect()
}

fn draw_selection(content: &Content, prng: &mut Prng) -> Selection {
    let rows = content.grid_shape()[0];
    let first = prng.below(rows);
    let count = prng.between(1, rows - first);
    let part = region(&[first, 0], &[count, 2]);
    let rank = Rank(prng.below(u64::from(content.size)) as u32);
    match prng.below(6) {
        0 => Selection::Region(part),
        1 => Selection::Strided(StridedRegion::new(part, [2, 1]).expect("strides above 0")),
        2 => Selection::Points(vec![Dims::from([first, 0]), Dims::from([rows - 1, 2])]),
        3 => Selection::Block(BlockId { rank, index: 0 }),
        4 => Selection::Rank(rank),
        _ => Selection::All,
    }
}

/// Whether a selection must find this block of the grid, by going through its rows.
fn touches(selection: &Selection, rank: Rank, index: u32, block: &Block) -> bool {
    let rows = block.start[0]..block.start[0] + block.count[0];
    let within = |part: &Region| {
        let wanted = part.start()[0]..part.start()[0] + part.count()[0];
        rows.clone().any(|row| wanted.contains(&row))
    };
    match selection {
        Selection::All => true,
        Selection::Region(part) => within(part),
        Selection::Strided(part) => within(part.region()),
        Selection::Points(points) => points.iter().any(|point| rows.contains(&point[0])),
        Selection::Block(wanted) => *wanted == BlockId { rank, index },
        Selection::Rank(wanted) => *wanted == rank,
    }
}

/// The blocks that the answer to a query must have, by what was put.
pub(crate) fn expected(content: &Content, step: u64, query: &ResolveQuery) -> Vec<Located> {
    let mut found = Vec::new();
    for rank in 0..content.size {
        let blocks = content.blocks(step, rank);
        let of_variable = blocks.iter().filter(|block| block.variable == query.variable);
        for (index, block) in (0..).zip(of_variable) {
            if block.variable == GRID && !touches(&query.selection, Rank(rank), index, block) {
                continue;
            }
            let before = if block.variable == PARTICLES { content.particles_before(step, rank) } else { 0 };
            let mut start = block.start.clone();
            start[0] += before;
            let block_id = BlockId { rank: Rank(rank), index };
            found.push(Located {
                variable: block.variable,
                block: block_id,
                start,
                count: block.count.clone(),
            });
        }
    }
    found
}

/// The blocks of one variable in a table.
pub(crate) fn located(table: &StepTable, variable: &'static str) -> Vec<Located> {
    let Some(entry) = table.entry(variable) else { return Vec::new() };
    let locate = |(block, region): (BlockId, Region)| Located {
        variable,
        block,
        start: region.start().to_vec(),
        count: region.count().to_vec(),
    };
    entry.layout.blocks().map(locate).collect()
}

impl Located {
    /// Whether it is the same block in the same place. An empty one has no place.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let empty = self.count.contains(&0);
        let places = empty || self.start == other.start;
        self.variable == other.variable && self.block == other.block && self.count == other.count && places
    }

    /// The elements that must be there, from the global indices alone.
    pub(crate) fn values(&self, content: &Content, step: u64) -> Vec<u64> {
        let indices: Vec<u64> = match self.variable {
            GRID => {
                let columns = content.grid_shape()[1];
                let rows = self.start[0]..self.start[0] + self.count[0];
                rows.flat_map(|row| {
                    (0..self.count[1]).map(move |column| row * columns + self.start[1] + column)
                })
                .collect()
            }
            _ => (self.start[0]..self.start[0] + self.count[0]).collect(),
        };
        let value = |index: u64| match self.variable {
            COUNTERS => content.local_value(COUNTERS, step, self.block.rank.0, index),
            variable => content.value(variable, step, index),
        };
        indices.into_iter().map(value).collect()
    }
}
