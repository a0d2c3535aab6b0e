//! A watch beside moving everything: until a step is known to be one that is wanted, and until it is where it is wanted.
//! Figures 5, 6, 8 and 9 of the paper on messaging for DataSpaces, in the small.

use crate::decision::{BUDGET, Kept, block};
use crate::least::least_of;
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Running, Words, listed};
use crate::report::{bounded, median, noted};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use crate::sockets::Traffic;
use flexpath::{Publisher, Subscriber, Variable};
use std::sync::Arc;

const MIB: u64 = 1 << 20;
/// Steps of a round, and those that make links and memory and are not counted.
const STEPS: u32 = 8;
const WARM: u32 = 3;
/// Publisher ranks and subscriber ranks of figures 5 and 6, with 16 MiB a publisher rank.
const COHORTS: [(u64, u64); 4] = [(1, 1), (2, 1), (4, 2), (8, 4)];
/// Of figures 8 and 9: four ranks of that many MiB each, and one subscriber.
const SIZES: [u64; 5] = [16, 64, 256, 512, 1024];
const OWNERS: u64 = 4;
/// The same over tcp, where the system counts what is carried: 128 MiB in all.
const OVER_TCP: u64 = 32;
/// Four ranks of so many MiB each, of which nothing is moved.
const LARGEST: u64 = 2048;
/// The ranks have put their blocks; they have ended the step; the subscriber's ranks have what they want.
const PUT: usize = 2;
const TAKEN: usize = 3;

/// What the subscriber does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It watches, and is told.
    Told,
    /// It watches, and takes what it is told of.
    Taken,
    /// It takes everything, and looks at it itself.
    Moved,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Taken => "taken",
            Self::Moved => "moved",
        }
    }
}

/// The middle steps of a round, in milliseconds.
struct Round {
    /// A rank's put and end.
    published: f64,
    /// From the last rank's end until the last subscriber rank has the step.
    told: f64,
    /// From there until the last one has the elements.
    taken: f64,
    /// From there until it has looked at them.
    seen: f64,
    /// Bytes of a step that came to the subscriber's ranks. Over shared memory those of blocks, as they count them. Over tcp all
    /// that the system counts for their connections, if it does.
    bytes: f64,
}

impl Round {
    fn play((owners, readers): (u64, u64), len: u64, way: Way) -> Self {
        Self::over("shm", (owners, readers), len, way)
    }

    fn over(transport: &str, (owners, readers): (u64, u64), len: u64, way: Way) -> Self {
        let (memory, place) = (Memory::new(0), tempfile::tempdir().expect("a directory"));
        let role = |name, rank: u64, size: u64| {
            let role = Role::new(name).with("core", "any").with("rank", rank).with("size", size);
            let role = role.with("directory", place.path().display()).with("transport", transport);
            let role = role.with("memory", memory.path()).with("len", len).with("way", way.name());
            role.with("owners", owners).with("readers", readers).start()
        };
        let publishers: Vec<Running> =
            (0..owners).map(|rank| role("moved-publisher", rank, owners)).collect();
        let subscribers: Vec<Running> =
            (0..readers).map(|rank| role("moved-subscriber", rank, readers)).collect();
        let finish = |all: Vec<Running>| all.into_iter().map(Running::finish).collect::<Vec<_>>();
        let (owners, readers) = (finish(publishers), finish(subscribers));
        let last = |of: &[Words], key: &str| {
            let lists: Vec<Vec<f64>> = of.iter().map(|words| words.list(key)).collect();
            let at = |step: usize| lists.iter().map(|list| list[step]).fold(f64::NEG_INFINITY, f64::max);
            (WARM as usize..STEPS as usize).map(at).collect::<Vec<f64>>()
        };
        let between = |from: &[f64], to: &[f64]| {
            median(&from.iter().zip(to).map(|(from, to)| (to - from) / 1e6).collect::<Vec<_>>())
        };
        let (begun, entered, ended) =
            (last(&owners, "begun"), last(&owners, "entered"), last(&owners, "ended"));
        let [told, taken, seen] = ["told", "taken", "seen"].map(|key| last(&readers, key));
        Self {
            published: between(&begun, &ended),
            told: between(&entered, &told),
            taken: between(&told, &taken),
            seen: between(&taken, &seen),
            bytes: readers.iter().map(|words| words.number::<f64>("bytes")).sum(),
        }
    }

    /// From the last rank's end until the subscriber knows what it wants to know.
    fn known(&self) -> f64 {
        self.told + self.taken + self.seen
    }
}

/// Figure 9: time and bytes of watching and of moving everything, over a transport whose bytes are counted by others.
fn report_figure_9() {
    let play = |way| Round::over("tcp", (OWNERS, 1), OVER_TCP * MIB / 8, way);
    let (told, taken, moved) = (play(Way::Told), play(Way::Taken), play(Way::Moved));
    let case = |what: &str| format!("tcp, {} MiB of 4 ranks, {what}", OWNERS * OVER_TCP);
    let everything = moved.known();
    bounded(
        &case("watched, last end to event"),
        (told.known(), everything),
        "ms",
        "less than moving everything",
    );
    noted(&case("watched and taken where it fires"), taken.known(), "ms");
    noted(&case("everything moved, and looked at"), everything, "ms");
    if moved.bytes.is_nan() {
        println!("not measured: ss says nothing of what connections carried");
        return;
    }
    bounded(&case("watched, bytes to the subscriber"), (told.bytes, 1024.0), "B", "at most 1 KiB");
    noted(&case("watched and taken, bytes to the subscriber"), taken.bytes, "B");
    noted(&case("everything moved, bytes to the subscriber"), moved.bytes, "B");
}

