//! Files of Parquet, read by DuckDB and by pyarrow.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fp_core::record::{EnumType, Field, RecordBuilder, RecordSchema, RecordType};
use fp_core::{Dtype, MemoryOrder, Publisher, RecordBlock, Region, Shape, StepWriter, Variable};

use crate::support::{PATIENCE, Stage, python};

/// A record type with a field of every kind.
fn everything() -> RecordSchema {
    let face = RecordType::new("Face")
        .field(Field::new("id", Dtype::U16))
        .field(Field::new("corners", Dtype::F32).fixed(Shape::new([2]).unwrap()));
    let cell =
        RecordType::new("Cell").field(Field::new("x", Dtype::F32)).field(Field::new("name", Dtype::String));
    let numbers = Dtype::ALL.iter().filter(|dtype| dtype.size_bytes().is_some());
    let record = numbers
        .fold(RecordType::new("Everything"), |record, dtype| record.field(Field::new(dtype.name(), *dtype)));
    record
        .with_description("a field of every kind")
        .field(Field::new("text", Dtype::String).with_description("what it is called"))
        .field(Field::new("raw", Dtype::Bytes))
        .field(Field::new(
            "phase",
            EnumType::new("Phase", Dtype::U8).variant("solid", 1).variant("liquid", 7),
        ))
        .field(Field::new("position", Dtype::F64).fixed(Shape::new([3]).unwrap()).with_unit("m"))
        .field(
            Field::new("tensor", Dtype::F32).fixed_in(Shape::new([2, 3]).unwrap(), MemoryOrder::ColumnMajor),
        )
        .field(Field::new("count", Dtype::U32))
        .field(Field::new("near", Dtype::U64).sized_by("count"))
        .field(Field::new("labels", Dtype::String).variable())
        .field(Field::new("waves", Dtype::C32).variable())
        .field(Field::new("cell", cell))
        .field(Field::new("faces", face).variable())
        .field(Field::new("mass", Dtype::F64).optional())
        .field(Field::new("spares", Dtype::I16).variable().optional())
        .field(Field::new("weight", Dtype::F64).optional().with_default(1.5))
        .build()
        .unwrap()
}

/// As many records, numbered from `first`. The Python program knows what each number has.
fn records(schema: &RecordSchema, first: u64, count: u64) -> RecordBlock {
    let mut records = RecordBuilder::new(schema, count as usize).unwrap();
    for (row, n) in (first..first + count).enumerate() {
        let mut set = |path: &str, dtype: Dtype, bytes: &[u8]| {
            records.set_numbers(row, path, (dtype, bytes)).unwrap();
        };
        let small = (n % 100) as u8;
        let real = n as f32 / 4.0;
        set("i8", Dtype::I8, &(-i8::try_from(small).unwrap()).to_ne_bytes());
        set("i16", Dtype::I16, &(-i16::from(small) * 300).to_ne_bytes());
        // A run of many steps goes beyond 32 bits.
        set("i32", Dtype::I32, &(-(n as i32)).wrapping_mul(1000).to_ne_bytes());
        set("i64", Dtype::I64, &(i64::MIN + n as i64).to_ne_bytes());
        set("u8", Dtype::U8, &[small + 150]);
        set("u16", Dtype::U16, &(60_000 + u16::from(small)).to_ne_bytes());
        set("u32", Dtype::U32, &(u32::MAX - n as u32).to_ne_bytes());
        set("u64", Dtype::U64, &(u64::MAX - n).to_ne_bytes());
        // 1 + small/64 has at most 7 bits behind the point.
        set("f16", Dtype::F16, &((15 << 10 | u16::from(small % 64) << 4).to_ne_bytes()));
        set("bf16", Dtype::BF16, &((127 << 7 | u16::from(small % 64) << 1).to_ne_bytes()));
        set("f32", Dtype::F32, &real.to_ne_bytes());
        set("f64", Dtype::F64, &(n as f64 / 3.0).to_ne_bytes());
        set("c32", Dtype::C32, bytemuck::cast_slice(&[real, -real]));
        set("c64", Dtype::C64, bytemuck::cast_slice(&[n as f64, -(n as f64)]));
        set("bool", Dtype::Bool, &[u8::from(n % 2 == 1)]);
        set("raw", Dtype::U8, &[small, 0, 255]);
        set("phase", Dtype::U8, &[if n % 2 == 1 { 1 } else { 7 }]);
        set("position", Dtype::F64, bytemuck::cast_slice(&[n as f64, 0.5, -1.0]));
        // Element (row, column) of `tensor` is n + row * 10 + column; a column lies after the other.
        let tensor: Vec<f32> = (0..6).map(|at| (n + at % 2 * 10 + at / 2) as f32).collect();
        set("tensor", Dtype::F32, bytemuck::cast_slice(&tensor));
        let near: Vec<u64> = (0..n % 4).map(|at| n + at).collect();
        set("near", Dtype::U64, bytemuck::cast_slice(&near));
        set("waves", Dtype::C32, bytemuck::cast_slice(&vec![real; 2 * (n % 3) as usize]));
        set("cell.x", Dtype::F32, &real.to_ne_bytes());
        if n.is_multiple_of(2) {
            set("mass", Dtype::F64, &(n as f64).to_ne_bytes());
            set("weight", Dtype::F64, &2.5f64.to_ne_bytes());
            set("spares", Dtype::I16, bytemuck::cast_slice(&[1i16, -1]));
        }
        records.set_texts(row, "text", &[format!("number {n} é")]).unwrap();
        records.set_texts(row, "cell.name", &[format!("cell {n}")]).unwrap();
        let labels: Vec<String> = (0..n % 3).map(|at| format!("{n}/{at}")).collect();
        records.set_texts(row, "labels", &labels).unwrap();
        records.set_len(row, "faces", (n % 3) as usize).unwrap();
        for face in 0..n % 3 {
            let id = (n + face) as u16;
            records.set_numbers(row, &format!("faces[{face}].id"), (Dtype::U16, &id.to_ne_bytes())).unwrap();
            let corners = [face as f32, 0.25];
            let path = format!("faces[{face}].corners");
            records.set_numbers(row, &path, (Dtype::F32, bytemuck::cast_slice(&corners))).unwrap();
        }
    }
    RecordBlock::encoded(schema, count as usize, records.encode().unwrap()).unwrap()
}

