//! Records that their owners make of their blocks when they are asked to.

use crate::data::taker::fetch::offers;
use crate::error::ReadError;
use crate::error::transform::TransformProblem;
use crate::records::set::RecordSet;
use crate::step::held::HeldStep;
use crate::step::plan;
use crate::step::records::offered::{OwnerRoute, keep};
use crate::step::records::{record_type, taken};
use crate::step::request::RecordRequest;
use crate::value::derived_names::made_name;
use crate::value::limit::Limit;
use fp_proto::data::TransformOutcome;
use fp_types::{BlockId, Rank, Region, TableEntry, VariableDef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The selected records as the type that is wanted, made by their owners of their blocks.
///
/// Selections of blocks and ranks say which blocks go in. All others say which of the records that come out are wanted.
pub(crate) fn made_there(
    held: &Arc<HeldStep>,
    request: RecordRequest<'_>,
    there: &OwnerRoute,
) -> Result<RecordSet, ReadError> {
    let name = have_made(held, request, there)?;
    let set = taken::take_as_put(held, RecordRequest { variable: &name, ..request });
    set.map_err(|error| error.renamed(request.variable))
}

/// Has the blocks made that are needed for a selection, and says what they are called.
pub(crate) fn have_made(
    held: &HeldStep,
    request: RecordRequest<'_>,
    there: &OwnerRoute,
) -> Result<String, ReadError> {
    let RecordRequest { variable, select, limit, .. } = request;
    let table = held.table(limit.deadline)?;
    let entry = held.entry(&table, variable)?;
    let blocks = match there.keeps_places(&entry.def) || select.is_of_blocks() {
        true => {
            let planned = plan::planned_as_put(held, request.elements().with_fill())?;
            planned.plan.pieces.iter().map(|piece| (piece.block, piece.block_region)).collect()
        }
        false => plan::blocks_as_put(held, variable, limit.deadline)?,
    };
    let blocks: BTreeMap<BlockId, Region> = blocks.into_iter().collect();
    let name = made_name(variable, &there.names());
    if held.there.has(&name, &blocks) {
        return Ok(name);
    }
    let mut of_ranks: BTreeMap<Rank, Vec<u32>> = BTreeMap::new();
    blocks.keys().for_each(|block| of_ranks.entry(block.rank).or_default().push(block.index));
    let asked = (variable, &there.names()[..]);
    let outcomes = offers::transform(held.taker(), asked, &of_ranks, limit)?;
    lay_out(held, (entry, &name), there, &of_ranks, (&blocks, outcomes), limit)?;
    Ok(name)
}

/// Puts what the owners made beside the variables of the step.
pub(crate) fn lay_out(
    held: &HeldStep,
    (source, name): (&TableEntry, &str),
    there: &OwnerRoute,
    asked: &BTreeMap<Rank, Vec<u32>>,
    (blocks, outcomes): (&BTreeMap<BlockId, Region>, BTreeMap<Rank, TransformOutcome>),
    limit: Limit<'_>,
) -> Result<(), ReadError> {
    // Where nobody is asked nobody says whether places are kept.
    let mut keeps_places = there.keeps_places(&source.def);
    let mut made = BTreeMap::new();
    for (rank, outcome) in outcomes {
        let (variable, keeps, of_rank) = match outcome {
            TransformOutcome::Made { variable, keeps_places, blocks } => (variable, keeps_places, blocks),
            TransformOutcome::Failed { what } => {
                held.shared.offers.forget();
                return Err(not_there(held, &source.def, there, format!("publisher rank {rank}: {what}")));
            }
        };
        if variable != name || (keeps != keeps_places && !made.is_empty()) {
            let what = format!("of {:?} it made {variable:?}, and others something else", source.def.name);
            return Err(held.misbehaved(rank, what));
        }
        keeps_places = keeps;
        let ids = asked.get(&rank).into_iter().flatten().map(|&index| BlockId::new(rank, index));
        made.extend(ids.zip(of_rank));
    }
    let rank = made.keys().next().map_or(Rank::LEAD, |block: &BlockId| block.rank);
    let given = record_type::type_at(held, there.given(), rank, limit)?;
    let kept = keep(&held.there, source, (name, keeps_places), &given, (blocks, &made));
    kept.map_err(|error| held.failed(format!("what ranks made of {:?}: {error}", source.def.name)))
}

/// The owners did not make the records, for the reason in `what`.
pub(crate) fn not_there(
    held: &HeldStep,
    source: &VariableDef,
    there: &OwnerRoute,
    what: String,
) -> ReadError {
    let path = format!("{}, by the publisher", there.path);
    held.not_transformed(&source.name, path, TransformProblem::Publisher { what })
}
