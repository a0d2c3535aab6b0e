//! The blocks of one step, and for whom they are kept.

use crate::data::owner::block::StoredBlock;
use crate::data::owner::subscriber_link::Want;
use fp_proto::data::BlockPart;
use fp_proto::few::Few;
use fp_proto::message::MemberId;
use fp_transport::{Arena, InprocKey, Pool, ProcessWatch};
use fp_types::SubscriptionId;
use smallvec::SmallVec;
use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Blocks of a step that is gone whose memory is kept for others.
const LIMIT_SPARE_BLOCKS: usize = 16;

/// The blocks of one step.
pub(crate) struct StoredStep {
    pub(crate) arena: Arena,
    pub(super) kept: Few<SubscriptionId>,
    /// Those of them that hear nothing of it before it is assigned.
    pub(super) unjudged: Few<SubscriptionId>,
    /// It is kept for these until it is judged, too, and they hear as little of it; sorted.
    pub(super) watches: Arc<[SubscriptionId]>,
    pub(crate) ended: bool,
    /// The members that have it.
    pub(super) assigned: Few<MemberId>,
    pub(crate) blocks: Vec<StoredBlock>,
    /// Where they are, by names and numbers, once that was asked.
    by_name: OnceCell<Vec<u32>>,
    /// Bytes of those that were made when somebody asked for them.
    pub(crate) made_bytes: u64,
    pub(crate) exported: BTreeMap<usize, InprocKey>,
    /// Processes that were told where its segments are.
    pub(super) seen: Seen,
    /// What is dropped with it.
    pub(super) beside: Vec<Box<dyn Any + Send + Sync>>,
}

/// Processes by their number, each once.
pub(super) type Seen = SmallVec<[ProcessWatch; 2]>;

/// A process was told where the segments of a step are.
pub(super) fn was_seen_by(seen: &mut Seen, watch: &ProcessWatch) {
    if let Err(at) = seen.binary_search_by_key(&watch.pid(), ProcessWatch::pid) {
        seen.insert(at, watch.clone());
    }
}

impl StoredStep {
    /// A step of which nothing is stored yet.
    pub(super) fn new(arena: Arena) -> Self {
        Self {
            arena,
            kept: Few::new(),
            unjudged: Few::new(),
            watches: Arc::default(),
            ended: false,
            assigned: Few::new(),
            blocks: Vec::new(),
            by_name: OnceCell::new(),
            made_bytes: 0,
            exported: BTreeMap::new(),
            seen: Seen::new(),
            beside: Vec::new(),
        }
    }

    /// Forgets all of it, but for memory that the next step can use, and for whom it was kept. Where somebody still has
    /// its blocks, it has another arena from now on. Says whether it is to be kept.
    pub(super) fn clear(&mut self, pool: &Pool) -> bool {
        // The next step says anew for whom it is kept.
        let Self {
            arena,
            kept: _,
            unjudged: _,
            watches: _,
            ended,
            assigned,
            blocks,
            by_name,
            made_bytes,
            exported,
            seen,
            beside,
        } = self;
        blocks.clear();
        by_name.take();
        beside.clear();
        if blocks.capacity() > LIMIT_SPARE_BLOCKS {
            return false;
        }
        if !arena.clear() {
            *arena = pool.arena();
        }
        (*ended, *made_bytes) = (false, 0);
        assigned.clear();
        // To clear a tree takes it apart, even an empty one.
        if !exported.is_empty() {
            exported.clear();
        }
        seen.clear();
        true
    }

    pub(super) fn keeps(&self, want: &Want) -> bool {
        self.kept.binary_search(&want.subscription).is_ok() || self.is_watched(want)
    }

    pub(super) fn is_watched(&self, want: &Want) -> bool {
        self.watches.binary_search(&want.subscription).is_ok()
    }

    pub(super) fn is_unjudged(&self, want: &Want) -> bool {
        self.unjudged.binary_search(&want.subscription).is_ok() || self.is_watched(want)
    }

    pub(super) fn add(&mut self, block: StoredBlock) {
        self.by_name.take();
        self.blocks.push(block);
    }

    /// The places of the blocks of which these are parts; `None` if one of them is not here. Mostly each is where the one
    /// before it lets one expect.
    pub(super) fn find(&self, pieces: &[BlockPart]) -> Option<Vec<usize>> {
        let name = |at: usize| self.blocks.get(at).map(|block| (&*block.def.name, block.index));
        let find = |wanted: (&str, u32)| {
            let all = self.by_name.get_or_init(|| {
                let mut all: Vec<u32> = (0..).take(self.blocks.len()).collect();
                all.sort_by_key(|at| name(*at as usize));
                all
            });
            let found = all.binary_search_by_key(&Some(wanted), |at| name(*at as usize)).ok()?;
            all.get(found).map(|at| *at as usize)
        };
        let mut next = 0;
        let place = |piece: &BlockPart| {
            let wanted = (&*piece.variable, piece.block);
            let at = if name(next) == Some(wanted) { next } else { find(wanted)? };
            next = at + 1;
            Some(at)
        };
        pieces.iter().map(place).collect()
    }

    /// Whether one of these blocks is in no memory.
    pub(super) fn are_stored(&self, blocks: &[usize]) -> bool {
        blocks.iter().filter_map(|&at| self.blocks.get(at)).any(|block| block.stored().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::owner::block::BlockBytes;
    use fp_transport::{Payload, PoolOptions};
    use fp_types::{Dtype, Part, Region, VariableDef};

    /// Blocks of two variables in turns, asked for in any order, also when more of them have come.
    #[test]
    fn blocks_are_found_in_whatever_order_they_are_asked_for() {
        let region = Region::new([0], [1]).expect("a region");
        let part = |variable: &str, block| BlockPart {
            variable: variable.to_owned(),
            block,
            part: Part::Region(region),
        };
        let mut stored = StoredStep::new(Pool::new(PoolOptions::default()).arena());
        for index in 0..40 {
            for name in ["y", "x"] {
                let def = Arc::new(VariableDef::global_array(name, Dtype::U8, 1));
                let bytes = BlockBytes::Memory(Payload::from_owner(vec![0]));
                stored.add(StoredBlock { def, index, region, bytes });
            }
            let wanted = |index| [part("x", index), part("y", index)];
            let pieces: Vec<_> = (0..=index).rev().flat_map(wanted).collect();
            let expected = (0..=index as usize).rev().flat_map(|at| [2 * at + 1, 2 * at]).collect();
            assert_eq!(stored.find(&pieces), Some(expected));
            assert_eq!(
                stored.find(&[part("x", index), part("x", index + 1)]),
                None,
                "the last is not here yet"
            );
            assert_eq!(stored.find(&[part("z", 0)]), None);
        }
    }
}
