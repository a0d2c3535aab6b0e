//! A feature: what is known of a region of neighbouring elements that compare so.

use fp_transform::ExactMoments;

use crate::extrema::Extrema;
use crate::grid::Grid;
use crate::spread::Spread;

/// A connected region of an array, as it is in one step. Numbers are the same to the bit, however the array was cut.
///
/// Coordinates count elements from 0, one for each dimension. In periodic dimensions a region that lies across the end is
/// seen as one piece. Its centroid lies within the array, and its box may reach beyond. A region that leads all around
/// such a dimension has no place in it. Its centroid, box and covariance are those of the coordinates as they are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Feature {
    /// Its first element, in row-major order. Features are sorted by it.
    pub first: Vec<u64>,
    /// How many elements it has.
    pub volume: u64,
    /// The mean of their coordinates.
    pub centroid: Vec<f64>,
    /// The lowest coordinates.
    pub low: Vec<u64>,
    /// Behind the highest: in periodic dimensions they may be beyond the array's extent.
    pub high: Vec<u64>,
    /// The covariances of coordinates, of all elements (not of a sample): a row for each dimension.
    pub covariance: Vec<f64>,
    /// Whether it leads around that dimension.
    pub wraps: Vec<bool>,
    /// The least of its elements.
    pub min: f64,
    /// The place of the first such element.
    pub min_place: Vec<u64>,
    /// The greatest of its elements.
    pub max: f64,
    /// The place of the first such element.
    pub max_place: Vec<u64>,
    /// The element that is furthest beyond the threshold: the greatest where what counts is above, else the least.
    pub peak: f64,
    /// The place of the first such element.
    pub peak_place: Vec<u64>,
    /// The mean of its elements.
    pub mean: f64,
    /// Their variance, of all elements (not of a sample).
    pub variance: f64,
}

/// The features of one step, and which regions of which rank they are of.
pub(crate) struct Merged {
    pub(crate) features: Vec<Feature>,
    /// By rank and region, the place of the feature.
    pub(crate) of_region: Vec<Vec<u32>>,
}

/// What features are made of.
pub(crate) struct Whole {
    pub(crate) moved: Spread,
    pub(crate) placed: Spread,
    pub(crate) wraps: u8,
    pub(crate) first: u64,
    pub(crate) extrema: Extrema,
    /// Whether the greatest element is the peak, and not the least.
    pub(crate) is_above: bool,
}

impl Feature {
    pub(crate) fn new(grid: &Grid, whole: &Whole, values: &ExactMoments) -> Self {
        let spread = if whole.wraps == 0 { &whole.moved } else { &whole.placed };
        let period = |dim: usize| (grid.is_periodic(dim) && whole.wraps == 0).then(|| grid.extents()[dim]);
        let dims = 0..grid.ndims();
        // The box is moved by whole extents until its lower end lies in the array.
        let low = |dim: usize| {
            period(dim).map_or(spread.low[dim], |period| {
                spread.low[dim].checked_rem_euclid(period as i64).unwrap_or(0)
            })
        };
        let high =
            |dim| low(dim).saturating_add((spread.high[dim].wrapping_sub(spread.low[dim])).clamp(0, 1 << 40));
        let Extrema { min, min_at, max, max_at } = whole.extrema;
        let (peak, peak_at) = if whole.is_above { (max, max_at) } else { (min, min_at) };
        let pairs = dims.clone().flat_map(|one| dims.clone().map(move |other| (one, other)));
        Self {
            first: grid.place(whole.first),
            volume: spread.count,
            centroid: dims.clone().map(|dim| spread.mean(dim, period(dim))).collect(),
            low: dims.clone().map(|dim| low(dim).max(0) as u64).collect(),
            high: dims.clone().map(|dim| high(dim).max(0) as u64).collect(),
            covariance: pairs.map(|(one, other)| spread.covariance(one, other)).collect(),
            wraps: dims.map(|dim| whole.wraps >> dim & 1 == 1).collect(),
            min,
            min_place: grid.place(min_at),
            max,
            max_place: grid.place(max_at),
            peak,
            peak_place: grid.place(peak_at),
            mean: values.mean(),
            variance: values.variance(),
        }
    }
}