/// Rows of a rank in a step: none of rank 1 in step 1.
fn rows(step: u64, rank: u32) -> u64 {
    if (step, rank) == (1, 1) { 0 } else { 3 + step % 50 + u64::from(rank) }
}

/// Puts records in two blocks.
fn put_records(schema: &RecordSchema, rank: u32, writer: &mut StepWriter) {
    let variable = Variable::joined_records("things", schema, &[]).unwrap().with_description("all things");
    let (step, first) = (writer.step().0, writer.step().0 * 1000 + u64::from(rank) * 100);
    let half = rows(step, rank) / 2;
    for (first, count) in [(first, half), (first + half, rows(step, rank) - half)] {
        if count > 0 {
            writer.put_joined_records(&variable, records(schema, first, count)).unwrap();
        }
    }
}

/// Puts joined arrays that are one table, and scalars.
fn put_arrays(rank: u32, writer: &mut StepWriter) {
    let (step, count) = (writer.step().0, rows(writer.step().0, rank));
    let numbers = || (0..count).map(|row| step * 1000 + u64::from(rank) * 100 + row);
    let energy = Variable::joined::<f64>("energy", &[]).unwrap().with_unit("eV").with_attribute("scale", 1.5);
    writer.put_joined(&energy, numbers().map(|n| n as f64 / 8.0).collect()).unwrap();
    let id = Variable::joined::<u64>("id", &[]).unwrap();
    writer.put_joined(&id, numbers().collect()).unwrap();
    let place = Variable::joined::<f32>("place", &[3]).unwrap().with_description("where it is");
    let places = numbers().flat_map(|n| [n as f32, n as f32 + 0.25, n as f32 + 0.5]);
    writer.put_joined(&place, places.collect()).unwrap();
    let spectrum = Variable::joined::<i32>("spectrum", &[20]).unwrap();
    writer
        .put_joined(&spectrum, numbers().flat_map(|n| (0..20).map(move |at| (n * 20) as i32 + at)).collect())
        .unwrap();
    if rank == 0 {
        let time = Variable::scalar::<f64>("time").unwrap().with_unit("s");
        writer.put_scalar(&time, step as f64 / 2.0).unwrap();
        writer.put_text(&Variable::text("title").unwrap(), "a run").unwrap();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| name != "streams").collect();
    names.sort();
    names
}

#[test]
fn records_of_every_field_are_read_as_they_were_published() {
    let schema = everything();
    for ranks in ["1", "3", "4"] {
        let stage = Stage::new();
        let to = format!("parquet:{}", stage.path("run_%06T.parquet"));
        let put = |rank, writer: &mut StepWriter| put_records(&schema, rank, writer);
        stage.run((3, 3), put, &["--to", &to, "--ranks", ranks, "--durable"]).well();
        assert_eq!(names(stage.folder.path()), [0, 1, 2].map(|step| format!("run_00000{step}.parquet")));
        let said = python("parquet.py", &["records", &stage.path(""), "3", "3"]);
        assert_eq!(said.trim(), "40 rows");
    }
}

