//! Taking records into memory of the caller's, by a type that was made at run time.

use super::{RecordBlockError, RecordProblem};
use crate::error::{Misuse, ReadError};
use crate::patience::Limit;
use crate::select::Select;
use crate::step::{StepReader, element_count};
use fp_types::record::RecordSchema;

impl StepReader {
    /// Takes the selected records, as those of a type without lists and texts, into `destination`: as many bytes as they
    /// are, each record as it lies by that type. Where the publisher's type is the same, nothing is done for each.
    ///
    /// # Errors
    /// As [`StepReader::get_records`]; a type with lists or texts; another number of bytes.
    pub fn get_record_bytes(
        &self,
        variable: &str,
        selection: impl Into<Select>,
        wanted: &RecordSchema,
        destination: &mut [u8],
    ) -> Result<(), ReadError> {
        if !wanted.is_plain() {
            let error = RecordBlockError::NotPlain { record: wanted.record().name.clone() };
            return Err(self.problem(variable, RecordProblem::Type(error)));
        }
        let limit: Limit<'_> = self.deadline().into();
        let matched = self.matched(variable, selection.into(), Some(wanted), limit)?;
        let (count, size) = (element_count(&matched.planned), wanted.size_bytes());
        if count.checked_mul(size) != Some(destination.len()) {
            let (step, variable, region) = (self.step(), variable.to_owned(), "the selection".to_owned());
            let (expected, found) = (count as u64, (destination.len() / size) as u64);
            return Err(self.shared().misuse(Misuse::WrongLen { step, variable, region, expected, found }));
        }
        if matched.conversion.is_none() && matched.found.is_plain() {
            return self.fill(&matched.planned, destination, limit.deadline);
        }
        let set = self.taken(variable, matched, limit)?;
        // Of equal length, as both are so many records of the wanted type.
        destination.copy_from_slice(set.as_bytes());
        Ok(())
    }
}
