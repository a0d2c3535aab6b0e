//! Putting records: their fixed parts as elements, and what they refer to beside them.

use super::StepWriter;
use crate::error::{Misuse, PutError};
use crate::records::{RecordBlock, RecordBlockError};
use crate::statistics::Counters;
use crate::variable::Variable;
use bytemuck::NoUninit;
use fp_proto::message::ScalarValue;
use fp_transport::Payload;
use fp_types::record::{Record, RecordSchema};
use fp_types::{ArrayKind, Region, Shape};

/// What is to be done instead.
const NO_RECORDS: &str = "its elements are no records: put them as elements";

impl StepWriter {
    /// Puts a block of records: no copy, unless a subscriber shares memory with this rank (1, counted). Records lie
    /// densely in the variable's memory order.
    ///
    /// # Errors
    /// Records of another type than the variable's, too few or too many for the region; a block put twice; no memory.
    pub fn put_records(
        &mut self,
        variable: &Variable,
        region: &Region,
        records: RecordBlock,
    ) -> Result<(), PutError> {
        self.admit_records(variable, region, records.schema(), records.count())?;
        if self.sending.takes(variable.name()) {
            self.send_through(variable, region, records.payload());
        }
        let keep = self.keeps(variable.name());
        self.note_records(variable, region, records, keep)
    }

    /// Notes a block of records and what these refer to.
    pub(super) fn note_records(
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

    /// Puts a copy of records as they lie in memory, made in the pool: nothing is done for each.
    ///
    /// # Errors
    /// As [`StepWriter::put_records`]; a Rust type that lies otherwise in memory than its record does.
    pub fn put_records_copy<T: Record + NoUninit>(
        &mut self,
        variable: &Variable,
        region: &Region,
        records: &[T],
    ) -> Result<(), PutError> {
        let schema = crate::records::plain_schema::<T>().map_err(|error| self.no_records(variable, error))?;
        self.admit_records(variable, region, &schema, records.len())?;
        self.copy_records(variable, region, bytemuck::cast_slice(records))
    }

    /// Puts a copy of records of a type that was made at run time, made in the pool: `bytes` are as many records as the
    /// region has, as they lie by the variable's type.
    ///
    /// # Errors
    /// As [`StepWriter::put_records`]; a type with lists or texts, whose bytes [`RecordBlock::encoded`] takes.
    pub fn put_record_bytes(
        &mut self,
        variable: &Variable,
        region: &Region,
        bytes: &[u8],
    ) -> Result<(), PutError> {
        let Some(schema) = variable.records().cloned() else {
            return Err(self.wrong_kind(variable, NO_RECORDS));
        };
        if !schema.is_plain() {
            let record = schema.record().name.clone();
            return Err(self.no_records(variable, RecordBlockError::NotPlain { record }));
        }
        let size = schema.size_bytes();
        self.admit_records(variable, region, &schema, bytes.len().div_ceil(size))?;
        if bytes.len() % size != 0 {
            let expected = region.element_count().saturating_mul(size as u64);
            return Err(self.wrong_len(
                variable,
                format!("the bytes of {region}"),
                expected,
                bytes.len() as u64,
            ));
        }
        self.copy_records(variable, region, bytes)
    }

    fn copy_records(&mut self, variable: &Variable, region: &Region, bytes: &[u8]) -> Result<(), PutError> {
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

    /// Puts rows of records of a joined array, after those of lower ranks and earlier puts.
    ///
    /// # Errors
    /// As [`StepWriter::put_records`]; a number of records that makes no whole rows.
    pub fn put_joined_records(&mut self, variable: &Variable, records: RecordBlock) -> Result<(), PutError> {
        let region = self.rows(variable, records.count())?;
        self.put_records(variable, &region, records)
    }

    /// Puts the one record of a scalar. That of a global one rides with the announcement of the step.
    ///
    /// # Errors
    /// As [`StepWriter::put_records`]; not a scalar. Scalars that are longer than 4096 bytes together, names included,
    /// fail at the step's end.
    pub fn put_record(&mut self, variable: &Variable, record: RecordBlock) -> Result<(), PutError> {
        let region = Region::whole(&Shape::scalar());
        match variable.def.kind {
            ArrayKind::LocalScalar => self.put_records(variable, &region, record),
            ArrayKind::Scalar => {
                self.admit_records(variable, &region, record.schema(), record.count())?;
                let (name, rank) = (variable.name().to_owned(), self.rank());
                let (dtype, bytes) = (variable.def.dtype, record.as_bytes().to_vec());
                self.values.push(ScalarValue { name, rank, dtype, bytes });
                self.note(variable, &region, None)
            }
            _ => Err(self.wrong_kind(variable, "put it with a region")),
        }
    }

    /// Everything that can be wrong with records, before anything is copied.
    fn admit_records(
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

    fn no_records(&self, variable: &Variable, source: RecordBlockError) -> PutError {
        self.misuse(Misuse::NoRecords { variable: variable.name().to_owned(), source: Box::new(source) })
    }

    pub(super) fn note_payload(
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

    fn part_region(&self, variable: &Variable, len_bytes: usize) -> Result<Region, PutError> {
        let region = Region::new([0], [len_bytes as u64]);
        region.map_err(|_| self.wrong_len(variable, "bytes".to_owned(), 0, len_bytes as u64))
    }
}
