//! Where selected elements lie, if that is one part of one block in memory that is shared.

use crate::data::taker::fetch::locate::{self, Located};
use crate::data::taker::fetch_plan::FetchPlan;
use crate::error::ReadError;
use crate::step::held::HeldStep;
use crate::value::limit::Limit;
use fp_transport::Payload;
use fp_types::ArrayKind;
use std::sync::Arc;

/// The selected elements where they lie, if they are a contiguous part of one block in memory that is shared.
pub(crate) fn placed(
    held: &HeldStep,
    planned: &Arc<FetchPlan>,
    limit: Limit<'_>,
) -> Result<Option<Payload>, ReadError> {
    let is_elsewhere =
        planned.here.is_none() && planned.made.is_none() && planned.def.kind != ArrayKind::Scalar;
    let Some((_, range)) = planned.contiguous().filter(|_| is_elsewhere) else {
        return Ok(None);
    };
    Ok(match locate::locate(held.taker(), planned, limit)? {
        Some(Located::Block(block)) => block.slice(range),
        Some(Located::Part(part)) => Some(part),
        None => None,
    })
}
