//! Records that the publisher sends through transforms of its own, asked for by name. Only the result crosses, and all
//! who ask for the same share it. A refusal says why and harms nobody else.

use crate::support::bonds::{BondAdjacency, BondPair, Label, adjacency, label, pair, pairs};
use crate::support::{Place, STREAM, take};
use fp_core::{
    CohortSide, DerivationError, Fit, Misuse, Native, NativeError, Publisher, ReadError, Record as _,
    RecordBlock, Region, Subscriber, SubscriberOptions, TransformProblem, Transforms, TransportKind,
    Variable,
};

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const PAIRS: u64 = 90;

fn lists(name: &str) -> Native {
    Native::records(name, |pairs: &[BondPair]| Ok(adjacency(pairs))).expect("record types")
}

/// All that the publisher of these tests knows.
fn transforms() -> Transforms {
    let transforms = Transforms::default();
    let panics = Native::each_record("panics", |pair: &BondPair| -> Result<BondAdjacency, NativeError> {
        if pair.a == 0 {
            panic!("no atom {}", pair.a)
        }
        Ok(BondAdjacency { atom: pair.a.into(), neighbours: Vec::new() })
    });
    let mut whole = lists("whole");
    whole.types = None;
    let mut here = lists("here").per_block().with_placement(CohortSide::Subscriber);
    here.types = None;
    let mut panics = panics.expect("record types");
    panics.types = None;
    let other = Native::each_record("other", |label: &Label| Ok(label.clone()));
    let mut other = other.expect("record types");
    other.types = None;
    let label = Native::each_record("label", label).expect("record types");
    for native in [lists("adjacency").per_block(), whole, here, panics, other, label] {
        transforms.register(native).expect("registered");
    }
    transforms
}

fn publisher(place: &Place) -> Publisher {
    let options = place.publisher_options().with_transforms(&transforms());
    Publisher::open(STREAM, options).expect("the stream opens")
}

fn asking(options: SubscriberOptions, name: &str, transform: &str) -> SubscriberOptions {
    options.with_transformed(name, "bonds", transform).expect("names")
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
    let numbers = Variable::global::<u64>("numbers", &[1]).expect("a shape");
    writer.put(&numbers, &region(0, 1), vec![step]).expect("put");
    writer.end().expect("ended");
    step
}

#[test]
fn only_what_comes_out_crosses() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = publisher(&place);
        let options = asking(asking(place.over(kind), "lists", "adjacency"), "labels", "label");
        let mut subscriber = Subscriber::open(STREAM, options.clone()).expect("attached");
        let mut second =
            Subscriber::open(STREAM, asking(place.over(kind), "mine", "adjacency")).expect("attached");
        let number = publish(&mut publisher);
        let provided = subscriber.of::<BondAdjacency>().expect("provided");
        assert_eq!(
            (provided.len(), provided[0].variable.as_str(), &provided[0].fit),
            (1, "lists", &Fit::Same)
        );
        let step = take(&mut subscriber);
        let all = adjacency(&pairs(number, 0..PAIRS));
        assert_eq!(step.get_records::<BondAdjacency>("lists", "[...]").expect("lists"), all, "{kind}");
        assert_eq!(
            step.get_records::<BondAdjacency>("lists", "[9:21]").expect("lists"),
            all[9..21],
            "{kind}"
        );
        let labels = step.get_records::<Label>("labels", "[5:50:9]").expect("labels");
        let expected = (5..50).step_by(9).map(|index| label(&pair(number, index)).expect("a label"));
        assert!(labels.into_iter().eq(expected), "{kind}: one by one they keep their places");
        let names: Vec<_> =
            step.variables().expect("a table").into_iter().map(|info| info.def.name).collect();
        assert_eq!(names, ["bonds", "labels", "lists", "numbers"]);
        let unasked = step.get_records::<BondPair>("bonds", "[...]").expect_err("not subscribed to");
        assert!(
            matches!(unasked, ReadError::Misuse { source: Misuse::NotSubscribed { .. }, .. }),
            "{unasked}"
        );
        let mine = take(&mut second).get_records::<BondAdjacency>("mine", "[...]").expect("lists");
        assert_eq!(mine, all, "{kind}: by another name");
        let counted = publisher.statistics();
        assert_eq!((counted.transforms, counted.failed_transforms), (4, 0), "{kind}: once for two who ask");
    }
}

