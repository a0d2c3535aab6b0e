//! Records asked for as a type that only the publisher knows how to make of its own. Its ranks make it when it is first
//! asked for in a step, for all who ask. What goes wrong is told to those and harms nobody else.

use crate::support::bonds::{BondAdjacency, BondPair, Label, adjacency, label, pair, pairs};
use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    CohortSide, Fit, Misfit, Native, NativeError, NextStep, Publisher, ReadError, Record, RecordBlock,
    Region, StepReader, Subscriber, TransformOptions, TransformProblem, Transforms, TransportKind, Variable,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const PAIRS: u64 = 90;

/// What lists become.
#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Degree {
    atom: u64,
    degree: u64,
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

fn lists(name: &str) -> Native {
    Native::records(name, |pairs: &[BondPair]| Ok(adjacency(pairs))).expect("record types").per_block()
}

fn degree(of: &BondAdjacency) -> Result<Degree, NativeError> {
    Ok(Degree { atom: of.atom, degree: of.neighbours.len() as u64 })
}

fn degrees() -> Native {
    Native::each_record("degree", degree).expect("record types")
}

fn labels() -> Native {
    Native::each_record("label", label).expect("record types")
}

fn registry(natives: impl IntoIterator<Item = Native>) -> Transforms {
    let transforms = Transforms::default();
    natives.into_iter().for_each(|native| transforms.register(native).expect("registered"));
    transforms
}

fn publisher(place: &Place, transforms: &Transforms) -> Publisher {
    let options = place.publisher_options().with_transforms(transforms);
    Publisher::open(STREAM, options).expect("the stream opens")
}

/// The pairs in two blocks, cut at a multiple of three so that no atom is in both; one is put and one copied.
fn publish(publisher: &mut Publisher) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let schema = BondPair::schema().expect("a type");
    let bonds = Variable::global_records("bonds", &schema, &[PAIRS]).expect("a shape");
    let region = |start, end| Region::new([start], [end - start]).expect("inside");
    let block = RecordBlock::plain(pairs(step, 0..30)).expect("plain");
    writer.put_records(&bonds, &region(0, 30), block).expect("put");
    writer.put_records_copy(&bonds, &region(30, PAIRS), &pairs(step, 30..PAIRS)).expect("put");
    writer.end().expect("ended");
    step
}

fn all(step: u64) -> Vec<BondAdjacency> {
    adjacency(&pairs(step, 0..PAIRS))
}

fn get<T: Record>(step: &StepReader, selection: &str) -> Vec<T> {
    step.get_records::<T>("bonds", selection).expect("made by the publisher")
}

/// Why a get failed at the publisher.
fn why(error: ReadError) -> String {
    let ReadError::NotTransformed { source, .. } = error else { panic!("{error}") };
    let TransformProblem::Publisher { what } = *source else { panic!("{source}") };
    what
}

#[test]
fn a_type_is_had_that_only_the_publisher_can_make() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = publisher(&place, &registry([lists("adjacency"), degrees(), labels()]));
        let mut subscribers = [(); 2].map(|()| Subscriber::open(STREAM, place.over(kind)).expect("attached"));
        for round in 1..=3 {
            let number = publish(&mut publisher);
            for subscriber in &mut subscribers {
                let provided = subscriber.of::<BondAdjacency>().expect("provided");
                let Fit::ThroughPublisher(path) = &provided[0].fit else { panic!("{:?}", provided[0]) };
                assert_eq!((provided[0].variable.as_str(), path.steps[0].0.as_str()), ("bonds", "adjacency"));
                assert!(provided[0].fit.to_string().contains("-[adjacency: "), "{}", provided[0].fit);
                let step = take(subscriber);
                assert_eq!(get::<BondAdjacency>(&step, "[...]"), all(number), "{kind}");
                assert_eq!(get::<BondAdjacency>(&step, "[9:21]"), all(number)[9..21], "{kind}");
                assert_eq!(get::<BondPair>(&step, "[3:5]"), pairs(number, 3..5), "{kind}: and as they are");
            }
            let counted = publisher.statistics();
            assert_eq!(
                (counted.transforms, counted.failed_transforms),
                (2 * round, 0),
                "{kind}: once for all"
            );
        }
    }
}

