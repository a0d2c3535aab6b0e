//! Records through transforms that the publisher registered, found by the types that these lead to: owners make them of
//! their blocks when they are first asked for in a step, and they are fetched as any records.

use super::route::expected_bytes;
use super::{RecordSet, TransformProblem};
use crate::derived::made_name_of;
use crate::error::ReadError;
use crate::patience::Limit;
use crate::select::Select;
use crate::step::StepReader;
use fp_proto::data::{MadeBlock, TransformOutcome};
use fp_transform::{Offers, PathError, TransformPath};
use fp_types::record::{Loss, RecordSchema};
use fp_types::{
    ArrayKind, BlockId, Epoch, Fingerprint, Layout, LayoutError, Rank, Region, Shape, TableEntry, VariableDef,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the transforms that a publisher offers are taken to be those that it offered.
const FRESH: Duration = Duration::from_secs(1);

/// A way to a type over transforms of the publisher: to that type, or to one that is converted to it.
pub(super) struct There {
    pub(super) path: TransformPath,
    /// Whether each record is made of one alone.
    is_one_by_one: bool,
    /// Whether one of them is to run at the publisher, whoever else knows it.
    pub(super) is_for_publisher: bool,
}

impl There {
    /// The type that the last one gives.
    fn given(&self) -> Fingerprint {
        self.path.steps.last().map_or(self.path.from.fingerprint(), |(_, to, _)| to.fingerprint())
    }

    fn names(&self) -> Vec<String> {
        self.path.steps.iter().map(|(name, ..)| name.clone()).collect()
    }

    /// Whether records have the places of those that they are made of.
    fn keeps_places(&self, def: &VariableDef) -> bool {
        self.is_one_by_one && def.kind == ArrayKind::GlobalArray
    }

    /// Whether it is better than a way over transforms of the subscriber's, which run on all records at once: if it is to be
    /// taken, or gives the very same and makes fewer bytes cross.
    pub(super) fn is_better(&self, def: &VariableDef) -> bool {
        let shrinks = self.path.expected().1 < self.path.input_bytes as f64;
        self.is_for_publisher || (self.keeps_places(def) && shrinks)
    }
}

/// What a publisher offered.
struct Offered {
    since: Instant,
    /// In which opening of the stream.
    epoch: Option<Epoch>,
    offers: Arc<Offers>,
}

/// What a publisher offered when it was asked last.
#[derive(Default)]
pub(crate) struct KnownOffers(Mutex<Option<Offered>>);

impl KnownOffers {
    fn lock(&self) -> MutexGuard<'_, Option<Offered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, epoch: Option<Epoch>) -> Option<Arc<Offers>> {
        let known = self.lock();
        let known = known.as_ref().filter(|known| known.epoch == epoch && known.since.elapsed() < FRESH)?;
        Some(known.offers.clone())
    }

    /// Has the publisher asked again.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }
}

/// What publishers made of a variable of a step, as far as it was asked for.
struct Known {
    entry: Arc<TableEntry>,
    blocks: BTreeSet<BlockId>,
}

/// What publishers made of a step: where its blocks are, by what they are called.
#[derive(Default)]
pub(crate) struct MadeThere(Mutex<BTreeMap<String, Known>>);

impl MadeThere {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<TableEntry>> {
        self.lock().get(name).map(|known| known.entry.clone())
    }

    /// Whether these blocks were made.
    fn has(&self, name: &str, blocks: &BTreeMap<BlockId, Region>) -> bool {
        self.lock().get(name).is_some_and(|known| blocks.keys().all(|block| known.blocks.contains(block)))
    }

    /// Adds blocks to those that are known: one time some may be asked for, and another time others.
    fn keep(
        &self,
        def: Arc<VariableDef>,
        shape: Option<&Shape>,
        mut blocks: BTreeMap<BlockId, Region>,
    ) -> Result<(), LayoutError> {
        let mut known = self.lock();
        if let Some(before) = known.get(&def.name).filter(|before| before.entry.def == def) {
            blocks.extend(before.entry.layout.blocks());
        }
        let (name, ids) = (def.name.clone(), blocks.keys().copied().collect());
        let layout = Arc::new(layout_of(&def, shape, blocks)?);
        known.insert(name, Known { entry: Arc::new(TableEntry { def, layout }), blocks: ids });
        Ok(())
    }
}

