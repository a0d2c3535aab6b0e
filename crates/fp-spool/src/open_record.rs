//! A record that is being written, frame by frame.

use crate::block::BlockHead;
use crate::error::SpoolError;
use crate::frame::{Frame, Kind};
use crate::step::StepHead;
use fp_types::StepId;
use std::io::Write;
use std::path::Path;

/// Writes one step. Without [`OpenRecord::end`] it is none, and whoever reads on passes it over.
pub struct OpenRecord<'a, W: Write> {
    out: &'a mut W,
    step: StepId,
    variables: usize,
    blocks: u32,
    len_bytes: u64,
    /// The file that it is in, for errors.
    file: Option<&'a Path>,
}

impl<'a, W: Write> OpenRecord<'a, W> {
    /// Begins a record.
    ///
    /// # Errors
    /// More variables than fit; the system.
    pub fn begin(out: &'a mut W, head: &StepHead) -> Result<Self, SpoolError> {
        Self::begin_in(out, head, None)
    }

    /// The same in a file, which errors name.
    pub(crate) fn begin_in(
        out: &'a mut W,
        head: &StepHead,
        file: Option<&'a Path>,
    ) -> Result<Self, SpoolError> {
        let variables = head.variables.len();
        let mut writer = Self { out, step: head.step, variables, blocks: 0, len_bytes: 0, file };
        let meta = head.encode().map_err(|error| writer.named(error))?;
        writer.frame(Kind::Step, &meta, &[])?;
        Ok(writer)
    }

    fn named(&self, error: SpoolError) -> SpoolError {
        match self.file {
            Some(path) => SpoolError::in_file(path)(error),
            None => error,
        }
    }

    /// Writes a block: its bytes as they were put.
    ///
    /// # Errors
    /// A variable that the step does not have; the system.
    pub fn block(&mut self, head: &BlockHead, bytes: &[u8]) -> Result<(), SpoolError> {
        if head.variable as usize >= self.variables {
            let (step, variable, count) = (self.step, head.variable, self.variables);
            return Err(self.named(SpoolError::NoSuchVariable { step, variable, count }));
        }
        self.frame(Kind::Block, &head.encode(), bytes)?;
        self.blocks += 1;
        Ok(())
    }

    /// Ends the record: how many bytes it has.
    ///
    /// # Errors
    /// The system.
    pub fn end(mut self) -> Result<u64, SpoolError> {
        let mut meta = self.step.0.to_le_bytes().to_vec();
        meta.extend_from_slice(&self.blocks.to_le_bytes());
        self.frame(Kind::End, &meta, &[])?;
        Ok(self.len_bytes)
    }

    fn frame(&mut self, kind: Kind, meta: &[u8], data: &[u8]) -> Result<(), SpoolError> {
        let too_long = || SpoolError::Unkept { step: self.step, why: "they take too many bytes".to_owned() };
        let frame = Frame::new(kind, meta, data).ok_or_else(|| self.named(too_long()))?;
        let written = frame.write(self.out, meta, data);
        let failed = SpoolError::io(format!("step {} cannot be written", self.step));
        written.map_err(|error| self.named(failed(error)))?;
        self.len_bytes += frame.len_bytes();
        Ok(())
    }
}