#[test]
fn over_several_transforms_and_a_conversion() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = publisher(&place, &registry([lists("adjacency"), degrees()]));
        let mut subscriber = Subscriber::open(STREAM, place.over(kind)).expect("attached");
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        let expected: Vec<Degree> = all(number).iter().map(|of| degree(of).expect("a degree")).collect();
        assert_eq!(get::<Degree>(&step, "[...]"), expected, "{kind}");
        let view = step.view_records::<Degree>("bonds", "[5:9]").expect("made by the publisher");
        assert_eq!(&view[..], &expected[5..9], "{kind}");
        let mut bytes = vec![0; 3 * size_of::<Degree>()];
        let schema = Degree::schema().expect("a type");
        step.get_record_bytes("bonds", "[:3]", &schema, &mut bytes).expect("made by the publisher");
        assert_eq!(bytes, bytemuck::cast_slice::<Degree, u8>(&expected[..3]), "{kind}");
        let other = get::<OtherAdjacency>(&step, "[7:8]").remove(0);
        assert_eq!((other.atom, other.neighbours), (all(number)[7].atom, all(number)[7].neighbours.clone()));
    }
}

#[test]
fn what_is_made_one_by_one_keeps_its_place_and_only_blocks_that_are_needed_are_made() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = publisher(&place, &registry([labels()]));
        let mut subscriber = Subscriber::open(STREAM, place.over(kind)).expect("attached");
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        let expected = |range: std::ops::Range<u64>| -> Vec<Label> {
            range.map(|index| label(&pair(number, index)).expect("a label")).collect()
        };
        assert_eq!(get::<Label>(&step, "[5:8]"), expected(5..8), "{kind}");
        assert_eq!(publisher.statistics().transforms, 1, "{kind}: the second block was not asked for");
        assert_eq!(get::<Label>(&step, "[28:33]"), expected(28..33), "{kind}");
        assert_eq!(get::<Label>(&step, "[89]"), expected(89..90), "{kind}");
        assert_eq!(get::<Label>(&step, "[...]"), expected(0..PAIRS), "{kind}");
        assert_eq!(publisher.statistics().transforms, 2, "{kind}");
    }
}

#[test]
fn what_is_registered_later_counts_from_then_on() {
    let place = Place::new();
    let transforms = registry([]);
    let mut publisher = publisher(&place, &transforms);
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Shm)).expect("attached");
    publish(&mut publisher);
    let ReadError::NotProvided { refused, .. } = subscriber.of::<BondAdjacency>().expect_err("unknown")
    else {
        panic!("another error")
    };
    assert!(matches!(refused[0], Misfit::Incompatible(..)), "{refused:?}");
    transforms.register(labels()).expect("registered");
    let ReadError::NotProvided { refused, .. } = subscriber.of::<BondAdjacency>().expect_err("unknown")
    else {
        panic!("another error")
    };
    let Misfit::NoPath(_, _, path) = &refused[0] else { panic!("{refused:?}") };
    assert!(path.to_string().contains("no transform is registered to type BondAdjacency"), "{path}");
    transforms.register(lists("adjacency")).expect("registered");
    assert!(matches!(subscriber.of::<BondAdjacency>().expect("known")[0].fit, Fit::ThroughPublisher(_)));
}

#[test]
fn what_cannot_be_made_of_a_block_or_is_for_the_other_side_is_not_offered() {
    let place = Place::new();
    let whole = Native::records("whole", |pairs: &[BondPair]| Ok(adjacency(pairs))).expect("record types");
    let here = labels().with_placement(CohortSide::Subscriber);
    let by_name = degrees().by_name_only();
    let mut publisher = publisher(&place, &registry([whole, here, by_name]));
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Tcp)).expect("attached");
    publish(&mut publisher);
    assert!(subscriber.of::<BondAdjacency>().is_err());
    assert!(subscriber.of::<Label>().is_err());
    let step = take(&mut subscriber);
    let error = step.get_records::<Label>("bonds", "[...]").expect_err("for the other side");
    assert!(matches!(error, ReadError::Incompatible { .. }), "{error}");
}

