//! Composes tables step by step, doing again only what changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::changes::{PutChanges, PutChangesError, PutColumn, RankRange};
use super::compose::compose;
use super::variable::Variable;
use super::{ComposeError, ContributionError, StepTable, TableEntry};
use crate::id::{LayoutId, Rank};
use crate::layout::Layout;

/// Holds what every rank of a cohort put last and composes the table from it.
///
/// The cohort's lead applies what changed since the last step. Only variables that this touches are laid out again, and
/// only the parts of ranks that changed are hashed. A layout that comes out as one of the last table's is that very
/// value.
#[derive(Clone, Debug)]
pub struct TableBuilder {
    cohort_size: u32,
    /// Which ranks have contributed; nothing before the first has, nor when all have.
    contributed: Vec<bool>,
    /// Ranks that have not contributed.
    missing: usize,
    variables: BTreeMap<String, Composed>,
    /// The layouts of the last table.
    layouts: BTreeMap<LayoutId, Arc<Layout>>,
}

/// A variable, and what its puts compose; none if that changed since.
#[derive(Clone, Debug)]
struct Composed {
    variable: Variable,
    entry: Option<TableEntry>,
}

/// Why a contribution was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The changes mean nothing.
    #[error("{error}")]
    Changes {
        /// Why.
        error: PutChangesError,
    },
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
    /// A builder for a cohort of that many ranks. None has contributed yet.
    pub fn new(cohort_size: u32) -> Self {
        Self {
            cohort_size,
            contributed: Vec::new(),
            missing: cohort_size as usize,
            variables: BTreeMap::new(),
            layouts: BTreeMap::new(),
        }
    }

    /// Takes what ranks put, in place of what they put before. Gives the ranks whose contributions break the rules,
    /// with the reason. What they put is not taken, and no table is right until they contribute anew. Nothing changes
    /// if the cohort has no such rank, or if the changes mean nothing.
    pub fn apply(&mut self, mut changes: PutChanges) -> Vec<(Rank, ApplyError)> {
        changes.sort();
        if let Err(error) = changes.check(u64::MAX) {
            let rank = changes.ranks.first().map(|range| range.first).unwrap_or_default();
            return vec![(rank, ApplyError::Changes { error })];
        }
        let PutChanges { ranks, mut columns } = changes;
        let cohort_size = self.cohort_size;
        if let Some(beyond) = ranks.iter().map(RankRange::last).find(|rank| rank.0 >= cohort_size) {
            return vec![(beyond, ApplyError::RankOutOfRange { rank: beyond, cohort_size })];
        }
        ranks.iter().for_each(|range| self.contributed(range));
        columns.sort_by(|one, other| one.def.name.cmp(&other.def.name));
        let mut refused = Vec::new();
        for (name, composed) in &mut self.variables {
            if columns.binary_search_by(|column| column.def.name.cmp(name)).is_err() {
                composed.apply(&ranks, &[], &mut refused);
            }
        }
        for columns in columns.chunk_by(|one, other| one.def.name == other.def.name) {
            let name = columns.first().map_or("", |column| column.def.name.as_str());
            // Names are known but for the first time: no key is made for nothing.
            match self.variables.get_mut(name) {
                Some(composed) => composed.apply(&ranks, columns, &mut refused),
                None => {
                    let mut composed = Composed { variable: Variable::new(cohort_size), entry: None };
                    composed.apply(&ranks, columns, &mut refused);
                    self.variables.insert(name.to_owned(), composed);
                }
            }
        }
        self.variables.retain(|_, composed| !composed.variable.is_empty());
        refused
    }

    fn contributed(&mut self, range: &RankRange) {
        if self.missing == 0 {
            return;
        }
        self.contributed.resize(self.cohort_size as usize, false);
        for known in self.contributed.iter_mut().skip(range.first.0 as usize).take(range.count as usize) {
            self.missing -= usize::from(!*known);
            *known = true;
        }
        if self.missing == 0 {
            self.contributed = Vec::new();
        }
    }

    /// The table of what all ranks put last.
    pub fn build(&mut self) -> Result<StepTable, ComposeError> {
        if self.missing > 0 {
            let rank = self.contributed.iter().position(|known| !*known).unwrap_or(0);
            return Err(ComposeError::RankMissing { rank: Rank(rank as u32) });
        }
        let mut entries = Vec::with_capacity(self.variables.len());
        for (name, composed) in &mut self.variables {
            if composed.entry.is_none() {
                let entry = compose(name, &mut composed.variable)?;
                composed.entry = entry.map(|entry| intern(&mut self.layouts, entry));
            }
            entries.extend(composed.entry.clone());
        }
        let table = StepTable::of_sorted(entries);
        self.layouts = table.layouts().into_iter().map(|layout| (layout.id(), Arc::clone(layout))).collect();
        Ok(table)
    }
}

impl Composed {
    /// Takes what ranks put; nothing is composed again if that is what they put before.
    fn apply(&mut self, ranks: &[RankRange], columns: &[PutColumn], refused: &mut Vec<(Rank, ApplyError)>) {
        if self.variable.apply(ranks, columns, refused) {
            self.entry = None;
        }
    }
}

