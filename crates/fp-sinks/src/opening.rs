//! Which sink writes which kind of target.

use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::hdf5::AsItIs;
use crate::hdf5::step_sink::StepSink;
use crate::parquet::ParquetSink;
use crate::savime::SavimeSink;
use crate::sink::Sink;
use crate::step_file::StepFiles;
use crate::target::Target;
use crate::vtkhdf::MeshLayout;
use crate::zarr::ZarrSink;

/// Opens the target that is named.
pub(crate) fn open(arguments: &Arguments) -> Result<Box<dyn Sink>, SinkError> {
    match &arguments.to {
        Target::Zarr(folder) => Ok(Box::new(ZarrSink::open(folder, arguments)?)),
        Target::Parquet(pattern) => {
            Ok(Box::new(ParquetSink::open(pattern, arguments.append, arguments.durable)?))
        }
        Target::Savime(place) => Ok(Box::new(SavimeSink::open(place, arguments)?)),
        Target::Hdf5(path) => {
            let pattern = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let (append, durable) = (arguments.append, arguments.durable);
            Ok(Box::new(StepSink::open(StepFiles::of(path)?, AsItIs { pattern }, append, durable)?))
        }
        Target::Vtkhdf(path) => {
            let (append, durable) = (arguments.append, arguments.durable);
            Ok(Box::new(StepSink::open(StepFiles::of(path)?, MeshLayout, append, durable)?))
        }
    }
}
