//! Places that take no step, or not all of it, and what a target would not get.

use crate::support::{Ended, Running, STREAM, Stage, mounted};

/// A file or folder of each kind, in a folder.
fn targets(folder: &str) -> [String; 4] {
    [
        format!("zarr:{folder}/run.zarr"),
        format!("hdf5:{folder}/run_%T.h5"),
        format!("vtkhdf:{folder}/run_%T.vtkhdf"),
        format!("parquet:{folder}/run_%T.parquet"),
    ]
}

#[test]
fn a_compression_that_a_target_would_not_get_is_refused() {
    let stage = Stage::new();
    let refused = |to: &str, how: &str, words: &[&str]| {
        let ended: Ended = stage.start(&["--to", to, "--compress", how]).ended();
        ended.refused(2, &[&["--compress is for zarr:FOLDER", to], words].concat());
    };
    let [_, hdf5, vtkhdf, parquet] = targets(&stage.path("out"));
    refused(&hdf5, "zstd", &["h5repack"]);
    refused(&vtkhdf, "zstd", &["h5repack"]);
    refused(&parquet, "zstd", &["Snappy"]);
    refused(&parquet, "none", &["Snappy"]);
    // Nobody listens there: nobody is asked.
    refused("savime:127.0.0.1:1", "zstd", &["uncompressed arrays alone"]);
    stage.start(&["--to", &hdf5, "--compress", "gzip"]).ended().refused(2, &["none, zstd"]);
    assert!(!stage.folder.path().join("out").exists(), "nothing was made");
}
