//! Noting records: their fixed parts as elements, and what they refer to beside them.

use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::error::record_block::RecordBlockError;
use crate::publisher::open_step::OpenStep;
use crate::records::block::RecordBlock;
use crate::value::variable::Variable;
use fp_transport::Payload;
use fp_types::record::RecordSchema;
use fp_types::{ArrayKind, Region};

/// What is to be done instead.
pub(crate) const NO_RECORDS: &str = "its elements are no records: put them as elements";
/// What texts are.
pub(crate) const NO_TEXTS: &str = "texts are global scalars";

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
        self.note_payload(variable, region, keep.then_some(fixed))?;
        let Some(of_parts) = variable.parts() else { return Ok(()) };
        let region = self.part_region(variable, parts.len())?;
        let keep = keep && !self.has_needless_parts(variable.name());
        self.note_payload(&of_parts, &region, keep.then_some(parts))
    }

    /// Notes a block of records that are admitted.
    pub(crate) fn put_block(
        &mut self,
        variable: &Variable,
        region: &Region,
        records: RecordBlock,
    ) -> Result<(), PutError> {
        if variable.def.kind == ArrayKind::Scalar {
            return self.note_value(variable, region, records.as_bytes().to_vec());
        }
        if self.sending.takes(variable.name()) {
            self.send_through(variable, region, records.payload());
        }
        let keep = self.keeps(variable.name());
        self.note_records(variable, region, records, keep)
    }

    pub(crate) fn copy_records(
        &mut self,
        variable: &Variable,
        schema: &RecordSchema,
        region: &Region,
        bytes: &[u8],
    ) -> Result<(), PutError> {
        if self.sending.takes(variable.name()) {
            self.send_through(variable, region, &Payload::from_owner(bytes.to_vec()));
        }
        let keep = self.keeps(variable.name());
        let Some(of_parts) = variable.parts() else { return self.note_copy(variable, region, bytes, keep) };
        let fixed_len = (region.element_count() as usize).saturating_mul(schema.size_bytes());
        let (fixed, parts) = bytes.split_at(fixed_len.min(bytes.len()));
        self.note_copy(variable, region, fixed, keep)?;
        let region = self.part_region(variable, parts.len())?;
        let keep = keep && !self.has_needless_parts(variable.name());
        self.note_copy(&of_parts, &region, parts, keep)
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
        self.check_known(variable, region, count)?;
        self.learn(variable, expected)
    }

    /// Subscribers can ask this rank for the type from now on.
    pub(crate) fn learn(&self, variable: &Variable, schema: &RecordSchema) -> Result<(), PutError> {
        match self.shared.server.types.learn(schema) {
            true => Ok(()),
            false => Err(self.misuse(Misuse::TooManyTypes { variable: variable.name().to_owned() })),
        }
    }

    pub(crate) fn not_plain(&self, variable: &Variable, schema: &RecordSchema) -> PutError {
        let record = schema.record().name.clone();
        self.no_records(variable, RecordBlockError::NotPlain { record })
    }

    pub(crate) fn no_records(&self, variable: &Variable, source: RecordBlockError) -> PutError {
        self.misuse(Misuse::NoRecords { variable: variable.name().to_owned(), source: Box::new(source) })
    }

    pub(crate) fn part_region(&self, variable: &Variable, len_bytes: usize) -> Result<Region, PutError> {
        let region = Region::new([0], [len_bytes as u64]);
        region.map_err(|_| self.wrong_len(variable, "bytes".to_owned(), 0, len_bytes as u64))
    }
}
