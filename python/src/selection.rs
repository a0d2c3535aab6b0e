//! Selections as Python gives them.

use crate::error::{OrRaise, misuse};
use flexpath::record::Loss;
use flexpath::{Dims, MemoryOrder, Region, Select, Selection, StridedRegion};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// What is taken of a variable, and how it is to lie.
pub(crate) fn select(given: &Bound<'_, PyAny>, column_major: bool, loss: Option<Loss>) -> PyResult<Select> {
    let select = wanted(given)?.with_order(order(column_major));
    Ok(match loss {
        Some(loss) => select.with_conversion(loss),
        None => select,
    })
}

pub(crate) fn order(column_major: bool) -> MemoryOrder {
    if column_major { MemoryOrder::ColumnMajor } else { MemoryOrder::RowMajor }
}

fn wanted(given: &Bound<'_, PyAny>) -> PyResult<Select> {
    if given.is_none() {
        return Ok(Selection::All.into());
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Select::from(text.to_str()?));
    }
    if let Ok(slices) = given.cast::<PyTuple>() {
        return Ok(region(slices)?.into());
    }
    if let Ok(points) = given.cast::<PyList>() {
        let point = |point: Bound<'_, PyAny>| dims(&point.extract::<Vec<u64>>()?);
        return Ok(Selection::Points(points.iter().map(point).collect::<PyResult<_>>()?).into());
    }
    Err(misuse(format!("a selection is a text, slices or points, and no {}", given.get_type().name()?)))
}

pub(crate) fn dims(extents: &[u64]) -> PyResult<Dims> {
    Dims::from_slice(extents).or_raise()
}

/// Start, count and stride of each dimension.
fn region(slices: &Bound<'_, PyTuple>) -> PyResult<Selection> {
    let slices: Vec<(u64, u64, u64)> = slices.extract()?;
    let strides: Vec<u64> = slices.iter().map(|slice| slice.2).collect();
    let start: Vec<u64> = slices.iter().map(|slice| slice.0).collect();
    // As far as the last of the elements: nothing behind it is asked for.
    let extent = |&(_, count, stride): &(u64, u64, u64)| {
        count.checked_sub(1).map_or(0, |gaps| gaps.saturating_mul(stride).saturating_add(1))
    };
    let count: Vec<u64> = slices.iter().map(extent).collect();
    let region = Region::new(dims(&start)?, dims(&count)?).or_raise()?;
    if strides.iter().all(|&stride| stride == 1) {
        return Ok(Selection::Region(region));
    }
    Ok(Selection::Strided(StridedRegion::new(region, dims(&strides)?).or_raise()?))
}

/// Whether elements may become another type: only if one is asked for.
pub(crate) fn loss(is_converted: bool, lossy: bool) -> Option<Loss> {
    is_converted.then_some(if lossy { Loss::Allowed } else { Loss::Refused })
}
