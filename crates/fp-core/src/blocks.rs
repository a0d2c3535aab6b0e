//! What a step says of a variable besides its elements: which rank put which block, and how large a selection is.

use crate::error::ReadError;
use crate::select::Select;
use crate::step::StepReader;
use fp_proto::message::ResolveQuery;
use fp_types::{BlockId, Region, Selection, Shape};
use std::time::Instant;

impl StepReader {
    /// Every block of a variable, by rank and then in the order of its puts, each with its region: where it lies in a
    /// global or joined array; from 0 in a local one.
    ///
    /// Asks the publisher each time it is called, with one question: what is read in every step is better had from the
    /// layout of the step before, as long as that is the same.
    ///
    /// # Errors
    /// Unknown variable, or one that was not subscribed to; a lost publisher; time.
    pub fn blocks(&self, variable: &str) -> Result<Vec<(BlockId, Region)>, ReadError> {
        let shared = self.shared();
        let transformed = shared.options.transformed_variable(variable);
        if let Some(asked) = transformed.filter(|asked| self.is_made_here(asked)) {
            return self.made_blocks(asked, self.deadline().into());
        }
        let received = transformed.map(|asked| asked.result());
        let variable = match (shared.derived.find(variable), &received) {
            (Some((asked, _)), _) => &asked.variable,
            (None, Some(result)) => result,
            (None, None) => {
                self.admit(variable)?;
                variable
            }
        };
        self.blocks_as_put(variable, self.deadline())
    }

    /// The same of a variable of the step, whether it was subscribed to or not.
    pub(crate) fn blocks_as_put(
        &self,
        variable: &str,
        deadline: Instant,
    ) -> Result<Vec<(BlockId, Region)>, ReadError> {
        let query = ResolveQuery { variable: variable.to_owned(), selection: Selection::All };
        let table =
            self.shared().resolve(self.identity(), self.held.assignment.table, vec![query], deadline)?;
        let entry = table.entry(variable).ok_or_else(|| self.misuse(self.unknown(&table, variable)))?;
        Ok(entry.layout.blocks().collect())
    }

    /// The shape of the array that a get of this selection gives; its elements are as many as that makes.
    ///
    /// # Errors
    /// As [`StepReader::get`], but that gaps do not matter.
    pub fn selected_shape(&self, variable: &str, selection: impl Into<Select>) -> Result<Shape, ReadError> {
        let deadline = Instant::now() + self.shared().options.fetch_timeout;
        Ok(self.planned(variable, selection, true, None, deadline)?.plan.result_shape())
    }
}
