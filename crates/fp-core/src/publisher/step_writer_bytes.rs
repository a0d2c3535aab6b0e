//! Putting blocks whose type is known only at run time.

use crate::data::owner::block::BlockBytes;
use crate::error::PutError;
use crate::error::misuse::Misuse;
use crate::publisher::loan::{KeptBytes, LoanBytes};
use crate::publisher::step_writer::StepWriter;
use crate::records::block::RecordBlock;
use crate::value::stored_bytes::StoredBytes;
use crate::value::variable::Variable;
use fp_transport::Payload;
use fp_types::{ArrayKind, Region, StepId};
use std::sync::Arc;

impl StepWriter {
    /// Puts a copy of a block as bytes, made in the pool. The variable may be of any kind and of any element type, known
    /// only at run time.
    ///
    /// `bytes` are what [`StepReader::get_bytes`](crate::StepReader::get_bytes) gives in the variable's memory order.
    /// Their address needs no alignment.
    ///
    /// | elements | `bytes` |
    /// |---|---|
    /// | numbers, truth values | as many as `region` has, densely; each truth value a byte that is 0 or 1 |
    /// | records | as many as `region` has, densely; then what their lists and texts refer to |
    /// | a text | UTF-8 of any length |
    ///
    /// The region of a scalar has no dimensions. That of a local or joined array begins at 0, and dimension 0 of a
    /// joined one counts rows.
    ///
    /// # Errors
    /// Another number of bytes than the region's elements have; bytes that are no truth values, no text or no such
    /// records. A region outside the shape; a block put twice; no memory. Scalars that are longer than 4096 bytes
    /// together, names included, fail at the step's end.
    pub fn put_bytes(&mut self, variable: &Variable, region: &Region, bytes: &[u8]) -> Result<(), PutError> {
        self.open.admit_bytes(variable, region, bytes)?;
        self.open.put_slice(variable, region, bytes)
    }

    /// Puts a block as bytes that stay with their owner, whose drop is the release. Copies as [`StepWriter::put`]; the
    /// value of a scalar is always copied.
    ///
    /// # Errors
    /// As [`StepWriter::put_bytes`].
    pub fn put_external_bytes(
        &mut self,
        variable: &Variable,
        region: &Region,
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<(), PutError> {
        self.open.admit_bytes(variable, region, owner.as_ref())?;
        match variable.records() {
            Some(schema) => {
                let block = RecordBlock::admitted(schema, region.element_count() as usize, owner);
                self.open.put_block(variable, region, block)
            }
            None => self.open.put_owned(variable, region, owner),
        }
    }

    /// Puts a block whose bytes are in no memory: a file has them, for example. Nothing is copied, and they count to no
    /// bound of bytes. Whoever asks for the block is sent what `stored` reads then, over shared memory as well: a view
    /// of it is a copy. The drop of `stored` is the release.
    ///
    /// What has to be in memory is read at once, and put as by [`StepWriter::put_bytes`]. That is a block from which this
    /// side derives something, a scalar, and records with lists or texts. Truth values must be 0 or 1: nobody looks.
    ///
    /// # Errors
    /// As [`StepWriter::put_bytes`]; and what has to be in memory and cannot be read.
    pub fn put_stored(
        &mut self,
        variable: &Variable,
        region: &Region,
        stored: Arc<dyn StoredBytes>,
    ) -> Result<(), PutError> {
        if self.open.has_to_be_in_memory(variable) {
            let bytes = stored.read().map_err(|error| self.open.unreadable(variable, error))?;
            return self.put_bytes(variable, region, &bytes);
        }
        let len_bytes = usize::try_from(stored.len_bytes()).unwrap_or(usize::MAX);
        self.open.admit_len(variable, region, len_bytes)?;
        let block = self.wanted(variable.name()).then_some(BlockBytes::Stored(stored));
        self.open.note_bytes(variable, region, block)
    }

    /// Lends memory for the bytes of a block: to be filled and given to [`StepWriter::put_loan`], without a copy. Its
    /// content is undefined until then.
    ///
    /// # Errors
    /// As [`StepWriter::put_bytes`]; texts, and records with lists or texts, whose length no region tells.
    pub fn loan_bytes(&mut self, variable: &Variable, region: &Region) -> Result<LoanBytes, PutError> {
        let len_bytes = usize::try_from(self.open.len_bytes_of(variable, region)?).unwrap_or(usize::MAX);
        self.open.admit_len(variable, region, len_bytes)?;
        let memory = self.open.lend(variable, len_bytes)?;
        Ok(LoanBytes { memory, variable: variable.clone(), region: *region, step: self.open.step })
    }

    /// Puts a loan of this step.
    ///
    /// # Errors
    /// A loan of another step; a block put twice; bytes that are no truth values.
    pub fn put_loan(&mut self, loan: impl Into<LoanBytes>) -> Result<(), PutError> {
        self.put_loan_kept(loan).0
    }

    /// As [`StepWriter::put_loan`]. What is returned besides keeps the memory where it is, for those who may still look
    /// at it, whatever became of the put. Languages whose arrays cannot be taken back need that. The pool does not use
    /// the memory again meanwhile.
    ///
    /// # Errors
    /// In the outcome, as [`StepWriter::put_loan`].
    pub fn put_loan_kept(&mut self, loan: impl Into<LoanBytes>) -> (Result<(), PutError>, KeptBytes) {
        let LoanBytes { memory, variable, region, step } = loan.into();
        let frozen = memory.freeze();
        (self.put_frozen((&variable, &region), step, frozen.clone()), KeptBytes(frozen))
    }

    fn put_frozen(
        &mut self,
        (variable, region): (&Variable, &Region),
        step: StepId,
        memory: Payload,
    ) -> Result<(), PutError> {
        if step != self.open.step {
            return Err(self.open.misuse(Misuse::StepNotOpen(step)));
        }
        self.open.admit_len(variable, region, memory.as_slice().len())?;
        if variable.def.kind == ArrayKind::Scalar {
            return self.open.note_value(variable, region, memory.as_slice().to_vec());
        }
        let mut payload = Some(memory).filter(|_| self.wanted(variable.name()));
        if let Some(records) = payload.as_ref().filter(|_| variable.records().is_some()) {
            self.open.send_through(variable, region, records);
            payload = payload.filter(|_| self.open.keeps(variable.name()));
        }
        self.open.note(variable, region, payload)
    }
}
