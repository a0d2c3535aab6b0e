//! How soon a watcher hears of a step that 8 ranks have ended, and what is told for that.

use crate::machine::now_ns;
use crate::ours;
use crate::pass;
use crate::process::{Role, Running, Words, listed};
use crate::report::{bounded, median, noted, quantile};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use crate::sockets::Traffic;
use flexpath::{Publisher, Variable};
use std::sync::Arc;
use std::time::Duration;

/// Ranks of the publisher, and elements of each: 16,777,216 in all.
pub(crate) const RANKS: u64 = 8;
pub(crate) const LEN: u64 = 2 << 20;
/// Every element is more than that, but for one in steps that do not fire.
const CONDITION: &str = "min(x) > 0.5";
const STEPS: u64 = 64;
/// Steps that make links and plans, and are not counted.
const WARM: u64 = 4;
/// So long a step that does not fire has until the next one, from when all ranks have ended it.
const PAUSE: Duration = Duration::from_millis(5);
/// Nothing is cut off for want of time.
pub(crate) const BUDGET: Duration = Duration::from_secs(10);
/// The ranks have put their blocks; they have ended the step; the watcher has it; they may go on.
const PUT: usize = 2;
const ENDED: usize = 3;
const TAKEN: usize = 4;
const GATE: usize = 5;
/// For what is still under way when all ranks have ended a step.
const QUIET: Duration = Duration::from_millis(200);

/// Whether a step satisfies the condition: about every second does.
fn fires(step: u64) -> bool {
    (step + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 0
}

/// A rank's elements, of which one may be less than the others.
pub(crate) fn block((rank, len): (u64, u64), is_low: bool) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..len).map(|at| 1.0 + ((at * 7919 + rank) % 1021) as f64).collect();
    if is_low {
        numbers[(rank * 104_729 % len) as usize] = 0.25;
    }
    numbers
}

/// Elements that a step has while their owner keeps them: nobody copies them.
pub(crate) struct Kept(pub(crate) Arc<Vec<f64>>);

impl AsRef<[f64]> for Kept {
    fn as_ref(&self) -> &[f64] {
        &self.0
    }
}

pub(crate) fn measure() {
    let pass = pass::measure();
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(RANKS as usize) as f64;
    noted("pass over a rank's block, measuring, one core", pass.measuring_ns / 1e6, "ms");
    noted("pass over a rank's block, plain loop, one core", pass.plain_ns / 1e6, "ms");
    let bound_ms = |pass_ns: f64| 1.3 * RANKS as f64 / cores * pass_ns / 1e6 + 3.0;
    for transport in ["shm", "tcp"] {
        let found = Round::play(transport, true);
        let (last, first) = found.latencies_ms();
        let case = |what: &str| format!("{transport}, 8 ranks x 16 MiB, {what}");
        let p50_ms = median(&last);
        let target = "1.3 x ranks / cores x measuring pass + 3 ms";
        bounded(&case("last end to event, p50"), (p50_ms, bound_ms(pass.measuring_ns)), "ms", target);
        let target = "the same with the plain loop's pass";
        bounded(&case("the same, of a plain loop"), (p50_ms, bound_ms(pass.plain_ns)), "ms", target);
        noted(&case("last end to event, p90"), quantile(&last, 0.9), "ms");
        noted(&case("first end to event, p50"), median(&first), "ms");
        noted(&case("a rank's end, p50"), median(&found.held_ms), "ms");
        bounded(&case("payload bytes of all ranks"), (found.payload_bytes, 0.0), "B", "none");
        let cut = cut_off(&format!("{transport}, 8 ranks x 16 MiB"));
        bounded(&cut, (found.cut, 0.0), "", "none");
        if transport == "tcp" {
            found.report_bytes(&Round::play(transport, false));
        }
    }
}

/// A case of measures that were cut off, and the time that a step had for all of them.
pub(crate) fn cut_off(what: &str) -> String {
    format!("{what}, measures cut off, budget of {} s", BUDGET.as_secs())
}

