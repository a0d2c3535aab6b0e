//! Labels a range of planes: finds its regions, and keeps them for the step that follows.

use fp_transform::ExactMoments;

use crate::extrema::Extrema;
use crate::forest::{Forest, Winding};
use crate::grid::{Grid, LIMIT_DIMENSIONS};
use crate::map::RegionMap;
use crate::overlap::overlaps;
use crate::part::{ExactBytes, Part, RegionPart};
use crate::plane::{Joining, Rows, Run};
use crate::slab::{Labels, PlaneRange};
use crate::spread::Spread;
use crate::threshold::Threshold;

/// Labels one rank's range of planes, step by step.
#[derive(Debug)]
pub struct Labeller {
    threshold: Threshold,
    before: Option<Labels>,
}

impl Labeller {
    /// Of elements that compare so.
    pub fn new(threshold: Threshold) -> Self {
        Self { threshold, before: None }
    }

    /// Forgets the step before: nothing is shared with it.
    pub fn forget(&mut self) {
        self.before = None;
    }

    /// What is seen of the regions that were labelled last.
    pub(crate) fn map(&self, grid: &Grid) -> RegionMap {
        self.before.as_ref().map(|labels| RegionMap::of(grid, labels.slab, &labels.rows)).unwrap_or_default()
    }

    /// Labels the elements of a range of planes, which lie in row-major order. Those that are missing count as NaN.
    pub fn label(&mut self, step: u64, grid: &Grid, slab: PlaneRange, elements: &[f64]) -> Part {
        let mut rows = self.scan(grid, slab, elements);
        let mut forest = join_all(grid, slab, &rows);
        let count = name_regions(&mut forest, &mut rows);
        let regions = Measuring { grid, slab, elements }.regions(&rows, count, &forest);
        let (faces, extents) = (faces(grid, slab, &rows), grid.extents().to_vec());
        let now = Labels { step, extents: extents.clone(), slab, rows };
        let shared = self.before.as_ref().map(|before| overlaps(before, &now)).unwrap_or_default();
        let before = self.before.replace(now).map(|before| before.step);
        let PlaneRange { first, planes } = slab;
        Part { step, extents, first, planes, regions, faces, before, overlaps: shared }
    }

    fn scan(&self, grid: &Grid, slab: PlaneRange, elements: &[f64]) -> Rows {
        let (mut rows, mut node, len) = (Rows::new(), 0, grid.row_len() as usize);
        for row in 0..slab.planes as usize * grid.plane_rows() {
            let elements = elements.get(row * len..(row + 1) * len).unwrap_or_default();
            self.threshold.for_each_run(elements, |start, end| {
                rows.push(Run { start: start as u32, end: end as u32, node, winding: Winding::default() });
                node += 1;
            });
            rows.end_row();
        }
        rows
    }
}

fn join_all(grid: &Grid, slab: PlaneRange, rows: &Rows) -> Forest {
    let (mut forest, joining) = (Forest::new(rows.runs().len()), Joining::new(grid));
    for plane in 0..slab.planes as usize {
        let first = plane * grid.plane_rows();
        joining.join_within(&mut forest, rows, first);
        if plane > 0 {
            joining.join_across(&mut forest, (rows, first - grid.plane_rows()), (rows, first), 0);
        }
    }
    forest
}

/// Gives each run the number of its region, counted by first elements, and its move. Says which nodes are roots.
fn name_regions(forest: &mut Forest, rows: &mut Rows) -> Vec<u32> {
    let (mut roots, mut names) = (Vec::new(), vec![0; rows.runs().len()]);
    for (node, run) in rows.runs_mut().iter_mut().enumerate() {
        let (root, winding) = forest.find(node as u32);
        if root as usize == node {
            names[node] = roots.len() as u32;
            roots.push(root);
        }
        // A root is the lowest of its nodes, so it has its name.
        (run.node, run.winding) = (names[root as usize], winding);
    }
    roots
}

