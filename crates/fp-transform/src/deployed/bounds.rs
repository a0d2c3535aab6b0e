//! What a module may have before it is compiled. Who compiles cannot be interrupted, so what is compiled is bounded: by
//! what takes a compiler's time and memory. The module is walked once for that, in the time of reading it.

use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload};

use super::error::DeployError;
use crate::policy::DeployLimits;

/// Locals that a function may have, parameters apart.
const FUNCTION_LOCALS: u64 = 2_000;
/// Blocks, loops and branches that a function may have.
const FUNCTION_BRANCHES: u64 = 8_000;
/// A compiler carries each local past each branch: as many of both may meet in a function.
const FUNCTION_MEETINGS: u64 = 1_000_000;
/// And in all functions together: a compiler takes some seconds for so many.
const MODULE_MEETINGS: u64 = 10_000_000;
/// Types, segments, globals, exports: of each so many.
const ENTRIES: u64 = 4_000;
/// Tables: a pool has room for four, others have theirs from the system.
const TABLES: u64 = 64;

/// Checks what is counted of a module.
pub(super) fn check(bytes: &[u8], limits: &DeployLimits) -> Result<(), DeployError> {
    let (mut index, mut meetings) = (0, 0);
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(invalid)?;
        if let Payload::CodeSectionEntry(body) = &payload {
            meetings += check_function(index, body, limits)?;
            index += 1;
            if meetings > MODULE_MEETINGS {
                let (what, limit) = ("meetings of locals and branches", MODULE_MEETINGS);
                return Err(DeployError::TooComplex { what, found: meetings, limit });
            }
        }
        let Some((what, found, limit)) = counted(&payload, limits) else { continue };
        if found > limit {
            return Err(DeployError::TooComplex { what, found, limit });
        }
    }
    Ok(())
}

fn invalid(error: BinaryReaderError) -> DeployError {
    DeployError::Invalid { reason: error.to_string() }
}

/// How many a section has, and may have.
fn counted(payload: &Payload<'_>, limits: &DeployLimits) -> Option<(&'static str, u64, u64)> {
    let functions = limits.functions as u64;
    let (what, found, limit) = if let Payload::CodeSectionStart { count, .. } = payload {
        ("functions", *count, functions)
    } else if let Payload::FunctionSection(section) = payload {
        ("functions", section.count(), functions)
    } else if let Payload::TypeSection(section) = payload {
        ("types", section.count(), ENTRIES)
    } else if let Payload::GlobalSection(section) = payload {
        ("globals", section.count(), ENTRIES)
    } else if let Payload::TableSection(section) = payload {
        ("tables", section.count(), TABLES)
    } else if let Payload::ElementSection(section) = payload {
        ("segments of elements", section.count(), ENTRIES)
    } else if let Payload::DataSection(section) = payload {
        ("segments of data", section.count(), ENTRIES)
    } else if let Payload::ExportSection(section) = payload {
        ("exports", section.count(), ENTRIES)
    } else {
        return None;
    };
    Some((what, u64::from(found), limit))
}

/// Gives how many locals meet branches.
fn check_function(index: u64, body: &FunctionBody<'_>, limits: &DeployLimits) -> Result<u64, DeployError> {
    let at_most = |what, found: u64, limit: u64| match found > limit {
        true => Err(DeployError::FunctionTooComplex { index, what, found, limit }),
        false => Ok(()),
    };
    at_most("bytes", body.range().len() as u64, limits.function_bytes as u64)?;
    let locals = locals(body).map_err(invalid)?;
    at_most("locals", locals, FUNCTION_LOCALS)?;
    let branches = branches(body).map_err(invalid)?;
    at_most("blocks and branches", branches, FUNCTION_BRANCHES)?;
    at_most("meetings of locals and branches", locals * branches, FUNCTION_MEETINGS)?;
    Ok(locals * branches)
}

fn locals(body: &FunctionBody<'_>) -> Result<u64, BinaryReaderError> {
    let mut count = 0u64;
    for group in body.get_locals_reader()? {
        count += u64::from(group?.0);
    }
    Ok(count)
}

/// What ends or begins a piece of code without a branch.
fn branches(body: &FunctionBody<'_>) -> Result<u64, BinaryReaderError> {
    let mut count = 0;
    for operator in body.get_operators_reader()? {
        let operator = operator?;
        if let Operator::BrTable { targets } = &operator {
            count += u64::from(targets.len());
        }
        count += u64::from(is_branch(&operator));
    }
    Ok(count)
}

fn is_branch(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
            | Operator::Return
    )
}
