//! `flexpath watch --then 'render ...'`: pictures of slices, held against a rendering of this test's own.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{Publisher, PublisherOptions, Region, Variable};
use serde_json::{Value, json};

use super::support::{Live, Run};

/// Planes, rows, columns.
const SHAPE: [u64; 3] = [6, 4, 8];
/// The colour map at its quarters, as its authors publish it.
const QUARTERS: [[u8; 3]; 5] = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const MARK: [u8; 3] = [255, 0, 127];
const NO_NUMBER: [u8; 3] = [150, 150, 150];

/// Where the greatest element of a step is.
fn top(step: u64) -> [u64; 3] {
    [step % 3 * 2, step % SHAPE[1], 4]
}

/// Quarters of the range, one of which is met once. One element is no number.
fn element(step: u64, place: [u64; 3]) -> Option<usize> {
    let [z, y, x] = place;
    match place == top(step) {
        true => Some(4),
        false if (z, y) == (1, 3) => None,
        false => Some(((step + 3 * z + 2 * y + x) % 4) as usize),
    }
}

/// Publishes `temperature` until it is told to stop: quarters from 10 to 50.
fn publish(place: &Path, stopped: Receiver<()>) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let mut publisher = Publisher::open("cube", options).expect("it opens");
    let field = Variable::global::<f32>("temperature", &SHAPE).expect("a name").with_unit("K");
    let field = field.with_dimensions(&["z", "y", "x"]);
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_millis(10)) {
        let mut writer = publisher.begin_step().expect("it begins");
        let step = writer.step().0;
        for plane in 0..SHAPE[0] {
            let places = (0..SHAPE[1]).flat_map(|y| (0..SHAPE[2]).map(move |x| [plane, y, x]));
            let number =
                |place| element(step, place).map_or(f32::NAN, |quarter| 10.0 + 10.0 * quarter as f32);
            let region = Region::new([plane, 0, 0], [1, SHAPE[1], SHAPE[2]]).expect("a region");
            writer.put(&field, &region, places.map(number).collect()).expect("put");
        }
        writer.end().expect("it ends");
    }
    publisher.close().expect("it closes");
}

/// A file, decoded.
pub(super) struct Pixels {
    pub(super) width: usize,
    bytes: Vec<u8>,
}

impl Pixels {
    pub(super) fn read(path: &Path) -> Self {
        let decoder = png::Decoder::new(BufReader::new(File::open(path).expect("a file")));
        let mut reader = decoder.read_info().expect("a picture");
        let mut bytes = vec![0; reader.output_buffer_size().expect("small")];
        let info = reader.next_frame(&mut bytes).expect("whole");
        Self { width: info.width as usize, bytes }
    }

    pub(super) fn at(&self, column: usize, row: usize) -> [u8; 3] {
        let at = 3 * (row * self.width + column);
        self.bytes[at..at + 3].try_into().expect("three")
    }
}

/// Whether two colours are the same but for rounding.
fn are_near(one: [u8; 3], other: [u8; 3]) -> bool {
    one.iter().zip(other).all(|(&one, other)| one.abs_diff(other) <= 2)
}

/// Holds each pixel of the slice `[:, 1:4:2, 4]` against what it should be.
fn compare(told: &Value, picture: &Pixels) {
    let number = |of: &Value| of.as_u64().expect("a number");
    let (step, side) = (number(&told["step"]), number(&told["element_pixels"]) as usize);
    let [left, top_pixel] = [0, 1].map(|dim| number(&told["corner"][dim]) as usize);
    let [z, y, _] = top(step);
    let marked = [1, 3].iter().position(|&row| row == y).map(|column| [z as usize, column]);
    let wanted: Vec<Value> = marked.iter().map(|place| json!(place)).collect();
    assert_eq!(told["marked"], Value::Array(wanted), "step {step}");
    for (row, column) in (0..6 * side).flat_map(|row| (0..2 * side).map(move |column| (row, column))) {
        let (plane, across) = (row / side, column / side);
        let place = [plane as u64, [1, 3][across], 4];
        // From the element's middle line outwards, the line around has its second and third pixels beyond the border.
        let is_on_line = marked.is_some_and(|[down, over]| {
            let beyond = |at: usize, of: usize| {
                let (at, first, last) = (at as i64, (of * side) as i64, (of * side + side - 1) as i64);
                (first - at).max(at - last)
            };
            let farthest = beyond(row, down).max(beyond(column, over));
            (3..=4).contains(&farthest)
        });
        // The range is that of the slice: its greatest element may lie elsewhere.
        let greatest = [1, 3].contains(&y);
        let share = |quarter: usize| if greatest { QUARTERS[quarter] } else { third(quarter) };
        let wanted = if is_on_line { MARK } else { element(step, place).map_or(NO_NUMBER, share) };
        let found = picture.at(left + column, top_pixel + row);
        assert!(
            are_near(found, wanted),
            "step {step}, {place:?}, ({column}, {row}): {found:?}, not {wanted:?}"
        );
    }
    // The bar is as high as the elements, ten pixels beside them, and goes from high to low.
    let bar = left + 2 * side + 10;
    let ends = [picture.at(bar, top_pixel), picture.at(bar + 15, top_pixel + 6 * side - 1)];
    assert!(are_near(ends[0], QUARTERS[4]) && are_near(ends[1], QUARTERS[0]), "{ends:?}");
    let high = if [1, 3].contains(&y) { 50.0 } else { 40.0 };
    assert_eq!((&told["low"], &told["high"]), (&json!(10.0), &json!(high)), "step {step}");
}

