//! Records that become other types through registered transforms: found by type, computed once in a step, and what goes
//! wrong harms nobody else.

use crate::support::bonds::{BondAdjacency, BondPair, Label};
use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    CallError, Fit, Loss, Misfit, Native, NativeError, PoolError, Publisher, ReadError, Record, RecordBlock,
    Region, RegisterError, Select, StepReader, Subscriber, TransformOptions, TransformProblem, Transforms,
    TransportKind, Variable,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const ATOMS: u64 = 40;

/// What a transform takes that was written for larger systems.
#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq)]
#[record(crate = fp_core, name = "BondPair")]
struct WidePair {
    a: u64,
    b: u64,
}

/// The same for whoever writes it otherwise.
#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core, name = "BondAdjacency")]
struct OtherAdjacency {
    neighbours: Vec<u64>,
    atom: u64,
    #[record(default = 1.5)]
    weight: Option<f64>,
}

#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Degree {
    atom: u64,
    degree: u64,
}

/// Each atom is bound to the next ones.
fn pairs(step: u64) -> Vec<BondPair> {
    let reach = 1 + step as u32 % 3;
    let pair = |a: u32| (1..=reach).map(move |by| BondPair { a, b: (a + by) % ATOMS as u32 });
    (0..ATOMS as u32).flat_map(pair).collect()
}

fn adjacency(pairs: impl IntoIterator<Item = (u64, u64)>) -> Vec<BondAdjacency> {
    let mut near: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (a, b) in pairs {
        near.entry(a).or_default().push(b);
        near.entry(b).or_default().push(a);
    }
    near.into_iter().map(|(atom, neighbours)| BondAdjacency { atom, neighbours }).collect()
}

fn expected(step: u64) -> Vec<BondAdjacency> {
    adjacency(pairs(step).into_iter().map(|pair| (pair.a.into(), pair.b.into())))
}

fn degrees(step: u64) -> Vec<Degree> {
    let degree = |of: BondAdjacency| Degree { atom: of.atom, degree: of.neighbours.len() as u64 };
    expected(step).into_iter().map(degree).collect()
}

/// Pairs to lists; `calls` counts.
fn to_adjacency(calls: &Arc<AtomicU64>) -> Native {
    let calls = calls.clone();
    Native::records("adjacency", move |pairs: &[BondPair]| {
        calls.fetch_add(1, Ordering::SeqCst);
        Ok(adjacency(pairs.iter().map(|pair| (pair.a.into(), pair.b.into()))))
    })
    .expect("record types")
}

fn to_degree(adjacency: &BondAdjacency) -> Result<Degree, NativeError> {
    Ok(Degree { atom: adjacency.atom, degree: adjacency.neighbours.len() as u64 })
}

/// Lists to numbers, one by one; and these to texts.
fn further() -> [Native; 2] {
    let degree = Native::each_record("degree", to_degree).expect("record types");
    let label = |of: &Degree| Ok(Label { text: format!("{}:{}", of.atom, of.degree) });
    [degree, Native::each_record("label", label).expect("record types")]
}

fn registry(natives: impl IntoIterator<Item = Native>) -> Transforms {
    let transforms = Transforms::default();
    natives.into_iter().for_each(|native| transforms.register(native).expect("registered"));
    transforms
}

fn open(place: &Place, kind: TransportKind, transforms: &Transforms) -> Subscriber {
    let options = place.over(kind).with_transforms(transforms);
    Subscriber::open(STREAM, options).expect("attached")
}

fn publish(publisher: &mut Publisher) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let pairs = pairs(step);
    let len = pairs.len() as u64;
    let bonds =
        Variable::global_records("bonds", &BondPair::schema().expect("a type"), &[len]).expect("a shape");
    for (start, end) in [(0, len / 3), (len / 3, len)] {
        let region = Region::new([start], [end - start]).expect("inside");
        let part = pairs[start as usize..end as usize].to_vec();
        writer.put_records(&bonds, &region, RecordBlock::plain(part).expect("plain")).expect("put");
    }
    let numbers = Variable::global::<u64>("numbers", &[1]).expect("a shape");
    writer.put(&numbers, &Region::new([0], [1]).expect("inside"), vec![step]).expect("put");
    writer.end().expect("ended");
    step
}

