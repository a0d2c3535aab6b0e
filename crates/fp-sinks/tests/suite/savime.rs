//! Streams in an array database of SAVIME's messages: a double of it keeps what it is sent, and is asked for it.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fp_core::{Dtype, MemoryOrder, Publisher, Region, StepWriter, Variable};

use crate::savime_double::{Double, Fault};
use crate::support::{PATIENCE, STREAM, Stage};

const ROWS: u64 = 12;
const COLUMNS: u64 = 5;

/// Element (row, column) of an array in a step.
fn element(step: u64, row: u64, column: u64) -> f64 {
    (step * 10_000 + row * 100 + column) as f64 + 0.5
}

/// Puts rows of a rank of three, in either order, and scalars.
fn put(ranks: u32) -> impl Fn(u32, &mut StepWriter) + Sync {
    move |rank, writer| {
        let step = writer.step().0;
        let (first, end) =
            (ROWS * u64::from(rank) / u64::from(ranks), ROWS * u64::from(rank + 1) / u64::from(ranks));
        let region = Region::new([first, 0], [end - first, COLUMNS]).unwrap();
        let rho = Variable::global::<f64>("rho", &[ROWS, COLUMNS]).unwrap().with_dimensions(&["y", "x"]);
        let by_rows = (first..end).flat_map(|row| (0..COLUMNS).map(move |column| element(step, row, column)));
        writer.put(&rho, &region, by_rows.collect()).unwrap();
        let turned = Variable::global::<f32>("turned 2", &[ROWS, COLUMNS])
            .unwrap()
            .with_order(MemoryOrder::ColumnMajor);
        let by_columns =
            (0..COLUMNS).flat_map(|column| (first..end).map(move |row| element(step, row, column) as f32));
        writer.put(&turned, &region, by_columns.collect()).unwrap();
        let ids = Variable::global::<i64>("ids", &[ROWS]).unwrap();
        let numbers = (first..end).map(|row| -((step * 100 + row) as i64)).collect();
        writer.put(&ids, &Region::new([first], [end - first]).unwrap(), numbers).unwrap();
        if rank == 0 {
            writer.put_scalar(&Variable::scalar::<f64>("time").unwrap(), step as f64 / 4.0).unwrap();
        }
    }
}

fn all(step: u64) -> Vec<f64> {
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| element(step, row, column))).collect()
}