fn faces(grid: &Grid, slab: PlaneRange, rows: &Rows) -> [Rows; 2] {
    let (count, plane_rows) = (rows.len(), grid.plane_rows());
    if slab.planes == 0 {
        return [Rows::new(), Rows::new()];
    }
    [rows.part(0..plane_rows), rows.part(count - plane_rows..count)]
}

/// Measures regions.
struct Measuring<'a> {
    grid: &'a Grid,
    slab: PlaneRange,
    elements: &'a [f64],
}

impl Measuring<'_> {
    fn regions(&self, rows: &Rows, roots: Vec<u32>, forest: &Forest) -> Vec<RegionPart> {
        let (starts, runs) = by_region(rows, roots.len());
        let one = |(region, root): (usize, u32)| {
            self.region(rows, &runs[starts[region]..starts[region + 1]], forest.wraps(root))
        };
        roots.into_iter().enumerate().map(one).collect()
    }

    /// Of its runs, which are some, each with its row.
    fn region(&self, rows: &Rows, runs: &[(u32, u32)], wraps: u8) -> RegionPart {
        let (mut moved, mut placed, mut values) = (Spread::NONE, Spread::NONE, ExactMoments::default());
        let mut extrema: Option<Extrema> = None;
        let mut first = u64::MAX;
        for &(row, run) in runs {
            let run = &rows.runs()[run as usize];
            let (spread, at) = self.spread(row, run);
            placed.add(&spread);
            moved.add(&spread.moved(self.moves(run.winding)));
            let number = self.slab.first * self.grid.plane_len() + at as u64;
            first = first.min(number);
            for (&element, number) in
                self.elements[at..][..(run.end - run.start) as usize].iter().zip(number..)
            {
                values.add(element);
                let one = Extrema::of(element, number);
                extrema.get_or_insert(one).merge(&one);
            }
        }
        let extrema = extrema.unwrap_or(Extrema::of(f64::NAN, first));
        RegionPart { moved, placed, wraps, first, extrema, values: ExactBytes::of(&values) }
    }

    /// Where the elements of a run lie, and the place of the first one in the range of planes.
    fn spread(&self, row: u32, run: &Run) -> (Spread, usize) {
        let at = u64::from(row) * self.grid.row_len() + u64::from(run.start);
        let mut place = [0; LIMIT_DIMENSIONS];
        let coordinates = self.grid.place(self.slab.first * self.grid.plane_len() + at);
        place.iter_mut().zip(coordinates).for_each(|(place, at)| *place = at as i64);
        (Spread::of_run(place, self.grid.ndims() - 1, run.end - run.start), at as usize)
    }

    fn moves(&self, winding: Winding) -> [i64; LIMIT_DIMENSIONS] {
        moves(self.grid, winding)
    }
}

/// By how many elements coordinates are moved.
pub(crate) fn moves(grid: &Grid, winding: Winding) -> [i64; LIMIT_DIMENSIONS] {
    let extent = |dim: usize| grid.extents().get(dim).map_or(0, |&extent| extent as i64);
    std::array::from_fn(|dim| i64::from(winding.0[dim]).wrapping_mul(extent(dim)))
}

/// The rows and runs of each region, in their order, and where those of each begin.
fn by_region(rows: &Rows, regions: usize) -> (Vec<usize>, Vec<(u32, u32)>) {
    let mut starts = vec![0; regions + 1];
    rows.runs().iter().for_each(|run| starts[run.node as usize + 1] += 1);
    (0..regions).for_each(|region| starts[region + 1] += starts[region]);
    let (mut next, mut found) = (starts.clone(), vec![(0, 0); rows.runs().len()]);
    for row in 0..rows.len() {
        for run in rows.span(row) {
            let place = &mut next[rows.runs()[run].node as usize];
            found[*place] = (row as u32, run as u32);
            *place += 1;
        }
    }
    (starts, found)
}
