//! Figure 10 of the paper on messaging for DataSpaces: pictures of the steps in which something happens to features.
//! `cargo bench -p flexpath-cli --bench pictures`.
//!
//! A script of blobs is published, and `flexpath features --pictures` draws it, by 1, 2, 4 and 8 ranks. Each pixel of each
//! picture is compared with a flood fill over the whole array, and ids by the rule of docs/features.md. The pictures of one
//! rank stay in `target/figure-10`. `make bench-watches` runs it.

#[path = "pictures/reference.rs"]
mod reference;
#[path = "../../../benches/watches/report.rs"]
#[allow(dead_code)] // each bench uses its part
mod report;
#[path = "../../../benches/rows/mod.rs"]
#[allow(dead_code)] // each bench uses its part
mod rows;
#[path = "pictures/script.rs"]
mod script;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fp_core::rendezvous::Rendezvous;
use fp_core::{Publisher, PublisherOptions, Region, Variable};
use fp_pictures::{IdMap, colour_of_id};
use reference::{Map, Reference};
use report::{bounded, noted};
use script::{EXTENT, STEPS, field};

/// What is between features.
const EMPTY: [u8; 3] = [235, 235, 235];
const RANKS: [u32; 4] = [1, 2, 4, 8];

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let (wanted, events) = Reference::run();
    noted(
        &format!("features of {EXTENT}^3 x {STEPS} steps, steps with an event"),
        wanted.len() as f64,
        "steps",
    );
    noted("features, scripted events after the first step", events as f64, "events");
    for ranks in RANKS {
        let folder = kept(ranks);
        draw(&folder, ranks);
        let files = files(&folder);
        let steps: Vec<u64> = wanted.iter().map(|(step, _)| *step).collect();
        let named: Vec<PathBuf> = steps.iter().map(|step| picture(&folder, *step)).collect();
        assert_eq!(files, sorted(named), "not the steps in which something happens");
        let (pixels, other) = wanted
            .iter()
            .map(|(step, map)| compare(&picture(&folder, *step), map))
            .fold((0, 0), |(pixels, other), (more, wrong)| (pixels + more, other + wrong));
        let case = format!(
            "features, {ranks} ranks, {} pictures, {pixels} pixels, other than the reference",
            files.len()
        );
        bounded(&case, (other as f64, 0.0), "", "none");
        if ranks == RANKS[0] {
            files.iter().for_each(|file| println!("{}", file.display()));
        }
    }
}

/// Where the pictures of so many ranks are: those of one rank stay.
fn kept(ranks: u32) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the repository is there");
    let folder = root.join("target/figure-10").join(format!("{ranks}-ranks"));
    // Files that are there already are errors of the command.
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn picture(folder: &Path, step: u64) -> PathBuf {
    folder.join(format!("blobs-features-{step}.png"))
}

fn sorted(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort();
    files
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).expect("pictures were drawn");
    sorted(found.map(|file| file.expect("a file").path()).collect())
}

/// Publishes the script to the command, which draws.
fn draw(folder: &Path, ranks: u32) {
    let place = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_flexpath"));
    command.args(["features", "blobs", "--of", "x > 0.5", "--ranks", &ranks.to_string(), "--pictures"]);
    command.arg(folder).env("FLEXPATH_RENDEZVOUS", place.path()).stdout(Stdio::null());
    let mut features = command.spawn().expect("the command starts");
    publish(place.path());
    let status = features.wait().expect("it can be waited for");
    assert!(status.success(), "{status}");
}

fn publish(place: &Path) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let mut publisher = Publisher::open("blobs", options.with_min_subscribers(1)).expect("the stream opens");
    let variable = Variable::global::<f64>("x", &[EXTENT as u64; 3]).expect("a shape");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &Region::whole(variable.shape()), field(step)).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// How many pixels of elements there are, and how many have another colour than the reference says.
fn compare(path: &Path, map: &Map) -> (u64, u64) {
    let shape = [EXTENT; 2];
    // Where elements lie is the same below any two lines of title.
    let placed = IdMap::new(shape, map).expect("a map").with_title(["", ""]).draw();
    let (side, [left, top]) = (placed.element_pixels as usize, placed.corner.map(|at| at as usize));
    let (width, bytes) = read(path);
    let mut wrong = 0;
    for (row, column) in
        (0..EXTENT * side).flat_map(|row| (0..EXTENT * side).map(move |column| (row, column)))
    {
        let at = 3 * ((top + row) * width + left + column);
        let wanted = map[row / side * EXTENT + column / side].map_or(EMPTY, colour_of_id);
        wrong += u64::from(bytes[at..at + 3] != wanted);
    }
    (((EXTENT * side) as u64).pow(2), wrong)
}

/// The picture's width, and its pixels.
fn read(path: &Path) -> (usize, Vec<u8>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a picture");
    let mut bytes = vec![0; reader.output_buffer_size().expect("small")];
    let info = reader.next_frame(&mut bytes).expect("whole");
    (info.width as usize, bytes)
}
