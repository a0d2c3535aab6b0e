//! A part of a global array where its publishers have it, so that it is written without a copy before.

use fp_core::{ArrayKind, MemoryOrder, ReadError, Region, StepReader, View};

use crate::part::Part;
use crate::taken_step::{TakenStep, TakenVariable};

/// A part of more pieces is copied together first.
const MOST: usize = 256;
/// So is one whose elements follow one another in fewer bytes than these.
const LEAST_RUN: u64 = 2 << 10;

/// A region of a global array, where it lies.
pub(crate) struct Piece {
    pub(crate) region: Region,
    /// Its elements in row-major order.
    pub(crate) view: View<u8>,
}

/// The pieces of a part; none if it is not worth it, or if one is elsewhere: that is noted, and not tried again.
pub(crate) fn of(
    reader: &StepReader,
    step: &TakenStep,
    part: &Part,
    is_elsewhere: &mut bool,
) -> Result<Option<Vec<Piece>>, ReadError> {
    let variable = &step.variables[part.variable];
    if *is_elsewhere || part.block.is_some() || !lies_as_it_is_written(variable) {
        return Ok(None);
    }
    let blocks = reader.blocks(&variable.def.name)?;
    let common = |(_, block)| part.region.intersection(&block).filter(|common| !common.is_empty());
    let regions: Vec<Region> = blocks.into_iter().filter_map(common).collect();
    let (shape, size) = (variable.shape.unwrap_or_default(), variable.element_bytes().unwrap_or(0) as u64);
    if !are_worth_it(shape.dims(), &part.region, &regions, size) {
        return Ok(None);
    }
    let mut pieces = Vec::new();
    for region in regions {
        let (_, view) = reader.view_bytes(&variable.def.name, region)?;
        if !view.is_zero_copy() {
            *is_elsewhere = true;
            return Ok(None);
        }
        pieces.push(Piece { region, view });
    }
    Ok(Some(pieces))
}

fn lies_as_it_is_written(variable: &TakenVariable) -> bool {
    let def = &variable.def;
    let is_plain = variable.records.is_none() && variable.dtype == def.dtype;
    is_plain
        && def.kind == ArrayKind::GlobalArray
        && (def.order == MemoryOrder::RowMajor || def.dimensions.len() < 2)
}

/// Whether regions are all of a part of an array, each place in one of them, in runs that are not too short.
fn are_worth_it(shape: &[u64], part: &Region, regions: &[Region], size: u64) -> bool {
    let is_apart = |at: usize| regions[..at].iter().all(|other| !other.overlaps(&regions[at]));
    regions.len() <= MOST
        && regions.iter().map(Region::element_count).sum::<u64>() == part.element_count()
        && regions.iter().all(|region| run(shape, region) * size >= LEAST_RUN)
        && (0..regions.len()).all(is_apart)
}

/// How many elements of a region follow one another in its array.
fn run(shape: &[u64], region: &Region) -> u64 {
    let mut run = 1;
    for (extent, count) in shape.iter().zip(region.count().iter()).rev() {
        run *= count;
        if count != extent {
            break;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: [u64; 2], count: [u64; 2]) -> Region {
        Region::new(start, count).unwrap()
    }

    #[test]
    fn pieces_are_all_of_a_part_and_no_place_twice() {
        let (shape, part) = ([20, 1024], region([4, 0], [8, 1024]));
        let halves = [region([4, 0], [8, 512]), region([4, 512], [8, 512])];
        assert!(are_worth_it(&shape, &part, &halves, 8));
        assert!(!are_worth_it(&shape, &part, &halves[..1], 8), "a gap");
        let overlapping = [halves[0], region([4, 256], [8, 512])];
        assert!(!are_worth_it(&shape, &part, &overlapping, 8), "as many elements, but some twice");
        assert!(!are_worth_it(&shape, &part, &halves, 1), "short runs");
        assert!(are_worth_it(&shape, &part, &[part], 1), "all of it is one run");
        let column = region([4, 0], [8, 512]);
        assert_eq!([run(&shape, &part), run(&shape, &column), run(&[], &part)], [8 * 1024, 512, 1]);
    }
}