#[test]
fn joined_arrays_of_several_ranks_are_one_table() {
    for ranks in ["1", "3", "4"] {
        let stage = Stage::new();
        let to = format!("parquet:{}", stage.path("run_%T.parquet"));
        stage.run((3, 5), put_arrays, &["--to", &to, "--ranks", ranks, "--every", "2"]).well();
        assert_eq!(names(stage.folder.path()), ["run_0.parquet", "run_2.parquet", "run_4.parquet"]);
        let said = python("parquet.py", &["arrays", &stage.path(""), "3", "5", "2", "double"]);
        assert_eq!(said.trim(), "54 rows");
    }
    let stage = Stage::new();
    let to = format!("parquet:{}", stage.path("run_%T.parquet"));
    stage.run((1, 1), put_arrays, &["--to", &to, "--cast", "f32"]).well();
    assert_eq!(python("parquet.py", &["arrays", &stage.path(""), "1", "1", "1", "float"]).trim(), "3 rows");
}

/// Two lists that have other numbers of rows as they begin, and equal ones later, stay two tables.
#[test]
fn tables_stay_what_they_were() {
    let put = |_, writer: &mut StepWriter| {
        let step = writer.step().0;
        for (name, rows) in [("hits", 2_u64), ("ions", if step == 0 { 3 } else { 2 })] {
            let list = Variable::joined::<u64>(name, &[]).unwrap();
            writer.put_joined(&list, (0..rows).collect()).unwrap();
        }
    };
    let stage = Stage::new();
    let to = format!("parquet:{}", stage.path("%V_%T.parquet"));
    stage.run((1, 2), put, &["--to", &to]).well();
    assert_eq!(
        names(stage.folder.path())[..4],
        ["hits_0.parquet", "hits_1.parquet", "ions_0.parquet", "ions_1.parquet"]
    );
    let apart = |_, writer: &mut StepWriter| {
        let step = writer.step().0;
        for (name, rows) in [("hits", 2), ("ions", 2 + step)] {
            let list = Variable::joined::<u64>(name, &[]).unwrap();
            writer.put_joined(&list, (0..rows).collect()).unwrap();
        }
    };
    let to = format!("parquet:{}", stage.path("both_%T.parquet"));
    stage.run((1, 2), apart, &["--to", &to]).refused(1, &["step 1", "\"ions\"", "\"hits\"", "other rows"]);
}

#[test]
fn several_tables_have_a_file_each() {
    let schema = everything();
    let put = |rank, writer: &mut StepWriter| {
        put_records(&schema, rank, writer);
        put_arrays(rank, writer);
        let load = Variable::local_scalar::<f32>("load").unwrap().with_unit("%");
        writer.put_scalar(&load, rank as f32 + 0.5).unwrap();
    };
    let stage = Stage::new();
    let to = format!("parquet:{}", stage.path("run_%T.parquet"));
    let only = ["--to", &to, "--steps", "1", "--variables", "things"];
    stage.run((2, 1), put, &only).well();
    let other = format!("parquet:{}", stage.path("other_%T.parquet"));
    let words =
        ["step 0 has 3 tables", "(energy, id, place, spectrum)", "(load) (things)", "%V", "--variables"];
    stage.run((2, 1), put, &["--to", &other]).refused(2, &words);
    let each = format!("parquet:{}", stage.path("each_%V_%03T.parquet"));
    stage.run((2, 2), put, &["--to", &each, "--ranks", "2"]).well();
    let wanted = [
        "each_energy_000.parquet",
        "each_energy_001.parquet",
        "each_load_000.parquet",
        "each_load_001.parquet",
        "each_things_000.parquet",
        "each_things_001.parquet",
    ];
    assert_eq!(names(stage.folder.path())[..6], wanted);
    python("parquet.py", &["records", &stage.path("each_things_*.parquet"), "2", "2"]);
    python("parquet.py", &["scalars", &stage.path("each_load_*.parquet"), "2", "2"]);
}

#[test]
fn records_of_a_grid_are_rows_in_row_major_order() {
    // A field has the name of a column that every table has, and keeps it.
    let schema = RecordType::new("Cell")
        .field(Field::new("step", Dtype::U16))
        .field(Field::new("text", Dtype::String))
        .build()
        .unwrap();
    let put = |_, writer: &mut StepWriter| {
        let grid =
            Variable::global_records("grid", &schema, &[2, 3]).unwrap().with_order(MemoryOrder::ColumnMajor);
        let mut cells = RecordBuilder::new(&schema, 6).unwrap();
        for (at, n) in [0u16, 3, 1, 4, 2, 5].into_iter().enumerate() {
            cells.set_numbers(at, "step", (Dtype::U16, &n.to_ne_bytes())).unwrap();
            cells.set_texts(at, "text", &[format!("number {n}")]).unwrap();
        }
        let cells = RecordBlock::encoded(&schema, 6, cells.encode().unwrap()).unwrap();
        writer.put_records(&grid, &Region::new([0, 0], [2, 3]).unwrap(), cells).unwrap();
    };
    let stage = Stage::new();
    let to = format!("parquet:{}", stage.path("%T.parquet"));
    stage.run((1, 1), put, &["--to", &to]).well();
    assert_eq!(python("parquet.py", &["grid", &stage.path("")]).trim(), "6 rows");
}

