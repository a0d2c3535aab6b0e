//! Which region of a variable a put means.

use crate::failure::Failure;
use crate::raw::{as_len, values};
use crate::selection::dims;
use fp_core::{ArrayKind, Dims, Region, Variable};

/// The region that a put means. A block of a global array lies where the put says, others begin at 0. Of a joined array
/// the rows are counted, and the rest is the variable's.
pub(crate) fn region(variable: &Variable, start: *const u64, count: *const u64) -> Result<Region, Failure> {
    let def = variable.definition();
    let ndims = u32::try_from(def.ndims()).unwrap_or(u32::MAX);
    let (start, count) = match def.kind {
        ArrayKind::GlobalArray => (dims(start, ndims, "start")?, dims(count, ndims, "count")?),
        ArrayKind::JoinedArray { .. } => {
            let mut whole = *variable.shape().dims();
            if let (Some(rows), [given, ..]) = (whole.first_mut(), values(count, 1, "count")?) {
                *rows = *given;
            }
            (whole.zeros_like(), whole)
        }
        ArrayKind::LocalArray => {
            let count = dims(count, ndims, "count")?;
            (count.zeros_like(), count)
        }
        ArrayKind::Scalar | ArrayKind::LocalScalar => (Dims::default(), Dims::default()),
    };
    Region::new(start, count).map_err(Failure::misused)
}

#[inline]
pub(crate) fn len(region: &Region) -> usize {
    as_len(region.element_count())
}
