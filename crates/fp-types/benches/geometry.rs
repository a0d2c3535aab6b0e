//! How fast layouts are indexed and looked up, plans made and runs copied, as ratios to a baseline of the same run.
//!
//! `cargo bench -p flexpath-types`: each line is a median of several interleaved rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fp_types::MemoryOrder::{ColumnMajor, RowMajor};
use fp_types::{
    BlockId, GapPolicy, Layout, MemoryOrder, Packing, Rank, Region, Selection, Shape, StridedRegion, copy,
    plan,
};

const ROUNDS: usize = 9;

fn main() {
    index_build();
    look_up();
    plans();
    copies();
}

/// The medians of two things done in turn.
fn interleaved(rounds: usize, mut baseline: impl FnMut(), mut ours: impl FnMut()) -> (Duration, Duration) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        times.0.push(timed(&mut baseline));
        times.1.push(timed(&mut ours));
    }
    (median(times.0), median(times.1))
}

fn timed(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn report(what: &str, ours: Duration, baseline_name: &str, baseline: Duration) {
    let ratio = baseline.as_secs_f64() / ours.as_secs_f64();
    println!("{what:<58} {ours:>11.2?}   {ratio:>8.3} of the speed of {baseline_name} ({baseline:.2?})");
}

/// Blocks of a regular grid, `side` along each of three dimensions, numbered as ranks.
fn grid(side: u64) -> Layout {
    let shape = Shape::new([side * 8; 3]).unwrap();
    let cell = |number: u64| [number / side / side, number / side % side, number % side].map(|cell| cell * 8);
    let block =
        |number: u64| (BlockId::new(Rank(number as u32), 0), Region::new(cell(number), [8; 3]).unwrap());
    Layout::global(shape, (0..side.pow(3)).map(block)).unwrap()
}

/// Overlapping boxes of unlike sizes, one in a thousand of them large.
fn random(blocks: u32) -> Layout {
    let mut state = 7u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % bound
    };
    let shape = Shape::new([1 << 20; 3]).unwrap();
    let mut block = |rank: u32| {
        let largest = if rank.is_multiple_of(1000) { 1 << 15 } else { 1 << 13 };
        let count = [(); 3].map(|()| 1 + below(largest));
        let start = count.map(|count| below((1 << 20) - count));
        (BlockId::new(Rank(rank), 0), Region::new(start, count).unwrap())
    };
    Layout::global(shape, (0..blocks).map(&mut block).collect::<Vec<_>>()).unwrap()
}

