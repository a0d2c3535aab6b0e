//! What the ranks publish, as pure functions of step, rank and global index: how arrays are cut, and every value.

use flexpath::Region;

/// Extent of the 3-d field: no cut of either side divides it.
pub(crate) const FIELD: [u64; 3] = [37, 26, 19];
/// Extent of the column-major array.
pub(crate) const TABLE: [u64; 2] = [23, 17];
/// Extent of the array whose blocks overlap.
pub(crate) const OVERLAP: u64 = 1100;
/// Steps that a run publishes.
pub(crate) const STEPS: u64 = 8;

/// A deterministic source of numbers.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// A region of at least one element inside `shape`.
    pub(crate) fn region<const N: usize>(&mut self, shape: [u64; N]) -> Region {
        let (mut start, mut count) = ([0; N], [0; N]);
        for dim in 0..N {
            start[dim] = self.below(shape[dim]);
            count[dim] = 1 + self.below(shape[dim] - start[dim]);
        }
        Region::new(start, count).expect("inside")
    }
}

/// The blocks of the field, each with its rank, in the order in which a rank puts them. The cut changes every third
/// step; every second cut leaves the last of several ranks without any.
pub(crate) fn field_blocks(step: u64, ranks: u32) -> Vec<(u32, Region)> {
    let cut = step / 3;
    let mut dice = Dice::new(cut * 100 + u64::from(ranks));
    let mut boxes = vec![Region::new([0; 3], FIELD).expect("inside")];
    while boxes.len() < 2 * ranks as usize + 1 {
        let (at, dim) = (dice.below(boxes.len() as u64) as usize, dice.below(3) as usize);
        let (start, count) = (*boxes[at].start(), *boxes[at].count());
        if count[dim] < 2 {
            continue;
        }
        let first = 1 + dice.below(count[dim] - 1);
        let (mut low, mut high_start, mut high) = (count, start, count);
        low[dim] = first;
        high_start[dim] += first;
        high[dim] -= first;
        boxes[at] = Region::new(start, low).expect("inside");
        boxes.push(Region::new(high_start, high).expect("inside"));
    }
    let busy = if ranks > 1 && cut % 2 == 1 { ranks - 1 } else { ranks };
    boxes.into_iter().map(|region| (dice.below(u64::from(busy)) as u32, region)).collect()
}

/// The blocks of one rank.
pub(crate) fn field_blocks_of(step: u64, ranks: u32, rank: u32) -> Vec<Region> {
    let all = field_blocks(step, ranks).into_iter();
    all.filter(|(owner, _)| *owner == rank).map(|(_, region)| region).collect()
}

pub(crate) fn field_value(step: u64, point: [u64; 3]) -> f64 {
    (step * 100_003 + (point[0] * FIELD[1] + point[1]) * FIELD[2] + point[2]) as f64
}

/// Every point of a strided part of the field, in row-major order.
pub(crate) fn points(region: &Region, stride: [u64; 3]) -> Vec<[u64; 3]> {
    let (start, end) = (*region.start(), region.end());
    let steps = |dim: usize| (start[dim]..end[dim]).step_by(stride[dim] as usize);
    let mut all = Vec::new();
    for x in steps(0) {
        for y in steps(1) {
            all.extend(steps(2).map(|z| [x, y, z]));
        }
    }
    all
}

pub(crate) fn field_values(step: u64, region: &Region, stride: [u64; 3]) -> Vec<f64> {
    points(region, stride).into_iter().map(|point| field_value(step, point)).collect()
}

/// The columns of the table that a rank puts.
pub(crate) fn table_columns(ranks: u32, rank: u32) -> Region {
    let cut = |at: u32| TABLE[1] * u64::from(at) / u64::from(ranks);
    let (first, end) = (cut(rank), cut(rank + 1));
    Region::new([0, first], [TABLE[0], end - first]).expect("inside")
}

pub(crate) fn table_value(step: u64, row: u64, column: u64) -> i32 {
    (step * 1000 + row * TABLE[1] + column) as i32
}

/// Rows of the joined array that a rank puts in this step; many ranks put none in some steps.
pub(crate) fn rows_of(step: u64, rank: u32) -> u64 {
    let drawn = Dice::new(step * 64 + u64::from(rank)).below(700);
    if drawn < 150 { 0 } else { drawn }
}

/// The first of them in the whole array.
pub(crate) fn first_row(step: u64, rank: u32) -> u64 {
    (0..rank).map(|lower| rows_of(step, lower)).sum()
}

pub(crate) fn row_value(step: u64, row: u64, component: u64) -> f32 {
    (step * 20_000 + row * 3 + component) as f32
}

pub(crate) fn row_values(step: u64, rows: std::ops::Range<u64>) -> Vec<f32> {
    rows.flat_map(|row| (0..3).map(move |component| row_value(step, row, component))).collect()
}

/// Lengths of the local arrays of a rank, in the order put.
pub(crate) fn local_lens(step: u64, rank: u32) -> Vec<u64> {
    let count = (u64::from(rank) + step) % 3;
    (0..count).map(|block| if block == 1 { 2500 + step } else { 3 + u64::from(rank) + block }).collect()
}

pub(crate) fn local_values(step: u64, rank: u32, block: u64, len: u64) -> Vec<u16> {
    (0..len).map(|index| (step * 7000 + u64::from(rank) * 600 + block * 300 + index) as u16).collect()
}

/// What a rank puts of the array whose blocks overlap.
pub(crate) fn overlap_region(ranks: u32, rank: u32) -> Region {
    let cut = |at: u32| OVERLAP * u64::from(at) / u64::from(ranks);
    let (first, end) = (cut(rank).saturating_sub(9), (cut(rank + 1) + 9).min(OVERLAP));
    Region::new([first], [end - first]).expect("inside")
}

pub(crate) fn overlap_value(step: u64, rank: u32, index: u64) -> i64 {
    (step * 1_000_000 + u64::from(rank) * 10_000 + index) as i64
}

/// The highest rank that covers the element wins.
pub(crate) fn overlap_winner(ranks: u32, index: u64) -> u32 {
    let covers = |rank: &u32| {
        let region = overlap_region(ranks, *rank);
        (region.start()[0]..region.end()[0]).contains(&index)
    };
    (0..ranks).rev().find(covers).expect("covered")
}