/// A stream with its subscriber, and how often the transform of pairs was called.
fn stream(
    kind: TransportKind,
    more: impl IntoIterator<Item = Native>,
) -> (Place, Publisher, Subscriber, Arc<AtomicU64>) {
    let (place, calls) = (Place::new(), Arc::default());
    let publisher = place.publisher();
    let transforms = registry([to_adjacency(&calls)].into_iter().chain(more));
    let subscriber = open(&place, kind, &transforms);
    (place, publisher, subscriber, calls)
}

fn adjacencies(step: &StepReader, select: impl Into<Select>) -> Vec<BondAdjacency> {
    step.get_records::<BondAdjacency>("bonds", select).expect("adjacency")
}

#[test]
fn pairs_become_lists_by_asking_for_the_type() {
    for kind in KINDS {
        let (_place, mut publisher, mut subscriber, calls) = stream(kind, []);
        let first = publish(&mut publisher);
        let provided = subscriber.of::<BondAdjacency>().expect("provided");
        assert_eq!((provided.len(), provided[0].variable.as_str()), (1, "bonds"));
        let Fit::Through(path) = &provided[0].fit else { panic!("through: {provided:?}") };
        assert_eq!(path.steps.len(), 1, "{path}");
        let shown = provided[0].fit.to_string();
        assert!(shown.starts_with("BondPair -[adjacency: 1.000 ns/B"), "{shown}");
        assert_eq!(calls.load(Ordering::SeqCst), 0, "nothing is transformed to find out");
        for number in first..first + 4 {
            let step = take(&mut subscriber);
            assert_eq!(step.step().0, number);
            let all = expected(number);
            assert_eq!(adjacencies(&step, "[...]"), all, "{kind}");
            assert_eq!(adjacencies(&step, "[3:9]"), all[3..9], "{kind}: of what comes out");
            assert_eq!(adjacencies(&step, "[::7]").len(), all.len().div_ceil(7));
            assert_eq!(adjacencies(&step, "[5:5]"), []);
            assert_eq!(calls.load(Ordering::SeqCst), number - first + 1, "once in a step");
            let pairs_there = step.get_records::<BondPair>("bonds", "[...]").expect("as they are");
            assert_eq!(pairs_there, pairs(number));
            drop(step);
            publish(&mut publisher);
        }
        let counted = subscriber.statistics();
        assert_eq!((counted.transforms, counted.shared_transforms, counted.failed_transforms), (4, 12, 0));
    }
}

#[test]
fn several_transforms_one_after_the_other() {
    let (_place, mut publisher, mut subscriber, _) = stream(TransportKind::Shm, further());
    let number = publish(&mut publisher);
    let provided = subscriber.of::<Label>().expect("provided");
    let Fit::Through(path) = &provided[0].fit else { panic!("through: {provided:?}") };
    let names: Vec<&str> = path.steps.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["adjacency", "degree", "label"]);
    let step = take(&mut subscriber);
    let labels = step.get_records::<Label>("bonds", "[2:4]").expect("labels");
    let text = |of: &Degree| Label { text: format!("{}:{}", of.atom, of.degree) };
    assert!(labels.into_iter().eq(degrees(number)[2..4].iter().map(text)));
    let view = step.view_records::<Degree>("bonds", "[...]").expect("degrees");
    assert_eq!((&*view, view.is_zero_copy()), (&*degrees(number), false));
}

