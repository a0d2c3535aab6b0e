//! Zarr stores: what zarr-python and xarray read in them, what is refused, and what a kill leaves.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::{Dtype, MemoryOrder, Publisher, Region, StepId, StepWriter, Variable};
use serde_json::Value;

use crate::support::{PATIENCE, STREAM, Stage, python, python_in};

pub(crate) const RANKS: u32 = 2;
const NUMBERS: [Dtype; 14] = [
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::U8,
    Dtype::U16,
    Dtype::U32,
    Dtype::U64,
    Dtype::F16,
    Dtype::F32,
    Dtype::F64,
    Dtype::C32,
    Dtype::C64,
    Dtype::Bool,
];

/// The number at a place of an array, as zarr.py has it.
fn number(step: StepId, place: u64) -> u64 {
    (place * 7 + step.0 * 13) % 100
}

/// A small number as an element.
fn element(dtype: Dtype, number: u64) -> Vec<u8> {
    let real = number as f64;
    match dtype {
        Dtype::F16 => {
            let exponent = number.checked_ilog2().unwrap_or(0) as u16;
            let bits = (exponent + 15) << 10 | (number << (10 - exponent)) as u16 & 0x3ff;
            (if number == 0 { 0 } else { bits }).to_ne_bytes().to_vec()
        }
        Dtype::F32 => (real as f32).to_ne_bytes().to_vec(),
        Dtype::F64 => real.to_ne_bytes().to_vec(),
        Dtype::C32 => [real as f32, -real as f32].map(f32::to_ne_bytes).concat(),
        Dtype::C64 => [real, -real].map(f64::to_ne_bytes).concat(),
        Dtype::Bool => vec![(number % 2) as u8],
        other => number.to_le_bytes()[..other.size_bytes().expect("a number")].to_vec(),
    }
}

/// A variable of an element type that is known now.
fn typed(variable: Variable, dtype: Dtype) -> Variable {
    variable.with_dtype(dtype).expect("a type")
}

/// Puts a block of an array of two dimensions: the numbers of its places in the array of that width.
fn put(writer: &mut StepWriter, variable: &Variable, region: Region, width: u64) {
    let def = variable.definition();
    let [rows, columns] = [0, 1].map(|dim| region.start()[dim]..region.end()[dim]);
    let place = |row: u64, column: u64| row * width + column;
    let places: Vec<u64> = match def.order {
        MemoryOrder::RowMajor => {
            rows.flat_map(|row| columns.clone().map(move |column| place(row, column))).collect()
        }
        MemoryOrder::ColumnMajor => {
            columns.flat_map(|column| rows.clone().map(move |row| place(row, column))).collect()
        }
    };
    let step = writer.step();
    let bytes: Vec<u8> = places.iter().flat_map(|place| element(def.dtype, number(step, *place))).collect();
    writer.put_bytes(variable, &region, &bytes).expect("put");
}

/// Puts a rank's columns of a global array.
fn put_columns(writer: &mut StepWriter, rank: u32, variable: &Variable) {
    let shape = *variable.shape().dims();
    let half = shape[1] / u64::from(RANKS);
    let region = Region::new([0, u64::from(rank) * half], [shape[0], half]).expect("a region");
    put(writer, variable, region, shape[1]);
}

/// A global array of real numbers that has all there is to say.
fn field(order: MemoryOrder) -> Variable {
    let field = Variable::global::<f64>("field", &[300, 400]).expect("a variable").with_order(order);
    field
        .with_unit("K")
        .with_description("temperature")
        .with_dimensions(&["y", "x"])
        .with_attribute("level", 3)
}

