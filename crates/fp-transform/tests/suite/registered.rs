//! Registered transforms: found by name and by type, run with limits, and none harms another.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use fp_transform::{
    Array, CallError, CohortSide, Cost, DataType, DecidedSide, Native, PathError, PoolError, RegisterError,
    TransformOptions, Transforms, record_array,
};
use fp_types::record::{Record as _, encode_records};
use fp_types::{Dtype, Fingerprint, MemoryOrder, Shape};

const PATIENCE: Duration = Duration::from_secs(20);

fn of(name: &str) -> DataType {
    let mut fingerprint = [0; 16];
    fingerprint[..name.len()].copy_from_slice(name.as_bytes());
    DataType::new(name, Fingerprint(fingerprint))
}

/// A transform that hands on what it gets.
fn native(name: &str) -> Native {
    Native::new(name, |inputs| Ok(inputs.to_vec()))
}

fn leading(name: &str, from: &str, to: &str) -> Native {
    native(name).with_types(of(from), of(to))
}

fn bytes(count: u64) -> Array {
    let shape = Shape::new([count]).unwrap();
    Array::whole(Dtype::U8, shape, MemoryOrder::RowMajor, vec![1; count as usize]).unwrap()
}

fn len(arrays: &[Array]) -> u64 {
    arrays.iter().map(|array| array.shape().element_count()).sum()
}

#[test]
fn the_cheapest_path_is_chosen_and_shown() {
    let transforms = Transforms::default();
    for (name, from, to, nanos, ratio) in [
        ("straight", "pairs", "graph", 10.0, 1.0),
        ("sort", "pairs", "sorted", 1.0, 0.5),
        ("link", "sorted", "graph", 4.0, 2.0),
        ("draw", "graph", "picture", 1.0, 1.0),
    ] {
        transforms.register(leading(name, from, to).with_cost(nanos, ratio)).unwrap();
    }
    let path = transforms.path(&of("pairs"), &of("picture"), 1000).unwrap();
    let shown = "pairs -[sort: 1.000 ns/B, x0.500]-> sorted -[link: 4.000 ns/B, x2.000]-> graph \
                 -[draw: 1.000 ns/B, x1.000]-> picture: 4 us for 1000 bytes, which become 1000";
    assert_eq!(path.to_string(), shown);
    assert_eq!(len(&transforms.run_path(&path, vec![bytes(7)]).unwrap()), 7);
    let none = transforms.path(&of("pairs"), &of("pairs"), 1).unwrap();
    assert!(none.steps.is_empty());
}

