//! Composes tables step by step, doing again only what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compose::{RankPut, compose};
use super::{ComposeError, Contribution, ContributionError, StepTable, TableEntry, VariablePut};
use crate::id::{LayoutId, Rank};
use crate::layout::Layout;

/// Holds the last contribution of every rank of a cohort and composes the table from them.
///
/// The cohort's lead applies what changed since the last step; only variables that this touches are laid out
/// again, and a layout that comes out as one of the last table's is that very value.
#[derive(Clone, Debug)]
pub struct TableBuilder {
    cohort_size: u32,
    contributed: BTreeSet<Rank>,
    variables: BTreeMap<String, Variable>,
    /// The layouts of the last table.
    layouts: BTreeMap<LayoutId, Arc<Layout>>,
}

/// What the ranks put of one variable.
#[derive(Clone, Debug, Default)]
struct Variable {
    puts: BTreeMap<Rank, RankPut>,
    /// What they compose; none if that changed since.
    composed: Option<TableEntry>,
}

/// Why a contribution was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The cohort has no such rank.
    #[error("rank {rank} contributed, but the cohort has {cohort_size} ranks")]
    RankOutOfRange {
        /// The rank.
        rank: Rank,
        /// How many ranks there are.
        cohort_size: u32,
    },
    /// The contribution breaks the rules.
    #[error("rank {rank}: {error}")]
    Contribution {
        /// The rank.
        rank: Rank,
        /// Why.
        error: ContributionError,
    },
}

impl TableBuilder {
    /// A builder for a cohort of that many ranks, none of which has contributed.
    pub fn new(cohort_size: u32) -> Self {
        Self {
            cohort_size,
            contributed: BTreeSet::new(),
            variables: BTreeMap::new(),
            layouts: BTreeMap::new(),
        }
    }

    /// Takes what a rank put, in place of what it put before. On an error nothing changes.
    pub fn apply(&mut self, rank: Rank, contribution: Contribution) -> Result<(), ApplyError> {
        if rank.0 >= self.cohort_size {
            return Err(ApplyError::RankOutOfRange { rank, cohort_size: self.cohort_size });
        }
        contribution.validate().map_err(|error| ApplyError::Contribution { rank, error })?;
        self.contributed.insert(rank);
        let mut kept: Vec<&str> = contribution.variables.iter().map(|put| put.def.name.as_str()).collect();
        kept.sort_unstable();
        for (name, variable) in &mut self.variables {
            if kept.binary_search(&name.as_str()).is_err() {
                variable.remove(rank);
            }
        }
        for put in contribution.variables {
            // Names are known but for the first rank's: no key is made for nothing.
            match self.variables.get_mut(&put.def.name) {
                Some(variable) => variable.replace(rank, put),
                None => self.variables.entry(put.def.name.clone()).or_default().replace(rank, put),
            }
        }
        self.variables.retain(|_, variable| !variable.puts.is_empty());
        Ok(())
    }

    /// The table of what all ranks put last.
    pub fn build(&mut self) -> Result<StepTable, ComposeError> {
        if self.contributed.len() < self.cohort_size as usize {
            let missing = (0..self.cohort_size).map(Rank).find(|rank| !self.contributed.contains(rank));
            missing.map_or(Ok(()), |rank| Err(ComposeError::RankMissing { rank }))?;
        }
        let mut entries = Vec::with_capacity(self.variables.len());
        for (name, variable) in &mut self.variables {
            if variable.composed.is_none() {
                let composed = compose(name, &variable.puts)?;
                variable.composed = composed.map(|entry| intern(&mut self.layouts, entry));
            }
            entries.extend(variable.composed.clone());
        }
        let table = StepTable::of_sorted(entries);
        self.layouts = table.layouts().into_iter().map(|layout| (layout.id(), Arc::clone(layout))).collect();
        Ok(table)
    }
}

/// The same entry with the layout of that id that is known already, if there is one.
fn intern(known: &mut BTreeMap<LayoutId, Arc<Layout>>, entry: TableEntry) -> TableEntry {
    let TableEntry { def, layout } = entry;
    TableEntry { def, layout: Arc::clone(known.entry(layout.id()).or_insert(layout)) }
}

impl Variable {
    /// Forgets what a rank put.
    fn remove(&mut self, rank: Rank) {
        if self.puts.remove(&rank).is_some() {
            self.composed = None;
        }
    }

