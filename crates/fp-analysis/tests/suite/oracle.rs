//! The slowest obvious way to features: a flood fill over single elements, and sums as they are defined.

use std::collections::{BTreeMap, VecDeque};

use fp_analysis::{Neighbours, Threshold};

/// What a flood fill finds of one feature.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    pub(crate) first: Vec<u64>,
    /// Its elements, each with the coordinates by which it was reached.
    pub(crate) places: Vec<(Vec<u64>, Vec<i64>)>,
    pub(crate) values: Vec<f64>,
    pub(crate) wraps: Vec<bool>,
}

/// An array, and how it is looked at.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) extents: Vec<u64>,
    pub(crate) periodic: Vec<usize>,
    pub(crate) neighbours: Neighbours,
    pub(crate) elements: Vec<f64>,
}

impl Field {
    pub(crate) fn place(&self, mut number: usize) -> Vec<u64> {
        let mut place = vec![0; self.extents.len()];
        for dim in (0..place.len()).rev() {
            place[dim] = number as u64 % self.extents[dim];
            number /= self.extents[dim] as usize;
        }
        place
    }

    fn number(&self, place: &[u64]) -> usize {
        place
            .iter()
            .zip(&self.extents)
            .fold(0, |number, (at, extent)| number * *extent as usize + *at as usize)
    }

    /// The neighbours of a place, as they are reached: within the array or around its ends.
    fn beside(&self, place: &[i64]) -> Vec<Vec<i64>> {
        let mut steps: Vec<Vec<i64>> = vec![Vec::new()];
        for _ in place {
            steps = steps
                .into_iter()
                .flat_map(|step| [-1, 0, 1].map(|by| step.iter().copied().chain([by]).collect()))
                .collect();
        }
        let is_one = |step: &Vec<i64>| match step.iter().filter(|&&by| by != 0).count() {
            0 => false,
            moved => self.neighbours == Neighbours::All || moved == 1,
        };
        let moved = |step: Vec<i64>| -> Vec<i64> { place.iter().zip(step).map(|(at, by)| at + by).collect() };
        let is_there = |place: &Vec<i64>, from: &[i64]| {
            (0..place.len()).all(|dim| {
                let extent = self.extents[dim] as i64;
                self.periodic.contains(&dim) || place[dim].div_euclid(extent) == from[dim].div_euclid(extent)
            })
        };
        steps.into_iter().filter(is_one).map(moved).filter(|beside| is_there(beside, place)).collect()
    }

    fn wrapped(&self, place: &[i64]) -> Vec<u64> {
        place.iter().zip(&self.extents).map(|(at, extent)| at.rem_euclid(*extent as i64) as u64).collect()
    }

    /// All features, by their first elements, and which element is of which.
    pub(crate) fn flood(&self, threshold: &Threshold) -> (Vec<Filled>, BTreeMap<usize, usize>) {
        let (mut found, mut of) = (Vec::<Filled>::new(), BTreeMap::new());
        for number in 0..self.elements.len() {
            if threshold.holds(self.elements[number]) && !of.contains_key(&number) {
                let filled = self.fill(number, threshold);
                for (place, _) in &filled.places {
                    of.insert(self.number(place), found.len());
                }
                found.push(filled);
            }
        }
        (found, of)
    }

    fn fill(&self, first: usize, threshold: &Threshold) -> Filled {
        let place = self.place(first);
        let mut wraps = vec![false; place.len()];
        let mut reached: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        let start: Vec<i64> = place.iter().map(|&at| at as i64).collect();
        let mut next = VecDeque::from([start.clone()]);
        reached.insert(first, start);
        while let Some(from) = next.pop_front() {
            for beside in self.beside(&from) {
                let number = self.number(&self.wrapped(&beside));
                match reached.get(&number) {
                    _ if !threshold.holds(self.elements[number]) => {}
                    Some(before) => (0..wraps.len()).for_each(|dim| wraps[dim] |= before[dim] != beside[dim]),
                    None => {
                        reached.insert(number, beside.clone());
                        next.push_back(beside);
                    }
                }
            }
        }
        let places = reached.iter().map(|(number, way)| (self.place(*number), way.clone())).collect();
        let values = reached.keys().map(|&number| self.elements[number]).collect();
        Filled { first: place, places, values, wraps }
    }
}

impl Filled {
    /// The coordinates that its sums are of.
    pub(crate) fn coordinates(&self) -> Vec<Vec<f64>> {
        let wraps = self.wraps.contains(&true);
        let one = |(place, way): &(Vec<u64>, Vec<i64>)| match wraps {
            true => place.iter().map(|&at| at as f64).collect(),
            false => way.iter().map(|&at| at as f64).collect(),
        };
        self.places.iter().map(one).collect()
    }
}