#[test]
fn costs_that_are_measured_change_the_path() {
    let transforms = Transforms::default();
    let slow = |inputs: &[Array]| {
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(5) {
            std::thread::yield_now();
        }
        Ok(inputs.to_vec())
    };
    let told = Native::new("told to be fast", slow).with_types(of("a"), of("b")).with_cost(0.0, 1.0);
    transforms.register(told).unwrap();
    transforms.register(leading("first", "a", "c").with_cost(10.0, 1.0)).unwrap();
    transforms.register(leading("second", "c", "b").with_cost(10.0, 1.0)).unwrap();
    let names = |count| {
        let path = transforms.path(&of("a"), &of("b"), count).unwrap();
        path.steps.into_iter().map(|(name, _, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(100), ["told to be fast"]);
    transforms.run("told to be fast", vec![bytes(100)]).unwrap();
    assert_eq!(names(100), ["first", "second"]);
}

#[test]
fn types_that_nobody_knows_or_reaches_are_told_apart() {
    let transforms = Transforms::default();
    transforms.register(leading("one", "a", "b")).unwrap();
    transforms.register(leading("two", "c", "d")).unwrap();
    let path = |from: &str, to: &str| transforms.path(&of(from), &of(to), 1).unwrap_err();
    assert!(matches!(path("x", "b"), PathError::UnknownType { side: "from", .. }));
    assert!(matches!(path("a", "x"), PathError::UnknownType { side: "to", .. }));
    assert_eq!(path("a", "d"), PathError::NoPath { from: "a".into(), to: "d".into() });
    for (from, to) in [("b", "e"), ("e", "f"), ("f", "g"), ("g", "h")] {
        transforms.register(leading(&format!("{from}{to}"), from, to)).unwrap();
    }
    assert!(transforms.path(&of("b"), &of("h"), 1).is_ok());
    assert!(matches!(path("a", "h"), PathError::NoPath { .. }), "too far");
}

#[test]
fn names_pairs_and_cycles_are_refused() {
    let transforms = Transforms::default();
    transforms.register(leading("one", "a", "b")).unwrap();
    transforms.register(leading("two", "b", "c")).unwrap();
    let refused = |native| transforms.register(native).unwrap_err();
    assert_eq!(refused(leading("one", "x", "y")), RegisterError::NameTaken { name: "one".into() });
    let pair = RegisterError::PairTaken { from: "a".into(), to: "b".into(), by: "one".into() };
    assert_eq!(refused(leading("other", "a", "b")), pair);
    let cycle = refused(leading("back", "c", "a"));
    let shown = "\"back\" would close a cycle: one, two lead from a to c already";
    assert_eq!(cycle.to_string(), shown);
    assert!(
        matches!(refused(leading("self", "a", "a")), RegisterError::Cycle { through, .. } if through.is_empty())
    );
    assert!(matches!(refused(native("free").with_cost(-1.0, 1.0)), RegisterError::Cost { .. }));
    assert!(matches!(refused(native("a/b")), RegisterError::Name(_)));
    assert_eq!(transforms.registered().len(), 2);
}

#[test]
fn failures_and_panics_end_with_their_call() {
    let transforms = Transforms::default();
    transforms.register(Native::new("fails", |_| Err("no atoms".into()))).unwrap();
    transforms.register(Native::new("panics", |_| panic!("at the disco"))).unwrap();
    transforms.register(native("works")).unwrap();
    let failed = transforms.run("fails", Vec::new()).unwrap_err();
    assert_eq!(failed.to_string(), "transform \"fails\": no atoms");
    let panicked = transforms.run("panics", Vec::new()).unwrap_err();
    assert_eq!(panicked.to_string(), "transform \"panics\": it panicked: at the disco");
    assert_eq!(transforms.run("is", Vec::new()).unwrap_err(), CallError::Unknown { name: "is".into() });
    assert_eq!(len(&transforms.run("works", vec![bytes(3)]).unwrap()), 3);
    assert_eq!(transforms.measured("panics").map(|measured| measured.failed), Some(1));
}

#[test]
fn what_runs_too_long_twice_is_refused_and_the_others_go_on() {
    let transforms = Transforms::new(&TransformOptions::default().with_threads(1).with_limit(PATIENCE));
    let (hold, held) = channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let stuck = move |_: &[Array]| {
        let _ = held.lock().map(|held| held.recv_timeout(PATIENCE));
        Ok(Vec::new())
    };
    let limit = Duration::from_millis(30);
    transforms.register(Native::new("stuck", stuck).with_limit(limit)).unwrap();
    transforms.register(native("works")).unwrap();
    for _ in 0..2 {
        let overrun = CallError::Pool { name: "stuck".into(), source: PoolError::Overrun { limit } };
        assert_eq!(transforms.run("stuck", Vec::new()).unwrap_err(), overrun);
        assert!(transforms.run("works", Vec::new()).is_ok(), "its thread was replaced");
    }
    let refused = CallError::Refused { name: "stuck".into(), overruns: 2 };
    assert_eq!(transforms.run("stuck", Vec::new()).unwrap_err(), refused);
    assert!(transforms.run("works", Vec::new()).is_ok());
    drop(hold);
}

/// What never ends as long as somebody holds the other end, and how often it was begun.
fn stuck(limit: Duration) -> (Native, Sender<()>, Arc<AtomicU32>) {
    let ((hold, held), begun) = (channel::<()>(), Arc::new(AtomicU32::new(0)));
    let (held, begins) = (Arc::new(Mutex::new(held)), Arc::clone(&begun));
    let stuck = move |_: &[Array]| {
        begins.fetch_add(1, Ordering::SeqCst);
        let _ = held.lock().map(|held| held.recv_timeout(PATIENCE));
        Ok(Vec::new())
    };
    (Native::new("stuck", stuck).with_limit(limit), hold, begun)
}

/// So many calls at once: what each came to.
fn at_once(transforms: &Transforms, name: &str, calls: usize) -> Vec<CallError> {
    let ready = Barrier::new(calls);
    std::thread::scope(|scope| {
        let call = || {
            ready.wait();
            transforms.run(name, Vec::new()).err()
        };
        let calls: Vec<_> = (0..calls).map(|_| scope.spawn(call)).collect();
        calls.into_iter().filter_map(|call| call.join().unwrap()).collect()
    })
}

#[test]
fn many_who_call_at_once_cost_no_more_than_two_threads() {
    let limit = Duration::from_millis(200);
    let overran =
        |error: &&CallError| matches!(error, CallError::Pool { source: PoolError::Overrun { .. }, .. });
    // As many threads as there are calls, two threads, and one overrun before all the others.
    for (threads, before) in [(8, 0), (2, 0), (8, 1), (2, 1), (1, 0)] {
        let transforms =
            Transforms::new(&TransformOptions::default().with_threads(threads).with_limit(PATIENCE));
        let (native, hold, begun) = stuck(limit);
        transforms.register(native).unwrap();
        transforms.register(self::native("works")).unwrap();
        let mut failures: Vec<CallError> =
            (0..before).flat_map(|_| at_once(&transforms, "stuck", 1)).collect();
        failures.extend(at_once(&transforms, "stuck", 8));
        while !matches!(transforms.run("stuck", Vec::new()), Err(CallError::Refused { .. })) {}
        let overruns = failures.iter().filter(overran).count();
        let begun = begun.load(Ordering::SeqCst);
        assert!(
            begun == 2 && overruns <= 2,
            "{threads} threads, {before} before: {begun} begun, {failures:?}"
        );
        assert_eq!(at_once(&transforms, "works", 8), [], "the others go on");
        drop(hold);
    }
}

#[test]
fn what_waits_for_a_transform_takes_no_thread_from_the_others() {
    let transforms = Transforms::new(&TransformOptions::default().with_threads(3).with_limit(PATIENCE));
    let (native, hold, begun) = stuck(PATIENCE);
    transforms.register(native).unwrap();
    transforms.register(self::native("works")).unwrap();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..5).map(|_| scope.spawn(|| transforms.run("stuck", Vec::new()))).collect();
        while begun.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        assert!(transforms.run("works", Vec::new()).is_ok(), "the third thread is free for it");
        assert_eq!(begun.load(Ordering::SeqCst), 2, "more might not end");
        drop(hold);
        assert!(
            calls.into_iter().all(|call| call.join().unwrap().is_ok()),
            "they did end, and so did the others"
        );
    });
    assert_eq!(begun.load(Ordering::SeqCst), 5);
}

