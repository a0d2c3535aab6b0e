//! Records that come one after the other, as over a connection.

use crate::block::BlockHead;
use crate::error::{Damage, SpoolError};
use crate::frame::{Frame, HEADER_BYTES, Kind};
use crate::parts::Parts;
use crate::step::StepHead;
use fp_types::StepId;
use std::io::{ErrorKind, Read};

/// Reads steps and their blocks, in the order in which they were written.
pub struct RecordSequence<R: Read> {
    from: R,
    offset: u64,
    limit_bytes: u64,
    open: Option<Open>,
}

/// The step that is being read.
#[derive(Clone, Copy)]
struct Open {
    step: StepId,
    variables: usize,
    /// Its blocks so far, and their bytes.
    blocks: u32,
    len_bytes: u64,
}

/// What a block takes beside its bytes.
const BLOCK_BYTES: u64 = 256;

impl<R: Read> RecordSequence<R> {
    /// Reads what comes from there.
    pub fn new(from: R) -> Self {
        Self { from, offset: 0, limit_bytes: u64::MAX, open: None }
    }

    /// Refuses a step whose blocks take more, before there is memory for them.
    #[must_use]
    pub fn with_limit_bytes(mut self, limit_bytes: u64) -> Self {
        self.limit_bytes = limit_bytes;
        self
    }

    /// The next step; none at the end. Blocks of the step before that were not read are passed over.
    ///
    /// # Errors
    /// What comes is no record, is damaged, or ends in the midst of one; the system.
    pub fn step(&mut self) -> Result<Option<StepHead>, SpoolError> {
        while self.open.is_some() {
            self.block()?;
        }
        let Some((frame, meta)) = self.frame()? else { return Ok(None) };
        if frame.kind != Kind::Step {
            return Err(self.damaged(unbegun()));
        }
        let head = StepHead::decode(&meta).map_err(|damage| self.damaged(damage))?;
        self.passed(&frame);
        self.open = Some(Open { step: head.step, variables: head.variables.len(), blocks: 0, len_bytes: 0 });
        Ok(Some(head))
    }

    /// The next block of the step, and its bytes; none when the step is whole.
    ///
    /// # Errors
    /// As [`RecordSequence::step`].
    pub fn block(&mut self) -> Result<Option<(BlockHead, Vec<u8>)>, SpoolError> {
        let mut bytes = Vec::new();
        Ok(self.block_in(&mut bytes)?.map(|head| (head, bytes)))
    }

    /// The same, with its bytes in place of what is in that memory: memory that was used before costs no new pages.
    ///
    /// # Errors
    /// As [`RecordSequence::step`].
    pub fn block_in(&mut self, bytes: &mut Vec<u8>) -> Result<Option<BlockHead>, SpoolError> {
        let Some(Open { step, variables, blocks, len_bytes }) = self.open else { return Ok(None) };
        let Some((frame, meta)) = self.frame()? else { return Err(self.damaged(Damage::Cut("a step"))) };
        let len_bytes = len_bytes.saturating_add(frame.data_bytes).saturating_add(BLOCK_BYTES);
        if frame.kind == Kind::Block && len_bytes > self.limit_bytes {
            return Err(SpoolError::TooLong { step, limit_bytes: self.limit_bytes });
        }
        let found = match frame.kind {
            Kind::Step => Err(unended()),
            Kind::End => check_end(&meta, step, blocks).map(|()| None),
            Kind::Block => self.data((&frame, &meta), variables, bytes)?.map(Some),
        };
        let found = found.map_err(|damage| self.damaged(damage))?;
        self.passed(&frame);
        let open = Open { step, variables, blocks: blocks + 1, len_bytes };
        self.open = found.is_some().then_some(open);
        Ok(found)
    }

    fn data(
        &mut self,
        (frame, meta): (&Frame, &[u8]),
        variables: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Result<BlockHead, Damage>, SpoolError> {
        frame.read_data(&mut self.from, bytes).map_err(|error| self.failed(error, "a block"))?;
        let head = BlockHead::decode(meta).and_then(|head| check_block(&head, variables).map(|()| head));
        Ok(head.and_then(|head| frame.check_data(bytes).map(|()| head)))
    }

    /// The next header and what it is of; none where nothing follows.
    fn frame(&mut self) -> Result<Option<(Frame, Vec<u8>)>, SpoolError> {
        let mut header = [0; HEADER_BYTES];
        let mut filled = 0;
        while filled < HEADER_BYTES {
            match self.from.read(&mut header[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(self.damaged(Frame::cut(&header[..filled]))),
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error, "a header")),
            }
        }
        let frame = Frame::parse(&header).map_err(|damage| self.damaged(damage))?;
        let meta = frame.read_meta(&mut self.from).map_err(|error| self.failed(error, "a description"))?;
        frame.check_meta(&meta).map_err(|damage| self.damaged(damage))?;
        Ok(Some((frame, meta)))
    }

    fn passed(&mut self, frame: &Frame) {
        self.offset += frame.len_bytes();
    }

    fn damaged(&self, damage: Damage) -> SpoolError {
        SpoolError::Damaged { offset: self.offset, damage }
    }

    fn failed(&self, error: std::io::Error, what: &'static str) -> SpoolError {
        if error.kind() == ErrorKind::UnexpectedEof {
            return self.damaged(Damage::Cut(what));
        }
        SpoolError::io(format!("{what} cannot be read"))(error)
    }
}

/// A record begins with something else than its step.
pub(crate) fn unbegun() -> Damage {
    Damage::Invalid("a block or an end stands before its step".to_owned())
}

/// Another step begins before the one before has ended.
pub(crate) fn unended() -> Damage {
    Damage::Invalid("a step begins before the one before has ended".to_owned())
}

/// Whether the variable is one of the step's.
pub(crate) fn check_block(head: &BlockHead, variables: usize) -> Result<(), Damage> {
    match (head.variable as usize) < variables {
        true => Ok(()),
        false => Err(Damage::Invalid(format!(
            "a block is of variable {}, and there are {variables}",
            head.variable
        ))),
    }
}

/// Whether the end is that of the step, and the step has all its blocks.
pub(crate) fn check_end(meta: &[u8], step: StepId, blocks: u32) -> Result<(), Damage> {
    let mut parts = Parts(meta);
    match (parts.u64(), parts.u32(), parts.0) {
        (Some(ended), Some(count), []) if ended == step.0 && count == blocks => Ok(()),
        _ => Err(Damage::Invalid(format!("the end is not that of step {step} with {blocks} blocks"))),
    }
}