    /// Takes what a rank put; nothing is composed again if that is what it put before.
    fn replace(&mut self, rank: Rank, put: VariablePut) {
        let known = self.puts.values().next().map(|put| &put.def).filter(|def| ***def == put.def);
        let def = known.map_or_else(|| Arc::new(put.def), Arc::clone);
        let put = RankPut { def, shape: put.shape, blocks: put.blocks };
        if self.puts.get(&rank) != Some(&put) {
            self.puts.insert(rank, put);
            self.composed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::region::Region;
    use crate::schema::VariableDef;
    use crate::shape::Shape;
    use crate::table::Difference;

    /// Rows of a 4 x 3 array, twice, and a joined array of `count` elements.
    fn put(first_row: u64, rows: u64, count: u64) -> Contribution {
        let shape = Shape::new([4, 3]).ok();
        let blocks = vec![Region::new([first_row, 0], [rows, 3]).unwrap()];
        let array = |name| VariablePut {
            def: VariableDef::global_array(name, Dtype::F64, 2),
            shape,
            blocks: blocks.clone(),
            bytes: rows * 24,
        };
        let joined = VariablePut {
            def: VariableDef::joined_array("id", Dtype::I64, 1, 0),
            shape: None,
            blocks: vec![Region::new([0], [count]).unwrap()],
            bytes: count * 8,
        };
        Contribution { variables: vec![array("T"), joined, array("P")] }
    }

    fn builder() -> TableBuilder {
        let mut builder = TableBuilder::new(2);
        builder.apply(Rank(0), put(0, 2, 5)).unwrap();
        builder.apply(Rank(1), put(2, 2, 7)).unwrap();
        builder
    }

    #[test]
    fn variables_cut_alike_share_a_layout() {
        let table = builder().build().unwrap();
        let layout = |name| &table.entry(name).unwrap().layout;
        assert!(Arc::ptr_eq(layout("T"), layout("P")));
        assert_eq!(layout("id").shape(), Shape::new([12]).ok().as_ref());
        assert_eq!(table.layouts().len(), 2);
    }

    #[test]
    fn only_what_changed_is_laid_out_again() {
        let mut builder = builder();
        let before = builder.build().unwrap();
        builder.apply(Rank(1), put(2, 2, 9)).unwrap();
        assert!(builder.variables["T"].composed.is_some() && builder.variables["id"].composed.is_none());
        let after = builder.build().unwrap();
        assert!(Arc::ptr_eq(&before.entry("T").unwrap().layout, &after.entry("T").unwrap().layout));
        assert_ne!(before.id(), after.id());
        builder.apply(Rank(1), put(2, 2, 7)).unwrap();
        assert_eq!(builder.build().unwrap().id(), before.id());
    }

    #[test]
    fn what_no_rank_puts_any_more_is_gone() {
        let mut builder = builder();
        builder.apply(Rank(0), Contribution::default()).unwrap();
        assert_eq!(builder.build().unwrap().entries().len(), 3);
        builder.apply(Rank(1), Contribution::default()).unwrap();
        assert_eq!(builder.build().unwrap().entries(), []);
    }

    #[test]
    fn disagreeing_ranks_are_named() {
        let mut builder = builder();
        let mut other = put(2, 2, 7);
        other.variables[2].def.dtype = Dtype::F32;
        builder.apply(Rank(1), other).unwrap();
        let expected = ComposeError::Disagreement {
            variable: "P".into(),
            first: Rank(0),
            second: Rank(1),
            difference: Box::new(Difference::Dtype(Dtype::F64, Dtype::F32)),
        };
        assert_eq!(builder.build(), Err(expected.clone()));
        let message = "variable \"P\": ranks 0 and 1 disagree: element type f64 against f32";
        assert_eq!(expected.to_string(), message);
        builder.apply(Rank(1), put(2, 2, 7)).unwrap();
        assert!(builder.build().is_ok());
    }

    #[test]
    fn every_difference_is_found() {
        let changes: [fn(&mut VariablePut); 7] = [
            |put| put.shape = Shape::new([5, 3]).ok(),
            |put| put.def.unit = Some("K".into()),
            |put| put.def.description = Some(String::new()),
            |put| put.def.order = crate::MemoryOrder::ColumnMajor,
            |put| put.def.dimensions[0] = "row".into(),
            |put| put.def = put.def.clone().with_attribute("a", 1.0),
            |put| (put.def.kind, put.shape, put.blocks) = (crate::ArrayKind::LocalArray, None, vec![]),
        ];
        for change in changes {
            let mut builder = builder();
            let mut other = put(2, 2, 7);
            change(&mut other.variables[0]);
            builder.apply(Rank(1), other).unwrap();
            assert!(matches!(builder.build(), Err(ComposeError::Disagreement { .. })));
        }
    }

    #[test]
    fn ranks_must_exist_and_contribute() {
        let mut builder = TableBuilder::new(2);
        let outside = builder.apply(Rank(2), Contribution::default());
        assert_eq!(outside, Err(ApplyError::RankOutOfRange { rank: Rank(2), cohort_size: 2 }));
        builder.apply(Rank(0), Contribution::default()).unwrap();
        assert_eq!(builder.build(), Err(ComposeError::RankMissing { rank: Rank(1) }));
    }
}