/// What each kind of variable has that is no global array.
pub(crate) fn put_other_kinds(rank: u32, writer: &mut StepWriter) {
    let step = writer.step();
    let rows = 10_000 * (u64::from(rank) + 1) + step.0 * 500;
    let joined = Variable::joined::<f64>("joined", &[4]).expect("a variable").with_dimensions(&["row", "x"]);
    let first = if rank == 0 { 0 } else { 10_000 + step.0 * 500 };
    let places = first * 4..(first + rows) * 4;
    let elements = places.map(|place| number(step, place) as f64).collect();
    writer.put_joined(&joined, elements).expect("put");
    let local = Variable::local::<i16>("local", 2).expect("a variable").with_unit("m");
    let region = Region::new([0, 0], [u64::from(rank) + 2, 3]).expect("a region");
    put(writer, &local, region, 3);
    let load = Variable::local_scalar::<f32>("load").expect("a variable");
    writer.put_scalar(&load, (step.0 * 10 + u64::from(rank)) as f32).expect("put");
    if rank == 0 {
        let time = Variable::scalar::<f64>("time").expect("a variable").with_unit("Ms");
        writer.put_scalar(&time, step.0 as f64 * 0.5).expect("put");
        let title = Variable::text("title").expect("a variable");
        writer.put_text(&title, &format!("Schritt {step} ü")).expect("put");
    }
}

/// Puts all kinds of variables. Some are not in each step, and some arrays have gaps.
pub(crate) fn put_all(rank: u32, writer: &mut StepWriter, order: MemoryOrder) {
    put_other_kinds(rank, writer);
    put_columns(writer, rank, &field(order));
    for dtype in NUMBERS {
        let variable = Variable::global::<u8>(format!("of_{dtype}"), &[24, 10]).expect("a variable");
        put_columns(writer, rank, &typed(variable, dtype).with_order(order));
    }
    for dtype in [Dtype::F32, Dtype::I32] {
        let gaps = Variable::global::<u8>(format!("gaps_{dtype}"), &[100, 80]).expect("a variable");
        let region = Region::new([u64::from(rank) * 50, 0], [30, 80]).expect("a region");
        put(writer, &typed(gaps, dtype), region, 80);
    }
    if writer.step().0 >= 1 {
        put_columns(writer, rank, &Variable::global::<f32>("late", &[4, 6]).expect("a variable"));
        let later = Variable::joined::<f64>("later", &[]).expect("a variable");
        writer.put_joined(&later, vec![f64::from(rank); 2]).expect("put");
        if rank == 0 {
            let alarm = Variable::scalar::<i64>("alarm").expect("a variable");
            writer.put_scalar(&alarm, writer.step().0 as i64 + 70).expect("put");
        }
    }
    if writer.step().0 != 1 && rank == 1 {
        writer.put_scalar(&Variable::scalar::<i64>("seldom").expect("a variable"), 42_i64).expect("put");
    }
}

#[test]
fn all_kinds_are_read_by_others() {
    for (ranks, order) in
        [("1", MemoryOrder::RowMajor), ("3", MemoryOrder::ColumnMajor), ("4", MemoryOrder::RowMajor)]
    {
        let stage = Stage::new();
        let to = format!("zarr:{}", stage.path("all.zarr"));
        let put = |rank, writer: &mut StepWriter| put_all(rank, writer, order);
        stage.run((RANKS, 3), put, &["--to", &to, "--ranks", ranks]).well();
        python("zarr.py", &["all", &stage.path("all.zarr")]);
    }
}

