//! Steps beside twenty peers that only cost: they say nothing, say rubbish, begin a hello, or come and go. Against the
//! same steps of the same stream without them.

use crate::bench::{Bench, Rounds};
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Words, listed};
use crate::report::{Row, Target, median};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Publisher, Selection, Variable};
use std::collections::VecDeque;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PEERS: usize = 20;
/// How long a peer rests before it comes again. Twenty of them come 200 times a second, or 2,000 times.
const RESTS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(10)];
/// Connections that each keeps open.
const KEPT: usize = 8;
const ELEMENTS: usize = 1 << 17;
/// Steps with the peers, or without them, before it is the other's turn.
const STEPS: usize = 500;
/// Turns of each within a round.
const TURNS: usize = 4;
/// Attacks before steps beside them are counted.
const WARM_ATTACKS: u32 = 2 * PEERS as u32;
/// The subscriber has taken a step.
const TAKEN: usize = 2;
/// The peers may begin, and are to stop, by turns.
const TURN: usize = 3;
/// An attack was begun.
const ATTACK: usize = 4;
/// A peer has stopped.
const STOPPED: usize = 5;
/// The subscriber is there.
const ATTACHED: usize = 6;

/// How long a step takes, from its beginning until its data were got.
pub(crate) fn measure(bench: &mut Bench) {
    for (transport, rest) in ["shm", "tcp"].into_iter().flat_map(|name| RESTS.map(|rest| (name, rest))) {
        let steps = bench.scaled(STEPS);
        let mut attacks = Vec::new();
        let rounds: Rounds<(f64, f64)> = bench.take_turns(|bench| {
            let found = round(bench, (transport, rest), steps);
            attacks.push(found.number::<f64>("attacks"));
            (median(&found.list("beside")) / 1e3, median(&found.list("alone")) / 1e3)
        });
        let times = Duration::from_secs(1).div_duration_f64(rest) * PEERS as f64;
        let case = format!("{transport} 1 MiB, beside {PEERS} hostile peers, {times} /s");
        let row = Row::of_rounds(case, "us", &rounds, Target::RatioAtMost(1.05));
        bench.add(row.noting(format!("{:.2} connections a step", median(&attacks))));
    }
}

/// What the publisher says.
fn round(bench: &mut Bench, (transport, rest): (&str, Duration), steps: usize) -> Words {
    let (memory, directory) = (Memory::new(0), bench.directory());
    let role = |name, core| {
        let role = Role::new(name).with("core", core).with("memory", memory.path()).with("steps", steps);
        let role = role.with("directory", &directory).with("transport", transport);
        role.with("rank", 0).with("size", 1)
    };
    let mut publisher = role("hostile-publisher", "0").start();
    let port = publisher.line().text("port").to_owned();
    let subscriber = role("hostile-subscriber", "1").start();
    let peers = role("hostile-peers", "any").with("port", port).with("rest_ms", rest.as_millis()).start();
    let found = publisher.finish();
    drop((subscriber.finish(), peers.finish()));
    found
}

/// Role: publishes, and begins a step when the last one was taken.
pub(crate) fn publisher(words: &Words) {
    ours::take_core(words);
    let shared = Shared::open(words.text("memory"));
    let bell = |number| Bell::of(shared.words(), number);
    let mut publisher = Publisher::open(ours::STREAM, ours::publisher_options(words)).expect("it opens");
    let address = publisher.contact().tcp_addresses().next().expect("it listens");
    println!("port={}", address.port());
    let variable = Variable::global::<u64>("x", &[ELEMENTS as u64]).expect("a variable");
    let (region, elements) = (ours::region(&[0], &[ELEMENTS as u64]), vec![1u64; ELEMENTS]);
    bell(ATTACHED).wait_for(1);
    let mut taken = 0;
    let mut step = || {
        let began = now_ns();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &region, &elements).expect("a put");
        writer.end().expect("the end of a step");
        taken += 1;
        bell(TAKEN).wait_for(taken);
        now_ns() - began
    };
    let steps: usize = words.number("steps");
    let (mut alone, mut beside, mut attacks) = (Vec::new(), Vec::new(), 0);
    for turn in 0..=TURNS as u32 {
        let quiet: Vec<u64> = (0..steps).map(|_| step()).collect();
        bell(TURN).ring();
        let before = bell(ATTACK).value();
        while bell(ATTACK).value() < before + WARM_ATTACKS {
            step();
        }
        let from = bell(ATTACK).value();
        let under_attack: Vec<u64> = (0..steps).map(|_| step()).collect();
        let came = bell(ATTACK).value() - from;
        bell(TURN).ring();
        bell(STOPPED).wait_for((turn + 1) * PEERS as u32);
        // The first turn warms both.
        if turn > 0 {
            alone.extend(quiet);
            beside.extend(under_attack);
            attacks += came;
        }
    }
    publisher.close().expect("all is delivered");
    let attacks = f64::from(attacks) / beside.len() as f64;
    println!("alone={} beside={} attacks={attacks}", listed(&alone), listed(&beside));
}

/// Role: takes each step.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let shared = Shared::open(words.text("memory"));
    let options = ours::subscriber_options(words).with_selection("x", Selection::All);
    let mut subscriber = ours::subscriber(options);
    Bell::of(shared.words(), ATTACHED).ring();
    let mut elements = vec![0u64; ELEMENTS];
    while let Some(step) = ours::next(&mut subscriber) {
        step.get_into("x", &Selection::All, &mut elements[..]).expect("its data");
        drop(step);
        Bell::of(shared.words(), TAKEN).ring();
    }
    println!("done=1");
}

/// Role: the peers, each on a thread.
pub(crate) fn peers(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, words.number("port")));
    let memory = shared.words();
    let bell = move |number| Bell::of(memory, number);
    let rest = Duration::from_millis(words.number("rest_ms"));
    std::thread::scope(|scope| {
        for peer in 0..PEERS {
            scope.spawn(move || {
                for turn in 0..=TURNS as u32 {
                    bell(TURN).wait_for(2 * turn + 1);
                    let mut kept = VecDeque::new();
                    while bell(TURN).value() == 2 * turn + 1 {
                        bell(ATTACK).ring();
                        attack(peer % 4, address, &mut kept);
                        std::thread::sleep(rest);
                    }
                    drop(kept);
                    bell(STOPPED).ring();
                }
            });
        }
    });
    println!("done=1");
}

/// Comes and says what its kind says. Connections that were not closed are kept, up to a number.
fn attack(kind: usize, address: SocketAddr, kept: &mut VecDeque<TcpStream>) {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    let said: &[u8] = match kind {
        0 => &[],
        1 => &[0x5a; 4096],
        2 => b"FLXP\x02\0\x02\0",
        _ => return drop(stream),
    };
    // Whoever is sent away meanwhile has come all the same.
    let _ = stream.write_all(said);
    kept.push_back(stream);
    if kept.len() > KEPT {
        kept.pop_front();
    }
}
