//! Which sink writes which kind of target.

use crate::arguments::Arguments;
use crate::error::SinkError;
use crate::parquet::ParquetSink;
use crate::savime::SavimeSink;
use crate::sink::Sink;
use crate::target::Target;
use crate::zarr::ZarrSink;

/// Opens the target that is named.
pub(crate) fn open(arguments: &Arguments) -> Result<Box<dyn Sink>, SinkError> {
    match &arguments.to {
        Target::Zarr(folder) => Ok(Box::new(ZarrSink::open(folder, arguments)?)),
        Target::Parquet(pattern) => {
            Ok(Box::new(ParquetSink::open(pattern, arguments.append, arguments.durable)?))
        }
        Target::Savime(place) => Ok(Box::new(SavimeSink::open(place, arguments)?)),
        Target::Hdf5(_) | Target::Vtkhdf(_) => {
            Err(SinkError::Target("this kind of target is not there yet".to_owned()))
        }
    }
}
