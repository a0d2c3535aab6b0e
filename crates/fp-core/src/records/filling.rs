//! Taking records into memory of the caller's, by a type that was made at run time.

use super::reading::may_be_of_type;
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
        let (limit, select): (Limit<'_>, Select) = (self.deadline().into(), selection.into());
        let matched = match self.matched(variable, select.clone(), Some(wanted), limit) {
            Ok(matched) => Some(matched).filter(|of| of.conversion.is_none() && of.found.is_plain()),
            Err(error) if may_be_of_type(&error) => None,
            Err(error) => return Err(error),
        };
        if let Some(matched) = matched {
            self.check_room(variable, element_count(&matched.planned), wanted, destination.len())?;
            return self.fill(&matched.planned, destination, limit.deadline);
        }
        let set = self.records_as(variable, select, wanted)?;
        self.check_room(variable, set.count(), wanted, destination.len())?;
        destination.copy_from_slice(set.as_bytes());
        Ok(())
    }

    fn check_room(
        &self,
        variable: &str,
        count: usize,
        wanted: &RecordSchema,
        len_bytes: usize,
    ) -> Result<(), ReadError> {
        let size = wanted.size_bytes();
        if count.checked_mul(size) == Some(len_bytes) {
            return Ok(());
        }
        let (step, variable, region) = (self.step(), variable.to_owned(), "the selection".to_owned());
        let (expected, found) = (count as u64, (len_bytes / size) as u64);
        Err(self.shared().misuse(Misuse::WrongLen { step, variable, region, expected, found }))
    }
}