/// Bytes of a step.
struct Told {
    subscriber: f64,
    /// Of each edge of the publishers' tree: towards the lead, and from it.
    up: f64,
    down: f64,
}

/// What a cohort and its watcher have said.
struct Round {
    /// Of each rank, when it entered the ends of steps.
    entered: Vec<Vec<f64>>,
    steps: Vec<f64>,
    at: Vec<f64>,
    held_ms: Vec<f64>,
    payload_bytes: f64,
    cut: f64,
    told: Option<Told>,
}

impl Round {
    /// A cohort, and a subscriber that wants no variables: with the condition, or without one.
    fn play(transport: &str, is_watched: bool) -> Self {
        let (memory, place) = (Memory::new(0), tempfile::tempdir().expect("a directory"));
        let shared = Shared::open(&memory.path());
        let role = |name, rank: u64, size: u64| {
            let role = Role::new(name).with("core", "any").with("rank", rank).with("size", size);
            let role = role.with("directory", place.path().display()).with("transport", transport);
            role.with("memory", memory.path()).with("watches", u8::from(is_watched)).start()
        };
        let mut publishers: Vec<Running> =
            (0..RANKS).map(|rank| role("decision-publisher", rank, RANKS)).collect();
        let mut subscriber = role("decision-subscriber", 0, 1);
        let owner: u32 = subscriber.line().number("pid");
        let owners: Vec<u32> = publishers.iter_mut().map(|rank| rank.line().number("pid")).collect();
        let [before, after] = [WARM, STEPS].map(|until| {
            let ended = Bell::of(shared.words(), ENDED);
            (1..=until).for_each(|steps| ended.wait_for(steps as u32 * RANKS as u32));
            std::thread::sleep(QUIET);
            let traffic = Some(transport).filter(|over| *over == "tcp").and_then(|_| Traffic::now());
            Bell::of(shared.words(), GATE).ring();
            traffic
        });
        let said: Vec<Words> = publishers.into_iter().map(Running::finish).collect();
        let taken = subscriber.finish();
        let told = before.zip(after).map(|(before, after)| {
            let each = |senders: &[u32], receivers: &[u32], parts: u64| {
                after.since(&before, senders, receivers) / (STEPS - WARM) as f64 / parts as f64
            };
            let (lead, others) = owners.split_at(1);
            let subscriber = each(&owners, &[owner], 1);
            // Eight ranks are a lead and its children.
            Told { subscriber, up: each(others, lead, RANKS - 1), down: each(lead, others, RANKS - 1) }
        });
        let sum = |key: &str| said.iter().map(|rank| rank.number::<f64>(key)).sum();
        Self {
            entered: said.iter().map(|rank| rank.list("entered")).collect(),
            steps: taken.list("steps"),
            at: taken.list("at"),
            held_ms: said.iter().flat_map(|rank| rank.list("held")).map(|held| held / 1e6).collect(),
            payload_bytes: sum("payload"),
            cut: sum("cut"),
            told,
        }
    }

    /// From when the last rank entered the end of a step until the watcher had it, and the same from the first rank.
    fn latencies_ms(&self) -> (Vec<f64>, Vec<f64>) {
        let counted = self.steps.iter().zip(&self.at).filter(|(step, _)| **step >= WARM as f64);
        let each = counted.map(|(step, at)| {
            let entered = self.entered.iter().map(|rank| rank[*step as usize]);
            let last = entered.clone().fold(f64::NEG_INFINITY, f64::max);
            let first = entered.fold(f64::INFINITY, f64::min);
            ((at - last) / 1e6, (at - first) / 1e6)
        });
        each.unzip()
    }