/// Which side makes labels that both can make. It depends on what the publisher's is declared to cost, and on where
/// each is to run.
fn side(at_publisher: Native, here: Native) -> &'static str {
    let place = Place::new();
    let mut publisher = publisher(&place, &registry([at_publisher]));
    let options = place.over(TransportKind::Shm).with_transforms(&registry([here]));
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let number = publish(&mut publisher);
    let there = matches!(subscriber.of::<Label>().expect("provided")[0].fit, Fit::ThroughPublisher(_));
    let step = take(&mut subscriber);
    assert_eq!(get::<Label>(&step, "[4]")[0], label(&pair(number, 4)).expect("a label"));
    let counted = (publisher.statistics().transforms, subscriber.statistics().transforms);
    match (counted, there) {
        ((1, 0), true) => "publisher",
        ((0, 1), false) => "subscriber",
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_both_sides_can_the_bytes_decide_unless_one_is_to() {
    let costing = |ratio| labels().with_cost(1.0, ratio);
    assert_eq!(side(costing(0.5), labels()), "publisher");
    assert_eq!(side(costing(2.0), labels()), "subscriber");
    assert_eq!(side(costing(2.0).with_placement(CohortSide::Publisher), labels()), "publisher");
    assert_eq!(side(costing(0.5), labels().with_placement(CohortSide::Subscriber)), "subscriber");
}

#[test]
fn what_is_not_made_one_by_one_is_made_here_where_that_is_known_as_it_could_be_something_else() {
    let place = Place::new();
    let count = |pairs: &[BondPair]| Ok(vec![Degree { atom: 0, degree: pairs.len() as u64 }]);
    let counts = || Native::records("count", count).expect("record types").per_block().with_cost(1.0, 0.01);
    let mut publisher = publisher(&place, &registry([counts()]));
    let options = place.over(TransportKind::Shm).with_transforms(&registry([counts()]));
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher);
    assert!(matches!(subscriber.of::<Degree>().expect("provided")[0].fit, Fit::Through(_)));
    assert_eq!(get::<Degree>(&take(&mut subscriber), "[...]"), [Degree { atom: 0, degree: PAIRS }]);
    assert_eq!(publisher.statistics().transforms, 0);
}

#[test]
fn what_the_publisher_cannot_make_is_made_here_if_that_is_known() {
    let place = Place::new();
    let fails =
        Native::each_record("fails", |_: &BondPair| -> Result<Label, NativeError> { Err("no".into()) });
    let mut publisher = publisher(&place, &registry([fails.expect("record types").with_cost(1.0, 0.1)]));
    let options = place.over(TransportKind::Shm).with_transforms(&registry([labels()]));
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let number = publish(&mut publisher);
    assert_eq!(get::<Label>(&take(&mut subscriber), "[4]"), [label(&pair(number, 4)).expect("a label")]);
    assert_eq!(publisher.statistics().failed_transforms, 1);
}

#[test]
fn selections_are_of_what_comes_out_be_it_longer_than_what_went_in() {
    let place = Place::new();
    let both = |pairs: &[BondPair]| {
        let ends = |pair: &BondPair| [pair.a, pair.b].map(|atom| Degree { atom: atom.into(), degree: 1 });
        Ok(pairs.iter().flat_map(ends).collect::<Vec<_>>())
    };
    let ends = Native::records("ends", both).expect("record types").per_block();
    let mut publisher = publisher(&place, &registry([ends]));
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Shm)).expect("attached");
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    let expected: Vec<Degree> = both(&pairs(number, 0..PAIRS)).expect("ends");
    assert_eq!(get::<Degree>(&step, "[100:110]"), expected[100..110]);
    let view = step.view_records::<Degree>("bonds", "[170:]").expect("made by the publisher");
    assert_eq!(view[..], expected[170..]);
    let beyond = step.get_records::<Degree>("bonds", "[175:181]").expect_err("there are 180").to_string();
    let is_hash = |word: &str| word.len() == 32;
    let shows_hash = beyond.split(|c: char| !c.is_ascii_hexdigit()).any(is_hash);
    assert!(beyond.contains("\"bonds\"") && !shows_hash, "{beyond}");
    let error = step.get_records::<BondPair>("bonds", "[100:110]").expect_err("there are 90").to_string();
    assert!(error.contains("the extent 90"), "{error}");
}

