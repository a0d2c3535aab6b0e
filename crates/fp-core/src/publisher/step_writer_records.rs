//! Putting records: their fixed parts as elements, and what they refer to beside them.

use crate::error::PutError;
use crate::publisher::step_writer::StepWriter;
use crate::records::block;
use crate::records::block::RecordBlock;
use crate::value::variable::Variable;
use bytemuck::NoUninit;
use fp_types::record::Record;
use fp_types::{Region, Shape};

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
        self.open.admit_records(variable, region, records.schema(), records.count())?;
        self.open.put_block(variable, region, records)
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
        let schema = block::plain_schema::<T>().map_err(|error| self.open.no_records(variable, error))?;
        self.open.admit_records(variable, region, &schema, records.len())?;
        self.open.put_slice(variable, region, bytemuck::cast_slice(records))
    }

    /// Puts rows of records of a joined array, after those of lower ranks and earlier puts.
    ///
    /// # Errors
    /// As [`StepWriter::put_records`]; a number of records that makes no whole rows.
    pub fn put_joined_records(&mut self, variable: &Variable, records: RecordBlock) -> Result<(), PutError> {
        let region = self.open.rows(variable, records.count())?;
        self.put_records(variable, &region, records)
    }

    /// Puts the one record of a scalar. That of a global one rides with the announcement of the step.
    ///
    /// # Errors
    /// As [`StepWriter::put_records`]; not a scalar. Scalars that are longer than 4096 bytes together, names included,
    /// fail at the step's end.
    pub fn put_record(&mut self, variable: &Variable, record: RecordBlock) -> Result<(), PutError> {
        let region = Region::whole(&Shape::scalar());
        match variable.def.kind.is_scalar() {
            true => self.put_records(variable, &region, record),
            false => Err(self.open.wrong_kind(variable, "put it with a region")),
        }
    }
}
