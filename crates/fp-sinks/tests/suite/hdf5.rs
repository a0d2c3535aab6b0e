//! Steps as HDF5 files, which h5py and openpmd-api read.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::record::{EnumType, Extent, Field, FieldElement, RecordSchema, RecordType, encode_with};
use fp_core::{
    AttributeValue, Dims, Dtype, Element, MemoryOrder, Publisher, RecordBlock, Region, Shape, StepWriter,
    Variable,
};
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use crate::support::{PATIENCE, Running, STREAM, Stage, mounted, python};

/// The extent of global arrays: enough for a slab of each rank.
const SHAPE: [u64; 2] = [301, 200];

pub(crate) fn region(start: &[u64], count: &[u64]) -> Region {
    Region::new(Dims::from_slice(start).unwrap(), Dims::from_slice(count).unwrap()).unwrap()
}

/// The rows of a rank of some.
fn rows(rank: u32, ranks: u32) -> (u64, u64) {
    let first = |rank: u32| SHAPE[0] * u64::from(rank) / u64::from(ranks);
    (first(rank), first(rank + 1) - first(rank))
}

/// Puts a rank's rows of a global array whose element (row, column) of a step is `of(number)`, numbers below 120.
fn put_rows<T: Element>(
    writer: &mut StepWriter,
    (rank, ranks): (u32, u32),
    variable: &Variable,
    of: impl Fn(u64) -> T,
) {
    let (step, (first, count)) = (writer.step().0, rows(rank, ranks));
    let number = |row: u64, column: u64| of((step * 7 + row * SHAPE[1] + column) % 120);
    let elements = if variable.definition().order == MemoryOrder::RowMajor {
        (first..first + count)
            .flat_map(|row| (0..SHAPE[1]).map(move |column| (row, column)))
            .collect::<Vec<_>>()
    } else {
        (0..SHAPE[1]).flat_map(|column| (first..first + count).map(move |row| (row, column))).collect()
    };
    let elements = elements.into_iter().map(|(row, column)| number(row, column)).collect();
    writer.put(variable, &region(&[first, 0], &[count, SHAPE[1]]), elements).unwrap();
}

fn global<T: Element>(name: &str) -> Variable {
    Variable::global::<T>(name, &SHAPE).unwrap()
}

/// Global arrays of every type, and of both orders.
fn put_types(writer: &mut StepWriter, of: (u32, u32)) {
    put_rows(writer, of, &global::<i8>("i8"), |number| number as i8 - 60);
    put_rows(writer, of, &global::<i16>("i16"), |number| number as i16 - 60);
    put_rows(writer, of, &global::<i32>("i32"), |number| number as i32 - 60);
    put_rows(writer, of, &global::<i64>("i64"), |number| number as i64 - (1 << 60));
    put_rows(writer, of, &global::<u8>("u8"), |number| number as u8);
    put_rows(writer, of, &global::<u16>("u16"), |number| number as u16);
    put_rows(writer, of, &global::<u32>("u32"), |number| number as u32);
    put_rows(writer, of, &global::<u64>("u64"), |number| number + (1 << 63));
    put_rows(writer, of, &global::<f16>("f16"), |number| f16::from_f64(number as f64 / 2.0));
    put_rows(writer, of, &global::<f32>("f32"), |number| number as f32 / 2.0);
    let f64s = global::<f64>("f64").with_unit("K").with_description("how hot").with_dimensions(&["y", "x"]);
    let f64s = f64s.with_attribute("yes", true).with_attribute("integer", -3_i64).with_attribute("real", 0.5);
    let f64s = f64s.with_attribute("unsigned", u64::MAX).with_attribute("text", "größe");
    let f64s = f64s.with_attribute("bytes", vec![1_u8, 0, 2]).with_attribute("integers", vec![1_i64, -2]);
    let f64s = f64s.with_attribute("reals", vec![0.5, 1.5]).with_attribute("none", Vec::<i64>::new());
    let texts = AttributeValue::Texts(vec!["a".to_owned(), "é".to_owned()]);
    put_rows(writer, of, &f64s.with_attribute("texts", texts), |number| number as f64 / 2.0);
    put_rows(writer, of, &global::<Complex32>("c32"), |number| Complex32::new(number as f32, -0.5));
    put_rows(writer, of, &global::<Complex64>("c64"), |number| Complex64::new(number as f64, -0.5));
    put_rows(writer, of, &global::<u8>("bool").with_truth_values(), |number| number as u8 % 2);
    let columns = global::<f64>("columns").with_order(MemoryOrder::ColumnMajor);
    put_rows(writer, of, &columns, |number| number as f64 / 2.0);
}

