//! Judging a step by its table.

use std::fmt;

use super::Condition;
use super::canonical::ConditionRefusal;
use crate::schema::VariableOrigin;
use crate::table::StepTable;

/// Who judges steps by conditions: a pure function of a condition's bytes and the step's table.
pub trait ConditionJudge: fmt::Debug + Send + Sync {
    /// Whether it can judge by these bytes.
    ///
    /// # Errors
    /// What it does not know.
    fn check(&self, condition: &[u8]) -> Result<(), ConditionRefusal>;

    /// Whether the step of that table is one of those. By bytes that it does not know no step is.
    fn holds(&self, condition: &[u8], table: &StepTable) -> bool;
}

/// Judges by what a step's table says: [`Condition`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TableConditions;

impl ConditionJudge for TableConditions {
    fn check(&self, condition: &[u8]) -> Result<(), ConditionRefusal> {
        Condition::decode(condition).map(drop)
    }

    fn holds(&self, condition: &[u8], table: &StepTable) -> bool {
        Condition::decode(condition).is_ok_and(|condition| condition.holds(table))
    }
}

impl Condition {
    /// Whether the step of that table is as this says.
    pub fn holds(&self, table: &StepTable) -> bool {
        match self {
            Self::Has { variable } => {
                table.entry(variable).is_some_and(|entry| entry.def.origin == VariableOrigin::Put)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::dtype::Dtype;
    use crate::layout::Layout;
    use crate::schema::VariableDef;
    use crate::table::TableEntry;

    fn entry(name: &str, origin: VariableOrigin) -> TableEntry {
        let mut def = VariableDef::local_array(name, Dtype::F64, 1);
        def.origin = origin;
        TableEntry { def: Arc::new(def), layout: Arc::new(Layout::local(1, []).unwrap()) }
    }

    #[test]
    fn a_step_has_what_some_rank_put() {
        let put = |name| entry(name, VariableOrigin::Put);
        let table = StepTable::new(vec![put("T"), put("x"), entry("d", VariableOrigin::Derived)]).unwrap();
        let holds = |condition: &[u8]| TableConditions.holds(condition, &table);
        let has = |name: &str| Condition::Has { variable: name.to_owned() }.encode();
        assert_eq!(["T", "x", "t", "d"].map(|name| holds(&has(name))), [true, true, false, false]);
        assert!(!holds(b"") && TableConditions.check(b"").is_err());
        assert_eq!(TableConditions.check(&has("whatever")), Ok(()));
    }
}
