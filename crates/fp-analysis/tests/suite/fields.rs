//! Random fields, and how they are cut and analysed.

use fp_analysis::{Column, Grid, Labeller, Merger, Part, PlaneRange, Threshold, TrackedStep};
use proptest::prelude::*;

use crate::oracle::Field;
use fp_analysis::Neighbours;

/// Small fields with numbers that are often equal, and now and then none.
pub(crate) fn field() -> impl Strategy<Value = Field> {
    let extents = prop::collection::vec(1u64..6, 2..=4);
    let neighbours = prop::sample::select(vec![Neighbours::Faces, Neighbours::All]);
    (extents, neighbours, prop::collection::vec(any::<bool>(), 4)).prop_flat_map(
        |(extents, neighbours, periodic)| {
            let len = extents.iter().product::<u64>() as usize;
            let element = prop_oneof![
                8 => (-3i32..4).prop_map(|number| f64::from(number) * 1.1),
                1 => Just(f64::NAN),
                1 => Just(1e12),
            ];
            let periodic = (0..extents.len()).filter(|&dim| periodic[dim]).collect::<Vec<_>>();
            prop::collection::vec(element, len).prop_map(move |elements| Field {
                extents: extents.clone(),
                periodic: periodic.clone(),
                neighbours,
                elements,
            })
        },
    )
}

/// An analysis in so many ranges of planes.
pub(crate) struct Analysis {
    threshold: Threshold,
    labellers: Vec<Labeller>,
    merger: Merger,
    step: u64,
}

impl Analysis {
    pub(crate) fn new(threshold: &Threshold, ranks: usize) -> Self {
        Self {
            threshold: threshold.clone(),
            labellers: (0..ranks).map(|_| Labeller::new(threshold.clone())).collect(),
            merger: Merger::new(threshold.clone(), (Column::Volume, Column::Peak)),
            step: 0,
        }
    }

    /// Where ranges of planes begin: so many planes for each rank but the last, which has what is left.
    pub(crate) fn slabs(&self, planes: &[u64], extent: u64) -> Vec<PlaneRange> {
        let mut first = 0;
        let one = |rank: usize| {
            let left = extent - first;
            let planes = if rank + 1 == self.labellers.len() { left } else { planes[rank].min(left) };
            first += planes;
            PlaneRange { first: first - planes, planes }
        };
        (0..self.labellers.len()).map(one).collect()
    }

    /// Takes the next step, by way of bytes.
    pub(crate) fn take(&mut self, field: &Field, planes: &[u64]) -> TrackedStep {
        let grid = Grid::new(&field.extents, field.neighbours, &field.periodic).expect("a grid");
        let slabs = self.slabs(planes, field.extents[0]);
        let plane = field.extents[1..].iter().product::<u64>() as usize;
        self.step += 1;
        let mut parts = Vec::new();
        for (rank, (slab, labeller)) in slabs.iter().zip(&mut self.labellers).enumerate() {
            let elements = &field.elements[slab.first as usize * plane..][..slab.planes as usize * plane];
            let part = labeller.label(self.step, &grid, *slab, elements);
            parts.push(Part::decode(rank, &part.encode()).expect("as it was encoded"));
        }
        assert_eq!(self.threshold.variable(), "x");
        self.merger.merge(&grid, &parts).expect("parts of one step")
    }
}