#[test]
fn sizes_that_are_measured_say_where_to_run() {
    let transforms = Transforms::default();
    let first = |inputs: &[Array]| {
        let element = inputs[0].blocks()[0].bytes()[..1].to_vec();
        Ok(vec![Array::whole(Dtype::U8, Shape::new([1])?, MemoryOrder::RowMajor, element)?])
    };
    transforms.register(Native::new("first", first)).unwrap();
    let place = || transforms.decision("first").map(|decision| decision.place);
    assert_eq!(place(), Some(DecidedSide::Subscriber), "as many bytes as before, for all that is known");
    transforms.run("first", vec![bytes(100)]).unwrap();
    assert_eq!(place(), Some(DecidedSide::Publisher));
    assert_eq!(transforms.decision("first").unwrap().to_string(), "publisher: 100 bytes became 1");
    assert!(transforms.set_placement("first", CohortSide::Subscriber));
    assert_eq!(place(), Some(DecidedSide::Subscriber), "changed while it runs");
}

#[derive(fp_derive::Record)]
#[record(crate = fp_types)]
struct Name {
    text: String,
}

#[derive(fp_derive::Record)]
#[record(crate = fp_types)]
struct Len {
    bytes: u64,
}

#[test]
fn functions_of_records_are_found_by_their_types_and_take_nothing_else() {
    let transforms = Transforms::default();
    let len = |name: &Name| Ok(Len { bytes: name.text.len() as u64 });
    transforms.register(Native::each_record("len", len).unwrap()).unwrap();
    let ends = (DataType::from(&Name::schema().unwrap()), DataType::from(&Len::schema().unwrap()));
    let path = transforms.path(&ends.0, &ends.1, 1).unwrap();
    let names = encode_records(&["", "flex", "path!"].map(|text| Name { text: text.to_owned() })).unwrap();
    let array =
        |count| record_array(Shape::new([count]).unwrap(), MemoryOrder::RowMajor, names.clone()).unwrap();
    let given = transforms.run_path(&path, vec![array(3)]).unwrap();
    let lens = encode_records(&[0, 4, 5].map(|bytes| Len { bytes })).unwrap();
    assert_eq!((given[0].blocks()[0].bytes(), given[0].shape()), (&lens[..], &Shape::new([3]).unwrap()));
    let failed = |inputs| transforms.run("len", inputs).unwrap_err().to_string();
    assert_eq!(failed(vec![]), "transform \"len\": 0 arrays instead of one");
    assert!(failed(vec![array(2)]).starts_with("transform \"len\": "), "bytes of another number of records");
    assert!(transforms.native("len").unwrap().is_one_by_one && transforms.native("none").is_none());
}

