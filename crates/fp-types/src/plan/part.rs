//! Some elements of an array: what a piece takes from its block, or what is missing.

use serde::{Deserialize, Serialize};

use crate::dims::Dims;
use crate::region::Region;
use crate::runs::{CopyError, DenseArray, Run, RunSeries, Runs, RunsError, copy_runs};
use crate::stride::StridedRegion;

/// Some elements of an array, in global coordinates (of a local array: in those of its block).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Part {
    /// All elements of a region.
    Region(Region),
    /// Every k-th element of a region.
    Strided(StridedRegion),
    /// Single elements, in the order of the selection.
    Points(Vec<SelectedPoint>),
}

/// One point of a selection of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SelectedPoint {
    /// Its place in the selection, and so in the subscriber's array.
    pub position: u64,
    /// Where it lies in the array.
    pub point: Dims,
}

impl Part {
    /// A region where the stride is 1 throughout.
    pub(super) fn of(elements: StridedRegion) -> Self {
        if elements.is_dense() { Self::Region(*elements.region()) } else { Self::Strided(elements) }
    }

    /// How many elements there are.
    pub fn element_count(&self) -> u64 {
        match self {
            Self::Region(region) => region.element_count(),
            Self::Strided(strided) => strided.element_count(),
            Self::Points(points) => points.len() as u64,
        }
    }

    /// The elements as a strided region; none for points.
    pub fn as_strided(&self) -> Option<StridedRegion> {
        match self {
            Self::Region(region) => Some(StridedRegion::dense(*region)),
            Self::Strided(strided) => Some(*strided),
            Self::Points(_) => None,
        }
    }

    /// The runs from a source to a destination that holds the elements; points go to their places in the
    /// selection instead, whatever the destination.
    pub(super) fn runs(
        &self,
        source: &DenseArray,
        destination: &DenseArray,
    ) -> Result<PartRuns<'_>, RunsError> {
        let elements = match self {
            Self::Region(region) => StridedRegion::dense(*region),
            Self::Strided(strided) => *strided,
            Self::Points(points) => return Ok(PartRuns::Points { source: *source, points }),
        };
        Runs::between(source, destination, &elements).map(PartRuns::Elements)
    }

    /// Writes one element's bytes to all places of a (strided) region. The destination was checked to be long
    /// enough.
    pub(super) fn fill(
        &self,
        array: &DenseArray,
        destination: &mut [u8],
        element: &[u8],
    ) -> Result<(), CopyError> {
        let Some(elements) = self.as_strided() else {
            return Ok(());
        };
        for run in Runs::between(array, array, &elements)?.iter() {
            let start = run.destination_offset as usize * element.len();
            let places = &mut destination[start..start + run.len as usize * element.len()];
            places.chunks_exact_mut(element.len().max(1)).for_each(|place| place.copy_from_slice(element));
        }
        Ok(())
    }
}

/// Writes one element's bytes to the places of missing points.
pub(super) fn fill_points(gaps: &[Part], destination: &mut [u8], element: &[u8]) -> Result<(), CopyError> {
    let len_bytes = destination.len();
    for gap in gaps {
        let Part::Points(points) = gap else { continue };
        for point in points {
            let needed_bytes = (u128::from(point.position) + 1) * element.len() as u128;
            let end = usize::try_from(needed_bytes).ok();
            let place = end.and_then(|end| destination.get_mut(end - element.len()..end));
            place.ok_or(CopyError::DestinationTooShort { needed_bytes, len_bytes })?.copy_from_slice(element);
        }
    }
    Ok(())
}

/// The runs of one piece.
#[derive(Clone, Copy, Debug)]
pub enum PartRuns<'a> {
    /// Of a (strided) region.
    Elements(Runs),
    /// Of points: one run of one element each.
    Points {
        /// The block's memory.
        source: DenseArray,
        /// The points. Each goes to its place in the selection.
        points: &'a [SelectedPoint],
    },
}

impl<'a> PartRuns<'a> {
    /// The runs as series of equal distance. Offsets at the destination count from the piece's
    /// `destination_offset`.
    pub fn series(&self) -> impl Iterator<Item = RunSeries> + use<'a> {
        let (elements, points) = match *self {
            Self::Elements(runs) => (Some(runs.series()), None),
            Self::Points { source, points } => (None, Some(point_series(source, points))),
        };
        elements.into_iter().flatten().chain(points.into_iter().flatten())
    }

    /// Copies all runs. `element_size` is in bytes. On an error nothing was written.
    pub fn copy(&self, source: &[u8], destination: &mut [u8], element_size: usize) -> Result<(), CopyError> {
        match self {
            Self::Elements(runs) => copy_runs(source, destination, element_size, runs),
            Self::Points { .. } => copy_points(self, source, destination, element_size),
        }
    }
}

/// One series of one run for each point that the source holds; the plan names no others.
fn point_series(source: DenseArray, points: &[SelectedPoint]) -> impl Iterator<Item = RunSeries> + '_ {
    points.iter().filter_map(move |point| {
        let first =
            Run { source_offset: source.offset(&point.point)?, destination_offset: point.position, len: 1 };
        Some(RunSeries { first, count: 1, source_stride: 0, destination_stride: 0 })
    })
}

/// Copies points one by one, once all of them are known to lie inside both slices.
fn copy_points(
    runs: &PartRuns<'_>,
    source: &[u8],
    destination: &mut [u8],
    element_size: usize,
) -> Result<(), CopyError> {
    let ends = runs.series().fold((0, 0), |(source, destination), series| {
        (source.max(series.first.source_offset + 1), destination.max(series.first.destination_offset + 1))
    });
    crate::runs::check_lengths(source.len(), destination.len(), element_size, ends)?;
    for RunSeries { first, .. } in runs.series() {
        let from = first.source_offset as usize * element_size;
        let to = first.destination_offset as usize * element_size;
        destination[to..to + element_size].copy_from_slice(&source[from..from + element_size]);
    }
    Ok(())
}