/// The colour of a third of the range: between the quarters beside it, which the colour map passes nearly straight.
fn third(quarter: usize) -> [u8; 3] {
    [[68, 1, 84], [49, 104, 142], [53, 183, 121], [253, 231, 37]][quarter]
}

/// Runs what a test asks for beside the cube.
fn beside(test: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("a folder");
    let (stop, stopped) = mpsc::channel::<()>();
    let place = folder.path();
    // The sender is gone when the test is over, also one that fails.
    thread::scope(move |scope| {
        scope.spawn(move || publish(place, stopped));
        test(place);
        drop(stop);
    });
}

#[test]
fn pictures_show_each_element_of_a_slice_and_where_the_greatest_is() {
    beside(|place| {
        let pictures = place.join("some pictures");
        let then = format!("render temperature[:, 1:4:2, 4] to {}", pictures.display());
        let arguments = [
            "watch",
            "cube",
            "max(temperature[::2, :, :]) > 45",
            "--then",
            &then,
            "--json",
            "--steps",
            "8",
            "--every-step",
        ];
        let watched = Run::at(place, &arguments).finish();
        assert_eq!(watched.code, Some(0), "{}", watched.stderr);
        let told: Vec<Value> =
            watched.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(told.len(), 8);
        for line in &told {
            let path = PathBuf::from(line["picture"].as_str().expect("a path"));
            assert_eq!(path, pictures.join(format!("cube-temperature-{}.png", line["step"])));
            assert_eq!(line["selection"], "[0:6, 1:4:2, 4:5]");
            compare(line, &Pixels::read(&path));
        }
        let marked = told.iter().filter(|line| line["marked"] != json!([])).count();
        assert!(0 < marked && marked < 8, "with and without one");
        assert_eq!(std::fs::read_dir(&pictures).expect("a folder").count(), 8, "nothing aside is left");
    });
}

/// One file, which each picture replaces; text says where it is. And no number at all can be drawn too.
#[test]
fn a_file_is_replaced() {
    beside(|place| {
        let file = place.join("now.png");
        let then = format!("render temperature[1, 3, 0:1] to {}", file.display());
        let wrong = Run::at(place, &["watch", "cube", "every(1)", "--then", &then]).finish();
        assert!(wrong.stderr.contains("a picture has two dimensions, and 0 of these"), "{}", wrong.stderr);
        let then = format!("render temperature[1:2, 3:4, :] to {}", file.display());
        let wrong = Run::at(place, &["watch", "cube", "every(1)", "--then", &then]).finish();
        assert!(
            wrong.stderr.contains("and 1 of these have more than one element: 1 x 1 x 8"),
            "{}",
            wrong.stderr
        );
        let then = format!("render temperature[:, :, 0] to {}", file.display());
        let watched =
            Run::at(place, &["watch", "cube", "every(1)", "--then", &then, "--steps", "2", "--least", "0"])
                .finish();
        assert_eq!(watched.code, Some(0), "{}", watched.stderr);
        let lines: Vec<&str> = watched.stdout.lines().collect();
        let said = format!("  {}", file.display());
        assert!(lines.len() == 2 && lines.iter().all(|line| line.ends_with(&said)), "{}", watched.stdout);
        assert!(Pixels::read(&file).width > 4 * 64);
    });
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let live = Live::start("rows");
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("hits");
    std::fs::write(folder.path().join("a file"), "").expect("written");
    let to = to.to_str().expect("a name");
    let under = folder.path().join("a file/hits.png");
    let under = under.to_str().expect("a name");
    for (renderings, code, said) in [
        (&[("temperature", "")][..], 2, "does not say where to"),
        (&[("temperature[0:", to)], 2, "[0:"),
        (&[("temperature[0, :]", to), ("temperature[1, :]", to)], 2, "two pictures of a step would go to"),
        (&[("temperature", under)], 2, "File exists"),
        (&[("pressure", to)], 1, "it has no variable \"pressure\""),
        (&[("temperature[0:9, :]", to)], 1, "dimension 0: 0:9"),
        (&[("temperature[0, :, :]", to)], 1, "the selection has 3 dimensions"),
        (&[("temperature[rank 0]", to)], 1, "step"),
        (&[("count", to)], 1, "it is a scalar, and pictures are of global and joined arrays"),
    ] {
        let mut arguments =
            vec!["watch".to_owned(), "rows".into(), "every(1)".into(), "--steps".into(), "1".into()];
        for (target, to) in renderings {
            let to = if to.is_empty() { String::new() } else { format!(" to {to}") };
            arguments.extend(["--then".to_owned(), format!("render {target}{to}")]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refused = Run::of(&live, &arguments).finish();
        assert_eq!(refused.code, Some(code), "{renderings:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{renderings:?}: {}", refused.stderr);
        if code == 1 {
            assert!(refused.stderr.contains("\"rows\", step "), "{renderings:?}: {}", refused.stderr);
        }
    }
    live.stop();
}

/// A picture that is there already stays as it is.
#[test]
fn a_picture_of_an_earlier_run_is_kept() {
    let live = Live::start("rows");
    let folder = tempfile::tempdir().expect("a folder");
    // Whatever steps come, their names are taken.
    for step in 0..20_000 {
        std::fs::write(folder.path().join(format!("rows-temperature-{step}.png")), "mine").expect("written");
    }
    let then = format!("render temperature to {}", folder.path().display());
    let refused = Run::of(&live, &["watch", "rows", "every(1)", "--then", &then]).finish();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("is there already: name another folder"), "{}", refused.stderr);
    let kept = std::fs::read_dir(folder.path())
        .expect("there")
        .all(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file") == b"mine");
    assert!(kept);
    live.stop();
}