#[test]
fn what_is_declared_can_be_said_later() {
    let transforms = Transforms::default();
    transforms.register(leading("one", "a", "b").with_cost(1.0, 1.0)).unwrap();
    transforms.register(leading("first", "a", "c").with_cost(1.0, 1.0)).unwrap();
    transforms.register(leading("second", "c", "b").with_cost(1.0, 1.0)).unwrap();
    let steps = || transforms.path(&of("a"), &of("b"), 100).unwrap().steps.len();
    assert_eq!(steps(), 1);
    let cost = |nanos_per_byte, output_ratio| Cost { nanos_per_byte, output_ratio };
    assert_eq!(transforms.set_cost("one", cost(5.0, 1.0)), Ok(true));
    assert_eq!(steps(), 2);
    assert_eq!(transforms.set_cost("none", cost(5.0, 1.0)), Ok(false));
    assert!(matches!(transforms.set_cost("one", cost(-1.0, 1.0)), Err(RegisterError::Cost { .. })));
    assert!(matches!(transforms.set_cost("one", cost(1.0, f64::NAN)), Err(RegisterError::Cost { .. })));
    assert!(matches!(transforms.register(leading("other", "a", "b")), Err(RegisterError::PairTaken { .. })));
    assert!(transforms.set_by_name_only("one") && !transforms.set_by_name_only("none"));
    transforms.register(leading("other", "a", "b").with_cost(9.0, 1.0)).unwrap();
    transforms.register(leading("itself", "a", "a").by_name_only()).unwrap();
    assert_eq!(steps(), 2, "one is no way any more");
    assert!(transforms.set_per_block("one") && !transforms.set_per_block("none"));
    assert!(transforms.set_limit("one", PATIENCE) && !transforms.set_limit("none", PATIENCE));
    let native = transforms.native("one").unwrap();
    assert_eq!((native.types, native.is_per_block, native.limit), (None, true, Some(PATIENCE)));
    assert!(transforms.run("one", vec![bytes(7)]).is_ok(), "it is still there");
}
