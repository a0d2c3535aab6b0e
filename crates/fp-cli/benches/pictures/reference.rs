//! Features by a flood fill over single elements, and ids by the rule of docs/features.md: nothing of the analysis is in it.

use std::collections::BTreeMap;

use crate::script::{EVENTS, EXTENT, STEPS, field};

const THRESHOLD: f64 = 0.5;
/// An element that is in no feature.
const NONE: u32 = u32::MAX;

/// Which id is met first along the first dimension, at each place of the others.
pub(crate) type Map = Vec<Option<u64>>;

/// The features of the step before.
pub(crate) struct Reference {
    labels: Vec<u32>,
    ids: Vec<u64>,
    next: u64,
}

impl Reference {
    /// The steps in which something happens, with their maps. And how many events there are after the first step.
    pub(crate) fn run() -> (Vec<(u64, Map)>, usize) {
        let mut reference = Self { labels: Vec::new(), ids: Vec::new(), next: 1 };
        let (mut maps, mut all) = (Vec::new(), 0);
        for step in 0..STEPS {
            let events = reference.take(&field(step));
            all += if step > 0 { events } else { 0 };
            if events > 0 {
                maps.push((step, reference.map()));
            }
        }
        assert_eq!(all, EVENTS, "the script");
        (maps, all)
    }

    /// How many events there are: each feature that is new, and each of before that is no more.
    fn take(&mut self, elements: &[f64]) -> usize {
        let (labels, count) = labelled(elements);
        let mut shared = BTreeMap::<(u32, u32), u64>::new();
        for pair in self.labels.iter().copied().zip(labels.iter().copied()) {
            if pair.0 != NONE && pair.1 != NONE {
                *shared.entry(pair).or_default() += 1;
            }
        }
        let mut pairs: Vec<((u32, u32), u64)> = shared.into_iter().collect();
        pairs.sort_by_key(|&((before, now), elements)| {
            (std::cmp::Reverse(elements), self.ids[before as usize], now)
        });
        let mut ids: Vec<Option<u64>> = vec![None; count as usize];
        let mut kept = vec![false; self.ids.len()];
        for ((before, now), _) in pairs {
            if ids[now as usize].is_none() && !kept[before as usize] {
                (ids[now as usize], kept[before as usize]) = (Some(self.ids[before as usize]), true);
            }
        }
        let events =
            ids.iter().filter(|id| id.is_none()).count() + kept.iter().filter(|kept| !**kept).count();
        let mut new = || {
            self.next += 1;
            self.next - 1
        };
        self.ids = ids.into_iter().map(|id| id.unwrap_or_else(&mut new)).collect();
        self.labels = labels;
        events
    }

    fn map(&self) -> Map {
        let plane = EXTENT * EXTENT;
        let first = |place: usize| {
            let along = (0..EXTENT).map(|at| self.labels[at * plane + place]);
            along.into_iter().find(|&label| label != NONE).map(|label| self.ids[label as usize])
        };
        (0..plane).map(first).collect()
    }
}

/// The feature of each element, by first elements in row-major order, and how many there are.
fn labelled(elements: &[f64]) -> (Vec<u32>, u32) {
    let (mut labels, mut count) = (vec![NONE; elements.len()], 0);
    for first in 0..elements.len() {
        if elements[first] > THRESHOLD && labels[first] == NONE {
            labels[first] = count;
            let mut open = vec![first];
            while let Some(at) = open.pop() {
                for beside in beside(at) {
                    if elements[beside] > THRESHOLD && labels[beside] == NONE {
                        labels[beside] = count;
                        open.push(beside);
                    }
                }
            }
            count += 1;
        }
    }
    (labels, count)
}

/// The elements that share a face with one.
fn beside(at: usize) -> impl Iterator<Item = usize> {
    [EXTENT * EXTENT, EXTENT, 1].into_iter().flat_map(move |stride| {
        let place = at / stride % EXTENT;
        let before = (place > 0).then(|| at - stride);
        before.into_iter().chain((place + 1 < EXTENT).then(|| at + stride))
    })
}
