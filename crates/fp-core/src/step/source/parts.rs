//! What every rank put of a local array of bytes: parts of derived variables, and texts about failures.

use crate::data::taker::fetch::job::{Get, Gets};
use crate::error::ReadError;
use crate::session::derived_variables::PartsKey;
use crate::step::held::HeldStep;
use crate::step::{fill, plan};
use fp_types::{BlockId, MemoryOrder, Rank, Region};
use std::time::Instant;

/// The longest text about a failure that is read.
const LIMIT_TEXT_BYTES: usize = 4096;

/// What the ranks that failed say.
pub(crate) fn told(held: &HeldStep, failed: &str, deadline: Instant) -> Result<String, ReadError> {
    let text = |(rank, bytes): (Rank, Vec<u8>)| {
        let len = bytes.len().min(LIMIT_TEXT_BYTES);
        format!("publisher rank {rank}: {}", String::from_utf8_lossy(&bytes[..len]))
    };
    let mut texts: Vec<String> = parts(held, failed, deadline)?.into_iter().map(text).collect();
    texts.dedup();
    Ok(texts.join("; "))
}

/// The bytes of every block of a local array of bytes, with the ranks that put them.
pub(crate) fn parts(
    held: &HeldStep,
    variable: &str,
    deadline: Instant,
) -> Result<Vec<(Rank, Vec<u8>)>, ReadError> {
    let blocks: Vec<BlockId> =
        blocks(held, variable, deadline)?.into_iter().map(|(block, _)| block).collect();
    let wanted: Vec<(&str, BlockId)> = blocks.iter().map(|&block| (variable, block)).collect();
    let plans = plan::planned_blocks(held, &wanted, MemoryOrder::RowMajor, deadline)?;
    let mut parts: Vec<Vec<u8>> =
        plans.iter().map(|planned| vec![0; planned.len_bytes().unwrap_or(usize::MAX)]).collect();
    let gets = plans.into_iter().zip(&mut parts);
    let gets: Gets<'_> = gets.map(|(planned, part)| Get::new(planned, &mut part[..])).collect();
    fill::fill_all(held, gets, deadline.into())?;
    Ok(blocks.iter().map(|block| block.rank).zip(parts).collect())
}

/// The blocks of a variable, with their regions: asked for once under one table of one epoch.
pub(crate) fn blocks(
    held: &HeldStep,
    variable: &str,
    deadline: Instant,
) -> Result<Vec<(BlockId, Region)>, ReadError> {
    if let Some(known) = known_blocks(held, variable) {
        return Ok(known);
    }
    let blocks = plan::blocks_as_put(held, variable, deadline)?;
    held.shared.derived.keep_parts(key(held, variable), blocks.clone());
    Ok(blocks)
}

/// The same, if they were asked for.
pub(crate) fn known_blocks(held: &HeldStep, variable: &str) -> Option<Vec<(BlockId, Region)>> {
    held.shared.derived.known_parts(&key(held, variable))
}

fn key(held: &HeldStep, variable: &str) -> PartsKey {
    (held.epoch, held.assignment.table, variable.to_owned())
}
