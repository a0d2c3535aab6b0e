//! What labelling costs beside one pass over the same block, which finds its greatest element.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fp_analysis::{Column, Grid, Labeller, Merger, Neighbours, Part, PlaneRange, Threshold};
use std::hint::black_box;

/// Elements in each dimension.
const EXTENT: u64 = 128;

/// Some blobs that move, over noise that stays below the threshold.
fn field(step: u64) -> Vec<f64> {
    let centres: Vec<[f64; 3]> =
        (0..20).map(|at| [7, 13, 29].map(|by| ((at * by + step) % EXTENT) as f64)).collect();
    let element = |place: [u64; 3]| {
        let blob = |centre: &[f64; 3]| {
            let squares: f64 = (0..3).map(|dim| (place[dim] as f64 - centre[dim]).powi(2)).sum();
            (-squares / 32.0).exp()
        };
        centres.iter().map(blob).sum::<f64>()
    };
    let places = (0..EXTENT).flat_map(|x| (0..EXTENT).flat_map(move |y| (0..EXTENT).map(move |z| [x, y, z])));
    places.map(element).collect()
}

fn parts(labellers: &mut [Labeller], grid: &Grid, step: u64, field: &[f64]) -> Vec<Part> {
    let ranks = labellers.len() as u32;
    let plane = (EXTENT * EXTENT) as usize;
    let one = |(rank, labeller): (u32, &mut Labeller)| {
        let slab = PlaneRange::of_rank(rank, ranks, EXTENT);
        labeller.label(
            step,
            grid,
            slab,
            &field[slab.first as usize * plane..][..slab.planes as usize * plane],
        )
    };
    (0..).zip(labellers).map(one).collect()
}

fn features(criterion: &mut Criterion) {
    let fields = [field(0), field(1)];
    let threshold: Threshold = "x > 0.5".parse().expect("a threshold");
    let mut group = criterion.benchmark_group("features 128x128x128");
    group.throughput(Throughput::Elements(EXTENT.pow(3))).sample_size(20);
    group.bench_function("greatest element", |bencher| {
        bencher.iter(|| black_box(&fields[0]).iter().copied().fold(f64::NEG_INFINITY, f64::max))
    });
    for (name, neighbours) in [("6 neighbours", Neighbours::Faces), ("26 neighbours", Neighbours::All)] {
        let grid = Grid::new(&[EXTENT; 3], neighbours, &[]).expect("a grid");
        let (mut labellers, mut step) = (vec![Labeller::new(threshold.clone())], 0);
        group.bench_function(format!("label, {name}"), |bencher| {
            bencher.iter(|| {
                step += 1;
                parts(&mut labellers, &grid, step, &fields[step as usize % 2])
            })
        });
        let mut labellers: Vec<_> = (0..8).map(|_| Labeller::new(threshold.clone())).collect();
        let mut merger = Merger::new(threshold.clone(), (Column::Volume, Column::Peak));
        group.bench_function(format!("label in 8 slabs, as bytes, merge and track, {name}"), |bencher| {
            bencher.iter(|| {
                step += 1;
                let parts = parts(&mut labellers, &grid, step, &fields[step as usize % 2]);
                let parts: Vec<Part> =
                    parts.iter().map(|part| Part::decode(0, &part.encode()).expect("a part")).collect();
                merger.merge(&grid, &parts).expect("parts of one step").features.len()
            })
        });
    }
    group.finish();
}

criterion_group!(benches, features);
criterion_main!(benches);
