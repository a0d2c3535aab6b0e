//! What is asked of a publisher where not all variables of its stream are wanted.

use std::fmt;

use fp_core::{
    CommandError, Event, Misuse, ReadError, StepId, StepReader, Subscriber, VariableInfo, VariableSet,
};

use crate::failure::Failure;
use crate::recorded_step;

/// The variables of a step that somebody put, and that were asked for in that step.
pub(crate) fn selected(step: &StepReader) -> Result<Vec<VariableInfo>, Failure> {
    let mut variables = recorded_step::variables(step)?;
    variables.retain(|info| step.is_selected(&info.def.name));
    Ok(variables)
}

/// The variables that a publisher was asked for.
pub(crate) struct AskedVariables(VariableSet);

impl AskedVariables {
    pub(crate) fn of(variables: VariableSet) -> Self {
        Self(variables)
    }

    /// Asks for these, if others were asked for; from which step on what was asked for last comes, once that is agreed.
    pub(crate) fn follow(
        &mut self,
        wanted: VariableSet,
        source: &mut Subscriber,
    ) -> Result<Option<StepId>, Failure> {
        if wanted != self.0 {
            match source.select(wanted.clone()) {
                Ok(()) => self.0 = wanted,
                // It has ended, and nothing comes of which anything could be asked.
                Err(ReadError::Misuse { source: Misuse::Command(CommandError::NotAttached), .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let since = |event| if let Event::Reselected { first } = event { Some(first) } else { None };
        Ok(source.events().into_iter().rev().find_map(since))
    }
}

impl fmt::Display for AskedVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            VariableSet::All => f.write_str("all of a step"),
            VariableSet::Named(names) => write!(f, "{names:?}"),
        }
    }
}