#[test]
fn gets_that_touch_no_block_do_not_disturb_others() {
    let place = Place::new();
    let mut publisher = publisher(&place, &registry([labels()]));
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Shm)).expect("attached");
    let mut writer = publisher.begin_step().expect("a step");
    let schema = BondPair::schema().expect("a type");
    let bonds = Variable::global_records("bonds", &schema, &[100]).expect("a shape");
    for (start, end) in [(0, 30), (30, PAIRS)] {
        let block = RecordBlock::plain(pairs(0, start..end)).expect("plain");
        let region = Region::new([start], [end - start]).expect("inside");
        writer.put_records(&bonds, &region, block).expect("put");
    }
    writer.end().expect("ended");
    let step = take(&mut subscriber);
    let expected = |range: std::ops::Range<u64>| -> Vec<Label> {
        range.map(|index| label(&pair(0, index)).expect("a label")).collect()
    };
    assert!(get::<Label>(&step, "[5:5]").is_empty());
    assert_eq!(get::<Label>(&step, "[40:45]"), expected(40..45));
    for _ in 0..2 {
        let gap = step.get_records::<Label>("bonds", "[92:95]").expect_err("nobody put these");
        assert!(matches!(gap, ReadError::Plan { .. }), "{gap}");
        assert_eq!(get::<Label>(&step, "[5:8]"), expected(5..8));
    }
    assert_eq!(get::<Label>(&step, "[28:33]"), expected(28..33));
}

#[test]
fn a_block_that_cannot_be_made_is_no_reason_not_to_make_others() {
    let place = Place::new();
    let first = Native::each_record("first", |pair: &BondPair| match pair.a {
        0 => Err(NativeError::from("none of atom 0")),
        _ => label(pair),
    });
    let mut publisher = publisher(&place, &registry([first.expect("record types")]));
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Tcp)).expect("attached");
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    assert!(
        why(step.get_records::<Label>("bonds", "[...]").expect_err("of both")).contains("none of atom 0")
    );
    assert_eq!(get::<Label>(&step, "[40]"), [label(&pair(number, 40)).expect("a label")]);
    assert_eq!(publisher.statistics().transforms, 1, "the second block was made with the first");
}

#[test]
fn a_transform_that_fails_is_told_with_the_rank_and_everything_else_goes_on() {
    for kind in KINDS {
        let place = Place::new();
        let panics = Native::each_record("panics", |pair: &BondPair| -> Result<Label, NativeError> {
            panic!("no atom {}", pair.a)
        });
        let transforms = registry([panics.expect("record types"), lists("adjacency")]);
        let mut publisher = publisher(&place, &transforms);
        let mut subscriber = Subscriber::open(STREAM, place.over(kind)).expect("attached");
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        for _ in 0..2 {
            let failed = step.get_records::<Label>("bonds", "[0:3]").expect_err("it panics");
            let text = failed.to_string();
            assert!(text.contains("\"bonds\"") && text.contains("by the publisher"), "{text}");
            let what = why(failed);
            assert!(
                what.starts_with("publisher rank 0: transform \"panics\": ") && what.contains("no atom 0"),
                "{what}"
            );
        }
        assert_eq!(publisher.statistics().failed_transforms, 1, "{kind}: once in a step");
        assert_eq!(get::<BondAdjacency>(&step, "[...]"), all(number), "{kind}");
        drop(step);
        let number = publish(&mut publisher);
        assert_eq!(get::<BondPair>(&take(&mut subscriber), "[...]"), pairs(number, 0..PAIRS), "{kind}");
    }
}

#[test]
fn attaching_by_type_counts_what_the_publisher_can_make() {
    let place = Place::new();
    let mut publisher = Publisher::open(
        STREAM,
        place.publisher_options().with_transforms(&registry([lists("adjacency")])).with_reserve_steps(1),
    )
    .expect("the stream opens");
    let number = publish(&mut publisher);
    let options = place.over(TransportKind::Shm).with_start_at(fp_core::StartAt::OldestReserved);
    let wanted = options.clone().with_type::<BondAdjacency>("bonds").expect("a type");
    let mut subscriber = Subscriber::open(STREAM, wanted).expect("attached");
    assert_eq!(get::<BondAdjacency>(&take(&mut subscriber), "[...]"), all(number));
    let wanted = options.with_type::<Label>("bonds").expect("a type");
    let refused = Subscriber::open(STREAM, wanted).map(drop).expect_err("nobody makes labels").to_string();
    assert!(refused.contains("no transform is registered to type Label"), "{refused}");
}

#[test]
fn streams_are_found_by_what_their_publishers_can_make() {
    let place = Place::new();
    let mut publisher = publisher(&place, &registry([lists("adjacency")]));
    let is_over = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                publish(&mut publisher);
            }
        });
        let found = Subscriber::find::<BondAdjacency>(&place.over(TransportKind::Shm), PATIENCE);
        is_over.store(true, Ordering::Relaxed);
        found.expect("looked")
    });
    let provided = found[0].provided.as_ref().expect("provided");
    assert!(matches!(provided[0].fit, Fit::ThroughPublisher(_)), "{provided:?}");
}