/// Records of numbers alone.
fn plain_record() -> RecordSchema {
    let kind = EnumType::new("Kind", Dtype::I16).variant("cold", -1).variant("hot", 5);
    let place = RecordType::new("Place").field(Field::new("x", Dtype::F32)).field(Field::new("n", Dtype::U8));
    let record = RecordType::new("Hit")
        .field(Field::new("flag", Dtype::Bool))
        .field(Field::new("energy", Dtype::F64))
        .field(Field { extent: Extent::One, ..Field::new("kind", FieldElement::Enum(kind)) })
        .field(Field::new("place", FieldElement::Record(place)))
        .field(Field::new("matrix", Dtype::I32).fixed(Shape::new([2, 3]).unwrap()));
    record.build().unwrap()
}

/// Encoded by hand, as C lays such a record out: 56 bytes.
fn hit(number: u64) -> Vec<u8> {
    let mut bytes = vec![0; 56];
    bytes[0] = number as u8 % 2;
    bytes[8..16].copy_from_slice(&(number as f64 / 2.0).to_ne_bytes());
    bytes[16..18].copy_from_slice(&(if number.is_multiple_of(2) { -1_i16 } else { 5 }).to_ne_bytes());
    bytes[20..24].copy_from_slice(&(number as f32).to_ne_bytes());
    bytes[24] = number as u8;
    for (at, element) in (0..6).enumerate() {
        bytes[28 + 4 * at..32 + 4 * at].copy_from_slice(&(number as i32 * 10 + element).to_ne_bytes());
    }
    bytes
}

/// Variables of every other kind.
fn put_kinds(writer: &mut StepWriter, (rank, ranks): (u32, u32)) {
    let step = writer.step().0;
    let from = step * 10 + u64::from(rank);
    writer.put_scalar(&Variable::scalar::<f64>("time").unwrap().with_unit("s"), step as f64 / 4.0).unwrap();
    writer.put_scalar(&Variable::scalar::<Complex64>("phase").unwrap(), Complex64::new(1.0, 2.0)).unwrap();
    writer.put_text(&Variable::text("title").unwrap(), &format!("step {step}: größe")).unwrap();
    writer.put_text(&Variable::text("empty").unwrap(), "").unwrap();
    writer.put_scalar(&Variable::local_scalar::<u16>("own").unwrap(), from as u16).unwrap();
    let joined = Variable::joined::<i32>("joined", &[2]).unwrap();
    writer.put_joined(&joined, vec![from as i32; 2 * (step + u64::from(rank)) as usize]).unwrap();
    let local = Variable::local::<f32>("local", 2).unwrap().with_unit("m").with_dimensions(&["a", "b"]);
    writer.put(&local, &region(&[0, 0], &[2, from]), vec![from as f32; 2 * from as usize]).unwrap();
    writer.put(&local, &region(&[0, 0], &[1, 1]), vec![-1.0_f32]).unwrap();
    // Its middle row is nobody's, and the last rank's rows neither; its shape is another in each step.
    let gaps = Variable::global::<f32>("gaps", &[u64::from(ranks), 5 + step]).unwrap();
    let counts = Variable::global::<i32>("counts", &[u64::from(ranks), 5]).unwrap();
    if rank + 1 < ranks {
        writer.put(&gaps, &region(&[rank.into(), 1], &[1, 3]), vec![from as f32; 3]).unwrap();
        writer.put(&counts, &region(&[rank.into(), 1], &[1, 3]), vec![from as i32; 3]).unwrap();
    }
    if step.is_multiple_of(2) {
        let even = Variable::global::<u8>("even", &[u64::from(ranks), 0]).unwrap();
        writer.put(&even, &region(&[rank.into(), 0], &[1, 0]), Vec::<u8>::new()).unwrap();
    }
    let schema = plain_record();
    let hits = Variable::joined_records("hits", &schema, &[]).unwrap();
    let encoded: Vec<u8> = (0..=u64::from(rank)).flat_map(|number| hit(from + number)).collect();
    writer.put_bytes(&hits, &region(&[0], &[u64::from(rank) + 1]), &encoded).unwrap();
    let grid = Variable::global_records("grid", &schema, &[ranks.into()]).unwrap();
    writer.put_bytes(&grid, &region(&[rank.into()], &[1]), &hit(from)).unwrap();
    let own = Variable::local_records("own_hits", &schema, 1).unwrap();
    writer.put_bytes(&own, &region(&[0], &[1]), &hit(from)).unwrap();
}

#[test]
fn every_kind_and_type_is_read_back_by_h5py() {
    for (publishers, ranks) in [(1, 3), (3, 1), (3, 4)] {
        let stage = Stage::new();
        let put = |rank, writer: &mut StepWriter| {
            put_types(writer, (rank, publishers));
            put_kinds(writer, (rank, publishers));
        };
        let to = format!("hdf5:{}", stage.path("out/run_%06T.h5"));
        let ended = stage.run((publishers, 3), put, &["--to", &to, "--ranks", &ranks.to_string()]);
        assert!(ended.stderr.contains("3 steps of"), "{}", ended.stderr);
        ended.well();
        let said = python("hdf5.py", &["all", &stage.path("out"), &publishers.to_string(), "3"]);
        assert!(said.contains("3 files are right"), "{said}");
    }
}

