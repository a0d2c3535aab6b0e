//! What every kind of target does.

use fp_core::StepId;

use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::hdf5::AsItIs;
use crate::hdf5::step_sink::StepSink;
use crate::part::Part;
use crate::step_file::StepFiles;
use crate::taken_step::TakenStep;
use crate::target::Target;
use crate::vtkhdf::MeshLayout;
use crate::zarr::ZarrSink;

/// Something that steps are written to. Its calls come in this order for each step: `begin` once, `write` for each part
/// and from several threads at once, `commit` once. A step that is not committed is nowhere to be seen.
pub(crate) trait Sink: Send + Sync {
    /// The last step that it had when it was opened: with `--append` it is gone on behind that.
    fn last_step(&self) -> Option<StepId> {
        None
    }

    /// Prepares for a step, and says which parts each rank writes: one list for each rank. No place is in two of them.
    /// Values of global scalars are in the step, and in no part.
    fn begin(&self, step: &TakenStep, ranks: u32) -> Result<Vec<Vec<Part>>, SinkError>;

    /// Writes a part: its elements in row-major order, in the type that the variable is written as.
    fn write(&self, step: &TakenStep, part: &Part, bytes: &[u8]) -> Result<(), SinkError>;

    /// Lets others see the step. All its parts were written.
    fn commit(&self, step: &TakenStep) -> Result<(), SinkError>;
}

/// Opens the target that is named.
pub(crate) fn open(arguments: &Arguments) -> Result<Box<dyn Sink>, SinkError> {
    match &arguments.to {
        Target::Hdf5(path) => {
            let pattern = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let (append, durable) = (arguments.append, arguments.durable);
            Ok(Box::new(StepSink::open(StepFiles::of(path)?, AsItIs { pattern }, append, durable)?))
        }
        Target::Vtkhdf(path) => {
            let (append, durable) = (arguments.append, arguments.durable);
            Ok(Box::new(StepSink::open(StepFiles::of(path)?, MeshLayout, append, durable)?))
        }
        Target::Zarr(folder) => Ok(Box::new(ZarrSink::open(folder, arguments)?)),
        Target::Parquet(_) | Target::Savime(_) => {
            Err(SinkError::Target("this kind of target is not there yet".to_owned()))
        }
    }
}
