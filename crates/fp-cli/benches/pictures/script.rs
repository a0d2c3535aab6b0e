//! A field of blobs by a script, as that of python/tests/test_features.py: after its first step 20 births, 15 deaths, 10 merges
//! and 10 splits.

/// Elements of each of the three dimensions.
pub(crate) const EXTENT: usize = 128;
pub(crate) const STEPS: u64 = 200;
/// What happens after the first step, in all.
pub(crate) const EVENTS: usize = 20 + 15 + 10 + 10;
const CELL: usize = 32;
const SIGMA: f64 = 3.0;
/// No element further away than that belongs to a blob.
const REACH: f64 = 10.0;

/// The middle of a cell, in each of which something happens by itself.
fn cell(number: usize) -> [f64; 3] {
    let [across, count] = [CELL / 2, EXTENT / CELL];
    let at = |index: usize| (across + CELL * index) as f64;
    // As numpy's grid of coordinates has them: the second dimension first.
    [at(number / count % count), at(number / count / count), at(number % count)]
}

/// Where blobs are in a step: ten pairs that meet and part again, and twenty that come, of which fifteen go.
fn blobs(step: u64) -> Vec<[f64; 3]> {
    let mut found = Vec::new();
    for number in 0..10 {
        let turn = std::f64::consts::PI * (step as f64 + 3.0 * number as f64) / 250.0;
        let apart = 9.0 * (turn + 0.1 * (number % 3) as f64).cos().abs();
        for by in [apart, -apart] {
            let mut middle = cell(number);
            middle[number % 3] += by;
            found.push(middle);
        }
    }
    for number in 0..20 {
        let gone = if number < 15 { 100 + 6 * number } else { STEPS };
        if (3 + 4 * number..gone).contains(&step) {
            let age = (step - 3 - 4 * number) as f64;
            let [x, y, z] = cell(20 + number as usize);
            found.push([x + 0.02 * age, y - 0.03 * age, z + 0.025 * age]);
        }
    }
    found
}

/// The greatest of all blobs at each place, in row-major order.
pub(crate) fn field(step: u64) -> Vec<f64> {
    let mut made = vec![0.0f64; EXTENT.pow(3)];
    for middle in blobs(step) {
        let range = |dim: usize| {
            let low = (middle[dim].floor() - REACH).max(0.0) as usize;
            low..(low + 21).min(EXTENT)
        };
        for (x, y) in range(0).flat_map(|x| range(1).map(move |y| (x, y))) {
            for z in range(2) {
                let square = |at: usize, dim: usize| (at as f64 - middle[dim]).powi(2);
                let squares = square(x, 0) + square(y, 1) + square(z, 2);
                let element = &mut made[(x * EXTENT + y) * EXTENT + z];
                *element = element.max((-squares / (2.0 * SIGMA * SIGMA)).exp());
            }
        }
    }
    made
}
