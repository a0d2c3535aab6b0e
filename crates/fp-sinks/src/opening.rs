//! Which sink writes which kind of target.

use crate::arguments::{Arguments, Compression};
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
    check_compression(&arguments.to, arguments.compress)?;
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

/// Complains about a compression that the target would not get.
fn check_compression(to: &Target, compression: Option<Compression>) -> Result<(), SinkError> {
    let why = match (to, compression) {
        (Target::Zarr(_), _) | (_, None) => return Ok(()),
        (Target::Parquet(_), Some(_)) => "its columns are always compressed, by Snappy",
        (Target::Hdf5(_) | Target::Vtkhdf(_) | Target::Savime(_), Some(Compression::None)) => return Ok(()),
        (Target::Hdf5(_) | Target::Vtkhdf(_), Some(Compression::Zstd)) => {
            "its arrays are written uncompressed, by several ranks at once: `h5repack -f GZIP=4` compresses a file later"
        }
        (Target::Savime(_), Some(Compression::Zstd)) => "the database takes uncompressed arrays alone",
    };
    Err(SinkError::Target(format!("--compress is for zarr:FOLDER. {to}: {why}")))
}