#[test]
fn columns_that_become_rows_are_all_there() {
    for ranks in ["1", "3"] {
        let stage = Stage::new();
        let put = |rank: u32, writer: &mut StepWriter| {
            let (step, first) = (writer.step().0, u64::from(rank) * 512);
            let number = |row: u64, column: u64| ((step * 7 + row * 1024 + column) % 120) as f64 / 2.0;
            let elements = (0..70).flat_map(|row| (first..first + 512).map(move |column| (row, column)));
            let elements = elements.map(|(row, column)| number(row, column)).collect();
            let crossing = Variable::global::<f64>("crossing", &[70, 1024]).unwrap();
            writer.put(&crossing, &region(&[0, first], &[70, 512]), elements).unwrap();
        };
        let to = format!("hdf5:{}", stage.path("run_%T.h5"));
        stage.run((2, 2), put, &["--to", &to, "--ranks", ranks]).well();
        let said = python("hdf5.py", &["crossing", &stage.path("."), "2"]);
        assert!(said.contains("0 1"), "{said}");
    }
}

/// A global array of many chunks, and a block that is worth one.
fn put_large(writer: &mut StepWriter, (rank, ranks): (u32, u32)) {
    let first = |rank: u32| 3001 * u64::from(rank) / u64::from(ranks);
    let (start, end) = (first(rank), first(rank + 1));
    let big = Variable::global::<f64>("big", &[3001, 400]).unwrap().with_dimensions(&["y", "x"]);
    let elements = (start * 400..end * 400).map(|place| (place % 251) as f64).collect();
    writer.put(&big, &region(&[start, 0], &[end - start, 400]), elements).unwrap();
    let wide = Variable::local::<f32>("wide", 2).unwrap();
    let count = u64::from(rank) + 2;
    writer.put(&wide, &region(&[0, 0], &[count, 3000]), vec![rank as f32; 3000 * count as usize]).unwrap();
}

#[test]
fn what_is_compressed_is_read_back_the_same_and_is_smaller() {
    for (publishers, ranks) in [(3, "4"), (1, "1")] {
        let stage = Stage::new();
        let put = |rank, writer: &mut StepWriter| {
            put_types(writer, (rank, publishers));
            put_kinds(writer, (rank, publishers));
            put_large(writer, (rank, publishers));
        };
        let to = format!("hdf5:{}", stage.path("out/run_%T.h5"));
        let arguments = ["--to", &to, "--ranks", ranks, "--compress", "gzip", "--durable"];
        stage.run((publishers, 2), put, &arguments).well();
        let said = python("hdf5.py", &["all", &stage.path("out"), &publishers.to_string(), "2", "gzip"]);
        assert!(said.contains("2 files are right"), "{said}");
    }
}

#[test]
fn a_choice_of_steps_and_variables_is_written_in_the_type_asked_for() {
    let stage = Stage::new();
    let to = format!("hdf5:{}", stage.path("run%T.h5"));
    let arguments =
        ["--to", &to, "--cast", "f32", "--every", "2", "--variables", "f64,f16,i32,columns", "--durable"];
    stage.run((2, 4), |rank, writer| put_types(writer, (rank, 2)), &arguments).well();
    let said = python("hdf5.py", &["cast", &stage.path("."), "2"]);
    assert!(said.contains("2 files are right"), "{said}");
}

#[test]
fn files_that_are_there_are_gone_on_behind_and_never_replaced() {
    let stage = Stage::new();
    let to = format!("hdf5:{}", stage.path("run_%06T.h5"));
    let put = |rank, writer: &mut StepWriter| put_types(writer, (rank, 2));
    stage.run((2, 4), put, &["--to", &to, "--steps", "2", "--variables", "f64"]).well();
    stage.start(&["--to", &to]).ended().refused(2, &["run_000001.h5 is there already", "--append"]);
    stage.run((2, 5), put, &["--to", &to, "--append", "--variables", "f64"]).well();
    let said = python("hdf5.py", &["whole", &stage.path("."), "2"]);
    assert!(said.contains("0 1 2 3 4"), "{said}");
}