/// A million blocks; the limit is a second.
fn index_build() {
    for (name, layout) in [("regular", grid(100)), ("random", random(1_000_000))] {
        let keys: Vec<u64> = (0..1_000_000u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let sort = || {
            let mut keys = keys.clone();
            keys.sort_unstable();
            black_box(keys);
        };
        // An index is built once a layout, so each round has a copy of its own, made beforehand.
        let mut copies = vec![layout; 3];
        let build = || copies.pop().unwrap().build_index();
        let (baseline, ours) = interleaved(3, sort, build);
        report(&format!("index of 1,000,000 {name} blocks"), ours, "sorting as many numbers", baseline);
        assert!(ours < Duration::from_secs(1), "the index takes longer than a second");
    }
}

/// Regions that touch few blocks, among ten thousand and among a million.
fn look_up() {
    for (name, few, many) in [("regular", grid(22), grid(100)), ("random", random(10_000), random(1_000_000))]
    {
        let (few, many) = (Probe::new(few), Probe::new(many));
        let (baseline, ours) = interleaved(ROUNDS, || few.run(), || many.run());
        println!(
            "{name}: a region touches {:.1} blocks of 10,000, {:.1} of 1,000,000",
            few.found(),
            many.found()
        );
        report(
            &format!("  look-up per block found, {name} 1,000,000"),
            many.each(ours),
            "10,000",
            few.each(baseline),
        );
        let region = many.regions[0];
        let scan =
            || _ = black_box(many.layout.blocks().filter(|(_, block)| block.overlaps(&region)).count());
        let (baseline, ours) = interleaved(3, scan, || _ = black_box(many.layout.touching(&region).count()));
        report("  one look-up", ours, "looking at every block", baseline);
    }
}

/// A layout and regions to look up in it.
struct Probe {
    layout: Layout,
    regions: Vec<Region>,
}

impl Probe {
    fn new(layout: Layout) -> Self {
        layout.build_index();
        // Each region is as large as some three blocks, beside one of them.
        let beside = |(_, block): (BlockId, Region)| {
            let count = block.count().map(|count| count * 3);
            let shape = layout.shape().unwrap();
            Region::new(*block.start(), count).unwrap().intersection(&Region::whole(shape)).unwrap()
        };
        let step = layout.block_count() / 1000;
        let regions = layout.blocks().step_by(step).take(1000).map(beside).collect();
        Self { layout, regions }
    }

    fn run(&self) {
        for region in &self.regions {
            black_box(self.layout.touching(region).count());
        }
    }

    /// Blocks found per region.
    fn found(&self) -> f64 {
        let found: usize = self.regions.iter().map(|region| self.layout.touching(region).count()).sum();
        found as f64 / self.regions.len() as f64
    }

    /// The time for each block found, given the time for all regions.
    fn each(&self, all: Duration) -> Duration {
        all.div_f64(self.found() * self.regions.len() as f64)
    }
}

fn plans() {
    let layout = grid(46);
    layout.build_index();
    let copy_blocks = || drop(black_box(layout.blocks().collect::<Vec<_>>()));
    let all = || drop(black_box(plan(&layout, &Selection::All, GapPolicy::Error).unwrap()));
    let (baseline, ours) = interleaved(5, copy_blocks, all);
    report("plan of all of 97,336 disjoint blocks", ours, "listing them", baseline);
    let million = grid(100);
    let region = Region::new([101, 203, 307], [32, 32, 32]).unwrap();
    million.build_index();
    let list = || drop(black_box(million.touching(&region).collect::<Vec<_>>()));
    let part = || drop(black_box(plan(&million, &Selection::Region(region), GapPolicy::Error).unwrap()));
    let (baseline, ours) = interleaved(99, list, part);
    report("plan of a region that touches 125 of 1,000,000", ours, "finding them", baseline);
}

/// 16 MiB of f64 each: how near to `memcpy` the copies come, and to loops written for the shape at hand.
fn copies() {
    let cube = |count: [u64; 3]| Region::new([0; 3], count).unwrap();
    let plane = |count: [u64; 2]| Region::new([0; 2], count).unwrap();
    let (block, array) = (cube([128; 3]), cube([256; 3]));
    compare("whole block", block, RowMajor, block, RowMajor, block);
    compare("128^3 block into a 256^3 array (rows of 1 KiB)", block, RowMajor, array, RowMajor, block);
    compare("128^3 part of a 256^3 block", array, RowMajor, block, RowMajor, block);
    let rows = cube([128, 256, 64]);
    compare("rows of 512 bytes", rows, RowMajor, array, RowMajor, rows);
    let rows = cube([256, 256, 32]);
    compare("rows of 256 bytes", rows, RowMajor, array, RowMajor, rows);
    let matrix = plane([2048, 1024]);
    compare("transpose of 2048 x 1024", matrix, RowMajor, matrix, ColumnMajor, matrix);
    compare("transpose of 128^3", block, RowMajor, block, ColumnMajor, block);
    let atoms = plane([700_000, 3]);
    compare("transpose of 700,000 x 3", atoms, RowMajor, atoms, ColumnMajor, atoms);
}

fn compare(
    name: &str,
    source: Region,
    from: MemoryOrder,
    destination: Region,
    to: MemoryOrder,
    part: Region,
) {
    let len = |region: &Region| region.element_count() as usize * 8;
    let (bytes, mut array) = (vec![1u8; len(&source)], vec![2u8; len(&destination)]);
    let (plain, mut copied) = (vec![1u8; len(&part)], vec![2u8; len(&part)]);
    let mut by_hand = array.clone();
    let (source, destination) = (Packing::new(source, from), Packing::new(destination, to));
    let mut memcpy = || {
        copied.copy_from_slice(black_box(&plain));
        black_box(&mut copied);
    };
    let mut ours = || {
        copy(black_box(&bytes), &source, &mut array, &destination, &part.into(), 8).unwrap();
        black_box(&mut array);
    };
    let (baseline, time) = interleaved(ROUNDS, &mut memcpy, &mut ours);
    report(name, time, "memcpy", baseline);
    if from == to && part.ndims() == 3 {
        let mut loops = || {
            copy_rows(black_box(&bytes), source.elements(), &mut by_hand, destination.elements(), &part);
            black_box(&mut by_hand);
        };
        let (baseline, time) = interleaved(ROUNDS, &mut loops, &mut ours);
        report("", time, "loops by hand", baseline);
    }
}

/// What one would write for this very case: row by row.
fn copy_rows(from: &[u8], source: &StridedRegion, to: &mut [u8], destination: &StridedRegion, part: &Region) {
    let (a, b, count) = (source.counts(), destination.counts(), *part.count());
    let len = count[2] as usize * 8;
    for plane in 0..count[0] {
        for row in 0..count[1] {
            let at = ((plane * a[1] + row) * a[2]) as usize * 8;
            let place = ((plane * b[1] + row) * b[2]) as usize * 8;
            to[place..place + len].copy_from_slice(&from[at..at + len]);
        }
    }
}
