//! What every kind of target does.

use fp_core::StepId;

use crate::error::SinkError;
use crate::part::Part;
use crate::pieces::Piece;
use crate::taken_step::TakenStep;

/// Something that steps are written to. `start` comes once. Then calls come in this order for each step: `begin` once,
/// `write` for each part and from several threads at once, `commit` once. A step that is not committed is nowhere to be seen.
pub(crate) trait Sink: Send + Sync {
    /// The last step that it had when it was opened: with `--append` it is gone on behind that.
    fn last_step(&self) -> Option<StepId> {
        None
    }

    /// Goes on with what it was opened for. Its stream is there now: before that nothing of the target is changed, but that
    /// SAVIME has a list of whole steps, without any.
    fn start(&self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Prepares for a step, and says which parts each rank writes: one list for each rank. No place is in two of them.
    /// Values of global scalars are in the step, and in no part.
    fn begin(&self, step: &TakenStep, ranks: u32) -> Result<Vec<Vec<Part>>, SinkError>;

    /// Writes a part: its elements in row-major order, in the type that the variable is written as.
    fn write(&self, step: &TakenStep, part: &Part, bytes: &[u8]) -> Result<(), SinkError>;

    /// Whether parts of a variable are written from where their pieces lie, rather than from one copy of them.
    fn takes_pieces(&self, _part: &Part) -> bool {
        false
    }

    /// As [`Self::write`], from pieces that are all of the part.
    fn write_pieces(&self, _part: &Part, _pieces: &[Piece]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Lets others see the step. All its parts were written.
    fn commit(&self, step: &TakenStep) -> Result<(), SinkError>;
}