fn layout_of(
    def: &VariableDef,
    shape: Option<&Shape>,
    blocks: BTreeMap<BlockId, Region>,
) -> Result<Layout, LayoutError> {
    let counts = blocks.iter().map(|(&block, region)| (block, *region.count()));
    match (def.kind, shape) {
        (ArrayKind::GlobalArray, Some(shape)) => Layout::global(*shape, blocks),
        (ArrayKind::JoinedArray { joined_dim }, _) => Layout::joined(1, joined_dim.into(), counts),
        _ => Layout::local(1, counts),
    }
}

impl StepReader {
    /// The cheapest way from the type of a variable's records to the one that is wanted, over transforms that the publisher
    /// offers; or why there is none, if it offers any.
    pub(super) fn there(
        &self,
        entry: &TableEntry,
        (found, wanted): (&RecordSchema, &RecordSchema),
        loss: Loss,
        limit: Limit<'_>,
    ) -> Result<Result<There, Option<PathError>>, ReadError> {
        if matches!(entry.def.kind, ArrayKind::Scalar | ArrayKind::LocalScalar) {
            return Ok(Err(None));
        }
        let Ok(rank) = self.any_owner(&entry.def, limit) else { return Ok(Err(None)) };
        let offers = self.offers(rank, limit)?;
        if offers.all().is_empty() {
            return Ok(Err(None));
        }
        let len_bytes = expected_bytes(&entry.def, &entry.layout);
        let exact = offers.path(&found.into(), &wanted.into(), len_bytes);
        let path = match exact {
            Ok(path) => path,
            Err(why) => {
                match self.there_converted((&offers, rank), (found, wanted), (len_bytes, loss), limit)? {
                    Some(path) => path,
                    None => return Ok(Err(Some(why))),
                }
            }
        };
        let is_one_by_one = offers.on(&path).all(|offer| offer.is_one_by_one);
        let is_for_publisher = offers.on(&path).any(|offer| offer.is_for_publisher);
        Ok(Ok(There { path, is_one_by_one, is_for_publisher }))
    }

    /// The cheapest way to a type that is converted to the one that is wanted.
    fn there_converted(
        &self,
        (offers, rank): (&Offers, Rank),
        (found, wanted): (&RecordSchema, &RecordSchema),
        (len_bytes, loss): (u64, Loss),
        limit: Limit<'_>,
    ) -> Result<Option<TransformPath>, ReadError> {
        let mut best: Option<TransformPath> = None;
        for offer in offers.all() {
            let Ok(path) = offers.path(&found.into(), &offer.to, len_bytes) else { continue };
            let given = self.type_at(offer.to.fingerprint(), rank, limit)?;
            let is_cheaper = best.as_ref().is_none_or(|best| path.compare(best).is_lt());
            if is_cheaper && self.conversion(&given, wanted, loss).is_ok() {
                best = Some(path);
            }
        }
        Ok(best)
    }

    /// What the publisher offers: asked for when it was not for a while.
    fn offers(&self, rank: Rank, limit: Limit<'_>) -> Result<Arc<Offers>, ReadError> {
        let (known, epoch) = (&self.shared().offers, self.epoch());
        if let Some(offers) = known.find(epoch) {
            return Ok(offers);
        }
        let offers = Arc::new(crate::fetch::offers(self.shared(), self.identity(), rank, limit)?);
        *known.lock() = Some(Offered { since: Instant::now(), epoch, offers: offers.clone() });
        Ok(offers)
    }

    /// The selected records as the type that is wanted, made by their owners of their blocks.
    ///
    /// Selections of blocks and ranks say of which blocks; all others say which of the records that come out are wanted.
    pub(super) fn made_there(
        &self,
        variable: &str,
        select: &Select,
        wanted: &RecordSchema,
        there: &There,
        limit: Limit<'_>,
    ) -> Result<RecordSet, ReadError> {
        let name = self.have_made(variable, select, there, limit)?;
        let set = self.take_as_put(&name, select.clone(), Some(wanted), limit);
        set.map_err(|error| error.renamed(variable))
    }

