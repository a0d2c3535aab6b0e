//! A map of the features of a step: which one is met first at each place of the last two dimensions.

use crate::grid::Grid;
use crate::part::PartError;
use crate::plane::Rows;
use crate::slab::PlaneRange;

/// Bytes of a number.
const WORD: usize = size_of::<u32>();

/// Which feature is met first, from the first plane on, at each place of the last two dimensions. Of an array with two
/// dimensions these are its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeatureMap {
    /// The extents of the last two dimensions.
    pub shape: [usize; 2],
    /// The feature's id at each place, in row-major order.
    pub ids: Vec<Option<u64>>,
}

impl FeatureMap {
    /// Of the maps of all ranks, by rank: those of lower ranks come first.
    pub(crate) fn of(grid: &Grid, maps: &[RegionMap], id: impl Fn(usize, u32) -> Option<u64>) -> Self {
        let shape = shape(grid);
        let mut ids = vec![None; shape[0] * shape[1]];
        for (rank, map) in maps.iter().enumerate() {
            for &[place, len, region] in &map.runs {
                let seen = ids.iter_mut().skip(place as usize).take(len as usize);
                let id = id(rank, region);
                seen.filter(|seen| seen.is_none()).for_each(|seen| *seen = id);
            }
        }
        Self { shape, ids }
    }
}

/// Which region of a range of planes is met first at each place: what a rank hands over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegionMap {
    /// The first place, how many follow one another, and their region.
    runs: Vec<[u32; 3]>,
}

fn shape(grid: &Grid) -> [usize; 2] {
    let extents = grid.extents();
    let last = |from_end: usize| extents.len().checked_sub(from_end).map_or(1, |dim| extents[dim] as usize);
    [last(2), last(1)]
}

impl RegionMap {
    pub(crate) fn of(grid: &Grid, slab: PlaneRange, rows: &Rows) -> Self {
        let [down, across] = shape(grid);
        let mut met: Vec<Option<u32>> = vec![None; down * across];
        let before = slab.first as usize * grid.plane_rows();
        for row in 0..rows.len() {
            let first = (before + row) % down.max(1) * across;
            for run in rows.row(row) {
                let seen = met[first..first + across][run.start as usize..run.end as usize].iter_mut();
                seen.filter(|seen| seen.is_none()).for_each(|seen| *seen = Some(run.node));
            }
        }
        let mut runs: Vec<[u32; 3]> = Vec::new();
        for (place, region) in (0u32..).zip(met).filter_map(|(place, region)| Some((place, region?))) {
            match runs.last_mut() {
                Some([first, len, of]) if *of == region && *first + *len == place => *len += 1,
                _ => runs.push([place, 1, region]),
            }
        }
        Self { runs }
    }

    /// How many runs, and then each.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let count = [self.runs.len() as u32];
        count.iter().chain(self.runs.iter().flatten()).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Takes what `bytes` begin with, and gives what is left.
    pub(crate) fn decode(rank: usize, bytes: &[u8]) -> Result<(Self, &[u8]), PartError> {
        let wrong = || PartError::Bytes { rank, what: "their map is cut off" };
        let (count, rest) = bytes.split_first_chunk::<WORD>().ok_or_else(wrong)?;
        let len = (u32::from_le_bytes(*count) as usize).checked_mul(3 * WORD).ok_or_else(wrong)?;
        let (runs, rest) = rest.split_at_checked(len).ok_or_else(wrong)?;
        let (words, _) = runs.as_chunks::<WORD>();
        let (runs, _) = words.as_chunks::<3>();
        Ok((Self { runs: runs.iter().map(|run| run.map(u32::from_le_bytes)).collect() }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Neighbours;
    use crate::label::Labeller;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the cut: at each place the first element along the leading dimensions that counts, found by a walk.
        #[test]
        fn what_is_met_first_is_seen(
            extents in prop::collection::vec(1u64..5, 2..5),
            counts in prop::collection::vec(any::<bool>(), 256),
            ranks in 1u32..4,
        ) {
            let grid = Grid::new(&extents, Neighbours::Faces, &[]).expect("a grid");
            let elements: Vec<f64> = counts.iter().map(|&counts| f64::from(u8::from(counts))).collect();
            let all = extents.iter().product::<u64>() as usize;
            let (mut maps, mut firsts) = (Vec::new(), Vec::new());
            for rank in 0..ranks {
                let slab = PlaneRange::of_rank(rank, ranks, extents[0]);
                let begin = (slab.first * grid.plane_len()) as usize;
                let own = &elements[begin..begin + (slab.planes * grid.plane_len()) as usize];
                let mut labeller = Labeller::new("x > 0".parse().expect("a threshold"));
                let part = labeller.label(0, &grid, slab, own);
                firsts.push(part.regions.iter().map(|region| region.first).collect::<Vec<_>>());
                let bytes = labeller.map(&grid).encode();
                prop_assert!(RegionMap::decode(0, &bytes[..bytes.len() - 1]).is_err());
                let (map, rest) = RegionMap::decode(0, &bytes).expect("its own bytes");
                prop_assert!(rest.is_empty());
                maps.push(map);
            }
            let map = FeatureMap::of(&grid, &maps, |rank, region| Some(firsts[rank][region as usize]));
            let [down, across] = map.shape;
            for (place, id) in map.ids.iter().enumerate() {
                let mut column = (0..all / (down * across)).map(|plane| plane * down * across + place);
                let met = column.find(|&element| counts[element]);
                prop_assert_eq!(id.is_some(), met.is_some());
                // Its region is that of the rank which has the element.
                let (Some(id), Some(met)) = (id, met) else { continue };
                let plane = |element: u64| element / grid.plane_len();
                let rank = |element| (0..ranks).rfind(|&rank| {
                    PlaneRange::of_rank(rank, ranks, extents[0]).first <= plane(element)
                        && PlaneRange::of_rank(rank, ranks, extents[0]).planes > 0
                });
                prop_assert_eq!(rank(*id), rank(met as u64));
                prop_assert!(*id <= met as u64);
            }
        }
    }
}
