//! Noting records: their fixed parts as elements, and what they refer to beside them.

use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::error::record_block::RecordBlockError;
use crate::publisher::open_step::OpenStep;
use crate::records::block::RecordBlock;
use crate::value::counters::Counters;
use crate::value::variable::Variable;
use fp_transport::Payload;
use fp_types::Region;
use fp_types::record::RecordSchema;

/// What is to be done instead.
pub(crate) const NO_RECORDS: &str = "its elements are no records: put them as elements";

impl OpenStep {
    /// Notes a block of records and what these refer to.
    pub(crate) fn note_records(
        &mut self,
        variable: &Variable,
        region: &Region,
        records: RecordBlock,
        keep: bool,
    ) -> Result<(), PutError> {
        let (fixed, parts) = records.split();
        self.note_payload(variable, region, fixed, keep)?;
        let Some(of_parts) = variable.parts() else { return Ok(()) };
        let region = self.part_region(variable, parts.len())?;
        self.note_payload(&of_parts, &region, parts, keep)
    }

    pub(crate) fn copy_records(
        &mut self,
        variable: &Variable,
        region: &Region,
        bytes: &[u8],
    ) -> Result<(), PutError> {
        if self.sending.takes(variable.name()) {
            self.send_through(variable, region, &Payload::from_owner(bytes.to_vec()));
        }
        if !self.keeps(variable.name()) {
            return self.note(variable, region, None);
        }
        let mut loan = self.lend(variable, bytes.len())?;
        loan.copy_from_slice(bytes);
        Counters::add(&self.shared.counters.put_copied_bytes, bytes.len());
        self.note(variable, region, Some(loan.freeze()))
    }

    /// Everything that can be wrong with records, before anything is copied.
    pub(crate) fn admit_records(
        &self,
        variable: &Variable,
        region: &Region,
        found: &RecordSchema,
        count: usize,
    ) -> Result<(), PutError> {
        let Some(expected) = variable.records() else {
            return Err(self.wrong_kind(variable, NO_RECORDS));
        };
        if expected != found {
            let (step, variable) = (self.step, variable.name().to_owned());
            let (expected, found) = (expected.record().name.clone(), found.record().name.clone());
            return Err(self.misuse(Misuse::WrongRecord { step, variable, expected, found }));
        }
        if region.element_count() != count as u64 {
            return Err(self.wrong_len(variable, region.to_string(), region.element_count(), count as u64));
        }
        self.check_known(variable, region)?;
        match self.shared.server.types.learn(expected) {
            true => Ok(()),
            false => Err(self.misuse(Misuse::TooManyTypes { variable: variable.name().to_owned() })),
        }
    }

    pub(crate) fn no_records(&self, variable: &Variable, source: RecordBlockError) -> PutError {
        self.misuse(Misuse::NoRecords { variable: variable.name().to_owned(), source: Box::new(source) })
    }

    pub(crate) fn note_payload(
        &mut self,
        variable: &Variable,
        region: &Region,
        payload: Payload,
        keep: bool,
    ) -> Result<(), PutError> {
        if !keep {
            return self.note(variable, region, None);
        }
        let payload = match self.shared_variables.contains(variable.name()) && !payload.is_empty() {
            true => self.shareable(variable, &payload)?,
            false => payload,
        };
        self.note(variable, region, Some(payload))
    }

    pub(crate) fn part_region(&self, variable: &Variable, len_bytes: usize) -> Result<Region, PutError> {
        let region = Region::new([0], [len_bytes as u64]);
        region.map_err(|_| self.wrong_len(variable, "bytes".to_owned(), 0, len_bytes as u64))
    }
}
