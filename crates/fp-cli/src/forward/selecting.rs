//! No more of the stream is asked for than the gate wants, and no more of a step crosses.

use fp_core::{CommandError, Event, Misuse, ReadError, StepReader, Subscriber, VariableInfo, VariableSet};

use super::Forward;
use crate::failure::Failure;
use crate::recorded_step;

/// The variables of a step that cross: those that are wanted, and were asked for in that step.
pub(super) fn crossing(step: &StepReader, wanted: &VariableSet) -> Result<Vec<VariableInfo>, Failure> {
    let mut variables = recorded_step::variables(step)?;
    variables.retain(|info| wanted.contains(&info.def.name) && step.is_selected(&info.def.name));
    Ok(variables)
}

impl Forward<'_> {
    /// The variables that are to cross.
    pub(super) fn wanted(&self) -> VariableSet {
        match self.options.all {
            true => VariableSet::All,
            false => self.held.wanted().variables(),
        }
    }

    /// Asks the publisher for what the gate wants, where that has changed, and tells from which step on that comes.
    pub(super) fn select(&mut self, source: &mut Subscriber) -> Result<(), Failure> {
        let wanted = self.wanted();
        if wanted != self.asked {
            match source.select(wanted.clone()) {
                Ok(()) => self.asked = wanted,
                // It has ended, and nothing comes of which anything could be asked.
                Err(ReadError::Misuse { source: Misuse::Command(CommandError::NotAttached), .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let since = |event| if let Event::Reselected { first } = event { Some(first) } else { None };
        if let Some(first) = source.events().into_iter().rev().find_map(since) {
            let (stream, asked) = (&self.options.stream, in_words(&self.asked));
            eprintln!(
                "flexpath: stream {stream:?}: from step {first} on {asked} crosses, as it is wanted there"
            );
        }
        Ok(())
    }
}

fn in_words(variables: &VariableSet) -> String {
    match variables {
        VariableSet::All => "all of a step".to_owned(),
        VariableSet::Named(names) => format!("{names:?}"),
    }
}