fn numbers<T: bytemuck::AnyBitPattern>(bytes: Option<Vec<u8>>) -> Option<Vec<T>> {
    bytes.map(|bytes| bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}

/// The steps that are whole, as the database says.
fn whole(double: &Double) -> Vec<u64> {
    let database = double.database();
    let steps = database.tars.get("sim_steps").map(|tar| tar.subtars.clone()).unwrap_or_default();
    steps.iter().map(|(bounds, _)| bounds[0].0 as u64).collect()
}

/// Compares what the database has of a step with what was published.
fn check(double: &Double, step: u64) {
    let at = (step as i64, step as i64);
    let (rows, columns) = ((0, ROWS as i64 - 1), (0, COLUMNS as i64 - 1));
    assert_eq!(numbers(double.region("sim_rho", &[at, rows, columns])), Some(all(step)));
    let part = double.region("sim_turned_2", &[at, (3, 8), (2, 3)]);
    let wanted = (3..=8).flat_map(|row| (2..=3).map(move |column| element(step, row, column) as f32));
    assert_eq!(numbers(part), Some(wanted.collect::<Vec<f32>>()));
    let ids = (0..ROWS).map(|row| -((step * 100 + row) as i64)).collect::<Vec<i64>>();
    assert_eq!(numbers(double.region("sim_ids", &[at, rows])), Some(ids));
    assert_eq!(numbers(double.region("sim_time", &[at])), Some(vec![step as f64 / 4.0]));
}

#[test]
fn arrays_of_n_ranks_are_tars_by_step() {
    for ranks in ["1", "3", "4"] {
        let (stage, double) = (Stage::new(), Double::start(Fault::None));
        let to = format!("savime:{}", double.place);
        stage.run((3, 5), put(3), &["--to", &to, "--ranks", ranks, "--every", "2"]).well();
        assert_eq!(whole(&double), [0, 2, 4]);
        [0, 2, 4].iter().for_each(|step| check(&double, *step));
        let database = double.database();
        assert_eq!(database.wrong, [""; 0]);
        let subtars = 3 * ranks.parse::<usize>().unwrap();
        assert_eq!(database.tars["sim_rho"].subtars.len(), subtars);
        let of = |tar: &str| -> Vec<String> {
            database.tars[tar]
                .dimensions
                .iter()
                .map(|(name, low, high)| format!("{name} {low} {high}"))
                .collect()
        };
        assert_eq!(of("sim_rho"), [format!("step 0 {}", i64::MAX), "y 0 11".into(), "x 0 4".into()]);
        assert_eq!(of("sim_turned_2")[1..], ["d0 0 11", "d1 0 4"]);
        // No subtar is loaded before all datasets of its step are there.
        let loads = database.asked.iter().map(|text| text.starts_with("load_subtar")).collect::<Vec<bool>>();
        let sends =
            database.asked.iter().map(|text| text.starts_with("create_dataset")).collect::<Vec<bool>>();
        let changes = loads.windows(2).filter(|two| two[0] != two[1]).count();
        assert_eq!(changes, 5, "loads stand together: {:#?}", database.asked);
        assert_eq!(loads.iter().filter(|is| **is).count(), sends.iter().filter(|is| **is).count());
    }
}

#[test]
fn real_numbers_are_cast_and_other_types_refused() {
    let (stage, double) = (Stage::new(), Double::start(Fault::None));
    let to = format!("savime:{}", double.place);
    let half = Variable::global::<u16>("half", &[4]).unwrap().with_dtype(Dtype::F16).unwrap();
    let put_half = |_, writer: &mut StepWriter| {
        let bits = [0x3c00u16, 0xc000, 0x3800, 0];
        writer.put_bytes(&half, &Region::new([0], [4]).unwrap(), bytemuck::cast_slice(&bits)).unwrap();
    };
    stage.run((1, 1), put_half, &["--to", &to]).refused(1, &["step 0", "\"half\"", "f16", "--cast f32"]);
    stage.run((1, 2), put_half, &["--to", &to, "--append", "--cast", "f32"]).well();
    assert_eq!(numbers(double.region("sim_half", &[(1, 1), (0, 3)])), Some(vec![1.0f32, -2.0, 0.5, 0.0]));
    let bytes = |_, writer: &mut StepWriter| {
        let flags = Variable::global::<u8>("flags", &[4]).unwrap();
        writer.put(&flags, &Region::new([0], [4]).unwrap(), vec![1u8, 2, 3, 4]).unwrap();
        let rows = Variable::joined::<f64>("rows", &[]).unwrap();
        writer.put_joined(&rows, vec![1.0]).unwrap();
    };
    let other = Double::start(Fault::None);
    let to = format!("savime:{}", other.place);
    stage.run((1, 1), bytes, &["--to", &to]).refused(1, &["\"flags\"", "u8", "--variables"]);
    let only = ["--to", &to, "--append", "--variables", "rows"];
    stage.run((1, 1), bytes, &only).refused(1, &["\"rows\"", "joined", "--variables"]);
    stage.start(&["--to", &to, "--durable"]).ended().refused(2, &["--durable"]);
}

#[test]
fn what_has_no_shape_is_refused_and_not_left_out() {
    let stage = Stage::new();
    let local = |_, writer: &mut StepWriter| {
        let list = Variable::local::<f64>("list", 1).unwrap();
        writer.put(&list, &Region::new([0], [2]).unwrap(), vec![1.0, 2.0]).unwrap();
    };
    let value = |rank: u32, writer: &mut StepWriter| {
        writer.put_scalar(&Variable::local_scalar::<f64>("value").unwrap(), f64::from(rank)).unwrap();
    };
    let place = |double: &Double| format!("savime:{}", double.place);
    let double = Double::start(Fault::None);
    stage.run((1, 1), local, &["--to", &place(&double)]).refused(1, &["\"list\"", "local", "--variables"]);
    let double = Double::start(Fault::None);
    stage.run((1, 1), value, &["--to", &place(&double)]).refused(1, &["\"value\"", "local", "--variables"]);
}

#[test]
fn arrays_that_grow_are_refused_and_those_that_shrink_fit() {
    for (extents, words) in
        [([4u64, 3, 1], None), ([3, 4, 4], Some(["dimension d0 has 4 elements", "made for 3"]))]
    {
        let (stage, double) = (Stage::new(), Double::start(Fault::None));
        let put = |_, writer: &mut StepWriter| {
            let extent = extents[writer.step().0 as usize];
            let field = Variable::global::<i32>("field", &[extent]).unwrap();
            writer.put(&field, &Region::new([0], [extent]).unwrap(), (0..extent as i32).collect()).unwrap();
        };
        let ended = stage.run((1, 3), put, &["--to", &format!("savime:{}", double.place)]);
        match words {
            None => {
                ended.well();
                assert_eq!(numbers(double.region("sim_field", &[(1, 1), (0, 2)])), Some(vec![0, 1, 2]));
                assert_eq!(double.region("sim_field", &[(2, 2), (0, 1)]), None);
            }
            Some(words) => {
                ended.refused(1, &words);
                assert_eq!(whole(&double), [0]);
            }
        }
    }
}

#[test]
fn what_is_there_is_kept_and_gone_on_behind() {
    let (stage, double) = (Stage::new(), Double::start(Fault::None));
    let to = format!("savime:{}", double.place);
    // It finds no stream, and hinders nobody who does later.
    stage.start(&["--to", &to, "--timeout", "1"]).ended().refused(1, &["sim"]);
    stage.run((2, 2), put(2), &["--to", &to]).well();
    stage.start(&["--to", &to]).ended().refused(2, &["TAR sim_steps is there already", "--append"]);
    stage.run((2, 4), put(2), &["--to", &to, "--append", "--ranks", "2"]).well();
    assert_eq!(whole(&double), [0, 1, 2, 3]);
    (0..4).for_each(|step| check(&double, step));
    assert_eq!(double.database().wrong, [""; 0]);
}

#[test]
fn a_database_that_fails_is_named_with_the_query_and_what_it_says() {
    let said = "Error during operation execution: Not enough space left.";
    for (fault, words) in [
        (Fault::Stall("create_dataset"), ["create_dataset(\"sim_", "it says nothing within 1s", "--timeout"]),
        (Fault::Stall("sim_steps"), ["create_tar(\"sim_steps\"", "it says nothing within 1s", "--timeout"]),
        (
            Fault::Close("create_dataset(\"sim_rho"),
            ["create_dataset(\"sim_rho_0_", "connection", ":double\""],
        ),
        (Fault::Say("sim_rho", said), ["create_tar(\"sim_rho\"", "the database says", said]),
        (Fault::Say("load_subtar", said), ["load_subtar(\"sim_", "ordered, step, 0, 0", said]),
        (Fault::Babble("sim_ids"), ["create_tar(\"sim_ids\"", "no message of SAVIME", "byte 7"]),
    ] {
        let (stage, double) = (Stage::new(), Double::start(fault.clone()));
        let arguments = ["--to", &format!("savime:{}", double.place), "--timeout", "1", "--ranks", "2"];
        // That one fails before a publisher is awaited.
        let ended = match matches!(fault, Fault::Stall("sim_steps")) {
            true => stage.start(&arguments).ended(),
            false => stage.run((1, 2), put(1), &arguments),
        };
        ended.refused(1, &[words.as_slice(), &[double.place.as_str()]].concat());
        assert_eq!(whole(&double), [0; 0], "{fault:?}");
        let database = double.database();
        let loaded = database.tars.values().map(|tar| tar.subtars.len()).sum::<usize>();
        assert_eq!(loaded, 0, "of a step that was not sent whole nothing is there: {fault:?}");
    }
}

#[test]
fn a_database_that_is_not_there_is_named() {
    let stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    // It is connected to, and nobody takes the connection.
    let arguments = ["--to", &format!("savime:{place}"), "--timeout", "1"];
    stage.start(&arguments).ended().refused(1, &[&place, "it says nothing within 1s"]);
    drop(listener);
    stage.start(&arguments).ended().refused(1, &[&place, "cannot be connected to"]);
    stage.start(&["--to", "savime:nowhere"]).ended().refused(1, &["nowhere", "HOST:PORT"]);
}

#[test]
fn a_kill_at_any_time_leaves_the_steps_before_whole() {
    let kills = std::env::var("FLEXPATH_SINK_KILLS").map_or(8, |text| text.parse().expect("a number"));
    let (stage, stop) = (Stage::new(), AtomicBool::new(false));
    let (_never, timer) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut publisher = Publisher::open(STREAM, stage.options(0, 1).with_min_subscribers(0)).unwrap();
            while !stop.load(Ordering::Relaxed) {
                let mut writer = publisher.begin_step().unwrap();
                put(1)(0, &mut writer);
                writer.end().unwrap();
            }
            drop(publisher);
        });
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut database = crate::savime_double::Database::default();
            for _ in 0..kills {
                let double = Double::with(Fault::None, std::mem::take(&mut database));
                let (before, start) = (whole(&double).len(), Instant::now());
                let to = format!("savime:{}", double.place);
                let mut tee = stage.start(&["--to", &to, "--append", "--ranks", "2", "--lossy"]);
                while whole(&double).len() <= before {
                    assert!(start.elapsed() < PATIENCE, "no step came within {PATIENCE:?}");
                    let _ = timer.recv_timeout(Duration::from_millis(1));
                }
                let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
                let _ = timer.recv_timeout(Duration::from_micros(u64::from(nanos % 20_000)));
                tee.kill();
                assert_eq!(tee.ended().code, None, "it was killed");
                let steps = whole(&double);
                steps.iter().for_each(|step| check(&double, *step));
                assert!(steps.windows(2).all(|two| two[0] < two[1]), "{steps:?}");
                // Who is killed leaves in the midst of messages, and does nothing else that is wrong.
                let wrong = double.database().wrong.clone();
                assert!(wrong.iter().all(|why| why.starts_with("gone")), "{wrong:?}");
                database = double.taken();
            }
        }));
        stop.store(true, Ordering::Relaxed);
        killed.unwrap();
    });
}