#[test]
fn the_cheapest_path_is_taken() {
    let dear = Native::records("dear", |pairs: &[BondPair]| {
        Ok(pairs.iter().map(|pair| Degree { atom: pair.a.into(), degree: 999 }).collect())
    });
    let dear = dear.expect("record types").with_cost(1e6, 1.0);
    let (_place, mut publisher, mut subscriber, _) =
        stream(TransportKind::Tcp, further().into_iter().chain([dear]));
    let number = publish(&mut publisher);
    let shown = subscriber.of::<Degree>().expect("provided")[0].fit.to_string();
    assert!(shown.contains("adjacency") && !shown.contains("dear"), "{shown}");
    let taken = take(&mut subscriber).get_records::<Degree>("bonds", "[...]").expect("degrees");
    assert_eq!(taken, degrees(number));
}

#[test]
fn ends_of_a_path_are_converted() {
    let wide = Native::records("wide", |pairs: &[WidePair]| {
        Ok(adjacency(pairs.iter().map(|pair| (pair.a, pair.b))))
    });
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = open(&place, TransportKind::Shm, &registry([wide.expect("record types")]));
    let number = publish(&mut publisher);
    let fit = subscriber.of::<OtherAdjacency>().expect("provided")[0].fit.to_string();
    assert!(fit.starts_with("BondPair -[wide"), "{fit}");
    let step = take(&mut subscriber);
    let taken = step.get_records::<OtherAdjacency>("bonds", "[...]").expect("adjacency");
    let other =
        |of: BondAdjacency| OtherAdjacency { neighbours: of.neighbours, atom: of.atom, weight: Some(1.5) };
    assert!(taken.into_iter().eq(expected(number).into_iter().map(other)));
    assert_eq!(
        step.get_records::<WidePair>("bonds", "[1:2]").expect("converted").len(),
        1,
        "no transform is needed"
    );
    assert_eq!(subscriber.statistics().transforms, 1);
}

#[test]
fn one_by_one_only_the_selected_are_fetched() {
    let seen: Arc<AtomicU64> = Arc::default();
    let counted = seen.clone();
    let sum = Native::each_record("sum", move |pair: &BondPair| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(Degree { atom: pair.a.into(), degree: (pair.a + pair.b).into() })
    });
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = open(&place, TransportKind::Tcp, &registry([sum.expect("record types")]));
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    let some = step.get_records::<Degree>("bonds", "[10:20:2]").expect("sums");
    let sums = pairs(number).into_iter().skip(10).take(10).step_by(2);
    assert!(
        some.into_iter()
            .eq(sums.map(|pair| Degree { atom: pair.a.into(), degree: (pair.a + pair.b).into() }))
    );
    assert_eq!(seen.load(Ordering::SeqCst), 5, "no others were transformed");
    let block = fp_core::BlockId::new(fp_core::Rank(0), 0);
    assert_eq!(step.get_records::<Degree>("bonds", block).expect("a block").len(), pairs(number).len() / 3);
}

#[test]
fn blocks_go_in_alone_where_they_are_selected() {
    let (_place, mut publisher, mut subscriber, calls) = stream(TransportKind::Inproc, []);
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    let first = pairs(number).into_iter().take(pairs(number).len() / 3);
    let of_first = adjacency(first.map(|pair| (pair.a.into(), pair.b.into())));
    let block = fp_core::BlockId::new(fp_core::Rank(0), 0);
    assert_eq!(adjacencies(&step, block), of_first);
    assert_eq!(adjacencies(&step, fp_core::Rank(0)), expected(number));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[test]
fn who_asks_at_once_gets_one_result() {
    let (_place, mut publisher, mut subscriber, calls) = stream(TransportKind::Shm, []);
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..6).map(|_| scope.spawn(|| adjacencies(&step, "[...]"))).collect();
        assert!(asking.into_iter().all(|asked| asked.join().expect("no panic") == expected(number)));
    });
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(subscriber.statistics().shared_transforms, 5);
}