    fn report_bytes(&self, unwatched: &Self) {
        let (Some(told), Some(without)) = (&self.told, &unwatched.told) else {
            println!("not measured: ss says nothing of what connections carried");
            return;
        };
        let case = |what: &str| format!("tcp, a step of 128 MiB, {what}");
        bounded(&case("bytes to the watcher"), (told.subscriber, 1024.0), "B", "at most 1 KiB");
        let (both, before) = (told.up + told.down, without.up + without.down);
        let more = (both - before).max(0.0);
        bounded(&case("bytes of an edge for watching"), (more, 128.0), "B", "at most 128 B");
        noted(&case("bytes of an edge, towards the lead"), told.up, "B");
        noted(&case("bytes of an edge, from the lead"), told.down, "B");
        noted(&case("bytes of an edge, both ways, nobody watches"), before, "B");
    }
}

/// Role: a rank. All enter the end of a step together, and begin the next when the watcher has it.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let bell = |number: usize| Bell::of(shared.words(), number);
    let (rank, is_watched) = (words.number::<u64>("rank"), words.number::<u8>("watches") == 1);
    println!("pid={}", std::process::id());
    let [high, low] = [false, true].map(|is_low| Arc::new(block((rank, LEN), is_low)));
    let options = ours::publisher_options(words).with_min_subscribers(1).with_derive_budget(BUDGET);
    let mut publisher = Publisher::open(ours::STREAM, options).expect("the stream opens");
    let variable = Variable::global::<f64>("x", &[RANKS * LEN]).expect("a variable");
    let region = ours::region(&[rank * LEN], &[LEN]);
    let (mut entered_ns, mut held_ns, mut fired) = (Vec::new(), Vec::new(), 0);
    for step in 0..STEPS {
        if step == WARM {
            bell(GATE).wait_for(1);
        }
        let is_low = !fires(step) && step % RANKS == rank;
        let kept = Kept(if is_low { low.clone() } else { high.clone() });
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_external(&variable, &region, kept).expect("a put");
        let all = (step as u32 + 1) * RANKS as u32;
        bell(PUT).ring();
        bell(PUT).wait_for(all);
        let entered = now_ns();
        writer.end().expect("the end of a step");
        held_ns.push(now_ns() - entered);
        entered_ns.push(entered);
        bell(ENDED).ring();
        bell(ENDED).wait_for(all);
        if fires(step) || !is_watched {
            fired += 1;
            bell(TAKEN).wait_for(fired);
        } else {
            std::thread::sleep(PAUSE);
        }
    }
    bell(GATE).wait_for(2);
    let counted = publisher.statistics();
    publisher.close().expect("the watcher has all steps");
    let (entered, held) = (listed(&entered_ns), listed(&held_ns[WARM as usize..]));
    let (payload, cut) = (counted.payload_bytes, counted.cut_derivations);
    println!("entered={entered} held={held} payload={payload} cut={cut}");
}

/// Role: is told of steps, and wants nothing of them.
pub(crate) fn subscriber(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let is_watched = words.number::<u8>("watches") == 1;
    println!("pid={}", std::process::id());
    let options = ours::subscriber_options(words).with_variables(Vec::<String>::new());
    let options = if is_watched { options.with_condition(CONDITION).expect("a condition") } else { options };
    let mut subscriber = ours::subscriber(options.with_open_timeout(ours::PATIENCE));
    let (mut steps, mut at_ns) = (Vec::new(), Vec::new());
    while let Some(step) = ours::next(&mut subscriber) {
        at_ns.push(now_ns());
        steps.push(step.step().0);
        if is_watched {
            let judgement = step.judgement().expect("it is told why");
            let number = judgement.number("min(x)").map(|number| number.as_f64());
            assert!(judgement.unjudged.is_none() && number == Some(1.0), "{judgement:?}");
        }
        drop(step);
        Bell::of(shared.words(), TAKEN).ring();
    }
    let wanted: Vec<u64> = (0..STEPS).filter(|step| fires(*step) || !is_watched).collect();
    assert_eq!(steps, wanted, "not the steps that satisfy the condition");
    println!("steps={} at={}", listed(&steps), listed(&at_ns));
}
