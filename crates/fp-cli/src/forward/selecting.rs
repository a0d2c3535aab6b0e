//! No more of the stream is asked for than the gate wants, and no more of a step crosses.

use fp_core::{StepReader, Subscriber, VariableInfo, VariableSet};

use super::Forward;
use crate::failure::Failure;
use crate::selecting;

/// The variables of a step that cross: those that are wanted, and were asked for in that step.
pub(super) fn crossing(step: &StepReader, wanted: &VariableSet) -> Result<Vec<VariableInfo>, Failure> {
    let mut variables = selecting::selected(step)?;
    variables.retain(|info| wanted.contains(&info.def.name));
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
        if let Some(first) = self.asked.follow(wanted, source)? {
            let (stream, asked) = (&self.options.stream, &self.asked);
            eprintln!(
                "flexpath: stream {stream:?}: from step {first} on {asked} crosses, as it is wanted there"
            );
        }
        Ok(())
    }
}
