//! A thousand subscriptions of one stream: what a step of 8 bytes costs its publisher.

use crate::bench::Bench;
use crate::machine::{now_ns, processor_ns};
use crate::ours;
use crate::process::{Role, Running, Words, listed};
use crate::report::{Row, Target, median, quantile};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Publisher, Selection, Subscriber, Variable};

/// Subscriptions, and ranks of the publisher. The most that a stream has is 1024.
const CROWDS: [(usize, u32); 4] = [(1, 1), (64, 1), (1024, 1), (1024, 2)];
/// Subscriptions of one process.
const EACH: usize = 256;
const WARM: usize = 5;
const STEPS: usize = 50;
/// A process has attached all that it has; it has taken a step with each.
const ATTACHED: usize = 2;
const TAKEN: usize = 3;

/// The time of the publisher's calls, and its processor time, for steps that everybody takes before the next begins.
pub(crate) fn measure(bench: &mut Bench) {
    for (subscriptions, ranks) in CROWDS {
        let steps = bench.scaled(STEPS);
        let rounds = bench.take_turns(|bench| crowd(bench, (subscriptions, ranks), steps));
        let all = |key: &str| -> Vec<f64> { rounds.found.iter().flat_map(|found| found.list(key)).collect() };
        let (calls, taken, processor) = (all("calls"), all("taken"), all("processor"));
        let ms = |times: &[f64], part: f64| quantile(times, part) / 1e6;
        let note = format!("p99 {:.3} ms; all have it after {:.2} ms", ms(&calls, 0.99), ms(&taken, 0.5));
        let whose = if ranks > 1 { ", the last of 2 ranks" } else { "" };
        let case = |what: &str| format!("{subscriptions} subscriptions, 8 B, {what}{whose}");
        let row = Row::new(case("begin to end"), "ms", ms(&calls, 0.5), Target::Below(1.0));
        bench.add(row.under(rounds.around).noting(note));
        let row = Row::new(case("processor time"), "ms", median(&processor) / 1e6, Target::None);
        let note = format!("{:.1} us for each", median(&processor) / 1e3 / subscriptions as f64);
        bench.add(row.under(rounds.around).noting(note));
    }
}

/// What the publisher's last rank says.
fn crowd(bench: &mut Bench, (subscriptions, ranks): (usize, u32), steps: usize) -> Words {
    let (memory, directory) = (Memory::new(0), bench.directory());
    let role = |name| {
        let role = Role::new(name).with("core", "any").with("ranks", ranks);
        let role = role.with("directory", &directory).with("transport", "shm").with("memory", memory.path());
        role.with("subscriptions", subscriptions).with("steps", WARM + steps)
    };
    let publisher = |rank: u32| role("crowd-publisher").with("rank", rank).with("size", ranks).start();
    let mut publishers: Vec<Running> = (0..ranks).map(publisher).collect();
    let parts = (0..subscriptions).step_by(EACH).map(|first| EACH.min(subscriptions - first));
    let subscribers = parts
        .map(|each| role("crowd-subscribers").with("rank", 0).with("size", 1).with("each", each).start());
    let subscribers: Vec<Running> = subscribers.collect();
    let found = publishers.pop().expect("one at least").finish();
    publishers.into_iter().for_each(|publisher| drop(publisher.finish()));
    subscribers.into_iter().for_each(|subscriber| drop(subscriber.finish()));
    found
}

/// Role: begins a step when all have taken the one before.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let subscriptions: u32 = words.number("subscriptions");
    let processes = (subscriptions as usize).div_ceil(EACH) as u32;
    let options = ours::publisher_options(words).with_limit_subscriptions(subscriptions);
    let mut publisher = Publisher::open(ours::STREAM, options).expect("the stream opens");
    let (rank, ranks) = (words.number::<u64>("rank"), words.number::<u64>("ranks"));
    let variable = Variable::global::<u64>("x", &[ranks]).expect("a variable");
    let (attached, taken) = (Bell::of(shared.words(), ATTACHED), Bell::of(shared.words(), TAKEN));
    attached.wait_for(processes);
    let (mut calls_ns, mut taken_ns, mut spent_ns) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..words.number::<u32>("steps") {
        let (spent, began) = (processor_ns(), now_ns());
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &ours::region(&[rank], &[1]), &[u64::from(at)]).expect("a put");
        writer.end().expect("the end of a step");
        calls_ns.push(now_ns() - began);
        taken.wait_for((at + 1) * processes);
        taken_ns.push(now_ns() - began);
        spent_ns.push(processor_ns() - spent);
    }
    publisher.close().expect("everybody has taken all steps");
    let [calls, taken, processor] = [&calls_ns, &taken_ns, &spent_ns].map(|all| listed(&all[WARM..]));
    println!("calls={calls} taken={taken} processor={processor}");
}

/// Role: a part of the crowd, each with a subscription of its own.
pub(crate) fn subscribers(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let (attached, taken) = (Bell::of(shared.words(), ATTACHED), Bell::of(shared.words(), TAKEN));
    let open = |_| ours::subscriber(ours::subscriber_options(words));
    let mut all: Vec<Subscriber> = (0..words.number::<usize>("each")).map(open).collect();
    attached.ring();
    for at in 0..words.number::<u64>("steps") {
        for subscriber in &mut all {
            let step = ours::next(subscriber).expect("a step");
            let got = step.get::<u64>("x", Selection::All).expect("its data");
            assert!(got.len() == words.number::<usize>("ranks") && got.iter().all(|found| *found == at));
        }
        taken.ring();
    }
    println!("done=1");
}