#[test]
fn types_that_nothing_leads_to_are_refused_field_by_field() {
    let (_place, mut publisher, mut subscriber, _) = stream(TransportKind::Tcp, []);
    publish(&mut publisher);
    let refused = subscriber.of::<Label>().expect_err("nothing leads there");
    let ReadError::NotProvided { refused: misfits, .. } = &refused else { panic!("{refused}") };
    assert!(misfits.iter().any(|one| matches!(one, Misfit::NoPath(variable, ..) if variable == "bonds")));
    let text = refused.to_string();
    assert!(text.contains("\n  Label.text: is wanted, but not there\n"), "{text}");
    assert!(text.contains("no transform is registered to type Label"), "{text}");
    assert!(text.contains("variable \"numbers\" is of u64, no records"), "{text}");
    let step = take(&mut subscriber);
    let again = step.get_records::<Label>("bonds", "[...]").expect_err("nothing leads there");
    assert!(matches!(again, ReadError::Incompatible { .. }), "{again}");
    let slice = step.get_records::<BondAdjacency>("bonds", "[0:1000]").expect_err("so many do not come out");
    assert!(slice.to_string().contains("40"), "{slice}");
}

#[test]
fn what_is_registered_later_counts_from_then_on() {
    let (place, transforms) = (Place::new(), Transforms::default());
    let mut publisher = place.publisher();
    let mut subscriber = open(&place, TransportKind::Shm, &transforms);
    let number = publish(&mut publisher);
    assert!(subscriber.of::<BondAdjacency>().is_err());
    transforms.register(to_adjacency(&Arc::default())).expect("registered");
    assert!(matches!(subscriber.of::<BondAdjacency>().expect("provided")[0].fit, Fit::Through(_)));
    assert_eq!(adjacencies(&take(&mut subscriber), "[...]"), expected(number));
}

#[test]
fn a_second_way_for_a_pair_of_types_and_a_cycle_are_refused() {
    let transforms = registry([to_adjacency(&Arc::default())].into_iter().chain(further()));
    let other =
        Native::records("other", |_: &[BondPair]| Ok(Vec::<BondAdjacency>::new())).expect("record types");
    let twice = transforms.register(other).expect_err("one is there");
    assert!(matches!(twice, RegisterError::PairTaken { by, .. } if by == "adjacency"));
    let back = Native::records("back", |_: &[Label]| Ok(Vec::<BondPair>::new())).expect("record types");
    let cycle = transforms.register(back).expect_err("a cycle");
    let RegisterError::Cycle { through, .. } = cycle else { panic!("{cycle}") };
    assert_eq!(through, ["adjacency", "degree", "label"]);
}

/// The error of a get of degrees.
fn failure(step: &StepReader) -> TransformProblem {
    let error = step.get_records::<Degree>("bonds", "[...]").expect_err("it fails");
    let ReadError::NotTransformed { source, .. } = error else { panic!("{error}") };
    *source
}

/// All that is not transformed, and what other transforms give, is had as if nothing had happened.
fn check_others(step: &StepReader) {
    let number = step.step().0;
    assert_eq!(step.get_records::<BondPair>("bonds", "[...]").expect("as they are"), pairs(number));
    assert_eq!(step.get::<u64>("numbers", "[...]").expect("numbers"), [number]);
    assert_eq!(adjacencies(step, "[...]"), expected(number));
}