/// A transform that says when it first starts, and then ends when it is told to.
fn held() -> (Native, Receiver<()>, Sender<()>) {
    let ((started, starts), (end, ends)) = (channel(), channel::<()>());
    let first = Mutex::new(Some((started, ends)));
    let native = Native::each_record("held", move |pair: &BondPair| {
        if let Some((started, ends)) = first.lock().unwrap_or_else(PoisonError::into_inner).take() {
            started.send(())?;
            ends.recv_timeout(PATIENCE)?;
        }
        label(pair)
    });
    let native = native.expect("record types");
    (native, starts, end)
}

#[test]
fn a_get_that_gives_up_waiting_says_for_what_and_the_result_is_there_for_the_next() {
    for kind in KINDS {
        let place = Place::new();
        let (native, starts, end) = held();
        let transforms = Transforms::new(&TransformOptions::default().with_limit(PATIENCE));
        transforms.register(native).expect("registered");
        let mut publisher = publisher(&place, &transforms);
        let options = place.over(kind).with_fetch_timeout(Duration::from_millis(300));
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        let late = step.get_records::<Label>("bonds", "[7]").expect_err("it takes too long");
        assert!(matches!(late, ReadError::TimedOut { .. }), "{kind}: {late}");
        starts.recv_timeout(PATIENCE).expect("it has started");
        assert_eq!(get::<BondPair>(&step, "[7]"), [pair(number, 7)], "{kind}: the link goes on");
        end.send(()).expect("it ends");
        let deadline = std::time::Instant::now() + PATIENCE;
        let label_7 = loop {
            match step.get_records::<Label>("bonds", "[7]") {
                Ok(labels) => break labels,
                Err(error) => assert!(std::time::Instant::now() < deadline, "{kind}: {error}"),
            }
        };
        assert_eq!(label_7, [label(&pair(number, 7)).expect("a label")], "{kind}");
        assert_eq!(publisher.statistics().transforms, 1, "{kind}: it ran once");
    }
}

#[test]
fn a_step_that_is_released_meanwhile_harms_nobody() {
    let place = Place::new();
    let (native, starts, end) = held();
    let transforms = Transforms::new(&TransformOptions::default().with_limit(PATIENCE));
    transforms.register(native).expect("registered");
    let mut publisher = publisher(&place, &transforms);
    let options = place.over(TransportKind::Tcp).with_fetch_timeout(Duration::from_millis(300));
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher);
    let step = take(&mut subscriber);
    assert!(step.get_records::<Label>("bonds", "[7]").is_err());
    starts.recv_timeout(PATIENCE).expect("it has started");
    drop(step);
    // More than may be live at a time: so the first is gone.
    for _ in 0..4 {
        let number = publish(&mut publisher);
        let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") else { panic!("no step") };
        assert_eq!(get::<BondPair>(&step, "[7]"), [pair(number, 7)]);
    }
    end.send(()).expect("it ends");
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    assert_eq!(get::<Label>(&step, "[7]"), [label(&pair(number, 7)).expect("a label")]);
    drop(step);
    subscriber.close().expect("closed");
    publisher.close().expect("closed");
}

#[test]
fn results_that_have_no_room_are_refused() {
    let place = Place::new();
    let grows = Native::each_record("grows", |pair: &BondPair| -> Result<Label, NativeError> {
        Ok(Label { text: "x".repeat(2000 + pair.a as usize) })
    });
    let options = place.publisher_options().with_transforms(&registry([grows.expect("record types")]));
    let mut publisher =
        Publisher::open(STREAM, options.with_limit_bytes(64 << 10)).expect("the stream opens");
    let mut subscriber = Subscriber::open(STREAM, place.over(TransportKind::Shm)).expect("attached");
    let number = publish(&mut publisher);
    let step = take(&mut subscriber);
    let what = why(step.get_records::<Label>("bonds", "[...]").expect_err("too large"));
    assert!(what.contains("no room for ") && what.contains("bytes of results"), "{what}");
    assert_eq!(get::<BondPair>(&step, "[7]"), [pair(number, 7)]);
}