#[test]
fn what_is_published_can_be_had_besides() {
    let place = Place::new();
    let mut publisher = publisher(&place);
    let options = asking(place.over(TransportKind::Tcp), "lists", "adjacency").with_variables(["bonds"]);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    for _ in 0..3 {
        let number = publish(&mut publisher);
        let step = take(&mut subscriber);
        assert_eq!(step.get_records::<BondPair>("bonds", "[...]").expect("pairs"), pairs(number, 0..PAIRS));
        let lists = step.get_records::<BondAdjacency>("lists", "[...]").expect("lists");
        assert_eq!(lists, adjacency(&pairs(number, 0..PAIRS)));
    }
}

/// Why the publisher refuses, by `of` and by a get.
fn refusal(place: &Place, publisher: &mut Publisher, transform: &str) -> String {
    let options = asking(place.over(TransportKind::Shm), "lists", transform).with_variables(["numbers"]);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let number = publish(publisher);
    let refused = subscriber.of::<BondAdjacency>().expect_err("refused").to_string();
    let step = take(&mut subscriber);
    let failed = step.get_records::<BondAdjacency>("lists", "[...]").expect_err("refused");
    let ReadError::NotTransformed { source, .. } = failed else { panic!("{failed}") };
    let TransformProblem::Publisher { what } = *source else { panic!("{source}") };
    assert!(refused.contains(&format!("variable \"lists\": {what}")), "{refused}");
    assert_eq!(step.get::<u64>("numbers", "[...]").expect("all else is there"), [number]);
    what
}

#[test]
fn a_refusal_says_why_and_harms_nobody_else() {
    let place = Place::new();
    let mut publisher = publisher(&place);
    for (transform, why) in [
        (
            "lists",
            "publisher rank 0: this publisher knows no transform \"lists\"; it knows: adjacency, here, label, other, \
             panics, whole",
        ),
        (
            "whole",
            "publisher rank 0: transform \"whole\" needs all records at once, of which each rank has some: it is not \
             registered as per_block",
        ),
        ("here", "publisher rank 0: transform \"here\" is to run where the records are wanted"),
        ("other", "publisher rank 0: transform \"other\" takes Label, and the records are BondPair"),
        ("panics", "publisher rank 0: transform \"panics\": it panicked: no atom 0"),
    ] {
        assert_eq!(refusal(&place, &mut publisher, transform), why);
    }
    assert_eq!(publisher.statistics().failed_transforms, 9, "two blocks of each, and one that panicked");
}

#[test]
fn a_publisher_without_transforms_says_so() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let what = refusal(&place, &mut publisher, "adjacency");
    assert_eq!(what, "publisher rank 0: this publisher has no transforms registered");
}

#[test]
fn what_is_not_there_is_told() {
    let place = Place::new();
    let mut publisher = publisher(&place);
    let options =
        place.over(TransportKind::Shm).with_transformed("lists", "bands", "adjacency").expect("names");
    let options = options.with_transformed("sums", "numbers", "adjacency").expect("names");
    let mut subscriber = Subscriber::open(STREAM, options.with_variables(["numbers"])).expect("attached");
    publish(&mut publisher);
    let step = take(&mut subscriber);
    let why = |name: &str| step.get_records::<BondAdjacency>(name, "[...]").expect_err("nothing").to_string();
    assert!(why("lists").contains("there is no variable \"bands\"; there are "), "{}", why("lists"));
    assert!(why("sums").ends_with("its elements are u64, no records"), "{}", why("sums"));
    let twice = SubscriberOptions::default().with_transformed("a", "x", "y").expect("names");
    let twice = twice.with_transformed("a", "z", "y").expect_err("the name is there");
    assert!(matches!(twice, DerivationError::Twice { name } if name == "a"));
}