/// The same entry with the layout of that id that is known already, if there is one.
fn intern(known: &mut BTreeMap<LayoutId, Arc<Layout>>, entry: TableEntry) -> TableEntry {
    let TableEntry { def, layout } = entry;
    TableEntry { def, layout: Arc::clone(known.entry(layout.id()).or_insert(layout)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contribution;
    use crate::dtype::Dtype;
    use crate::order::MemoryOrder;
    use crate::region::Region;
    use crate::schema::VariableDef;
    use crate::shape::Shape;
    use crate::table::{PutChangesError, PutDifference, VariablePut};

    fn apply(builder: &mut TableBuilder, rank: u32, put: &Contribution) -> Vec<(Rank, ApplyError)> {
        builder.apply(PutChanges::of(Rank(rank), put).unwrap())
    }

    /// Rows of a 4 x 3 array, twice, and a joined array of `count` elements.
    fn put(first_row: u64, rows: u64, count: u64) -> Contribution {
        let shape = Shape::new([4, 3]).ok();
        let blocks = vec![Region::new([first_row, 0], [rows, 3]).unwrap()];
        let array = |name| VariablePut {
            def: VariableDef::global_array(name, Dtype::F64, 2).into(),
            shape,
            blocks: blocks.clone(),
            bytes: rows * 24,
        };
        let joined = VariablePut {
            def: VariableDef::joined_array("id", Dtype::I64, 1, 0).into(),
            shape: None,
            blocks: vec![Region::new([0], [count]).unwrap()],
            bytes: count * 8,
        };
        Contribution { variables: vec![array("T"), joined, array("P")] }
    }

    fn builder() -> TableBuilder {
        let mut builder = TableBuilder::new(2);
        assert_eq!(apply(&mut builder, 0, &put(0, 2, 5)), []);
        assert_eq!(apply(&mut builder, 1, &put(2, 2, 7)), []);
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
        assert_eq!(apply(&mut builder, 1, &put(2, 2, 9)), []);
        assert!(builder.variables["T"].entry.is_some() && builder.variables["id"].entry.is_none());
        let after = builder.build().unwrap();
        assert!(Arc::ptr_eq(&before.entry("T").unwrap().layout, &after.entry("T").unwrap().layout));
        assert_ne!(before.id(), after.id());
        assert_eq!(apply(&mut builder, 1, &put(2, 2, 7)), []);
        assert_eq!(builder.build().unwrap().id(), before.id());
    }

    #[test]
    fn what_no_rank_puts_any_more_is_gone() {
        let mut builder = builder();
        assert_eq!(apply(&mut builder, 0, &Contribution::default()), []);
        assert_eq!(builder.build().unwrap().entries().len(), 3);
        assert_eq!(apply(&mut builder, 1, &Contribution::default()), []);
        assert_eq!(builder.build().unwrap().entries(), []);
    }

    #[test]
    fn disagreeing_ranks_are_named() {
        let mut builder = builder();
        let mut other = put(2, 2, 7);
        Arc::make_mut(&mut other.variables[2].def).dtype = Dtype::F32;
        assert_eq!(apply(&mut builder, 1, &other), []);
        let expected = ComposeError::Disagreement {
            variable: "P".into(),
            first: Rank(0),
            second: Rank(1),
            difference: Box::new(PutDifference::Dtype(Dtype::F64, Dtype::F32)),
        };
        assert_eq!(builder.build(), Err(expected.clone()));
        let message = "variable \"P\": ranks 0 and 1 disagree: element type f64 against f32";
        assert_eq!(expected.to_string(), message);
        assert_eq!(apply(&mut builder, 1, &put(2, 2, 7)), []);
        assert!(builder.build().is_ok());
    }

    #[test]
    fn every_difference_is_found() {
        type Change = (fn(&mut VariablePut), &'static str);
        let changes: [Change; 7] = [
            (|put| put.shape = Shape::new([5, 3]).ok(), "shape "),
            (|put| Arc::make_mut(&mut put.def).unit = Some("K".into()), "unit "),
            (|put| Arc::make_mut(&mut put.def).description = Some(String::new()), "description "),
            (|put| Arc::make_mut(&mut put.def).order = MemoryOrder::ColumnMajor, "row-major "),
            (|put| Arc::make_mut(&mut put.def).dimensions[0] = "row".into(), "dimensions "),
            (|put| put.def = (*put.def).clone().with_attribute("a", 1.0).into(), "attribute "),
            (
                |put| {
                    Arc::make_mut(&mut put.def).kind = crate::ArrayKind::LocalArray;
                    (put.shape, put.blocks) = (None, vec![]);
                },
                "global array ",
            ),
        ];
        for (change, named) in changes {
            let mut builder = builder();
            let mut other = put(2, 2, 7);
            change(&mut other.variables[0]);
            assert_eq!(apply(&mut builder, 1, &other), []);
            let Err(ComposeError::Disagreement { difference, .. }) = builder.build() else {
                panic!("nobody found the {named}");
            };
            assert!(difference.to_string().starts_with(named), "{difference}");
        }
    }

    #[test]
    fn as_many_items_as_are_allowed_are_told() {
        let changes = PutChanges::of(Rank(0), &put(0, 2, 5)).unwrap();
        let items = changes.item_count();
        assert_eq!((changes.check(items), changes.check(items - 1)), (Ok(()), Err(PutChangesError::TooMany)));
    }

    #[test]
    fn ranks_must_exist_and_contribute() {
        let mut builder = TableBuilder::new(2);
        let outside = apply(&mut builder, 2, &Contribution::default());
        assert_eq!(outside, [(Rank(2), ApplyError::RankOutOfRange { rank: Rank(2), cohort_size: 2 })]);
        assert_eq!(apply(&mut builder, 0, &Contribution::default()), []);
        assert_eq!(builder.build(), Err(ComposeError::RankMissing { rank: Rank(1) }));
    }
}
