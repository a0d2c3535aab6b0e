//! Records through transforms that the publisher registered, found by the types that these lead to. Owners make them of
//! their blocks when they are first asked for in a step. They are then fetched as any records.

use crate::data::taker::fetch;
use crate::error::ReadError;
use crate::records::apply::given_def;
use crate::step::held::{HeldStep, OwnerMade};
use crate::step::records::record_type;
use crate::value::limit::Limit;
use fp_proto::data::MadeBlock;
use fp_transform::{Offers, PathError, TransformPath};
use fp_types::record::{Loss, RecordSchema};
use fp_types::{
    ArrayKind, BlockId, Fingerprint, Layout, LayoutError, Rank, Region, TableEntry, VariableDef,
    VariableOrigin,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// For how many bytes a path is chosen where their number is not known.
const NOMINAL_BYTES: u64 = 1 << 20;

/// The bytes of all fixed parts of a variable.
pub(crate) fn expected_bytes(def: &VariableDef, layout: &Layout) -> u64 {
    let size = def.record.as_ref().map_or(1, |record| record.size_bytes);
    layout.shape().map_or(NOMINAL_BYTES, |shape| shape.element_count().saturating_mul(size))
}

/// A way to a type over transforms of the publisher: to that type, or to one that is converted to it.
pub(crate) struct OwnerRoute {
    pub(crate) path: TransformPath,
    /// Whether each record is made of one alone.
    is_one_by_one: bool,
    /// Whether one of them is to run at the publisher, whoever else knows it.
    pub(crate) is_for_publisher: bool,
}

impl OwnerRoute {
    /// The type that the last one gives.
    pub(crate) fn given(&self) -> Fingerprint {
        self.path.steps.last().map_or(self.path.from.fingerprint(), |(_, to, _)| to.fingerprint())
    }

    /// The transforms on the way, in the order in which they run.
    pub(crate) fn names(&self) -> Vec<String> {
        self.path.steps.iter().map(|(name, ..)| name.clone()).collect()
    }

    /// Whether records have the places of those that they are made of.
    pub(crate) fn keeps_places(&self, def: &VariableDef) -> bool {
        self.is_one_by_one && def.kind == ArrayKind::GlobalArray
    }

    /// Whether it is better than a way over transforms of the subscriber's, which run on all records at once. It is if
    /// it has to be taken, or gives the very same and makes fewer bytes cross.
    pub(crate) fn is_better(&self, def: &VariableDef) -> bool {
        let shrinks = self.path.expected().1 < self.path.input_bytes as f64;
        self.is_for_publisher || (self.keeps_places(def) && shrinks)
    }
}

/// The cheapest way from the type of a variable's records to the one that is wanted, over transforms that the publisher
/// offers. The inner error says why there is none, if the publisher offers any.
pub(crate) fn there(
    held: &HeldStep,
    entry: &TableEntry,
    (found, wanted): (&RecordSchema, &RecordSchema),
    loss: Loss,
    limit: Limit<'_>,
) -> Result<Result<OwnerRoute, Option<PathError>>, ReadError> {
    if matches!(entry.def.kind, ArrayKind::Scalar | ArrayKind::LocalScalar) {
        return Ok(Err(None));
    }
    let Ok(rank) = record_type::any_owner(held, &entry.def, limit) else { return Ok(Err(None)) };
    let offers = offers(held, rank, limit)?;
    if offers.all().is_empty() {
        return Ok(Err(None));
    }
    let len_bytes = expected_bytes(&entry.def, &entry.layout);
    let exact = offers.path(&found.into(), &wanted.into(), len_bytes);
    let path = match exact {
        Ok(path) => path,
        Err(why) => {
            match there_converted(held, (&offers, rank), (found, wanted), (len_bytes, loss), limit)? {
                Some(path) => path,
                None => return Ok(Err(Some(why))),
            }
        }
    };
    let is_one_by_one = offers.on(&path).all(|offer| offer.is_one_by_one);
    let is_for_publisher = offers.on(&path).any(|offer| offer.is_for_publisher);
    Ok(Ok(OwnerRoute { path, is_one_by_one, is_for_publisher }))
}

/// The cheapest way to a type that is converted to the one that is wanted.
pub(crate) fn there_converted(
    held: &HeldStep,
    (offers, rank): (&Offers, Rank),
    (found, wanted): (&RecordSchema, &RecordSchema),
    (len_bytes, loss): (u64, Loss),
    limit: Limit<'_>,
) -> Result<Option<TransformPath>, ReadError> {
    let mut best: Option<TransformPath> = None;
    for offer in offers.all() {
        let Ok(path) = offers.path(&found.into(), &offer.to, len_bytes) else { continue };
        let given = record_type::type_at(held, offer.to.fingerprint(), rank, limit)?;
        let is_cheaper = best.as_ref().is_none_or(|best| path.compare(best).is_lt());
        if is_cheaper && record_type::conversion(held, &given, wanted, loss).is_ok() {
            best = Some(path);
        }
    }
    Ok(best)
}

/// What the publisher offers: asked for, over a data link, when it was not for a while. A subscription holds for later
/// steps only, so that a get of this very step would fail. A rendezvous entry would be wrong as soon as something is
/// registered later.
pub(crate) fn offers(held: &HeldStep, rank: Rank, limit: Limit<'_>) -> Result<Arc<Offers>, ReadError> {
    let (known, epoch) = (&held.shared.offers, held.epoch);
    if let Some(offers) = known.find(epoch) {
        return Ok(offers);
    }
    let offers = Arc::new(fetch::offers::offers(held.taker(), rank, limit)?);
    known.keep(epoch, offers.clone());
    Ok(offers)
}

/// Lays out what was made of blocks: the records, and what they refer to.
pub(crate) fn keep(
    known: &OwnerMade,
    source: &TableEntry,
    (name, keeps_places): (&str, bool),
    given: &RecordSchema,
    (blocks, made): (&BTreeMap<BlockId, Region>, &BTreeMap<BlockId, MadeBlock>),
) -> Result<(), LayoutError> {
    let row = |(&block, len): (&BlockId, u64)| {
        let region = Region::new([0], [len]);
        region.map(|region| (block, region)).map_err(|error| LayoutError::TooLarge { block, error })
    };
    let rows = |len: fn(&MadeBlock) -> u64| {
        let rows = made.iter().map(|(block, made)| row((block, len(made))));
        rows.collect::<Result<BTreeMap<BlockId, Region>, _>>()
    };
    let def = given_def((name, VariableOrigin::Made), &source.def, keeps_places, given);
    let blocks = if keeps_places { blocks.clone() } else { rows(|made| made.count)? };
    let parts = def.parts().map(|parts| Ok::<_, LayoutError>((parts, rows(|made| made.parts_bytes)?)));
    let parts = parts.transpose()?;
    known.keep(Arc::new(def), source.layout.shape().filter(|_| keeps_places), blocks)?;
    parts.map_or(Ok(()), |(def, blocks)| known.keep(Arc::new(def), None, blocks))
}