#[test]
fn a_panic_and_a_failure_end_only_that_get() {
    let calls: Arc<AtomicU64> = Arc::default();
    let counted = calls.clone();
    let wild =
        Native::records("wild", move |_: &[BondAdjacency]| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => panic!("no {}", "luck"),
            1 => Err("not today".into()),
            _ => Ok(vec![Degree { atom: 1, degree: 2 }]),
        });
    let (_place, mut publisher, mut subscriber, _) =
        stream(TransportKind::Shm, [wild.expect("record types")]);
    publish(&mut publisher);
    let step = take(&mut subscriber);
    let error = step.get_records::<Degree>("bonds", "[...]").expect_err("it panics").to_string();
    assert!(error.contains("variable \"bonds\" (BondPair -[adjacency"), "{error}");
    assert!(error.ends_with("transform \"wild\": it panicked: no luck"), "{error}");
    assert_eq!(
        failure(&step).to_string(),
        "transform \"wild\": it panicked: no luck",
        "shared by who asks again"
    );
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    check_others(&step);
    drop(step);
    publish(&mut publisher);
    let step = take(&mut subscriber);
    assert_eq!(failure(&step).to_string(), "transform \"wild\": not today");
    check_others(&step);
    drop(step);
    publish(&mut publisher);
    let given = take(&mut subscriber).get_records::<Degree>("bonds", "[...]").expect("at last");
    assert_eq!(given, [Degree { atom: 1, degree: 2 }]);
    assert_eq!(subscriber.statistics().failed_transforms, 2);
}

/// Whoever holds the other end lets it go on.
fn stuck() -> (Native, Sender<()>) {
    let (hold, held) = channel::<()>();
    let held: Mutex<Receiver<()>> = Mutex::new(held);
    let stuck = Native::records("stuck", move |_: &[BondPair]| {
        let _ = held.lock().expect("not poisoned").recv_timeout(PATIENCE);
        Ok(Vec::<Degree>::new())
    });
    (stuck.expect("record types").with_limit(Duration::from_millis(40)), hold)
}

#[test]
fn what_runs_too_long_fails_that_get_and_is_refused_after_the_second_time() {
    let (native, hold) = stuck();
    let transforms = Transforms::new(&TransformOptions::default().with_threads(1));
    transforms.register(native).expect("registered");
    transforms.register(to_adjacency(&Arc::default())).expect("registered");
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = open(&place, TransportKind::Shm, &transforms);
    for turn in 0..8 {
        publish(&mut publisher);
        let step = take(&mut subscriber);
        let failed = failure(&step);
        let expected = if turn < 2 {
            matches!(
                failed,
                TransformProblem::Call(CallError::Pool { source: PoolError::Overrun { .. }, .. })
            )
        } else {
            matches!(failed, TransformProblem::Call(CallError::Refused { overruns: 2, .. }))
        };
        assert!(expected, "turn {turn}: {failed}");
        check_others(&step);
    }
    drop(hold);
    subscriber.close().expect("no step is held by what was stuck");
    publisher.close().expect("closed");
}

#[test]
fn a_transform_that_gives_nonsense_is_told() {
    let (from, to) = (BondPair::schema().expect("a type"), Degree::schema().expect("a type"));
    let same = Native::new("same", |inputs| Ok(inputs.to_vec())).with_schemas(&from, &to);
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = open(&place, TransportKind::Shm, &registry([same]));
    publish(&mut publisher);
    let problem = failure(&take(&mut subscriber));
    assert!(matches!(&problem, TransformProblem::Value { .. }), "{problem}");
    assert!(problem.to_string().starts_with("what the last transform gave: "), "{problem}");
}

#[test]
fn a_narrowing_at_an_end_wants_to_be_allowed() {
    let wide = Native::records("wide", |pairs: &[BondPair]| {
        Ok(pairs.iter().map(|pair| WideDegree { atom: pair.a.into(), degree: 0.5 }).collect())
    });
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = open(&place, TransportKind::Shm, &registry([wide.expect("record types")]));
    publish(&mut publisher);
    let step = take(&mut subscriber);
    assert!(step.get_records::<NarrowDegree>("bonds", "[...]").is_err());
    let allowed = Select::from("[...]").with_conversion(Loss::Allowed);
    let narrow = step.get_records::<NarrowDegree>("bonds", allowed).expect("allowed");
    assert_eq!(narrow[1].degree, 0.5);
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core, name = "Share")]
struct WideDegree {
    atom: u64,
    degree: f64,
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core, name = "Share")]
struct NarrowDegree {
    degree: f32,
}