#[test]
fn files_that_are_there_are_kept_and_gone_on_behind() {
    let stage = Stage::new();
    let to = format!("parquet:{}", stage.path("run_%T.parquet"));
    stage.run((1, 2), put_arrays, &["--to", &to]).well();
    let before = fs::read(stage.path("run_1.parquet")).unwrap();
    stage.start(&["--to", &to]).ended().refused(2, &["run_1.parquet is there already", "--append"]);
    // The stream begins anew: its steps 0 and 1 are those that are there.
    stage.run((1, 4), put_arrays, &["--to", &to, "--append"]).well();
    assert_eq!(names(stage.folder.path()).len(), 4);
    assert_eq!(fs::read(stage.path("run_1.parquet")).unwrap(), before);
    assert_eq!(python("parquet.py", &["arrays", &stage.path(""), "1", "4", "1", "double"]).trim(), "18 rows");
}

#[test]
fn what_is_no_table_is_refused() {
    let field = Variable::global::<f64>("field", &[4]).unwrap();
    let local = Variable::local::<f64>("parts", 1).unwrap();
    let whole = Region::new([0], [4]).unwrap();
    let stage = Stage::new();
    let to = format!("parquet:{}", stage.path("run_%T.parquet"));
    for (variable, what) in [(&field, "a global array"), (&local, "a local array")] {
        let put = |rank, writer: &mut StepWriter| {
            put_arrays(rank, writer);
            writer.put(variable, &whole, vec![1.0; 4]).unwrap();
        };
        let words = ["step 0", variable.name(), what, "is no table", "--variables"];
        stage.run((1, 1), put, &["--to", &to]).refused(1, &words);
        assert_eq!(names(stage.folder.path()), [""; 0]);
    }
    for wrong in ["parquet:run.parquet", "parquet:%V%T.parquet"] {
        stage.start(&["--to", wrong]).ended().refused(2, &["%T"]);
    }
}

/// How many files have their names.
fn count(folder: &Path) -> usize {
    names(folder).iter().filter(|name| name.starts_with("run_")).count()
}

/// The highest step that a file has.
fn last_step(folder: &Path) -> u64 {
    let step = |name: String| name.strip_suffix(".parquet")?.rsplit_once('_')?.1.parse().ok();
    names(folder).into_iter().filter_map(step).max().unwrap_or(0)
}

/// Waits until there are more files than that.
fn await_file(folder: &Path, before: usize, timer: &mpsc::Receiver<()>) {
    let start = Instant::now();
    while count(folder) <= before {
        assert!(start.elapsed() < PATIENCE, "no file came within {PATIENCE:?}");
        let _ = timer.recv_timeout(Duration::from_millis(1));
    }
}

#[test]
fn a_kill_at_any_time_leaves_whole_files() {
    let kills = std::env::var("FLEXPATH_SINK_KILLS").map_or(8, |text| text.parse().expect("a number"));
    let (stage, stop) = (Stage::new(), AtomicBool::new(false));
    let (_never, timer) = mpsc::channel::<()>();
    let to = format!("parquet:{}", stage.path("run_%V_%06T.parquet"));
    let schema = everything();
    thread::scope(|scope| {
        scope.spawn(|| {
            let options = stage.options(0, 1).with_min_subscribers(0);
            let mut publisher = Publisher::open(crate::support::STREAM, options).unwrap();
            while !stop.load(Ordering::Relaxed) {
                let mut writer = publisher.begin_step().unwrap();
                put_records(&schema, 0, &mut writer);
                put_arrays(0, &mut writer);
                writer.end().unwrap();
            }
            drop(publisher);
        });
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..kills {
                // No name is given to another file later: what was looked at need not be again.
                let (before, last) = (count(stage.folder.path()), last_step(stage.folder.path()));
                let mut tee = stage.start(&["--to", &to, "--append", "--ranks", "2", "--lossy"]);
                await_file(stage.folder.path(), before, &timer);
                let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
                let _ = timer.recv_timeout(Duration::from_micros(u64::from(nanos % 20_000)));
                tee.kill();
                assert_eq!(tee.ended().code, None, "it was killed");
                python("parquet.py", &["whole", &stage.path(""), &last.to_string()]);
            }
            // The next run finishes what was whole, and removes what was not.
            stage.start(&["--to", &to, "--append", "--steps", "1"]).ended().well();
        }));
        stop.store(true, Ordering::Relaxed);
        killed.unwrap();
    });
    python("parquet.py", &["paired", &stage.path("")]);
}
