//! Finding streams by type: what provides it and how, why the others do not, and that nobody is held up by a look.

use crate::support::bonds::{BondAdjacency, BondPair};
use crate::support::{PATIENCE, Place, eventually, take};
use fp_core::rendezvous::Entry;
use fp_core::{
    Contact, Event, Fit, FoundStream, Native, NextStep, NoProvider, Publisher, PublisherOptions, ReadError,
    Record as _, RecordBlock, Region, Subscriber, SubscriberOptions, Transforms, TransportKind, Variable,
};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time enough for every stream that says something.
const TIMEOUT: Duration = Duration::from_secs(4);

/// The same as [`BondPair`] for somebody who counts further.
#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq)]
#[record(crate = fp_core, name = "BondPair")]
struct WidePair {
    b: u64,
    a: u64,
}

/// The same for somebody who begins with the other end.
#[derive(fp_derive::Record, Clone, Copy, Debug, PartialEq)]
#[record(crate = fp_core, name = "BondPair")]
struct SwappedPair {
    b: u32,
    a: u32,
}

fn transforms() -> Transforms {
    let transforms = Transforms::default();
    let adjacency = Native::records("adjacency", |pairs: &[BondPair]| {
        let list = |pair: &BondPair| BondAdjacency { atom: pair.a.into(), neighbours: vec![pair.b.into()] };
        Ok(pairs.iter().map(list).collect())
    });
    transforms.register(adjacency.expect("record types")).expect("registered");
    transforms
}

/// What a stream of these tests publishes.
#[derive(Clone, Copy)]
enum Content {
    Pairs,
    WidePairs,
    SwappedPairs,
    Lists,
    Numbers,
}

fn publish(publisher: &mut Publisher, content: Content) -> u64 {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let whole = Region::new([0], [1]).expect("inside");
    let records = match content {
        Content::Pairs => Some((BondPair::schema(), RecordBlock::plain(vec![BondPair { a: 1, b: 2 }]))),
        Content::WidePairs => Some((WidePair::schema(), RecordBlock::encode(&[WidePair { b: 2, a: 1 }]))),
        Content::SwappedPairs => {
            Some((SwappedPair::schema(), RecordBlock::encode(&[SwappedPair { b: 2, a: 1 }])))
        }
        Content::Lists => {
            let lists = [BondAdjacency { atom: 1, neighbours: vec![2] }];
            Some((BondAdjacency::schema(), RecordBlock::encode(&lists)))
        }
        Content::Numbers => None,
    };
    if let Some((schema, block)) = records {
        let bonds = Variable::global_records("bonds", &schema.expect("a type"), &[1]).expect("a shape");
        writer.put_records(&bonds, &whole, block.expect("records")).expect("put");
    }
    let numbers = Variable::global::<u64>("numbers", &[1]).expect("a shape");
    writer.put(&numbers, &whole, vec![step]).expect("put");
    writer.end().expect("ended");
    step
}

fn options(place: &Place) -> PublisherOptions {
    place.publisher_options()
}

/// Publishes steps of all these until the look is over. Gives what it saw, and the publishers.
fn look_while_they_publish<R: Send>(
    streams: &mut [(Publisher, Content)],
    look: impl FnOnce() -> R + Send,
) -> R {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = &over;
        for (publisher, content) in streams {
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    publish(publisher, *content);
                    thread::yield_now();
                }
            });
        }
        let seen = look();
        over.store(true, Ordering::Relaxed);
        seen
    })
}

fn name(found: &FoundStream) -> &str {
    &found.entry.name
}

fn of<'f>(found: &'f [FoundStream], stream: &str) -> &'f FoundStream {
    found.iter().find(|one| name(one) == stream).expect("it was looked at")
}

