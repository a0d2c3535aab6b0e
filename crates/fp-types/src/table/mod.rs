//! The table of a step: which variables it has and, for each, the layout of its blocks over all ranks.

mod builder;
mod changes;
mod compose;
mod contribution;
mod pages;
mod variable;

use std::sync::Arc;

pub use builder::{ApplyError, TableBuilder};
pub use changes::{PutChanges, PutChangesError, PutColumn, RankRange};
pub use compose::{ComposeError, PutDifference};
pub use contribution::{Contribution, ContributionError, VariablePut};

use crate::hash::CanonicalHasher;
use crate::id::{LayoutId, TableId};
use crate::layout::Layout;
use crate::schema::{VariableDef, encode_variable};

/// What goes before the content in the hash. A change of the encoding changes the version.
const DOMAIN: &str = "flexpath table 2";

/// One variable of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// What the variable is.
    pub def: Arc<VariableDef>,
    /// Where its blocks are; shared with every variable cut alike.
    pub layout: Arc<Layout>,
}

/// All variables of a step, sorted by name, with a content hash: equal steps have equal ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTable {
    entries: Vec<TableEntry>,
    id: TableId,
}

/// Why entries make no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// One variable twice.
    #[error("variable {variable:?}: it occurs twice")]
    Duplicate {
        /// Its name.
        variable: String,
    },
    /// A layout of another number of dimensions, or a global one for a local variable or the reverse.
    #[error("variable {variable:?}: it does not go with layout {layout}")]
    Mismatch {
        /// The variable's name.
        variable: String,
        /// The layout.
        layout: LayoutId,
    },
}

impl StepTable {
    /// The table of those entries, given in any order.
    pub fn new(mut entries: Vec<TableEntry>) -> Result<Self, TableError> {
        entries.sort_by(|a, b| a.def.name.cmp(&b.def.name));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].def.name == pair[1].def.name) {
            return Err(TableError::Duplicate { variable: pair[0].def.name.clone() });
        }
        if let Some(entry) = entries.iter().find(|entry| !entry.is_consistent()) {
            let variable = entry.def.name.clone();
            return Err(TableError::Mismatch { variable, layout: entry.layout.id() });
        }
        Ok(Self::of_sorted(entries))
    }

    /// The table of entries that are known to be sorted, distinct and consistent.
    fn of_sorted(entries: Vec<TableEntry>) -> Self {
        let id = content_id(&entries);
        Self { entries, id }
    }

    /// The content hash.
    pub fn id(&self) -> TableId {
        self.id
    }

    /// All variables, sorted by name.
    pub fn entries(&self) -> &[TableEntry] {
        &self.entries
    }

    /// The variable of that name.
    pub fn entry(&self, variable: &str) -> Option<&TableEntry> {
        let position = self.entries.binary_search_by(|entry| entry.def.name.as_str().cmp(variable)).ok()?;
        self.entries.get(position)
    }

    /// Every layout once, by rising id.
    pub fn layouts(&self) -> Vec<&Arc<Layout>> {
        let mut layouts: Vec<&Arc<Layout>> = self.entries.iter().map(|entry| &entry.layout).collect();
        layouts.sort_by_key(|layout| layout.id());
        layouts.dedup_by_key(|layout| layout.id());
        layouts
    }
}

impl TableEntry {
    /// Whether definition and layout go together.
    fn is_consistent(&self) -> bool {
        self.def.kind.is_global() == self.layout.shape().is_some() && self.def.ndims() == self.layout.ndims()
    }
}

/// Hashes the canonical encoding: for each variable its definition and its layout's id.
fn content_id(entries: &[TableEntry]) -> TableId {
    let mut hasher = CanonicalHasher::new(DOMAIN);
    hasher.count(entries.len());
    for entry in entries {
        encode_variable(&mut hasher, &entry.def);
        hasher.bytes(entry.layout.id().as_bytes());
    }
    TableId(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;

    fn entry(name: &str, ndims: usize) -> TableEntry {
        let def = Arc::new(VariableDef::local_array(name, Dtype::F64, ndims));
        TableEntry { def, layout: Arc::new(Layout::local(1, []).unwrap()) }
    }

    #[test]
    fn tables_are_sorted_and_checked() {
        let table = StepTable::new(vec![entry("b", 1), entry("a", 1)]).unwrap();
        assert_eq!(table.id(), StepTable::new(vec![entry("a", 1), entry("b", 1)]).unwrap().id());
        assert_eq!(table.entry("b").map(|entry| entry.def.name.as_str()), Some("b"));
        assert_eq!((table.entry("c"), table.layouts().len()), (None, 1));
        let twice = StepTable::new(vec![entry("a", 1), entry("a", 1)]);
        assert_eq!(twice, Err(TableError::Duplicate { variable: "a".into() }));
        let mismatch = StepTable::new(vec![entry("a", 2)]);
        assert!(matches!(mismatch, Err(TableError::Mismatch { .. })));
    }

    #[test]
    fn ids_never_change() {
        let table = StepTable::new(vec![entry("a", 1)]).unwrap();
        assert_eq!(table.id().to_string(), "f6ddf27dfef9d64056422e8da600ba7d");
    }
}
