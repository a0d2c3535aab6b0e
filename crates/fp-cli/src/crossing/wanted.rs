//! Which variables cross: those that somebody at the gate asks for, or all.

use fp_core::VariableSet;
use serde::{Deserialize, Serialize};

/// No more are named: a subscription can name so many.
const LIMIT_NAMES: usize = 4096;

/// The names of the variables that are to cross. Without names it is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Wanted(Option<Vec<String>>);

impl Wanted {
    /// All, where nobody asks for a variable, or for too many to be named.
    pub(crate) fn of(variables: VariableSet) -> Self {
        match variables {
            VariableSet::Named(names) if (1..=LIMIT_NAMES).contains(&names.len()) => Self(Some(names)),
            VariableSet::Named(_) | VariableSet::All => Self(None),
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a gate may say it.
    pub(crate) fn fits(&self) -> bool {
        self.0.as_ref().is_none_or(|names| names.len() <= LIMIT_NAMES)
    }

    /// The variables.
    pub(crate) fn variables(self) -> VariableSet {
        self.0.map_or(VariableSet::All, VariableSet::named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_and_too_many_are_all() {
        let many = |count: usize| VariableSet::named((0..count).map(|name| name.to_string()));
        assert!(Wanted::of(VariableSet::All).is_all() && Wanted::of(many(0)).is_all());
        assert!(Wanted::of(many(LIMIT_NAMES + 1)).is_all());
        assert_eq!(Wanted::of(many(LIMIT_NAMES)).variables(), many(LIMIT_NAMES));
        assert_eq!(Wanted::default().variables(), VariableSet::All);
        assert!(Wanted::of(many(LIMIT_NAMES)).fits() && Wanted::default().fits());
        assert!(!Wanted(Some(vec![String::new(); LIMIT_NAMES + 1])).fits());
    }
}
