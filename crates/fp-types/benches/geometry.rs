//! How fast layouts are indexed and looked up, plans made and runs copied, as ratios to a baseline of the same run.
//!
//! `cargo bench -p flexpath-types --bench geometry`: each ratio is of medians over rounds in turn.

#[path = "../../../benches/turns/mod.rs"]
mod turns;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use fp_types::MemoryOrder::{ColumnMajor, RowMajor};
use fp_types::{
    BlockId, DenseArray, GapPolicy, Layout, Rank, Region, Selection, Shape, StridedRegion, copy, plan,
};
use turns::{Group, Medians, in_turns, measured, timed};

criterion_group!(benches, geometry);
criterion_main!(benches);

fn geometry(criterion: &mut Criterion) {
    let mut group = turns::group(criterion, "geometry");
    copies(&mut group);
    plans(&mut group);
    look_up(&mut group);
    // Rounds of some tenths of a second, so as few as criterion takes.
    group.sample_size(10);
    index_build(&mut group);
    group.finish();
}

fn report(what: &str, medians: Option<Medians>, baseline_name: &str) {
    let Some(medians) = medians else { return };
    let (ratio, Medians { baseline, ours }) = (medians.speed(), medians);
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
fn index_build(group: &mut Group<'_>) {
    let keys: Vec<u64> = (0..1_000_000u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let sort = || {
        let mut keys = keys.clone();
        keys.sort_unstable();
        black_box(keys);
    };
    for (kind, layout) in [("regular", grid(100)), ("random", random(1_000_000))] {
        // An index is built once a layout, so each round has a copy of its own, made beforehand.
        let round = || {
            let copy = layout.clone();
            (timed(&mut { sort }), timed(&mut || copy.build_index()))
        };
        let name = format!("index of 1,000,000 {kind} blocks");
        let medians = measured(group, &name, round);
        report(&name, medians, "sorting as many numbers");
        let is_quick = medians.is_none_or(|medians| medians.ours < Duration::from_secs(1));
        assert!(is_quick, "the index takes longer than a second");
    }
}

/// A thousand regions that touch few blocks, among ten thousand and among a million.
fn look_up(group: &mut Group<'_>) {
    for (kind, few, many) in [("regular", grid(22), grid(100)), ("random", random(10_000), random(1_000_000))]
    {
        let (few, many) = (Probe::new(few), Probe::new(many));
        let name = format!("look-up in 1,000,000 {kind} blocks");
        if let Some(medians) = in_turns(group, &name, || few.run(), || many.run()) {
            let (less, more) = (few.found(), many.found());
            println!("{kind}: a region touches {less:.1} blocks of 10,000, {more:.1} of 1,000,000");
            let each = Medians { baseline: few.each(medians.baseline), ours: many.each(medians.ours) };
            report(&format!("{name}, for each found"), Some(each), "10,000");
        }
        let name = format!("a thousand look-ups in 1,000,000 {kind} blocks");
        let scan = || {
            let region = &many.regions[0];
            black_box(many.layout.blocks().filter(|(_, block)| block.overlaps(region)).count());
        };
        let medians = in_turns(group, &name, scan, || many.run());
        let medians = medians.map(|of| Medians { ours: of.ours / many.regions.len() as u32, ..of });
        report(&format!("one of {name}"), medians, "looking at every block");
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

fn plans(group: &mut Group<'_>) {
    let layout = indexed(grid(46));
    let list = || drop(black_box(layout.blocks().collect::<Vec<_>>()));
    let all = || drop(black_box(plan(&layout, &Selection::All, GapPolicy::Error).unwrap()));
    let name = "plan of all of 97,336 disjoint blocks";
    report(name, in_turns(group, name, list, all), "listing them");
    let million = indexed(grid(100));
    let region = Region::new([101, 203, 307], [32, 32, 32]).unwrap();
    let find = || drop(black_box(million.touching(&region).collect::<Vec<_>>()));
    let part = || drop(black_box(plan(&million, &Selection::Region(region), GapPolicy::Error).unwrap()));
    let name = "plan of a region that touches 125 of 1,000,000";
    report(name, in_turns(group, name, find, part), "finding them");
}

fn indexed(layout: Layout) -> Layout {
    layout.build_index();
    layout
}

/// 16 MiB of f64 each: how near to `memcpy` the copies come, and to loops written for the shape at hand.
fn copies(group: &mut Group<'_>) {
    let cube = |count: [u64; 3]| Region::new([0; 3], count).unwrap();
    let plane = |count: [u64; 2]| Region::new([0; 2], count).unwrap();
    let (block, array) = (cube([128; 3]), cube([256; 3]));
    let rows = |region| DenseArray::new(region, RowMajor);
    let columns = |region| DenseArray::new(region, ColumnMajor);
    compare(group, "whole block", rows(block), rows(block), block);
    compare(group, "128^3 block into a 256^3 array (rows of 1 KiB)", rows(block), rows(array), block);
    compare(group, "128^3 part of a 256^3 block", rows(array), rows(block), block);
    for (name, part) in
        [("rows of 512 bytes", cube([128, 256, 64])), ("rows of 256 bytes", cube([256, 256, 32]))]
    {
        compare(group, name, rows(part), rows(array), part);
    }
    let turned = [
        ("transpose of 2048 x 1024", plane([2048, 1024])),
        ("transpose of 128^3", block),
        ("transpose of 700,000 x 3", plane([700_000, 3])),
    ];
    for (name, part) in turned {
        compare(group, name, rows(part), columns(part), part);
    }
}

fn compare(group: &mut Group<'_>, name: &str, source: DenseArray, destination: DenseArray, part: Region) {
    let len = |count: u64| count as usize * 8;
    let (bytes, array) =
        (vec![1u8; len(source.element_count())], vec![2u8; len(destination.element_count())]);
    let (plain, mut copied) = (vec![1u8; len(part.element_count())], vec![2u8; len(part.element_count())]);
    let (mut by_hand, array) = (array.clone(), RefCell::new(array));
    let memcpy = || {
        copied.copy_from_slice(black_box(&plain));
        black_box(&mut copied);
    };
    let ours = || {
        let mut array = array.borrow_mut();
        copy(black_box(&bytes), &source, &mut array, &destination, &part.into(), 8).unwrap();
        black_box(&mut array);
    };
    report(name, in_turns(group, name, memcpy, ours), "memcpy");
    if source.order() == destination.order() && part.ndims() == 3 {
        let loops = || {
            copy_rows(black_box(&bytes), source.elements(), &mut by_hand, destination.elements(), &part);
            black_box(&mut by_hand);
        };
        let name = format!("{name}, by loops");
        report(&name, in_turns(group, &name, loops, ours), "loops by hand");
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
