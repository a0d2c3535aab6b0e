//! What a subscriber asks of a variable, as a plain struct.

use crate::elements::order;
use crate::failure::Failure;
use crate::raw::values;
use fp_core::{BlockId, Dims, Loss, Rank, Region, Select, Selection, StridedRegion};

/// What a selection selects.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum Selected {
    /// everything
    All = 0,
    /// start and count
    Region = 1,
    /// every stride-th element of start and count
    Strided = 2,
    /// single elements, in the order given
    Points = 3,
    /// one block, as it was put
    Block = 4,
    /// all blocks of a rank
    Rank = 5,
}

/// Whether elements may become another number type as they are got.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum ConversionCode {
    /// no: a get names the variable's own type, or fails
    None = 0,
    /// a type that holds every value of theirs
    Exact = 1,
    /// any number type: rounded to the nearest, integers cut off at the end of the range
    Any = 2,
}

/// A selection. Start, count and stride are of `ndims` numbers each, in the order of the variable's dimensions,
/// whatever the memory order. Set what its kind needs and leave the rest 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SelectionStruct {
    /// one of `flexpath_selected`
    pub kind: i32,
    /// number of dimensions
    pub ndims: u32,
    /// the first element in each dimension
    pub start: *const u64,
    /// how many elements in each dimension, before the stride
    pub count: *const u64,
    /// every how-manieth
    pub stride: *const u64,
    /// `point_count` times `ndims` coordinates
    pub points: *const u64,
    /// how many points
    pub point_count: u64,
    /// the rank (of the block)
    pub rank: u32,
    /// the block, counted from 0 in the rank
    pub block: u32,
    /// one of `flexpath_order`: how the elements are to lie where they arrive; several blocks follow one another
    pub order: i32,
    /// one of `flexpath_conversion`: whether a get may name another type than the variable's
    pub conversion: i32,
}

/// As many dimensions as an array may have.
pub(crate) fn check_ndims(ndims: u32) -> Result<usize, Failure> {
    let most = fp_types::MAX_DIMS;
    let known = Some(ndims as usize).filter(|&ndims| ndims <= most);
    known.ok_or_else(|| Failure::misuse(format!("{ndims} dimensions, but arrays have at most {most}")))
}

pub(crate) fn dims(pointer: *const u64, ndims: u32, what: &str) -> Result<Dims, Failure> {
    Dims::from_slice(values(pointer, check_ndims(ndims)?, what)?).map_err(Failure::misused)
}

/// Coordinates as C has them: zeros after the last dimension.
pub(crate) fn padded(dims: &[u64]) -> [u64; 8] {
    let mut all = [0; 8];
    all.iter_mut().zip(dims.iter()).for_each(|(to, at)| *to = *at);
    all
}

fn region(given: &SelectionStruct) -> Result<Region, Failure> {
    let (start, count) = (dims(given.start, given.ndims, "start")?, dims(given.count, given.ndims, "count")?);
    Region::new(start, count).map_err(Failure::misused)
}

fn points(given: &SelectionStruct) -> Result<Vec<Dims>, Failure> {
    let each = (given.ndims as usize).max(1);
    let numbers = usize::try_from(given.point_count).ok().and_then(|count| count.checked_mul(each));
    let numbers = values(given.points, numbers.unwrap_or(usize::MAX), "points")?;
    numbers.chunks(each).map(|point| dims(point.as_ptr(), given.ndims, "point")).collect()
}

/// The same selection, whose elements may be converted.
pub(crate) fn converted(select: Select, code: i32) -> Result<Select, Failure> {
    match code {
        0 => Ok(select),
        1 => Ok(select.with_conversion(Loss::Refused)),
        2 => Ok(select.with_conversion(Loss::Allowed)),
        _ => Err(Failure::misuse(format!("{code} is no conversion: 0 none, 1 exact, 2 any"))),
    }
}

/// The selection with the order and the conversion of what arrives; null is everything, row-major.
pub(crate) fn select(pointer: *const SelectionStruct) -> Result<Select, Failure> {
    let selected = Select::from(selection(pointer)?);
    match values(pointer, usize::from(!pointer.is_null()), "selection")?.first() {
        Some(given) => converted(selected.with_order(order(given.order)?), given.conversion),
        None => Ok(selected),
    }
}

/// The selection; null is everything.
pub(crate) fn selection(pointer: *const SelectionStruct) -> Result<Selection, Failure> {
    let Some(given) = values(pointer, usize::from(!pointer.is_null()), "selection")?.first() else {
        return Ok(Selection::All);
    };
    Ok(match given.kind {
        0 => Selection::All,
        1 => Selection::Region(region(given)?),
        2 => {
            let strided = StridedRegion::new(region(given)?, dims(given.stride, given.ndims, "stride")?);
            Selection::Strided(strided.map_err(Failure::misused)?)
        }
        3 => Selection::Points(points(given)?),
        4 => Selection::Block(BlockId::new(Rank(given.rank), given.block)),
        5 => Selection::Rank(Rank(given.rank)),
        other => return Err(Failure::misuse(format!("{other} is no kind of selection: 0 to 5"))),
    })
}
