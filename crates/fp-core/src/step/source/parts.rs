//! What every rank put of a local array of bytes: parts of derived variables, and texts about failures.

use crate::data::taker::fetch::job::Get;
use crate::error::ReadError;
use crate::step::held::HeldStep;
use crate::step::{fill, plan};
use fp_types::{BlockId, MemoryOrder, Rank};
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
    let blocks = part_blocks(held, variable, deadline)?;
    let wanted: Vec<(&str, BlockId)> = blocks.iter().map(|&block| (variable, block)).collect();
    let plans = plan::planned_blocks(held, &wanted, MemoryOrder::RowMajor, deadline)?;
    let mut parts: Vec<Vec<u8>> =
        plans.iter().map(|planned| vec![0; planned.len_bytes().unwrap_or(usize::MAX)]).collect();
    let gets = plans.into_iter().zip(&mut parts);
    let gets = gets.map(|(planned, part)| Get::new(planned, &mut part[..])).collect();
    fill::fill_all(held, gets, deadline.into())?;
    Ok(blocks.iter().map(|block| block.rank).zip(parts).collect())
}

/// The blocks of such an array: asked for once under one table of one epoch.
pub(crate) fn part_blocks(
    held: &HeldStep,
    variable: &str,
    deadline: Instant,
) -> Result<Vec<BlockId>, ReadError> {
    let derived = &held.shared.derived;
    let key = (held.epoch, held.assignment.table, variable.to_owned());
    if let Some(known) = derived.known_parts(&key) {
        return Ok(known);
    }
    let blocks = plan::blocks_as_put(held, variable, deadline)?;
    let blocks: Vec<BlockId> = blocks.into_iter().map(|(block, _)| block).collect();
    derived.keep_parts(key, blocks.clone());
    Ok(blocks)
}