    /// Has the blocks made that are needed for a selection, and says what they are called.
    fn have_made(
        &self,
        variable: &str,
        select: &Select,
        there: &There,
        limit: Limit<'_>,
    ) -> Result<String, ReadError> {
        let table = self.table(limit.deadline)?;
        let entry = table.entry(variable).ok_or_else(|| self.misuse(self.unknown(&table, variable)))?;
        let blocks = match there.keeps_places(&entry.def) || select.is_of_blocks() {
            true => {
                let planned = self.planned_as_put(variable, select, true, None, limit.deadline)?;
                planned.plan.pieces.iter().map(|piece| (piece.block, piece.block_region)).collect()
            }
            false => self.blocks_as_put(variable, limit.deadline)?,
        };
        let blocks: BTreeMap<BlockId, Region> = blocks.into_iter().collect();
        let name = made_name_of(variable, &there.names());
        if self.held.there.has(&name, &blocks) {
            return Ok(name);
        }
        let mut of_ranks: BTreeMap<Rank, Vec<u32>> = BTreeMap::new();
        blocks.keys().for_each(|block| of_ranks.entry(block.rank).or_default().push(block.index));
        let (asked, identity) = ((variable, &there.names()[..]), self.identity());
        let outcomes = crate::fetch::transform(self.shared(), identity, asked, &of_ranks, limit)?;
        self.lay_out((entry, &name), there, &of_ranks, (&blocks, outcomes), limit)?;
        Ok(name)
    }

    /// Puts what the owners made beside the variables of the step.
    fn lay_out(
        &self,
        (source, name): (&TableEntry, &str),
        there: &There,
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
                    self.shared().offers.forget();
                    return Err(self.not_there(&source.def, there, format!("publisher rank {rank}: {what}")));
                }
            };
            if variable != name || (keeps != keeps_places && !made.is_empty()) {
                let (stream, step) = (self.stream().to_owned(), self.step());
                let what =
                    format!("of {:?} it made {variable:?}, and others something else", source.def.name);
                return Err(ReadError::PeerMisbehaved { stream, step, rank, what });
            }
            keeps_places = keeps;
            let ids = asked.get(&rank).into_iter().flatten().map(|&index| BlockId::new(rank, index));
            made.extend(ids.zip(of_rank));
        }
        let rank = made.keys().next().map_or(Rank::LEAD, |block: &BlockId| block.rank);
        let given = self.type_at(there.given(), rank, limit)?;
        let kept = keep(&self.held.there, source, (name, keeps_places), &given, (blocks, &made));
        kept.map_err(|error| ReadError::Driver {
            stream: self.stream().to_owned(),
            what: format!("what ranks made of {:?}: {error}", source.def.name),
        })
    }

    fn not_there(&self, source: &VariableDef, there: &There, what: String) -> ReadError {
        let (stream, step, variable) = (self.stream().to_owned(), self.step(), source.name.clone());
        let path = format!("{}, by the publisher", there.path);
        let source = Box::new(TransformProblem::Publisher { what });
        ReadError::NotTransformed { stream, step, variable, path, source }
    }
}

/// Lays out what was made of blocks: the records, and what they refer to.
fn keep(
    known: &MadeThere,
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
    let of = source.def.dtype;
    let (def, blocks) = match keeps_places {
        true => (VariableDef::global_array(name, of, source.def.ndims()), blocks.clone()),
        false => (VariableDef::joined_array(name, of, 1, 0), rows(|made| made.count)?),
    };
    let def = def.with_order(source.def.order).with_record(given);
    let parts = def.parts().map(|parts| Ok::<_, LayoutError>((parts, rows(|made| made.parts_bytes)?)));
    let parts = parts.transpose()?;
    known.keep(Arc::new(def), source.layout.shape().filter(|_| keeps_places), blocks)?;
    parts.map_or(Ok(()), |(def, blocks)| known.keep(Arc::new(def), None, blocks))
}