pub(crate) fn measure() {
    for cohorts in COHORTS {
        let (owners, readers) = cohorts;
        let round = Round::play(cohorts, 16 * MIB / 8, Way::Taken);
        let case = |what: &str| format!("{owners} x {readers} ranks, 16 MiB each, {what}");
        noted(&case("a rank's put and end"), round.published, "ms");
        noted(&case("last end to event"), round.told, "ms");
        noted(&case("event to all elements"), round.taken, "ms");
        let bytes = (owners * 16 * MIB) as f64;
        noted(
            &case("bytes over the time from end to all elements"),
            bytes / (round.told + round.taken) / 1e6,
            "GB/s",
        );
    }
    for mib in SIZES {
        let play = |way| Round::play((OWNERS, 1), mib * MIB / 8, way);
        let (told, taken, moved) = (play(Way::Told), play(Way::Taken), play(Way::Moved));
        let case = |what: &str| format!("{} MiB of 4 ranks, {what}", OWNERS * mib);
        let everything = moved.known();
        noted(&case("everything moved, and looked at"), everything, "ms");
        noted(&case("of which moving"), moved.taken, "ms");
        bounded(
            &case("watched, last end to event"),
            (told.told, everything),
            "ms",
            "less than moving everything",
        );
        noted(&case("watched and taken where it fires"), taken.told + taken.taken, "ms");
        noted(&case("watched, bytes of blocks to the subscriber"), told.bytes, "B");
        noted(&case("everything moved, bytes of blocks to the subscriber"), moved.bytes, "B");
    }
    report_figure_9();
    let told = Round::play((OWNERS, 1), LARGEST * MIB / 8, Way::Told);
    noted(&format!("{} MiB of 4 ranks, watched, last end to event", OWNERS * LARGEST), told.told, "ms");
}

/// Role: a rank. All end a step together, and begin the next when all subscriber ranks have seen it.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let bell = |number: usize| Bell::of(shared.words(), number);
    let (rank, len): (u64, u64) = (words.number("rank"), words.number("len"));
    let (owners, readers): (u32, u32) = (words.number("owners"), words.number("readers"));
    let numbers = Arc::new(block((rank, len), true));
    let options = ours::publisher_options(words).with_min_subscribers(1).with_derive_budget(BUDGET);
    let mut publisher = Publisher::open(ours::STREAM, options.with_limit_bytes(u64::MAX)).expect("it opens");
    let variable = Variable::global::<f64>("x", &[u64::from(owners) * len]).expect("a variable");
    let region = ours::region(&[rank * len], &[len]);
    let (mut begun, mut entered, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for step in 1..=STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        bell(PUT).ring();
        bell(PUT).wait_for(step * owners);
        begun.push(now_ns());
        writer.put_external(&variable, &region, Kept(numbers.clone())).expect("a put");
        entered.push(now_ns());
        writer.end().expect("the end of a step");
        ended.push(now_ns());
        bell(TAKEN).wait_for(step * readers);
    }
    assert_eq!(publisher.statistics().cut_derivations, 0, "everything is measured");
    publisher.close().expect("everybody has all steps");
    println!("begun={} entered={} ended={}", listed(&begun), listed(&entered), listed(&ended));
}

/// Role: a subscriber rank, which takes its part of all steps, or is told of them.
pub(crate) fn subscriber(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let (rank, len): (u64, u64) = (words.number("rank"), words.number("len"));
    let (owners, readers): (u64, u64) = (words.number("owners"), words.number("readers"));
    let (is_watching, takes) = (words.text("way") != "moved", words.text("way") != "told");
    let part = owners * len / readers;
    let mut options = ours::subscriber_options(words).with_open_timeout(ours::PATIENCE);
    if is_watching {
        options = options.with_condition("min(x) < 0.5").expect("a condition");
    }
    if !takes {
        options = options.with_variables(Vec::<String>::new());
    }
    let mut elements = vec![0.0; if takes { part as usize } else { 0 }];
    let mut subscriber = ours::subscriber(options);
    let (mut told, mut taken, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    let mut counted = (f64::NAN, f64::NAN);
    while let Some(step) = ours::next(&mut subscriber) {
        told.push(now_ns());
        if takes {
            let region = ours::region(&[rank * part], &[part]);
            step.get_into("x", region, &mut elements).expect("its part");
        }
        taken.push(now_ns());
        if !is_watching {
            assert!(std::hint::black_box(least_of(&elements)) < 0.5, "some rank's element is low");
        }
        seen.push(now_ns());
        drop(step);
        // All of the steps up to this one, and nothing of the next, as the ranks begin it when the bell has rung.
        match told.len() as u32 {
            WARM => counted.0 = bytes_to(&subscriber, words.text("transport")),
            STEPS => counted.1 = bytes_to(&subscriber, words.text("transport")),
            _ => {}
        }
        Bell::of(shared.words(), TAKEN).ring();
    }
    let bytes = (counted.1 - counted.0) / f64::from(STEPS - WARM);
    println!("told={} taken={} seen={} bytes={bytes}", listed(&told), listed(&taken), listed(&seen));
}

/// Bytes that have come to this process: over tcp all that the system counts, and over shared memory those of blocks.
fn bytes_to(subscriber: &Subscriber, transport: &str) -> f64 {
    let counted = subscriber.statistics();
    match transport {
        "tcp" => Traffic::now().map_or(f64::NAN, |traffic| traffic.to(std::process::id()) as f64),
        _ => (counted.get_copied_bytes + counted.received_bytes + counted.staged_bytes) as f64,
    }
}