#[test]
fn a_part_of_the_stream_is_written() {
    let stage = Stage::new();
    let path = stage.path("part.zarr");
    let to = format!("zarr:{path}");
    let put = |rank, writer: &mut StepWriter| put_all(rank, writer, MemoryOrder::RowMajor);
    let arguments =
        ["--to", &to, "--variables", "field,of_i32", "--cast", "f32", "--every", "2", "--compress", "zstd"];
    stage.run((RANKS, 5), put, &[&arguments[..], &["--ranks", "3", "--durable"]].concat()).well();
    python("zarr.py", &["part", &path]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |words: &[&str], put: &(dyn Fn(&mut StepWriter) + Sync)| {
        let stage = Stage::new();
        let to = format!("zarr:{}", stage.path("x.zarr"));
        stage.run((1, 2), |_, writer| put(writer), &["--to", &to]).refused(1, words);
    };
    refused(&["step 1, variable \"a\": a: its shape was [4], and is [5] now"], &|writer| {
        let len = 4 + writer.step().0;
        let variable = Variable::global::<f32>("a", &[len]).expect("a variable");
        writer
            .put(&variable, &Region::new([0], [len]).expect("a region"), vec![0.0_f32; len as usize])
            .expect("put");
    });
    refused(&["step 1, variable \"a\": a/0_0: its shape was [2], and is [3] now"], &|writer| {
        let len = 2 + writer.step().0;
        let variable = Variable::local::<u8>("a", 1).expect("a variable");
        writer
            .put(&variable, &Region::new([0], [len]).expect("a region"), vec![0_u8; len as usize])
            .expect("put");
    });
    refused(&["step 0, variable \"step\": the store needs this name", "--variables"], &|writer| {
        writer.put_scalar(&Variable::scalar::<u8>("step").expect("a variable"), 1_u8).expect("put");
    });
    for (scalar, joined, words) in [
        (0, 0, ["step 0, variable \"rows_count\": the store needs this name", "--variables"]),
        (0, 1, ["step 1, variable \"rows\": \"rows_count\" is to say how many rows it has", "--variables"]),
        (1, 0, ["step 1, variable \"rows_count\": the store needs this name", "--variables"]),
    ] {
        refused(&words, &move |writer| {
            if writer.step().0 >= scalar {
                let count = Variable::scalar::<u64>("rows_count").expect("a variable");
                writer.put_scalar(&count, 5_u64).expect("put");
            }
            if writer.step().0 >= joined {
                let rows = Variable::joined::<f64>("rows", &[]).expect("a variable");
                writer.put_joined(&rows, vec![1.0; 3]).expect("put");
            }
        });
    }
    refused(&["step 0, variable \"b\": a scalar of bf16", "--variables"], &|writer| {
        let variable = typed(Variable::scalar::<u16>("b").expect("a variable"), Dtype::BF16);
        writer.put_bytes(&variable, &Region::new([], []).expect("a region"), &[0, 0]).expect("put");
    });
}

#[test]
fn a_store_is_gone_on_with_only_if_that_is_said() {
    let stage = Stage::new();
    let path = stage.path("more.zarr");
    let to = format!("zarr:{path}");
    let published = Published::of(&stage, 6, put_other_kinds);
    let start = ["--to", &to, "--start-at", "oldest-reserved", "--steps", "3", "--ranks", "2"];
    stage.start(&start).ended().well();
    stage.start(&start).ended().refused(2, &["more.zarr is there already", "--append"]);
    stage.start(&[&start[..], &["--append"]].concat()).ended().well();
    python("zarr.py", &["kinds", &path, "6"]);
    published.end();
    let published = Published::of(&stage, 8, put_other_kinds);
    let other = stage.start(&[&start[..], &["--append", "--cast", "f32"]].concat()).ended();
    other.refused(1, &["step 6, variable \"joined\": its elements were float64, and are float32 now"]);
    published.end();
    std::fs::write(stage.path("more.zarr/zarr.json"), "{}").expect("written");
    stage.start(&[&start[..], &["--append"]].concat()).ended().refused(2, &["no store of flexpath tee"]);
}

/// Steps that are all kept, until this is ended.
pub(crate) struct Published {
    hold: Vec<mpsc::Sender<()>>,
    ranks: Vec<thread::JoinHandle<()>>,
}

impl Published {
    /// Publishes steps, before anybody takes them.
    pub(crate) fn of(stage: &Stage, steps: u32, put: fn(u32, &mut StepWriter)) -> Self {
        let (mut hold, mut ranks) = (Vec::new(), Vec::new());
        let (ready, published) = mpsc::channel();
        for rank in 0..RANKS {
            let options = stage.options(rank, RANKS).with_min_subscribers(0).with_reserve_steps(steps);
            let (held, holding) = mpsc::channel::<()>();
            let ready = ready.clone();
            hold.push(held);
            ranks.push(thread::spawn(move || {
                let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
                for _ in 0..steps {
                    let mut writer = publisher.begin_step().expect("a step");
                    put(rank, &mut writer);
                    writer.end().expect("the step ends");
                }
                ready.send(()).expect("awaited");
                // Until it is ended.
                let _ = holding.recv();
                publisher.close().expect("closed");
            }));
        }
        (0..RANKS).for_each(|_| published.recv_timeout(PATIENCE).expect("the steps are published"));
        Self { hold, ranks }
    }

    pub(crate) fn end(self) {
        drop(self.hold);
        self.ranks.into_iter().for_each(|rank| rank.join().expect("the rank ends"));
    }
}

/// How many steps a store has, as its root says.
pub(crate) fn steps_of(path: &str) -> u64 {
    let Ok(text) = std::fs::read(Path::new(path).join("zarr.json")) else { return 0 };
    let root: Value = serde_json::from_slice(&text).expect("the root is whole whenever it is read");
    root["attributes"]["flexpath"]["steps"].as_u64().expect("a number")
}

/// Waits until a store has so many steps, and a moment more: whatever is going on then is what is interrupted.
fn await_steps(path: &str, steps: u64, more: Duration) {
    let begun = Instant::now();
    while steps_of(path) < steps {
        assert!(begun.elapsed() < PATIENCE, "the store does not get {steps} steps");
        thread::yield_now();
    }
    let reached = Instant::now();
    while reached.elapsed() < more {
        thread::yield_now();
    }
}

/// A store whose writer is killed again and again.
pub(crate) struct KilledStore<'a> {
    pub(crate) path: &'a str,
    /// What tells programs where it is.
    pub(crate) environment: &'a [(String, String)],
    /// How many steps it has.
    pub(crate) steps: &'a dyn Fn() -> u64,
    /// Waits until it has so many, and then to a moment of a step, another one for each kill.
    pub(crate) await_moment: &'a dyn Fn(u64, u64),
}

