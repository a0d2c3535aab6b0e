//! Plans for single elements.

use std::collections::BTreeMap;

use super::{Destination, GapPolicy, Part, Piece, Plan, PlanError, SelectedPoint};
use crate::dims::Dims;
use crate::layout::Layout;
use crate::region::Region;
use crate::selection::SelectionError;
use crate::stride::StridedRegion;

/// The plan for points that lie inside the shape: grouped by owner, each with its place in the selection.
pub(super) fn plan_points(
    layout: &Layout,
    points: &[Dims],
    gap_policy: GapPolicy,
) -> Result<Plan, PlanError> {
    let mut by_owner: BTreeMap<usize, Vec<SelectedPoint>> = BTreeMap::new();
    let mut missing = Vec::new();
    for (position, &point) in points.iter().enumerate() {
        let selected = SelectedPoint { position: position as u64, point };
        match owner_of(layout, position, &point)? {
            Some(owner) => by_owner.entry(owner).or_default().push(selected),
            None => missing.push(selected),
        }
    }
    if let (Some(first), GapPolicy::Error) = (missing.first(), gap_policy) {
        let first = StridedRegion::dense(point_region(layout, first.position as usize, &first.point)?);
        return Err(PlanError::Gap {
            first: first.into(),
            missing: missing.len() as u64,
            selected: points.len() as u64,
        });
    }
    let piece = |(owner, points): (usize, Vec<SelectedPoint>)| {
        let (block, block_region) = layout.block_at(owner);
        Piece { block, block_region, part: Part::Points(points), destination_offset: 0 }
    };
    let pieces = by_owner.into_iter().map(piece).collect();
    let gaps = if missing.is_empty() { Vec::new() } else { vec![Part::Points(missing)] };
    Ok(Plan { pieces, gaps, destination: Destination::Points(points.len() as u64) })
}

/// The position of the block that owns a point: of those that hold it, the last.
fn owner_of(layout: &Layout, position: usize, point: &Dims) -> Result<Option<usize>, PlanError> {
    let region = point_region(layout, position, point)?;
    Ok(layout.positions_touching(&region).last().copied())
}

/// The region of one point; inside a shape there always is one.
fn point_region(layout: &Layout, position: usize, point: &Dims) -> Result<Region, PlanError> {
    let shape = layout.shape().copied().unwrap_or_default();
    let outside =
        |_| SelectionError::PointOutOfBounds { position, point: (*point).into(), shape: shape.into() };
    Region::of_point(point).map_err(outside).map_err(PlanError::from)
}
