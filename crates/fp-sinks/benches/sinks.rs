//! How fast a stream becomes files of a format: against one process that stores the same array by the same library alone.
//!
//! 8 ranks publish columns of an array, and 4 ranks of `flexpath tee` write its rows. They go to /dev/shm, or where there
//! is none to the folder for temporary files. Sides take turns, and the middle of the rounds counts.

#[path = "../../../benches/rows/compared.rs"]
mod compared;
#[path = "../../../benches/rows/mod.rs"]
mod rows;

use compared::{middle, report};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use fp_core::{Cohort, Publisher, PublisherOptions, Region, Rendezvous, Variable};
use zarrs::array::{Array, ArrayBytes, ArrayMetadata};
use zarrs::filesystem::FilesystemStore;

const PUBLISHERS: u32 = 8;
const SINKS: &str = "4";
const STEPS: u64 = 20;
const ROWS: u64 = 1024;
const COLUMNS: u64 = 8192;
const ROUNDS: usize = 3;
const GIGABYTES: f64 = (STEPS * ROWS * COLUMNS * 8) as f64 / 1e9;

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let zarr = (0..ROUNDS).map(|_| {
        let folder = folder();
        let store = folder.path().join("run.zarr");
        let seconds = streamed(folder.path(), &format!("zarr:{}", store.display()));
        let metadata = std::fs::read_to_string(store.join("field/zarr.json")).expect("the array is there");
        std::fs::remove_dir_all(&store).expect("removed");
        (seconds, alone_zarr(&folder.path().join("alone.zarr"), &metadata))
    });
    told("zarr, 8 ranks into 4, of one process alone", zarr.collect());
    let hdf5 = (0..ROUNDS).map(|_| {
        let folder = folder();
        let files = folder.path().join("run");
        let seconds = streamed(folder.path(), &format!("hdf5:{}/%T.h5", files.display()));
        std::fs::remove_dir_all(&files).expect("removed");
        (seconds, alone_hdf5(folder.path()))
    });
    told("hdf5, 8 ranks into 4, of one process alone", hdf5.collect());
}

/// Seconds of both sides, round by round.
fn told(name: &str, rounds: Vec<(f64, f64)>) {
    let (streamed, alone): (Vec<f64>, Vec<f64>) = rounds.into_iter().unzip();
    let (streamed, alone) = (GIGABYTES / middle(streamed), GIGABYTES / middle(alone));
    report(name, (streamed, alone), "GB/s", (streamed >= 0.7 * alone, "ratio >= 0.7"));
}

fn folder() -> tempfile::TempDir {
    let memory = Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir());
    memory.map_or_else(tempfile::tempdir, tempfile::tempdir_in).expect("a folder")
}

/// Publishes all steps, and has them written: the seconds from the first step until the program has ended.
fn streamed(folder: &Path, target: &str) -> f64 {
    let streams = folder.join("streams");
    std::fs::create_dir_all(&streams).expect("a folder");
    let mut tee = Command::new(env!("CARGO_BIN_EXE_flexpath-tee"));
    tee.arg("--rendezvous").arg(&streams).args(["sim", "--ranks", SINKS, "--to", target]);
    tee.stderr(Stdio::null());
    let ready = Arc::new(Barrier::new(PUBLISHERS as usize + 1));
    thread::scope(|scope| {
        for rank in 0..PUBLISHERS {
            let (ready, streams) = (Arc::clone(&ready), &streams);
            scope.spawn(move || publish(rank, streams, &ready));
        }
        let mut tee = tee.spawn().expect("the program starts");
        ready.wait();
        let begun = Instant::now();
        assert!(tee.wait().expect("it is a child").success(), "the program failed");
        begun.elapsed().as_secs_f64()
    })
}

fn publish(rank: u32, streams: &Path, ready: &Barrier) {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(streams).expect("a rendezvous"))
        .with_cohort(Cohort::of(rank, PUBLISHERS).expect("a cohort"))
        .with_min_subscribers(1);
    let mut publisher = Publisher::open("sim", options).expect("the stream opens");
    let width = COLUMNS / u64::from(PUBLISHERS);
    let region = Region::new([0, u64::from(rank) * width], [ROWS, width]).expect("a region");
    let field = Variable::global::<f64>("field", &[ROWS, COLUMNS]).expect("a variable");
    let elements: Vec<f64> = (0..ROWS * width).map(|place| (place as f64).sin()).collect();
    ready.wait();
    for _ in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&field, &region, &elements).expect("put");
        writer.end().expect("the step ends");
    }
    publisher.close().expect("closed");
}

/// Stores as many steps of such an array, as that library does it by itself: the seconds.
fn alone_zarr(place: &Path, metadata: &str) -> f64 {
    let metadata: ArrayMetadata = serde_json::from_str(metadata).expect("metadata");
    let store = Arc::new(FilesystemStore::new(place).expect("a store"));
    let array = Array::new_with_metadata(store, "/field", metadata).expect("an array");
    let elements: Vec<f64> = (0..ROWS * COLUMNS).map(|place| (place as f64).sin()).collect();
    let shard = array.chunk_shape(&[0, 0, 0]).expect("a shard");
    let rows = shard[1].get();
    assert_eq!(
        (ROWS % rows, shard[2].get()),
        (0, COLUMNS),
        "shards are rows of the array, and so lie together"
    );
    let begun = Instant::now();
    for step in 0..STEPS {
        for (place, elements) in (0..).zip(elements.chunks_exact((rows * COLUMNS) as usize)) {
            let bytes: &[u8] = bytemuck::cast_slice(elements);
            array.store_chunk(&[step, place, 0], ArrayBytes::new_flen(bytes)).expect("stored");
        }
    }
    array.store_metadata().expect("stored");
    begun.elapsed().as_secs_f64()
}

/// The same as HDF5 files, one a step.
fn alone_hdf5(folder: &Path) -> f64 {
    let elements: Vec<f64> = (0..ROWS * COLUMNS).map(|place| (place as f64).sin()).collect();
    let begun = Instant::now();
    for step in 0..STEPS {
        let file = hdf5_metno::File::create(folder.join(format!("alone_{step}.h5"))).expect("a file");
        let shape = [ROWS as usize, COLUMNS as usize];
        let dataset = file.new_dataset::<f64>().shape(shape).create("field").expect("a dataset");
        dataset.write_raw(&elements).expect("written");
        drop(dataset);
        file.close().expect("closed");
    }
    begun.elapsed().as_secs_f64()
}
