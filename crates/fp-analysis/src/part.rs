//! What one rank found in its planes of a step: regions, and the faces by which they go on in other ranges of planes. And how many
//! elements they share with regions of the step before.

use fp_transform::ExactMoments;

use crate::extrema::Extrema;
use crate::plane::Rows;
use crate::spread::Spread;

/// A region of one range of planes.
#[derive(Clone, Debug)]
pub(crate) struct RegionPart {
    /// Where its elements lie, moved so that they lie side by side across the ends of periodic dimensions.
    pub(crate) moved: Spread,
    /// Where they lie in the array.
    pub(crate) placed: Spread,
    /// The dimensions that it leads around, as bits.
    pub(crate) wraps: u8,
    /// The number of its first element, in row-major order of the whole array.
    pub(crate) first: u64,
    /// Its least element and its greatest.
    pub(crate) extrema: Extrema,
    /// The elements themselves.
    pub(crate) values: ExactBytes,
}

/// Moments as bytes: many regions have few elements, and sums with room for all numbers are long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExactBytes(Box<[u8]>);

impl ExactBytes {
    pub(crate) fn of(moments: &ExactMoments) -> Self {
        let mut bytes = Vec::with_capacity(64);
        moments.write(&mut bytes);
        Self(bytes.into())
    }

    /// Takes what `bytes` begin with, and gives what is left.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (_, rest) = ExactMoments::read(bytes)?;
        Some((Self(bytes[..bytes.len() - rest.len()].into()), rest))
    }

    pub(crate) fn moments(&self) -> ExactMoments {
        ExactMoments::read(&self.0).map(|(moments, _)| moments).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// How many elements a region shares with one of the step before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overlap {
    pub(crate) before: u32,
    pub(crate) now: u32,
    pub(crate) count: u64,
}

/// What one rank found in its planes of a step. [`Labeller::label`](crate::label::Labeller::label) makes it, and
/// [`Merger::merge`](crate::merge::Merger::merge) takes those of all ranks.
#[derive(Clone, Debug)]
pub struct Part {
    pub(crate) step: u64,
    pub(crate) extents: Vec<u64>,
    /// The range of planes: its first plane, and how many there are.
    pub(crate) first: u64,
    pub(crate) planes: u64,
    pub(crate) regions: Vec<RegionPart>,
    /// The rows of its first plane and of its last.
    pub(crate) faces: [Rows; 2],
    /// The step that overlaps speak of.
    pub(crate) before: Option<u64>,
    pub(crate) overlaps: Vec<Overlap>,
}

impl Part {
    /// The step.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// How many regions there are in the range of planes.
    pub fn region_count(&self) -> usize {
        self.regions.len()
    }
}

/// Why parts are not those of one step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// Bytes that are no part.
    #[error("rank {rank}: these bytes are no part of an analysis: {what}")]
    Bytes {
        /// Whose.
        rank: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A part of another step or array than the first rank's.
    #[error(
        "rank {rank}: its part is of step {step}, shape {extents:?}, where that of rank 0 is of step {wanted_step}, shape {wanted:?}"
    )]
    Other {
        /// Whose.
        rank: usize,
        /// Its step.
        step: u64,
        /// Its array.
        extents: Vec<u64>,
        /// The step of rank 0.
        wanted_step: u64,
        /// The array of rank 0.
        wanted: Vec<u64>,
    },
    /// Slabs that leave a gap or lie in one another.
    #[error(
        "rank {rank}: its planes begin at {first}, where {wanted} is expected: they follow one another by rank, and make up the array"
    )]
    Planes {
        /// Whose.
        rank: usize,
        /// Where it begins.
        first: u64,
        /// Where it should.
        wanted: u64,
    },
}
