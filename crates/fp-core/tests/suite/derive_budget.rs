//! What subscriptions ask a publisher to compute holds a step up no longer than its owner allows, and takes no more
//! memory. Everything has its turn. What is not computed says why, and harms nobody else.

use crate::support::bonds::{BondAdjacency, BondPair, adjacency, label, pairs};
use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Cohort, CohortSide, DerivedVariable, Native, NativeError, Publisher, PublisherOptions, ReadError, Record,
    RecordBlock, Region, Selection, StepReader, StepWriter, Subscriber, SubscriberOptions, Transforms,
    TransportKind, Variable,
};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const BUDGET: Duration = Duration::from_millis(100);
/// A share that is never short, where a test publishes one step after the other.
const ALWAYS_PERCENT: u32 = 1_000_000;

fn open(options: PublisherOptions) -> Publisher {
    Publisher::open(STREAM, options).expect("the stream opens")
}

fn attach(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("attached")
}

/// Asks for one derivation of each text, named by their numbers.
fn asking<T: AsRef<str>>(options: SubscriberOptions, texts: &[T], side: CohortSide) -> SubscriberOptions {
    texts.iter().enumerate().fold(options, |options, (number, text)| {
        let derived = DerivedVariable::new(number.to_string(), text.as_ref()).expect("a derivation");
        options.with_request(derived.with_placement(side)).expect("there is room")
    })
}

/// Puts a variable in so many blocks of equal length.
fn put(writer: &mut StepWriter, name: &str, len: u64, blocks: u64) {
    let variable = Variable::global::<f64>(name, &[len]).expect("a shape");
    for block in 0..blocks {
        let region = Region::new([block * len / blocks], [len / blocks]).expect("inside");
        writer.put(&variable, &region, vec![1.5; (len / blocks) as usize]).expect("put");
    }
}

/// Publishes a variable; gives how long the step's end took.
fn publish(publisher: &mut Publisher, name: &str, len: u64, blocks: u64) -> Duration {
    let mut writer = publisher.begin_step().expect("a step");
    put(&mut writer, name, len, blocks);
    let started = Instant::now();
    writer.end().expect("ended, whatever became of what is derived");
    started.elapsed()
}

