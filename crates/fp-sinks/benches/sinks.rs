//! How fast a stream becomes files of a format: against one process that stores the same array by the same library alone.
//!
//! 8 ranks publish columns of an array, and 4 ranks of `flexpath tee` write its rows. They go to the disk under `target`, and
//! to memory (/dev/shm) where there is that. On the disk each step is synced before the next one, on all sides. Sides take
//! turns, and the middle of the rounds counts. The same bytes by plain writes stand beside.

#[path = "../../../benches/rows/compared.rs"]
mod compared;
#[path = "../../../benches/rows/mod.rs"]
mod rows;

use compared::{middle, report};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
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
    for place in [DISK, MEMORY].into_iter().filter(|place| Path::new(place.folder).is_dir()) {
        let mut rounds: [Vec<[f64; 3]>; 2] = Default::default();
        for _ in 0..ROUNDS {
            rounds[0].push(zarr(place));
            rounds[1].push(hdf5(place));
        }
        for (format, rounds) in ["zarr", "hdf5"].into_iter().zip(rounds) {
            told(&format!("{format} to {}", place.name), &rounds);
        }
    }
}

/// Where files go.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    folder: &'static str,
    /// Whether each step is on the device before the next one is taken.
    is_durable: bool,
}

const DISK: Place = Place { name: "disk", folder: env!("CARGO_TARGET_TMPDIR"), is_durable: true };
const MEMORY: Place = Place { name: "memory", folder: "/dev/shm", is_durable: false };

impl Place {
    fn folder(self) -> tempfile::TempDir {
        tempfile::tempdir_in(self.folder).expect("a folder")
    }

    /// Has a file, or all files of a folder, on the device.
    fn sync(self, path: &Path) {
        if !self.is_durable {
            return;
        }
        if path.is_dir() {
            let entries = std::fs::read_dir(path).expect("a folder");
            entries.for_each(|entry| self.sync(&entry.expect("an entry").path()));
        }
        File::open(path).and_then(|file| file.sync_all()).expect("synced");
    }
}

/// Seconds of a stream into a store, of one process that stores the same, and of plain writes.
fn zarr(place: Place) -> [f64; 3] {
    let folder = place.folder();
    let store = folder.path().join("run.zarr");
    let seconds = streamed(place, folder.path(), &format!("zarr:{}", store.display()));
    let metadata = std::fs::read_to_string(store.join("field/zarr.json")).expect("the array is there");
    std::fs::remove_dir_all(&store).expect("removed");
    let alone = alone_zarr(place, &folder.path().join("alone.zarr"), &metadata);
    std::fs::remove_dir_all(folder.path().join("alone.zarr")).expect("removed");
    [seconds, alone, plain(place, folder.path())]
}

/// The same for files of HDF5.
fn hdf5(place: Place) -> [f64; 3] {
    let folder = place.folder();
    let files = folder.path().join("run");
    let seconds = streamed(place, folder.path(), &format!("hdf5:{}/%T.h5", files.display()));
    std::fs::remove_dir_all(&files).expect("removed");
    let alone = folder.path().join("alone");
    std::fs::create_dir(&alone).expect("a folder");
    let own = alone_hdf5(place, &alone);
    std::fs::remove_dir_all(&alone).expect("removed");
    [seconds, own, plain(place, folder.path())]
}

/// Says how fast all sides were in their middle rounds.
fn told(name: &str, rounds: &[[f64; 3]]) {
    let speed = |side: usize| GIGABYTES / middle(rounds.iter().map(|seconds| seconds[side]).collect());
    let (streamed, alone, plain) = (speed(0), speed(1), speed(2));
    let case = |than: &str| format!("{name}, 8 ranks into 4, of {than}");
    report(&case("one process alone"), (streamed, alone), "GB/s", (streamed >= 0.7 * alone, "ratio >= 0.7"));
    let case = case("plain writes by one process");
    println!("{case:<34}{streamed:>9.1}{plain:>9.1} GB/s  {:>7.2}", streamed / plain);
    rows::keep(&[
        ("case", rows::Figure::Text(&case)),
        ("ours", rows::Figure::Number(streamed)),
        ("other", rows::Figure::Number(plain)),
        ("unit", rows::Figure::Text("GB/s")),
        ("ratio", rows::Figure::Number(streamed / plain)),
    ]);
}

/// Publishes all steps, and has them written: the seconds from the first step until the program has ended.
fn streamed(place: Place, folder: &Path, target: &str) -> f64 {
    let streams = folder.join("streams");
    std::fs::create_dir_all(&streams).expect("a folder");
    let mut tee = Command::new(env!("CARGO_BIN_EXE_flexpath-tee"));
    tee.arg("--rendezvous").arg(&streams).args(["sim", "--ranks", SINKS, "--to", target]);
    tee.args(place.is_durable.then_some("--durable"));
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
fn alone_zarr(place: Place, root: &Path, metadata: &str) -> f64 {
    let metadata: ArrayMetadata = serde_json::from_str(metadata).expect("metadata");
    let store = Arc::new(FilesystemStore::new(root).expect("a store"));
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
        for (at, elements) in (0..).zip(elements.chunks_exact((rows * COLUMNS) as usize)) {
            let bytes: &[u8] = bytemuck::cast_slice(elements);
            array.store_chunk(&[step, at, 0], ArrayBytes::new_flen(bytes)).expect("stored");
        }
        place.sync(&root.join("field/c").join(step.to_string()));
    }
    array.store_metadata().expect("stored");
    begun.elapsed().as_secs_f64()
}

/// The same bytes as files without a format, one a step, by `write(2)` alone.
fn plain(place: Place, folder: &Path) -> f64 {
    let elements: Vec<f64> = (0..ROWS * COLUMNS).map(|place| (place as f64).sin()).collect();
    let begun = Instant::now();
    for step in 0..STEPS {
        let path = folder.join(format!("plain_{step}"));
        let mut file = File::create(&path).expect("a file");
        file.write_all(bytemuck::cast_slice(&elements)).expect("written");
        place.sync(&path);
    }
    begun.elapsed().as_secs_f64()
}

/// The same as HDF5 files, one a step.
fn alone_hdf5(place: Place, folder: &Path) -> f64 {
    let elements: Vec<f64> = (0..ROWS * COLUMNS).map(|place| (place as f64).sin()).collect();
    let begun = Instant::now();
    for step in 0..STEPS {
        let path = folder.join(format!("alone_{step}.h5"));
        let file = hdf5_metno::File::create(&path).expect("a file");
        let shape = [ROWS as usize, COLUMNS as usize];
        let dataset = file.new_dataset::<f64>().shape(shape).create("field").expect("a dataset");
        dataset.write_raw(&elements).expect("written");
        drop(dataset);
        file.close().expect("closed");
        place.sync(&path);
    }
    begun.elapsed().as_secs_f64()
}