#[test]
fn each_stream_says_how_it_provides_the_type_or_why_it_does_not() {
    for kind in [TransportKind::Inproc, TransportKind::Tcp] {
        let place = Place::new();
        let open = |name: &str| Publisher::open(name, options(&place)).expect("the stream opens");
        let mut streams = [
            (open("lists"), Content::Lists),
            (open("pairs"), Content::Pairs),
            (open("swapped"), Content::SwappedPairs),
            (open("numbers"), Content::Numbers),
        ];
        let silent = open("silent");
        let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        let contact = format!("{}\n", Contact::from_address(gone));
        std::fs::write(place.path().join(format!("gone.{:032x}", 7)), contact).expect("written");
        let looking = place.over(kind).with_transforms(&transforms());
        let began = Instant::now();
        let found = look_while_they_publish(&mut streams, || {
            Subscriber::find::<BondAdjacency>(&looking, TIMEOUT).expect("looked at")
        });
        assert!(began.elapsed() < TIMEOUT + PATIENCE, "{:?}", began.elapsed());

        let names: Vec<&str> = found.iter().map(name).collect();
        assert_eq!(
            names,
            ["lists", "pairs", "swapped", "gone", "numbers", "silent"],
            "{kind}: the best first"
        );
        let provided = |stream| &of(&found, stream).provided.as_ref().expect("provided")[0];
        assert_eq!((provided("lists").variable.as_str(), &provided("lists").fit), ("bonds", &Fit::Same));
        for stream in ["pairs", "swapped"] {
            let Fit::Through(path) = &provided(stream).fit else { panic!("{:?}", provided(stream)) };
            assert!(path.to_string().contains("-[adjacency: 1.000 ns/B"), "{path}");
        }
        let why = |stream: &str| of(&found, stream).provided.as_ref().expect_err("nothing");
        assert!(matches!(why("gone"), NoProvider::LeftBehind));
        assert!(matches!(why("silent"), NoProvider::NoStep { .. }), "{}", why("silent"));
        let text = why("numbers").to_string();
        assert!(text.contains("variable \"numbers\" is of u64, no records"), "{text}");
        drop(silent);
    }
}

#[test]
fn a_conversion_comes_before_a_path_and_a_refusal_has_the_fields() {
    let place = Place::new();
    let open = |name: &str| Publisher::open(name, options(&place)).expect("the stream opens");
    let mut streams = [(open("pairs"), Content::Pairs), (open("wide"), Content::WidePairs)];
    let looking = place.subscriber_options();
    let [wide, narrow] = look_while_they_publish(&mut streams, || {
        [
            Subscriber::find::<WidePair>(&looking, TIMEOUT).expect("looked at"),
            Subscriber::find::<BondPair>(&looking, TIMEOUT).expect("looked at"),
        ]
    });
    assert_eq!(wide.iter().map(name).collect::<Vec<_>>(), ["wide", "pairs"]);
    let converted = wide[1].provided.as_ref().expect("provided");
    assert!(matches!(&converted[0].fit, Fit::Converted { differences } if !differences.is_empty()));
    assert_eq!(narrow.iter().map(name).collect::<Vec<_>>(), ["pairs", "wide"]);
    let why = narrow[1].provided.as_ref().expect_err("it is too wide");
    let NoProvider::Types(error) = why else { panic!("{why}") };
    assert!(matches!(&**error, ReadError::NotProvided { .. }), "{why}");
    assert!(why.to_string().contains("BondPair.a: is u64, wanted as u32"), "{why}");
}

