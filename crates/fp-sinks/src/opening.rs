//! Which sink writes which kind of target.

use std::sync::Arc;

use hdf5_metno::filters::deflate_available;

use crate::arguments::{Arguments, Compression};
use crate::error::SinkError;
use crate::hdf5::AsItIs;
use crate::hdf5::step_sink::StepSink;
use crate::parquet::ParquetSink;
use crate::savime::SavimeSink;
use crate::sink::Sink;
use crate::step_file::StepFiles;
use crate::target::{BucketPlace, Target};
use crate::vtkhdf::MeshLayout;
use crate::zarr::ZarrSink;
use crate::zarr::folder::Folder;

/// Opens the target that is named.
pub(crate) fn open(arguments: &Arguments) -> Result<Box<dyn Sink>, SinkError> {
    check_compression(&arguments.to, arguments.compress)?;
    check_queries(arguments)?;
    match &arguments.to {
        Target::Zarr(path) => {
            let folder = Folder::new(path, arguments.durable);
            Ok(Box::new(ZarrSink::open(Arc::new(folder), arguments)?))
        }
        Target::ZarrBucket(place) => open_bucket(place, arguments),
        Target::Parquet(pattern) => {
            Ok(Box::new(ParquetSink::open(pattern, arguments.append, arguments.durable)?))
        }
        Target::Savime(place) => Ok(Box::new(SavimeSink::open(place, arguments)?)),
        Target::Hdf5(path) => {
            let pattern = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let layout = AsItIs { pattern, compresses: arguments.compress == Some(Compression::Gzip) };
            let (append, durable) = (arguments.append, arguments.durable);
            Ok(Box::new(StepSink::open(StepFiles::of(path)?, layout, append, durable)?))
        }
        Target::Vtkhdf(path) => {
            let (append, durable) = (arguments.append, arguments.durable);
            Ok(Box::new(StepSink::open(StepFiles::of(path)?, MeshLayout, append, durable)?))
        }
    }
}

#[cfg(feature = "s3")]
fn open_bucket(place: &BucketPlace, arguments: &Arguments) -> Result<Box<dyn Sink>, SinkError> {
    let bucket = crate::zarr::bucket::Bucket::open(place, arguments.timeout)?;
    Ok(Box::new(ZarrSink::open(Arc::new(bucket), arguments)?))
}

#[cfg(not(feature = "s3"))]
fn open_bucket(place: &BucketPlace, _: &Arguments) -> Result<Box<dyn Sink>, SinkError> {
    Err(SinkError::Target(format!(
        "{place}: this flexpath tee was built without the feature s3: `make install SINKS=s3` builds it with it"
    )))
}

/// Complains about a compression that the target would not get.
fn check_compression(to: &Target, compression: Option<Compression>) -> Result<(), SinkError> {
    let why = match (to, compression) {
        (_, None)
        | (Target::Zarr(_) | Target::ZarrBucket(_), Some(Compression::None | Compression::Zstd)) => {
            return Ok(());
        }
        (Target::Hdf5(_) | Target::Vtkhdf(_) | Target::Savime(_), Some(Compression::None)) => return Ok(()),
        (Target::Hdf5(_), Some(Compression::Gzip)) if deflate_available() => return Ok(()),
        (Target::Hdf5(_), Some(Compression::Gzip)) => "the HDF5 that is installed here has no filter deflate",
        (Target::Zarr(_) | Target::ZarrBucket(_), Some(Compression::Gzip)) => {
            "its arrays are compressed by zstd"
        }
        (Target::Parquet(_), Some(_)) => "its columns are always compressed, by Snappy",
        (Target::Hdf5(_), Some(Compression::Zstd)) => {
            "HDF5 has no filter for it that all readers have: say gzip"
        }
        (Target::Vtkhdf(_), Some(Compression::Zstd | Compression::Gzip)) => {
            "its arrays are written uncompressed, by several ranks at once: `h5repack -f GZIP=4` compresses a file later"
        }
        (Target::Savime(_), Some(Compression::Zstd | Compression::Gzip)) => {
            "the database takes uncompressed arrays alone"
        }
    };
    Err(SinkError::Target(format!("--compress is zstd for zarr:FOLDER, and gzip for hdf5:FILE. {to}: {why}")))
}

/// Complains about queries that nobody would be asked.
fn check_queries(arguments: &Arguments) -> Result<(), SinkError> {
    let Arguments { before, after, queries, to, .. } = arguments;
    let has_some = !before.is_empty() || !after.is_empty() || queries.is_some();
    if has_some && !matches!(to, Target::Savime(_)) {
        return Err(SinkError::Target(format!(
            "{to}: it is no database that could be asked: --before, --after and --queries are for savime:HOST:PORT"
        )));
    }
    Ok(())
}