#[test]
fn what_hdf5_cannot_hold_is_refused_and_leaves_nothing() {
    let stage = Stage::new();
    let to = format!("hdf5:{}", stage.path("run_%T.h5"));
    let half = |rank, writer: &mut StepWriter| {
        put_rows(writer, (rank, 1), &global::<bf16>("coarse"), |number| bf16::from_f64(number as f64));
    };
    let words = ["step 0, variable \"coarse\"", "no bf16", "--cast f32", "--variables"];
    stage.run((1, 1), half, &["--to", &to]).refused(1, &words);
    stage.run((1, 1), half, &["--to", &to, "--cast", "f32"]).well();
    let stage = Stage::new();
    let to = format!("hdf5:{}", stage.path("run_%T.h5"));
    let texts = |_, writer: &mut StepWriter| {
        let schema = RecordType::new("Atom").field(Field::new("name", Dtype::String)).build().unwrap();
        let atoms = Variable::local_records("atoms", &schema, 1).unwrap();
        let encoded = encode_with(&schema, 1, |_, atom| atom.put(0, &"He".to_owned())).unwrap();
        let block = RecordBlock::encoded(&schema, 1, encoded).unwrap();
        writer.put_records(&atoms, &region(&[0], &[1]), block).unwrap();
    };
    let words = ["step 0, variable \"atoms\"", "field \"name\" is string", "--variables"];
    stage.run((1, 1), texts, &["--to", &to]).refused(1, &words);
    let left: Vec<_> =
        std::fs::read_dir(stage.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [stage.folder.path().join("streams")]);
}

/// Unfinished files of a folder.
fn unfinished(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(".unfinished")))
        .count()
}

#[test]
fn a_kill_at_any_time_leaves_whole_files_alone() {
    let kills = std::env::var("FLEXPATH_SINK_KILLS").map_or(8, |kills| kills.parse().expect("a number"));
    let stage = Stage::new();
    let to = format!("hdf5:{}", stage.path("run_%06T.h5"));
    let (options, path) = ([0, 1].map(|rank| stage.options(rank, 2)), stage.path("."));
    let (over, mut halves) = (std::sync::atomic::AtomicBool::new(false), 0);
    thread::scope(|scope| {
        for (rank, options) in (0..).zip(options) {
            let over = &over;
            scope.spawn(move || {
                let mut publisher = Publisher::open(STREAM, options.with_min_subscribers(0)).unwrap();
                // Both ranks publish the same steps: the last is one that nobody can reach before all was killed.
                while !over.load(std::sync::atomic::Ordering::Relaxed)
                    && publisher_goes_on(&mut publisher, rank)
                {}
            });
        }
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..kills {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut running = stage.start(&["--to", &to, "--append", "--ranks", "3", "--lossy"]);
            let before = std::fs::read_dir(&path).unwrap().count();
            let until = Instant::now() + PATIENCE;
            while std::fs::read_dir(&path).unwrap().count() <= before + 1 {
                assert!(Instant::now() < until, "no step within {PATIENCE:?}");
                thread::yield_now();
            }
            let end = Instant::now() + Duration::from_micros((seed >> 33) % 30_000);
            while Instant::now() < end {
                thread::yield_now();
            }
            running.kill();
            drop(running.ended());
            halves += unfinished(Path::new(&path));
        }
        stage.start(&["--to", &to, "--append", "--ranks", "3", "--steps", "1", "--lossy"]).ended().well();
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(unfinished(Path::new(&path)), 0);
    println!("{kills} kills left {halves} unfinished files");
    python("hdf5.py", &["whole", &path, "2"]);
}

/// One step more; false when the other rank is gone.
fn publisher_goes_on(publisher: &mut Publisher, rank: u32) -> bool {
    let Ok(mut writer) = publisher.begin_step() else { return false };
    put_rows(&mut writer, (rank, 2), &global::<f64>("f64"), |number| number as f64 / 2.0);
    writer.end().is_ok()
}

#[test]
fn a_full_disk_is_told() {
    let stage = Stage::new();
    let disk = stage.path("disk");
    let (to, streams) = (format!("hdf5:{disk}/run_%T.h5"), stage.path("streams"));
    let program = env!("CARGO_BIN_EXE_flexpath-tee");
    let command = [program, "--rendezvous", &streams, STREAM, "--to", &to, "--ranks", "2"];
    let script = "\"$@\"; status=$?; ls -A \"$DISK\"; exit $status";
    let Some(tee) = mounted("size=700k", &disk, script, &command) else { return };
    let options = stage.options(0, 1);
    let publishing = thread::spawn(move || {
        let mut publisher = Publisher::open(STREAM, options).unwrap();
        (0..3).try_for_each(|_| publisher_goes_on(&mut publisher, 0).then_some(()))
    });
    let ended = Running::start(tee).ended();
    drop(publishing.join());
    // The first step was whole, the second had no room, and nothing is left of it.
    assert_eq!(ended.stdout, "run_0.h5\n", "{}", ended.stderr);
    ended.refused(1, &["run_1.h5.unfinished", "No space left on device"]);
}