#[test]
fn nobody_is_held_up_by_a_look() {
    let place = Place::new();
    let publisher = Publisher::open("pairs", options(&place)).expect("the stream opens");
    let attach = || Subscriber::open("pairs", place.subscriber_options()).expect("attached");
    let mut streams = [(publisher, Content::Pairs)];
    let looking = place.over(TransportKind::Tcp);
    let look = || Subscriber::find::<BondPair>(&looking, TIMEOUT).expect("looked at");
    assert!(look_while_they_publish(&mut streams, look)[0].provided.is_ok());
    let [(publisher, _)] = &mut streams;
    eventually("nobody there", || !publisher.has_subscribers());
    let counted = publisher.statistics();
    assert_eq!((counted.payload_bytes, counted.put_copied_bytes), (0, 0), "nothing was kept");
    let left = publisher.events().into_iter().filter(|event| matches!(event, Event::MemberLeft { .. }));
    assert_eq!(left.count(), 1);

    let mut witness = attach();
    let first = publish(publisher, Content::Pairs);
    assert_eq!(take(&mut witness).step().0, first);
    let seen = thread::scope(|scope| {
        let following = scope.spawn(move || {
            let mut steps = Vec::new();
            while let NextStep::Step(step) = witness.next_step(PATIENCE).expect("a step") {
                assert_eq!(step.skipped(), 0);
                steps.push(step.step().0);
            }
            steps
        });
        let found = look_while_they_publish(&mut streams, look);
        assert!(found[0].provided.is_ok());
        streams.into_iter().for_each(|(publisher, _)| publisher.close().expect("closed"));
        following.join().expect("no panic")
    });
    assert!(!seen.is_empty() && seen.iter().copied().eq((first + 1..).take(seen.len())), "{seen:?}");
}

#[test]
fn streams_that_say_nothing_do_not_keep_the_others_waiting() {
    let place = Place::new();
    // It accepts connections, as any listener does, and never answers.
    let deaf = TcpListener::bind("127.0.0.1:0").expect("a port");
    let contact = Contact::from_address(deaf.local_addr().expect("an address"));
    let mut entries: Vec<Entry> = Vec::new();
    let publisher = Publisher::open("pairs", options(&place)).expect("the stream opens");
    entries.extend(place.rendezvous().entries());
    let epoch = entries[0].epoch;
    entries.extend((0..70).map(|number| Entry {
        name: format!("deaf{number}"),
        epoch,
        contact: contact.clone(),
    }));
    let (schema, looking) = (BondPair::schema().expect("a type"), place.subscriber_options());
    let (began, short) = (Instant::now(), Duration::from_secs(2));
    let found = look_while_they_publish(&mut [(publisher, Content::Pairs)], || {
        Subscriber::find_among(&entries, &schema, &looking, short)
    });
    assert!(began.elapsed() < short + PATIENCE, "{:?}", began.elapsed());
    assert_eq!((found.len(), name(&found[0])), (71, "pairs"));
    assert!(found[0].provided.is_ok());
    let whys = found[1..].iter().map(|one| one.provided.as_ref().expect_err("nothing"));
    let (unasked, unheard): (Vec<_>, Vec<_>) = whys.partition(|why| matches!(why, NoProvider::NotAsked));
    assert!(unheard.iter().all(|why| matches!(why, NoProvider::NotAttached(_))), "{unheard:?}");
    assert!((1..=8).contains(&unasked.len()), "{}", unasked.len());
}

#[test]
fn who_waits_for_a_first_subscriber_is_left_out_by_its_entry() {
    let place = Place::new();
    let waiting = options(&place).with_min_subscribers(1);
    let looking = place.subscriber_options();
    thread::scope(|scope| {
        let opening = scope.spawn(|| Publisher::open("waits", waiting));
        eventually("its entry", || place.rendezvous().entries().len() == 1);
        let schema = BondPair::schema().expect("a type");
        let others: Vec<Entry> =
            place.rendezvous().entries().into_iter().filter(|entry| entry.name != "waits").collect();
        assert!(Subscriber::find_among(&others, &schema, &looking, TIMEOUT).is_empty());
        assert!(!opening.is_finished());
        // As documented: a look counts.
        let short = Duration::from_millis(700);
        let found = Subscriber::find::<BondPair>(&looking, short).expect("looked at");
        assert!(matches!(found[0].provided, Err(NoProvider::NoStep { .. })), "{found:?}");
        opening.join().expect("no panic").expect("somebody came");
    });
}

#[test]
fn an_empty_rendezvous_has_no_streams() {
    let place = Place::new();
    let looking: SubscriberOptions = place.subscriber_options();
    assert!(Subscriber::find::<BondPair>(&looking, TIMEOUT).expect("looked at").is_empty());
}
