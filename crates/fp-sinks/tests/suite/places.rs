//! Places that take no step, or not all of it, and what a target would not get.

use fp_core::{StepWriter, Variable};

use crate::hdf5::region;
use crate::support::{Ended, Running, STREAM, Stage, mounted, python};
use crate::zarr::{Published, RANKS, put_other_kinds, steps_of};

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
        ended.refused(
            2,
            &[&["--compress is zstd for zarr:FOLDER, and gzip for hdf5:FILE", to], words].concat(),
        );
    };
    let [zarr, hdf5, vtkhdf, parquet] = targets(&stage.path("out"));
    refused(&zarr, "gzip", &["by zstd"]);
    refused(&hdf5, "zstd", &["say gzip"]);
    refused(&vtkhdf, "zstd", &["h5repack"]);
    refused(&vtkhdf, "gzip", &["h5repack"]);
    refused(&parquet, "zstd", &["Snappy"]);
    refused(&parquet, "none", &["Snappy"]);
    // Nobody listens there: nobody is asked.
    refused("savime:127.0.0.1:1", "zstd", &["uncompressed arrays alone"]);
    stage.start(&["--to", &hdf5, "--compress", "lzma"]).ended().refused(2, &["none, zstd, gzip"]);
    assert!(!stage.folder.path().join("out").exists(), "nothing was made");
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_bucket_without_the_feature_for_it_is_refused() {
    let ended = Stage::new().start(&["--to", "zarr:s3://runs/x.zarr"]).ended();
    ended.refused(2, &["s3://runs/x.zarr", "built without the feature s3", "SINKS=s3"]);
}

/// The program with its arguments, as a shell starts it.
fn tee<'a>(streams: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let program = env!("CARGO_BIN_EXE_flexpath-tee");
    [&[program, "--rendezvous", streams, STREAM, "--to", to, "--ranks", "2"], more].concat()
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let stage = Stage::new();
    let (disk, streams) = (stage.path("disk"), stage.path("streams"));
    let published = Published::of(&stage, 2, put_other_kinds);
    for to in targets(&format!("{disk}/out")) {
        let command = tee(&streams, &to, &["--start-at", "oldest-reserved", "--variables", "joined"]);
        let Some(running) = mounted("ro", &disk, "exec \"$@\"", &command) else { return };
        Running::start(running).ended().refused(1, &[&format!("{disk}/out"), "Read-only file system"]);
    }
    published.end();
}

/// Writes a stream to a disk of four MiB: what is there when that is full, in a folder that has room.
fn filled(stage: &Stage, to: &str, variables: &str) -> Option<String> {
    let (disk, streams, copy) = (stage.path("disk"), stage.path("streams"), stage.path("copy"));
    let more = ["--start-at", "oldest-reserved", "--append", "--variables", variables];
    let to = to.replace("FOLDER", &disk);
    let script = format!("\"$@\"; status=$?; cp -r \"$DISK\" {copy}; exit $status");
    let running = mounted("size=4m", &disk, &script, &tee(&streams, &to, &more))?;
    Running::start(running).ended().refused(1, &[&disk, "No space left on device"]);
    Some(copy)
}

#[test]
fn a_full_disk_leaves_whole_steps_of_a_store_and_more_follow_where_there_is_room() {
    const STEPS: u64 = 8;
    let stage = Stage::new();
    let published = Published::of(&stage, STEPS as u32, put_other_kinds);
    let all = "joined,local,load,time,title";
    let Some(copy) = filled(&stage, "zarr:FOLDER/run.zarr", all) else { return };
    let path = format!("{copy}/run.zarr");
    let steps = steps_of(&path);
    assert!((1..STEPS).contains(&steps), "{steps} steps");
    python("zarr.py", &["kinds", &path, &steps.to_string()]);
    let (to, left) = (format!("zarr:{path}"), (STEPS - steps).to_string());
    let more = ["--to", &to, "--start-at", "oldest-reserved", "--append", "--steps", &left];
    stage.start(&more).ended().well();
    python("zarr.py", &["kinds", &path, &STEPS.to_string()]);
    published.end();
}

/// Of formats that have a file for each step: what was whole stays, and nothing of the step for which there was no room.
#[test]
fn a_full_disk_leaves_whole_files_alone() {
    const STEPS: usize = 40;
    let put = |rank: u32, writer: &mut StepWriter| {
        // No two are alike, so that no format makes much less of them.
        let numbers: Vec<f64> = (0..10_000).map(|at| f64::from(at).sin()).collect();
        let rows = Variable::joined::<f64>("rows", &[]).expect("a variable");
        writer.put_joined_copy(&rows, &numbers).expect("put");
        let field = Variable::global::<f64>("field", &[u64::from(RANKS), 100, 100]).expect("a variable");
        writer.put(&field, &region(&[u64::from(rank), 0, 0], &[1, 100, 100]), numbers).expect("put");
    };
    let [_, hdf5, vtkhdf, parquet] = targets("FOLDER");
    for (to, variables) in [(&hdf5, "field"), (&vtkhdf, "field"), (&parquet, "rows")] {
        let stage = Stage::new();
        let published = Published::of(&stage, STEPS as u32, put);
        let Some(copy) = filled(&stage, to, variables) else { return };
        let mut files: Vec<String> = std::fs::read_dir(&copy)
            .expect("the copy is there")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert!((3..STEPS).contains(&files.len()), "{files:?}");
        let ending = to.rsplit_once('.').expect("an ending").1;
        let expected: Vec<String> = (0..files.len()).map(|step| format!("run_{step}.{ending}")).collect();
        let is_expected = |file: &String| expected.contains(file);
        assert!(files.iter().all(is_expected), "{files:?}");
        published.end();
    }
}