/// Why something is not there, or nothing if it is.
fn why(step: &StepReader, name: &str) -> Option<String> {
    match step.get::<f64>(name, Selection::All) {
        Ok(_) => None,
        Err(ReadError::NotDerived { what, .. }) => Some(what),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn many_derivations_hold_a_step_up_for_the_budget_and_each_has_its_turn() {
    const COUNT: usize = 64;
    let (place, len) = (Place::new(), 1 << 20);
    let options = place.publisher_options().with_derive_budget(BUDGET);
    let mut publisher = open(options.with_derive_share_percent(ALWAYS_PERCENT));
    let text = |number| {
        format!("T | compute(sin(T) ^ cos(T) + exp(sin(T)) ^ 1.3 + {number}) | compute(sin(x) ^ cos(x))")
    };
    let texts: Vec<String> = (0..COUNT).map(text).collect();
    let mut greedy = attach(asking(place.over(TransportKind::Tcp), &texts, CohortSide::Publisher));
    let mut plain = attach(place.over(TransportKind::Tcp).with_variables(["T"]));
    let (mut turns, mut refused, mut steps) = ([0; COUNT], 0, 0);
    while turns.contains(&0) {
        let held_up = publish(&mut publisher, "T", len, 1);
        assert!(held_up < Duration::from_secs(2), "{held_up:?} of 100 ms and what one derivation takes");
        let of_plain = take(&mut plain).get::<f64>("T", "[7:9]").expect("others read on");
        assert_eq!(of_plain, [1.5, 1.5]);
        let step = take(&mut greedy);
        for (number, turns) in turns.iter_mut().enumerate() {
            match why(&step, &number.to_string()) {
                None => *turns += 1,
                Some(what) => {
                    let told = "publisher rank 0: the 100ms that derivations might take of this step were used up by ";
                    assert!(what.starts_with(told) && what.contains("raise"), "{what}");
                    refused += 1;
                }
            }
        }
        steps += 1;
        assert!(steps <= 2 * COUNT, "{turns:?}");
    }
    let counted = publisher.statistics();
    assert!(refused > 0 && steps > 1, "all in one step is no test");
    assert_eq!((counted.cut_derivations, counted.failed_derivations), (refused, 0));
    assert_eq!(counted.derivations + refused, (steps * COUNT) as u64);
    assert!(
        turns.iter().all(|turns| *turns <= 3),
        "nothing is done again and again before others: {turns:?}"
    );
}

#[test]
fn steps_that_follow_fast_are_not_held_up_each_time() {
    let place = Place::new();
    let budget = Duration::from_millis(20);
    let mut publisher = open(place.publisher_options().with_derive_budget(budget));
    let heavy = ["T | compute(sin(T) ^ cos(T) + exp(sin(T)) ^ 1.3) | compute(sin(x) ^ cos(x)) | sum"];
    let mut subscriber = attach(asking(place.over(TransportKind::Shm), &heavy, CohortSide::Publisher));
    let (started, mut done, steps) = (Instant::now(), 0, 50);
    let mut held_up = Duration::ZERO;
    for _ in 0..steps {
        held_up += publish(&mut publisher, "T", 1 << 20, 1);
        done += u32::from(why(&take(&mut subscriber), "0").is_none());
    }
    assert!(done >= 1, "the first step has all of the budget");
    // How many there are depends on what else runs meanwhile; how long they may take does not.
    assert!(done < steps, "all of {steps} were derived, each longer than the step");
    // Its share is half of the time in which it does not hold steps up. A block more may have been begun.
    let (own, most) = (started.elapsed() - held_up, held_up / done * 2);
    assert!(held_up < budget + own + most, "{held_up:?} beside {own:?}");
}

#[test]
fn results_and_what_they_need_meanwhile_stay_within_the_bound_of_bytes() {
    const LIMIT_BYTES: u64 = 64 << 20;
    let place = Place::new();
    let mut publisher = open(place.publisher_options().with_limit_bytes(LIMIT_BYTES));
    let texts: Vec<String> = (0..32).map(|number| format!("T | scale(2, {number}) | scale(3, 1)")).collect();
    let mut subscriber = attach(asking(place.over(TransportKind::Tcp), &texts, CohortSide::Publisher));
    for round in 1..=3 {
        // 8 MiB, and as many of each result and of what comes before it.
        publish(&mut publisher, "T", 1 << 20, 1);
        let step = take(&mut subscriber);
        let told: Vec<Option<String>> = (0..32).map(|number| why(&step, &number.to_string())).collect();
        let done = told.iter().filter(|told| told.is_none()).count() as u64;
        assert!((3..=8).contains(&done), "{done} of 8 MiB each are there");
        for what in told.iter().flatten() {
            assert!(what.starts_with("publisher rank 0: no room for 8388608 bytes: "), "{what}");
        }
        let counted = publisher.statistics();
        assert!(counted.derive_peak_bytes <= LIMIT_BYTES, "{} bytes", counted.derive_peak_bytes);
        assert!(counted.payload_bytes <= round * LIMIT_BYTES);
        assert_eq!(counted.derivations + counted.failed_derivations, round * 32);
    }
}

#[test]
fn live_steps_leave_room_for_what_is_derived_of_the_next_one() {
    let place = Place::new();
    // Each step has 8 MiB of results, which need 8 MiB more for a while: three live steps would leave 8 MiB.
    let mut publisher = open(place.publisher_options().with_limit_bytes(32 << 20));
    let texts = ["T | scale(2, 1) | scale(3, 1)"];
    let mut subscriber = attach(asking(place.over(TransportKind::Tcp), &texts, CohortSide::Publisher));
    let publishing = std::thread::spawn(move || {
        (0..12).for_each(|_| _ = publish(&mut publisher, "T", 1 << 20, 1));
        publisher
    });
    let mut held = None;
    for _ in 0..12 {
        let step = take(&mut subscriber);
        assert_eq!(why(&step, "0"), None);
        // The one before is held meanwhile, so that the publisher is ahead as far as it may.
        drop(held.replace(step));
    }
    drop(held);
    let publisher = publishing.join().expect("published");
    assert_eq!(publisher.statistics().failed_derivations, 0);
}

#[test]
fn an_owner_forbids_them_all() {
    let (place, transforms) = (Place::new(), Transforms::default());
    let native =
        Native::records("adjacency", |pairs: &[BondPair]| Ok(adjacency(pairs))).expect("record types");
    transforms.register(native).expect("registered");
    let options = place.publisher_options().with_transforms(&transforms).with_derivations(false);
    let mut publisher = open(options);
    let told = "this publisher computes nothing for subscribers: its owner said so";
    let options = asking(place.over(TransportKind::Tcp), &["T | sum"], CohortSide::Publisher);
    let mut asked = attach(options.with_transformed("lists", "bonds", "adjacency").expect("names"));
    let mut able = attach(asking(place.over(TransportKind::Tcp), &["T | sum"], CohortSide::FewerBytes));
    let mut plain = attach(place.over(TransportKind::Shm).with_variables(["T"]));
    for _ in 0..2 {
        let mut writer = publisher.begin_step().expect("a step");
        put(&mut writer, "T", 64, 2);
        put_bonds(&mut writer, "bonds", 0..2);
        writer.end().expect("ended");
        let step = take(&mut asked);
        let what = why(&step, "0").expect("forbidden");
        assert!(what.starts_with(&format!("publisher rank 0: {told}")), "{what}");
        let what = step.get_records::<BondAdjacency>("lists", "[...]").expect_err("forbidden").to_string();
        assert!(what.contains(told), "{what}");
        assert_eq!(take(&mut able).get::<f64>("0", Selection::All).expect("derived here"), [96.0]);
        assert_eq!(take(&mut plain).get::<f64>("T", Selection::All).expect("as put"), [1.5; 64]);
    }
    let counted = publisher.statistics();
    assert_eq!((counted.derivations, counted.transforms, counted.derived_bytes > 4096), (0, 0, false));
    assert_eq!(
        (counted.failed_derivations, counted.left_derivations, able.statistics().derivations),
        (2, 2, 2)
    );
}

/// Puts so many records in one block.
fn put_bonds(writer: &mut StepWriter, name: &str, range: std::ops::Range<u64>) {
    let schema = BondPair::schema().expect("a type");
    let len = range.end - range.start;
    let bonds = Variable::global_records(name, &schema, &[len]).expect("a shape");
    let block = RecordBlock::plain(pairs(0, range)).expect("plain");
    writer.put_records(&bonds, &Region::new([0], [len]).expect("inside"), block).expect("put");
}

/// Two ranks, of which the second has no time for derivations, or neither has. Each puts half of the array.
fn two_ranks(place: &Place, budgets: [Duration; 2]) -> Vec<std::thread::JoinHandle<u64>> {
    let ranks = (0..2).zip(budgets).map(|(rank, budget)| {
        let cohort = Cohort::of(rank, 2).expect("a cohort");
        let options = place.publisher_options().with_cohort(cohort).with_min_subscribers(2);
        let options = options.with_derive_budget(budget);
        std::thread::spawn(move || {
            let mut publisher = open(options);
            for _ in 0..2 {
                let mut writer = publisher.begin_step().expect("a step");
                let variable = Variable::global::<f64>("T", &[8]).expect("a shape");
                let region = Region::new([4 * u64::from(rank)], [4]).expect("inside");
                writer.put(&variable, &region, vec![1.0 + f64::from(rank); 4]).expect("put");
                writer.end().expect("ended");
            }
            let cut = publisher.statistics().cut_derivations;
            publisher.close().expect("closed");
            cut
        })
    });
    ranks.collect()
}

#[test]
fn what_one_of_two_ranks_has_no_time_for_is_an_error_and_no_wrong_value() {
    for budgets in [[PATIENCE, Duration::ZERO], [Duration::ZERO; 2]] {
        let place = Place::new();
        let ranks = two_ranks(&place, budgets);
        let texts = ["T | sum", "T | scale(2, 1)", "T | scale(2, 1) | lz4"];
        let mut asked = attach(asking(place.over(TransportKind::Tcp), &texts, CohortSide::Publisher));
        let others = ["T | max", "T | scale(3, 1)"];
        let mut able = attach(asking(place.over(TransportKind::Tcp), &others, CohortSide::FewerBytes));
        let told = "the 0ns that derivations might take of this step were used up by 0 of them";
        for _ in 0..2 {
            let step = take(&mut asked);
            for name in ["0", "1", "2"] {
                let what = why(&step, name).expect("no value");
                assert!(what.contains(&format!("publisher rank 1: {told}")), "{what}");
            }
            step.get::<f64>("1", "[0:4]").expect_err("not even what the other rank has");
            let step = take(&mut able);
            match budgets[0].is_zero() {
                true => {
                    assert_eq!(step.get::<f64>("0", Selection::All).expect("of all that was left"), [2.0]);
                    let scaled = step.get::<f64>("1", Selection::All).expect("of all that was left");
                    assert_eq!(scaled, [4.0, 4.0, 4.0, 4.0, 7.0, 7.0, 7.0, 7.0]);
                }
                false => assert!(["0", "1"].iter().all(|name| {
                    why(&step, name).is_some_and(|what| what.contains(&format!("publisher rank 1: {told}")))
                })),
            }
        }
        asked.close().expect("left");
        able.close().expect("left");
        let cut: Vec<u64> = ranks.into_iter().map(|rank| rank.join().expect("published")).collect();
        assert_eq!(cut, if budgets[0].is_zero() { [10, 10] } else { [0, 10] });
    }
}

#[test]
fn two_are_derived_at_the_same_time() {
    let (place, transforms) = (Place::new(), Transforms::default());
    let (first, second) = (channel::<()>(), channel::<()>());
    for (name, tell, hear) in [("first", first.0, second.1), ("second", second.0, first.1)] {
        let ends = Mutex::new((tell, hear));
        let meet = move |inputs: &[&[f64]]| {
            let ends = ends.lock().map_err(|_| "a panic")?;
            let _ = ends.0.send(());
            ends.1.recv_timeout(PATIENCE).map_err(|_| "the other one is not there")?;
            Ok(inputs[0].to_vec())
        };
        transforms.register(Native::elements(name, meet)).expect("registered");
    }
    let options = place.publisher_options().with_transforms(&transforms);
    let mut publisher = open(options.with_derive_timeout(Duration::from_secs(8)));
    let texts = ["T | call(first)", "T | call(second)"];
    let mut subscriber = attach(asking(place.over(TransportKind::Shm), &texts, CohortSide::Publisher));
    for _ in 0..2 {
        publish(&mut publisher, "T", 8, 1);
        let step = take(&mut subscriber);
        assert_eq!([why(&step, "0"), why(&step, "1")], [None, None], "each waits for the other");
    }
}

/// A function that takes a while for each block.
fn slow(name: &str) -> Native {
    Native::elements(name, |inputs: &[&[f64]]| {
        work("slow", &Calls::default())?;
        Ok(inputs[0].to_vec())
    })
}

#[test]
fn a_slow_function_ends_with_its_block_and_the_others_come_next() {
    let (place, transforms) = (Place::new(), Transforms::default());
    for name in ["a", "b", "c", "d"] {
        transforms.register(slow(name)).expect("registered");
    }
    let options = place.publisher_options().with_transforms(&transforms).with_derive_budget(BUDGET);
    let mut publisher = open(options.with_derive_share_percent(ALWAYS_PERCENT));
    let texts = ["T | call(a)", "T | call(b)", "T | call(c)", "T | call(d)"];
    let mut subscriber = attach(asking(place.over(TransportKind::Tcp), &texts, CohortSide::Publisher));
    let mut begun = [0; 4];
    for _ in 0..4 {
        // 1.2 s for each of them, 2.4 s with two threads.
        let held_up = publish(&mut publisher, "T", 80, 8);
        assert!(held_up < Duration::from_millis(1200), "{held_up:?}");
        let step = take(&mut subscriber);
        for (number, begun) in begun.iter_mut().enumerate() {
            let what = why(&step, &number.to_string()).expect("eight blocks are too many");
            *begun += usize::from(what.contains("it was stopped between two blocks, as the 100ms were over"));
        }
    }
    assert!(begun.iter().all(|begun| *begun > 0), "{begun:?}");
    // One block goes to its end.
    let held_up = publish(&mut publisher, "T", 80, 1);
    assert!(held_up < Duration::from_millis(1200), "{held_up:?}");
    let step = take(&mut subscriber);
    let done = (0..4).filter(|number| why(&step, &number.to_string()).is_none()).count();
    assert!((1..4).contains(&done), "{done}");
}

type Calls = Arc<Mutex<Vec<&'static str>>>;

/// Takes longer than a step has, and says who did.
fn work(name: &'static str, calls: &Calls) -> Result<(), NativeError> {
    calls.lock().map_err(|_| "a panic")?.push(name);
    // Nobody ever sends anything.
    let (_hold, held) = channel::<()>();
    let _ = held.recv_timeout(BUDGET * 3 / 2);
    Ok(())
}

#[test]
fn records_that_are_sent_through_transforms_have_their_turns_as_well() {
    let (place, transforms) = (Place::new(), Transforms::default());
    let calls: Calls = Arc::default();
    let (first, second) = (calls.clone(), calls.clone());
    let a = Native::records("a", move |pairs: &[BondPair]| {
        work("a", &first)?;
        Ok(adjacency(pairs))
    });
    let b = Native::each_record("b", move |pair: &BondPair| {
        work("b", &second)?;
        label(pair)
    });
    transforms.register(a.expect("record types").per_block()).expect("registered");
    transforms.register(b.expect("record types")).expect("registered");
    let options = place.publisher_options().with_transforms(&transforms).with_derive_budget(BUDGET);
    let mut publisher = open(options.with_derive_share_percent(ALWAYS_PERCENT));
    let options = place.over(TransportKind::Tcp).with_transformed("x", "pairs", "a").expect("names");
    let mut subscriber = attach(options.with_transformed("y", "more", "b").expect("names"));
    for _ in 0..4 {
        let mut writer = publisher.begin_step().expect("a step");
        put_bonds(&mut writer, "pairs", 1..4);
        put_bonds(&mut writer, "more", 0..1);
        writer.end().expect("ended");
        drop(take(&mut subscriber));
    }
    assert_eq!(*calls.lock().expect("no panic"), ["a", "b", "a", "b"], "who was refused is the next");
    let counted = publisher.statistics();
    assert_eq!((counted.transforms, counted.cut_derivations, counted.failed_transforms), (4, 4, 0));
}
