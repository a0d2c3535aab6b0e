//! A file for each step, of any format on top of HDF5.

use std::sync::{PoisonError, RwLock};

use fp_core::StepId;

use crate::error::SinkError;
use crate::hdf5::draft::Draft;
use crate::hdf5::placed_file::PlacedFile;
use crate::hdf5::shares::Shares;
use crate::part::Part;
use crate::pieces::Piece;
use crate::sink::Sink;
use crate::step_file::StepFiles;
use crate::taken_step::TakenStep;

/// What is in a file.
pub(crate) trait Layout: Send + Sync {
    /// Makes everything that a step has in its file, and says who writes what.
    fn lay_out(&self, step: &TakenStep, draft: &mut Draft, shares: &mut Shares) -> Result<(), SinkError>;
}

/// A file for each step.
pub(crate) struct StepSink<L> {
    files: StepFiles,
    layout: L,
    last: Option<StepId>,
    durable: bool,
    /// The file of the step that is being written.
    current: RwLock<Option<PlacedFile>>,
}

impl<L: Layout> StepSink<L> {
    /// Opens files of that pattern.
    pub(crate) fn open(files: StepFiles, layout: L, append: bool, durable: bool) -> Result<Self, SinkError> {
        let last = files.open(append)?;
        Ok(Self { files, layout, last, durable, current: RwLock::default() })
    }
}

impl<L: Layout> Sink for StepSink<L> {
    fn last_step(&self) -> Option<StepId> {
        self.last
    }

    fn begin(&self, step: &TakenStep, ranks: u32) -> Result<Vec<Vec<Part>>, SinkError> {
        let mut draft = Draft::create(&self.files.unfinished(step.step))?;
        let mut shares = Shares::new(ranks);
        if let Err(error) = self.layout.lay_out(step, &mut draft, &mut shares) {
            draft.discard();
            return Err(error);
        }
        let placed = draft.placed()?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(placed);
        Ok(shares.parts())
    }

    fn write(&self, _: &TakenStep, part: &Part, bytes: &[u8]) -> Result<(), SinkError> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map_or(Ok(()), |file| file.write(part, bytes))
    }

    fn takes_pieces(&self, part: &Part) -> bool {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().is_some_and(|file| file.takes_pieces(part))
    }

    fn write_pieces(&self, part: &Part, pieces: &[Piece]) -> Result<(), SinkError> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map_or(Ok(()), |file| file.write_pieces(part, pieces))
    }

    fn commit(&self, step: &TakenStep) -> Result<(), SinkError> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner).take();
        current.iter_mut().try_for_each(PlacedFile::close)?;
        self.files.finish(step.step, self.durable)?;
        if let Some(file) = current {
            file.keep();
        }
        Ok(())
    }
}