/// Whenever its writer is killed, a store has whole steps, and none twice.
pub(crate) fn is_whole_after_kills(stage: &Stage, store: &KilledStore<'_>) {
    let kills: u64 = std::env::var("FLEXPATH_SINK_KILLS").map_or(8, |kills| kills.parse().expect("a number"));
    let to = format!("zarr:{}", store.path);
    let total = 2 * kills + 20;
    let published = Published::of(stage, total as u32, put_other_kinds);
    let start = ["--to", &to, "--start-at", "oldest-reserved", "--append", "--ranks", "4"];
    let check = |steps: u64| {
        python_in(store.environment, "zarr.py", &["kinds", store.path, &steps.to_string()]);
    };
    let mut caught = 0;
    for kill in 0..kills {
        let before = (store.steps)();
        let mut tee = stage.start_in(store.environment, &start);
        (store.await_moment)(before + u64::from(before + 8 < total && kill % 4 != 3), kill);
        tee.kill();
        assert_eq!(tee.ended().code, None, "it was killed before it ended");
        let steps = (store.steps)();
        caught += u64::from(steps > before);
        if steps > 0 {
            check(steps);
        }
    }
    assert!(caught > 0, "no kill came while steps were written");
    let left = (total - (store.steps)()).to_string();
    stage.start_in(store.environment, &[&start[..], &["--steps", &left]].concat()).ended().well();
    check(total);
    published.end();
}

#[test]
fn a_kill_leaves_whole_steps_and_none_twice() {
    let stage = Stage::new();
    let path = stage.path("killed.zarr");
    let await_moment = |steps: u64, kill: u64| {
        let random = RandomState::new().hash_one(kill);
        await_steps(&path, steps, Duration::from_micros(random % 20_000));
    };
    let steps = || steps_of(&path);
    let store = KilledStore { path: &path, environment: &[], steps: &steps, await_moment: &await_moment };
    is_whole_after_kills(&stage, &store);
}
